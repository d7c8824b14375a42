# SPDX-License-Identifier: GPL-2.0-only
"""Path selectors on a fabric: a dead path is left, silence makes flowlets, planes by backlog."""

import numpy as np
import pytest
from oracle_network import GBPS, Flows, Network, fat_tree, leaf_spine, one_flow, run
from scipy import stats

pytestmark = pytest.mark.ns3

RATE = 800 * GBPS
MTU = 4096
DELAY_PS = 500_000
SPINES = 16
SPRAY = "ns3::SprayTransport"
DATA_PS = (MTU + 62 + 20) * 10
ACK_PS = (66 + 20) * 10
RTT_PS = 4 * (DATA_PS + ACK_PS) + 8 * DELAY_PS


def uplinks(entropy, packets, *, drops=(), forwarding="ns3::EcmpHash", **attributes):
    """Send one message from leaf to leaf; return its packets by spine."""
    got = run(
        leaf_spine(2, 1, SPINES, RATE, DELAY_PS),
        one_flow(0, 1, packets * MTU),
        [(SPRAY, {"PathSelector": entropy, **attributes})],
        forwarding=forwarding,
        drops=drops,
    )
    assert got.flow(0)["receiver_end_ps"] > 0
    return np.array([got.port(10_000, 20_000 + s)["sent_data_packets"] for s in range(SPINES)])


def dead(spine, packets):
    """Return scripted losses of all that the first leaf sends by one spine."""
    return [(10_000, 20_000 + spine, ordinal) for ordinal in range(1, packets + 1)]


def test_recycled_entropies_leave_a_dead_path_within_a_few_windows():
    # Oracle: a window is RTT / d = 104 packets. Nothing is known until the first answer, so one
    # window explores; a sixteenth of it is lost and explores again, and so on: 104 / 16 * 16 / 15
    # = 7 packets. Each draw of a sixteenth: more than 21 has probability 1e-5 (Poisson of 7).
    # Whoever knows nothing loses a sixteenth of 4000.
    window = RTT_PS / DATA_PS
    expected = window / SPINES * SPINES / (SPINES - 1)
    packets = 4000
    limit = stats.poisson.isf(1e-5, expected)
    lost = uplinks("ns3::RepsEntropy", packets, drops=dead(0, packets))[0]
    assert 0 < lost <= limit
    assert uplinks("ns3::RandomEntropy", packets, drops=dead(0, packets))[0] > 200


def test_a_hash_spreads_permuted_entropies_if_rounds_have_others():
    # Oracle: each round has 16 entropies of its own, so a hash draws each packet's path: binomial
    # of 8000 draws and a sixteenth. Beyond its 1e-7 quantiles with chance 2e-7 x 16 uplinks. The
    # same 16 in each round would take all 16 uplinks with chance 16! / 16^16, 1e-6; 256 leave an
    # uplink with its fair share of 16 of them, and more or less by a Poisson draw.
    packets = 8000
    low, high = stats.binom.isf([1 - 1e-7, 1e-7], packets, 1 / SPINES)
    spread = uplinks("ns3::PermutedEntropy", packets)
    assert low <= spread.min() and spread.max() <= high
    assert uplinks("ns3::PermutedEntropy[Paths=16]", packets).min() == 0
    assert uplinks("ns3::PermutedEntropy[Paths=256]", packets).max() > high


def test_mixed_entropies_are_those_that_came_back():
    # Oracle: a window of 0.02 RTT / d is 3 packets. After them each packet waits for an answer and
    # takes the entropy that it brings, so no fourth path is ever tried; without recycling all are.
    options = {"forwarding": "ns3::EntropyModulo", "WindowBdp": 0.02}
    assert np.count_nonzero(uplinks("ns3::MixedEntropy", 600, **options)) <= 3
    assert np.count_nonzero(uplinks("ns3::BitmapEntropy", 600, **options)) == SPINES


@pytest.mark.parametrize("entropy", ["ns3::BitmapEntropy", "ns3::MixedEntropy"])
def test_a_path_with_penalties_carries_less_than_a_third_of_its_share(entropy):
    # Oracle: a lost packet costs its entropy four rounds, so it is tried in one round of five.
    # A round of 256 is two and a half windows, a loss is seen after two: one round is added.
    packets = 20_000
    lost = uplinks(entropy, packets, drops=dead(0, packets))[0]
    assert 0 < lost < packets / SPINES / 3


def test_scores_leave_a_dead_path_alone_for_twice_as_long_each_time():
    # Oracle: 4 losses of 4 packets are more than 3 above the mean; a loss is seen after two windows
    # of 104 packets, 13 rounds. So 17 rounds each time, after 16, 32, ... rounds without: in 1250
    # rounds 7 times. In turn with all others it would be each of the 1250.
    packets = 20_000
    options = {"drops": dead(0, packets), "forwarding": "ns3::EntropyModulo"}
    sent = uplinks("ns3::ScoredEntropy", packets, **options)
    assert 4 <= sent[0] <= 7 * 17
    assert sent[1:].max() < 1.05 * sent[1:].mean()


@pytest.mark.parametrize("entropy", ["ns3::ScoredEntropy", "ns3::PermutedEntropy"])
def test_scores_of_ndp_leave_a_slow_path_alone(entropy):
    # A link of 10 Gb/s for a sixteenth of 800: four of five packets on it are trimmed. Oracle: in
    # turn it has its sixteenth; with scores less than a fifth of that, and all ends as if it were
    # not there.
    packets = 8000
    network = leaf_spine(2, 1, SPINES, RATE, DELAY_PS)
    slow = network.links.index((10_000, 20_000, 0, RATE, DELAY_PS, 0.0, 0.0))
    network.links[slow] = (10_000, 20_000, 0, 10 * GBPS, DELAY_PS, 0.0, 0.0)
    got = run(
        network,
        one_flow(0, 1, packets * MTU),
        [("ns3::NdpTransport", {"PathSelector": entropy})],
        forwarding="ns3::EntropyModulo",
        queue=("ns3::TrimmingQueue", {"LimitBytes": "33280"}),
    )
    trimmed = got.flow(0)["trimmed_packets"]
    ideal_ps = RTT_PS / 2 + packets * DATA_PS / 0.99
    if entropy == "ns3::PermutedEntropy":
        assert trimmed > 0.75 * packets / SPINES
    else:
        assert trimmed < packets / SPINES / 5
        assert got.fct_ps() < 1.02 * ideal_ps


def test_a_flow_that_pauses_for_longer_than_the_gap_takes_a_random_path_each_time():
    # One packet in each round trip.
    one = {"WindowBdp": 0.01}
    above = uplinks(f"ns3::FlowletEntropy[Gap={RTT_PS + 1}ps]", 1000, **one)
    assert sorted(above)[-2:] == [0, 1000]
    below = uplinks(f"ns3::FlowletEntropy[Gap={RTT_PS - 1}ps]", 1000, **one)
    assert stats.chisquare(below).pvalue > 1e-4


@pytest.mark.parametrize("entropy", ["ns3::RepsEntropy", "ns3::PermutedEntropy"])
def test_a_plane_takes_what_it_can_carry(entropy):
    # A port asks for the next packet when it has nothing more to send, so the plane with the least
    # backlog gets it: shares are as the rates, 800 : 400, but for the last packet of each.
    network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1)])
    for switch, rate in ((10, 800 * GBPS), (11, 400 * GBPS)):
        for host in network.hosts:
            network.link(host, switch, rate, DELAY_PS)
    got = run(
        network, one_flow(0, 1, 3000 * MTU), [(SPRAY, {"PathSelector": entropy, "WindowBdp": 3})]
    )
    fast, slow = (got.port(0, switch)["sent_data_packets"] for switch in (10, 11))
    assert fast + slow == 3000
    assert fast == pytest.approx(2000, abs=1)


def test_turns_are_even_over_the_paths_that_are_left():
    # Oracle: fifteen of sixteen uplinks are left, and four rounds of fifteen packets from each of
    # sixteen hosts are 64 packets for each uplink. So the last packet has left after 64, and after
    # at most one packet of each other host, where all of a round meet on one uplink.
    rounds, hosts = 4, 16
    network = leaf_spine(2, hosts, SPINES, RATE, DELAY_PS)
    flows = Flows()
    for host in range(hosts):
        flows.add(host, hosts + host, rounds * (SPINES - 1) * MTU, RTT_PS)
    got = run(
        network,
        flows,
        [(SPRAY, {"WindowBdp": 4})],
        forwarding="ns3::EntropyModulo",
        link_events=[(0, 10_000, 20_003, 0)],
        convergence_ps=0,
        buffer_bytes=10**8,
    )
    sent = [got.port(10_000, 20_000 + s)["sent_data_packets"] for s in range(SPINES) if s != 3]
    assert sent == [rounds * hosts] * (SPINES - 1)
    assert got.fcts_ps().max() <= RTT_PS / 2 + (rounds * hosts + hosts) * DATA_PS


def test_what_is_gone_behind_one_switch_is_used_behind_the_others():
    # Oracle: of the four paths between two pods the one by 20000 and 30000 is gone. 20001 has both
    # of its own, in turn.
    packets = 400
    got = run(
        fat_tree(4, RATE, DELAY_PS),
        one_flow(0, 15, packets * MTU, RTT_PS),
        [(SPRAY, {})],
        forwarding="ns3::EntropyModulo",
        link_events=[(0, 20_000, 30_000, 0)],
        convergence_ps=0,
    )
    cores = {20_000: (30_000, 30_001), 20_001: (30_002, 30_003)}
    sent = [
        got.port(switch, core)["sent_data_packets"] for switch in cores for core in cores[switch]
    ]
    assert sent == [0, packets // 2, packets // 4, packets // 4]
