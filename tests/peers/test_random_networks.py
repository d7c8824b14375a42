# SPDX-License-Identifier: GPL-2.0-only
"""Networks and messages that a seed has drawn against htsim's results (docs/validation.md)."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
import random_networks

pytestmark = pytest.mark.ns3
PEERS = {(row["transport"], row["number"]): row
         for row in random_networks.peers().to_dict("records")}  # fmt: skip
#: Small ones of each transport and kind of workload.
SAMPLE = [
    ("rccc", 8), ("rccc", 9), ("rccc", 10), ("rccc", 14), ("rccc", 19),
    ("nscc", 3), ("nscc", 9), ("nscc", 12), ("nscc", 18),
    ("eqds", 2), ("eqds", 3), ("eqds", 7), ("eqds", 12),
    ("ndp", 7), ("ndp", 9), ("ndp", 12), ("ndp", 16),
]  # fmt: skip
#: htsim's EQDS keeps what is left of a first window in what it asks for, so messages shorter than
#: that wait, some for ever: least ratio of ours for these.
LEAST_EQDS = 0.05
#: htsim's RCCC asks for less if other messages of the host send: least ratios of ours for pairs.
LEAST_RCCC = 0.88


def test_the_cases_are_those_that_htsim_has_run():
    assert len(PEERS) == len(random_networks.TRANSPORTS) * random_networks.CASES
    for (transport, number), row in PEERS.items():
        drawn = random_networks.inputs(random_networks.draw(transport, number))
        assert drawn == {name: row[name] for name in drawn}


@pytest.mark.parametrize(("transport", "number"), SAMPLE)
def test_a_drawn_case_takes_as_long(transport, number):
    ours = random_networks.run_ours(random_networks.draw(transport, number))

    for name, aim in random_networks.AIMS.items():
        assert ours[name] == pytest.approx(PEERS[transport, number][name], rel=aim)


@pytest.mark.parametrize("number", [2, 8])
def test_rccc_sends_as_many_packets_again_in_an_incast(number):
    ours = random_networks.run_ours(random_networks.draw("rccc", number))
    assert ours["resent"] == pytest.approx(PEERS["rccc", number]["resent"], rel=0.03)


@pytest.mark.long
@pytest.mark.parametrize(("transport", "number"), PEERS)
def test_every_drawn_case_takes_as_long_or_its_draws_overlap(transport, number):
    case, theirs = random_networks.draw(transport, number), PEERS[transport, number]
    ours = random_networks.run_ours(case)
    assert ours["ended"] == len(case.rows)
    missed = random_networks.beyond(ours, theirs)
    if not missed:
        return
    least = {"eqds": LEAST_EQDS}.get(transport)
    if transport == "rccc" and case.kind == "pairs":
        least = LEAST_RCCC
    if least:
        for name in missed:
            assert least < ours[name] / theirs[name] < 1
        return
    runs = [ours, *(random_networks.run_ours(case, seed) for seed in random_networks.SEEDS[1:])]
    seen = random_networks.ranges(runs)
    for name in missed:
        assert not random_networks.where(name, seen, theirs).startswith("apart")
