# SPDX-License-Identifier: GPL-2.0-only
"""Claims of papers, and two transports on one network."""

from pathlib import Path

import numpy as np
import pytest

import pyorch
from pyorch.metrics import RunTables

pytestmark = pytest.mark.ns3
SCENARIOS = Path(__file__).parents[2] / "scenarios"


def run(name, variant, tmp_path):
    return pyorch.run(SCENARIOS / f"{name}.yaml", variant=variant, seed=1, results=tmp_path)


def gbps(flows):
    return flows["bytes"] * 8e3 / (flows["receiver_end_ps"] - flows["start_ps"])


@pytest.mark.parametrize("variant", ["ndp", "eqds"])
def test_a_receiver_takes_from_another_what_a_shared_sender_cannot_give(variant, tmp_path):
    # Host 0 shares 10 Gb/s among four, 8936 of 9000 B of which are payload: 2.482 Gb/s each. Its
    # receiver of two asks for 0.99 of 10 Gb/s and has the rest from the other sender, which asks
    # alone once host 0 is behind: published are 2.377 and 7.552 Gb/s.
    rates = gbps(run("in_and_out", variant, tmp_path).flows)
    assert rates[:4].to_numpy() == pytest.approx(2.482, rel=0.01)
    assert 0.97 * (9.9 - 2.5) * 8936 / 9000 < rates[4] < 1.03 * (9.9 - 2.5) * 8936 / 9000


def test_two_transports_share_a_network_each_in_a_priority_of_its_own(tmp_path):
    # Each has half of a busy port (equal quanta), so neither is faster with the other than alone;
    # the lossless one loses and trims nothing, the other is trimmed. The engine checks its books.
    both, roce, ndp = (
        run("two_transports", variant, tmp_path)
        for variant in ("together", "rocev2_alone", "ndp_alone")
    )
    for index, alone in enumerate((roce, ndp)):
        own = both.flows[both.flows["transport"] == index]
        assert len(own) == 32 and own["receiver_end_ps"].notna().all()
        assert own["receiver_end_ps"].mean() > alone.flows["receiver_end_ps"].mean()
        assert (own["trimmed_packets"].sum() > 0) == (index == 1)
        assert (own["retransmitted_packets"].sum() > 0) == (index == 1)
    dropped = ["dropped_buffer_frames", "dropped_headroom_frames"]
    assert both.ports[dropped].to_numpy().sum() == 0


def test_short_messages_of_homa_hardly_wait_for_long_ones(tmp_path):
    # SIGCOMM 2018: web search at 80 %, 99th percentile of short messages at most 2.2 times alone.
    done = run("homa", "seven", tmp_path)
    tables = RunTables(done.spec, done.folder)
    slowdown = tables.fct_ps / tables.idle_ps["unloaded_fct_ps"].to_numpy()
    sizes = tables.flows["bytes"].to_numpy()
    for least, most in ((0, 10_000), (10_000, 130_000)):
        own = slowdown[(sizes > least) & (sizes <= most)]
        assert len(own) > 200 and np.quantile(own, 0.99) < 2.2
