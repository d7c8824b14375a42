# SPDX-License-Identifier: GPL-2.0-only
"""ConWeave in a lossless network under load: nothing is out of order, nothing waits for ever."""

import numpy as np
import pytest
from oracle_network import GBPS, Flows, leaf_spine, run

pytestmark = pytest.mark.ns3

RATE, DELAY_PS = 100 * GBPS, 500_000
LEAVES, PER_LEAF = 8, 8
HOSTS = LEAVES * PER_LEAF
MOVED = ("ns3::ConWeave", {"Cutoff": "20us"})
SIZES, SHARES = (20_000, 200_000, 2_000_000, 8_000_000), (0.4, 0.3, 0.2, 0.1)


def loaded(seed, program):
    """Send 300 messages between leaves, one each 3 us in the mean: half of what links carry."""
    rng, flows, at_ps = np.random.default_rng(seed), Flows(), 0.0
    for _ in range(300):
        src = int(rng.integers(HOSTS))
        dst = (src // PER_LEAF * PER_LEAF + PER_LEAF + rng.integers(HOSTS - PER_LEAF)) % HOSTS
        flows.add(src, int(dst), int(rng.choice(SIZES, p=SHARES)), int(at_ps))
        at_ps += rng.exponential(3e6)
    return run(
        leaf_spine(LEAVES, PER_LEAF, 8, RATE, DELAY_PS),
        flows,
        [("ns3::RoceTransport", {})],
        pfc={"XoffBytes": 100_000, "XonOffsetBytes": 10_000},
        program=program,
        buffer_bytes=10**9,
    )


@pytest.mark.parametrize("seed", [1, 2])
def test_moved_messages_stay_in_order_while_links_are_paused(seed):
    # Oracle: go-back-N receivers say NAK for anything that is out of order, and nothing is lost. If
    # links accounted for what waits for another path, they would be paused, and with them what is
    # waited for: 21 NAKs and three times the mean completion with seed 1.
    moved = loaded(seed, MOVED)
    assert moved["summary"]["rule_changes"][0] > 100
    assert moved["ports"]["pause_frames_sent"].sum() > 1000
    assert moved["flows"]["naks"].sum() == 0
    assert moved["flows"]["retransmitted_packets"].sum() == 0
    assert moved.drops() == 0
    assert moved.fcts_ps().mean() <= 1.02 * loaded(seed, None).fcts_ps().mean()


@pytest.mark.parametrize("seed", range(4))
def test_packets_that_a_cut_sends_over_another_leaf_are_held_by_their_own_leaf_alone(seed):
    # Spine 200 loses its link to leaf 100 when messages are on their way, and sends what it has
    # over other leaves. Oracle: every message ends, for what is held is let go where it is held.
    rng, flows, hosts = np.random.default_rng(seed), Flows(), 16
    receivers = (np.arange(hosts) + 4 * rng.integers(1, 4, hosts // 4).repeat(4)) % hosts
    for src, dst in enumerate(receivers):
        flows.add(src, int(dst), 1_000_000)
    network = leaf_spine(4, 4, 4, RATE, DELAY_PS)
    leaf, spine = network.switches[0][0], network.switches[-1][0]
    cut = run(
        network, flows, [("ns3::RoceTransport", {})],
        pfc={"XoffBytes": 100_000, "XonOffsetBytes": 10_000},
        program=("ns3::ConWeave", {"Cutoff": "6us"}), link_events=[(25_000_000, leaf, spine, 0)],
        stop_ps=20 * 10**9,
    )  # fmt: skip

    assert cut["summary"]["rule_changes"][0] > 0
    assert (cut["flows"]["receiver_end_ps"] > 0).all()
