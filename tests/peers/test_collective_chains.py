# SPDX-License-Identifier: GPL-2.0-only
"""Collectives whose messages wait for one another, made here, beside those of htsim.

RoCEv2 with PFC and htsim's constants (docs/validation.md). Where no choice of paths matters the
completion is the same; where it does, distributions over draws are.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent))
import collectives
import htsim

pytestmark = pytest.mark.ns3
RING = {"type": "collective", "algorithm": "ring", "operation": "all_reduce"}


def flows(topo, load, seed=1):
    """Return the messages of a run on one of htsim's networks."""
    return htsim.simulate(htsim.plan_of(topo, "15/12", seed, [("workload", load)])).flows


def ring(topo, ranks, stride, part_bytes, **more):
    """Return the messages of a ring on every `stride`-th host."""
    return flows(topo, RING | {
        "bytes": f"{ranks * part_bytes} B", "ranks": ranks, "placement": "strided",
        "stride": stride, **more,
    })  # fmt: skip


@pytest.mark.parametrize(
    "case, topo, ranks, stride, part_bytes, htsim_us, within",
    [
        ("o01", "ls128_100", 8, 8, 2**16, 144.760320, 2.5e-4),
        ("o02", "ls128_100", 8, 8, 2**20, 1280.212480, 1e-9),
        ("o03", "ls128_800", 8, 8, 2**21, 359.671040, 1e-9),
        ("o04", "ls128_100", 32, 1, 2**18, 1506.031360, 1e-5),
    ],
)
def test_a_ring_takes_as_long(case, topo, ranks, stride, part_bytes, htsim_us, within):
    # Two of them to the picosecond. In the others some ACK comes to a port at the very time of a
    # data packet, and who goes first there is a choice: 5.12 ns each at 100 Gb/s, six of them in
    # 144 us of o01.
    got_us = ring(topo, ranks, stride, part_bytes)["receiver_end_ps"].max() / 1e6

    assert got_us == pytest.approx(htsim_us, rel=within)


@pytest.mark.slow
def test_a_ring_of_near_and_far_neighbours_drifts_as_late():
    # o05: a message takes 12.8 us below a leaf and 14.9 us between leaves, so chains drift until
    # two messages share a host's link, in step 45 or so. Until then ours end at the same time; in
    # all the completion is 0.9 % less than the 870.93 us of htsim.
    got = ring("ls128_800", 32, 4, 2**20)
    first_steps = got["receiver_end_ps"].to_numpy().reshape(62, 32).max(axis=1) / 1e6
    htsim_us = {1: 14.937600, 2: 27.763200, 3: 42.700160, 62: 870.931200}

    for step in (1, 2, 3):
        assert first_steps[step - 1] == pytest.approx(htsim_us[step], abs=0.01)
    assert first_steps[61] == pytest.approx(htsim_us[62], rel=0.01)


def test_a_ring_that_goes_on_at_the_sender_takes_as_long():
    # o14: what follows starts at another host when a sender has its last ACK, at once in htsim; 1
    # ps later here, fourteen times.
    load = {"type": "htsim_cm", "file": "genring_8_1048576.cm", "trigger_delay": "1 ps"}
    (htsim.workspace() / load["file"]).write_text((htsim.DATA / load["file"]).read_text())

    got_us = flows("ls128_100", load)["receiver_end_ps"].max() / 1e6

    assert got_us == pytest.approx(1427.877120 + 14e-6, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "case, load, topo",
    [
        ("o06_ring8x8_100g_1m", RING | {
            "bytes": "8 MiB", "ranks": 8, "groups": 8, "placement": "strided", "stride": 8,
        }, "ls128_100"),
        ("o07_ring8x8_800g_256k", RING | {
            "bytes": "2 MiB", "ranks": 8, "groups": 8, "placement": "strided", "stride": 8,
        }, "ls128_800"),
        ("o09_butterfly32_100g_1m", {
            "type": "collective", "algorithm": "recursive_doubling", "operation": "all_reduce",
            "bytes": "1 MiB", "ranks": 32,
        }, "ls128_100"),
        ("o10_halvdoub128_800g_4m", {
            "type": "collective", "algorithm": "halving_doubling", "operation": "all_reduce",
            "bytes": "4 MiB", "ranks": 128,
        }, "ls128_800"),
    ],
)  # fmt: skip
def test_a_crowded_collective_has_the_same_messages_and_times_like_any_draw(case, load, topo):
    # htsim has one draw of the routes, each message anew; here are ten. Its messages are ours; its
    # mean time of a message lies within what ten draws span, widened by a standard deviation.
    theirs = collectives.recorded(case)
    draws = [flows(topo, load, seed) for seed in range(1, 11)]
    columns = ["src", "dst", "bytes"]
    ours = draws[0][columns].value_counts().sort_index()
    pd.testing.assert_series_equal(ours, theirs[columns].value_counts().sort_index())

    means = np.array([(f["receiver_end_ps"] - f["start_ps"]).mean() for f in draws])
    expected = (theirs["received_ps"] - theirs["start_ps"]).mean()
    assert abs(means.mean() / expected - 1) < 0.05
    assert means.min() - means.std() < expected < means.max() + means.std()
