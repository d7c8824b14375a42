# SPDX-License-Identifier: GPL-2.0-only
"""MP-RDMA and multipath TCP over two paths that differ in rate or loss, or are shared."""

import numpy as np
import pytest
from numpy.random import default_rng
from oracle_network import (
    GBPS,
    MS_PS,
    Flows,
    Network,
    inter_leaf_permutation,
    leaf_spine,
    line,
    one_flow,
    run,
)

pytestmark = pytest.mark.ns3

BYTE_PS = 80  # at 100 Gb/s
DELAY_PS = 1_000_000
MTU = 4096
WIRE = MTU + 62 + 20
MPRDMA, MPTCP = "ns3::MpRdmaTransport", "ns3::MptcpTransport"
MARKS = ("ns3::RedEcn", {"KminBytes": 80_000, "KmaxBytes": 80_000})
DROPS = ("ns3::DropTail", {"LimitBytes": 400_000})


def two_paths(rates, losses=(0.0, 0.0), hosts=1):
    """Return pairs of hosts at two leaves of 100 Gb/s, and a spine for each rate [Gb/s]."""
    network = Network(switches=[(10_000, 1), (10_001, 1)])
    for host in range(hosts):
        network.hosts += [host, 100 + host]
        network.link(host, 10_000, 100 * GBPS, DELAY_PS)
        network.link(100 + host, 10_001, 100 * GBPS, DELAY_PS)
    for i, (rate, loss) in enumerate(zip(rates, losses, strict=True)):
        network.switches.append((20_000 + i, 2))
        network.link(10_000, 20_000 + i, rate * GBPS, DELAY_PS, loss=loss)
        network.link(10_001, 20_000 + i, rate * GBPS, DELAY_PS)
    return network


def shares(got):
    """Return data packets by spine."""
    return np.array([got.port(10_000, 20_000 + i)["sent_data_packets"] for i in range(2)])


def least_ps(packets, gbps):
    return packets * WIRE * 8 * 1000 / gbps


def mprdma(**attributes):
    return (MPRDMA, {"DeltaPackets": 64, "ReorderPackets": 500, **attributes})


def mptcp(subflows, **attributes):
    entropy = f"ns3::PermutedEntropy[Paths={max(subflows, 2)}]"
    return (MPTCP, {"Subflows": subflows, "PathSelector": entropy, **attributes})


def test_answers_move_packets_to_the_path_that_carries_them():
    # 75 and 20 Gb/s: both together carry 95. Half of the packets on each would take 2 * 20. By
    # answers each path gets back what it has delivered.
    packets = 8000
    network = two_paths((75, 20))
    clocked = run(network, one_flow(0, 100, packets * MTU), [mprdma()], queue=MARKS)
    blind = ("ns3::SprayTransport", {"PathSelector": "ns3::RandomEntropy", "ReorderPackets": 2000})
    halves = run(network, one_flow(0, 100, packets * MTU), [blind], queue=MARKS)
    best_ps = least_ps(packets, 95)
    assert halves.fct_ps() > 0.9 * least_ps(packets, 40)
    assert best_ps <= clocked.fct_ps() <= 1.25 * best_ps
    fast, slow = shares(clocked)
    assert slow / (fast + slow) == pytest.approx(20 / 95, abs=0.06)


def test_a_path_that_loses_packets_gets_fewer_of_them():
    # A lost packet gives no answer, so its path is not clocked again.
    flow = one_flow(0, 100, 4000 * MTU)
    got = run(two_paths((100, 100), (0.0, 0.1)), flow, [mprdma()], queue=MARKS)
    clean, lossy = shares(got)
    assert lossy < clean / 2


def test_a_slow_path_is_left():
    # The second path is 98 us longer: its packets are far behind and clock nobody. The first window
    # is a product of this path, and half of its packets take it.
    network = two_paths((100, 100))
    for end in (10_000, 10_001):
        at = next(i for i, link in enumerate(network.links) if link[:2] == (end, 20_001))
        network.links[at] = (*network.links[at][:4], 50 * DELAY_PS, 0.0, 0.0)
    never = mprdma(DeltaPackets=100_000, ProbeShare=0)
    flow = one_flow(0, 100, 4000 * MTU)
    early, late = (
        shares(run(network, flow, [t], queue=MARKS)) for t in (mprdma(ProbeShare=0), never)
    )
    first_window = 2 * (2 + 2 * 50) * DELAY_PS / (WIRE * BYTE_PS)
    assert early[1] < 0.55 * first_window
    assert late[1] > 2 * early[1]


def test_two_disjoint_paths_carry_the_sum_of_both():
    # Each is 25 Gb/s; queues of 400 kB keep them busy after a window was halved.
    packets, network = 12_000, two_paths((25, 25))
    flow = one_flow(0, 100, packets * MTU)
    kinds = {"queue": DROPS, "forwarding": "ns3::EntropyModulo"}
    both, one = (run(network, flow, [mptcp(n)], **kinds).fct_ps() for n in (2, 1))
    assert both >= least_ps(packets, 50)
    assert both == pytest.approx(least_ps(packets, 50), rel=0.1)
    assert one == pytest.approx(least_ps(packets, 25), rel=0.1)


def test_at_a_shared_bottleneck_eight_subflows_take_no_more_than_one():
    # Oracle: RFC 6356, goal 2. A message of eight subflows and one of a single one through one
    # link; while both are there the first gets about half. Uncoupled it would get 8 of 9.
    network = two_paths((20, 20), hosts=2)
    network.links = [link for link in network.links if link[1] != 20_001]
    network.switches = network.switches[:3]
    flows = Flows()
    flows.add(0, 100, 40_000 * MTU, transport=0)
    flows.add(1, 101, 40_000 * MTU, transport=1)
    got = run(network, flows, [mptcp(8), mptcp(1)], queue=DROPS, arrivals=True)
    time_ps, flow = got["arrivals"]["time_ps"], got["arrivals"]["flow"]
    both = time_ps < min(got.flow(0)["receiver_end_ps"], got.flow(1)["receiver_end_ps"])
    share = (flow[both] == 0).mean()
    assert 0.3 < share < 0.65


def test_traffic_moves_away_from_the_path_with_more_loss():
    # Ten times the loss: windows go as 1 / sqrt(p), with linked increases further apart.
    got = run(
        two_paths((100, 100), (0.001, 0.01)),
        one_flow(0, 100, 20_000 * MTU),
        [mptcp(2)],
        queue=DROPS,
        forwarding="ns3::EntropyModulo",
    )
    low, high = sorted(shares(got))
    assert shares(got)[1] == low and low < high / 10**0.5


def one_path_is_dead(packets, gbps=100, **attributes):
    return run(
        two_paths((gbps, 100)),
        one_flow(0, 100, packets * MTU),
        [mptcp(2, **attributes)],
        queue=DROPS,
        forwarding="ns3::EntropyModulo",
        drops=[(10_000, 20_001, n) for n in range(1, 4000)],
    )


def test_a_dead_path_costs_timeouts_of_its_subflow_alone():
    # The other subflow sends what was lost; a path that never answers is asked ever more seldom.
    got = one_path_is_dead(4000)
    assert shares(got)[1] <= 10 + 8  # its first window, then one packet after 1, 2, 4 ... ms
    assert got.fct_ps() < 3 * 10**9


def test_the_timeout_of_a_subflow_doubles_as_often_as_is_said():
    # The other path, of 1 Gb/s, carries 480 packets in 16 ms and is full at almost any time, so the
    # dead one is tried again: after 1, 3, 7 and 15 ms; after 1, 3, 5 ... 15; or after each, or
    # almost, for a packet may have to wait until the other path is full.
    four, eight, most = (
        one_path_is_dead(480, 1, MaxBackoff=n).flow(0)["timeouts"] for n in (7, 1, 0)
    )
    assert (four, eight) == (4, 8)
    assert 14 <= most <= 16


def permutation(megabytes, subflows, **attributes):
    """Return the outcome of 128 hosts under 8 leaves and 16 spines, and each message's share."""
    flows = Flows()
    for src, dst in enumerate(inter_leaf_permutation(8, 16, default_rng(1))):
        flows.add(src, int(dst), megabytes * 10**6)
    transport = (MPTCP, {"Subflows": subflows, **attributes})
    got = run(leaf_spine(8, 16, 16, 100 * GBPS, DELAY_PS // 2), flows, [transport], queue=DROPS)
    return got, megabytes * 10**6 * BYTE_PS / got.fcts_ps()


def test_eight_subflows_of_a_permutation_find_what_one_path_leaves():
    # Of 16 flows of a leaf that draw one of 16 paths, one has the mean share of its first link
    # (1 - (1 - 1/16)^16) / 1 = 0.644 at most; three deviations of a mean of 128 are 0.08.
    most = 1 - (15 / 16) ** 16
    one, eight = (permutation(40, n)[1].mean() for n in (1, 8))
    assert one < most + 0.08 < eight


def test_on_short_messages_eight_subflows_wait_for_a_timeout():
    # 4 MB are 0.32 ms. Slow start of eight ends when the message does, and what is lost among the
    # last packets of a subflow has none behind it to tell: most messages take one timeout of 1 ms,
    # and those without one take less than it. With a tenth of it eight are faster than one.
    got, slow = permutation(4, 8)
    waited = got["flows"]["timeouts"] > 0
    assert waited.mean() > 0.5
    assert (waited == (got.fcts_ps() > MS_PS)).all()
    one, eight = (permutation(4, n, Rto="100us")[1].mean() for n in (1, 8))
    assert slow.mean() < one < eight


# ---- losses with nothing behind them

PROBED = {"Subflows": 1, "TailLossProbe": True, "Rto": "1ms"}
ACK_PS = (66 + 20) * BYTE_PS
PACKET_PS = WIRE * BYTE_PS
ONE_WAY_PS = 2 * (PACKET_PS + DELAY_PS)
RTT_PS = ONE_WAY_PS + 2 * (ACK_PS + DELAY_PS)


def lose(packets, ordinals, **attributes):
    """Send one subflow's first window over two links; lose some of its frames on the first."""
    network = line([100 * GBPS] * 2, [DELAY_PS] * 2)
    return run(
        network, one_flow(0, 1, packets * MTU), [(MPTCP, {**PROBED, **attributes})],
        drops=[(0, 10, ordinal) for ordinal in ordinals],
    )  # fmt: skip


@pytest.mark.parametrize("packets", [2, 5, 10])
def test_a_lost_last_packet_comes_two_round_trips_after_the_last_answer(packets):
    # RFC 8985 section 7.2: the probe goes 2 SRTT after the last that was sent or heard, which is
    # the answer of the last but one; all round trips are the same. It is the lost packet itself.
    heard_ps = (packets - 2) * PACKET_PS + RTT_PS
    assert heard_ps > (packets - 1) * PACKET_PS

    probed = lose(packets, [packets])
    assert probed.fct_ps() == heard_ps + 2 * RTT_PS + ONE_WAY_PS
    assert (probed.flow(0)["timeouts"], probed.flow(0)["retransmitted_packets"]) == (0, 1)

    waiting = lose(packets, [packets], TailLossProbe=False)
    assert waiting.fct_ps() == heard_ps + MS_PS + ONE_WAY_PS


def test_a_probe_shows_what_was_lost_before_it():
    # Two at the end: the probe is the last one; its answer shows that the one before is late by
    # more than a round trip and a quarter, and its copy goes at once.
    packets = 10
    heard_ps = (packets - 3) * PACKET_PS + RTT_PS
    got = lose(packets, [packets - 1, packets])
    assert got.fct_ps() == heard_ps + 2 * RTT_PS + RTT_PS + ONE_WAY_PS
    assert (got.flow(0)["timeouts"], got.flow(0)["retransmitted_packets"]) == (0, 2)


def test_a_lost_probe_waits_for_the_timeout_from_its_own_time_on():
    packets = 5
    heard_ps = (packets - 2) * PACKET_PS + RTT_PS
    got = lose(packets, [packets, packets + 1])
    assert got.fct_ps() == heard_ps + 2 * RTT_PS + MS_PS + ONE_WAY_PS
    assert got.flow(0)["timeouts"] == 1


def test_with_fewer_than_three_behind_it_a_packet_is_late_by_a_quarter_of_a_round_trip():
    # RFC 8985 section 6.2: packet 7 of 10 has come when 8 and 9 have not: 10 is behind by three.
    # The loss of 8 is seen by 9, a round trip and its quarter after 8 was sent.
    packets = 10
    late_ps = (packets - 3) * PACKET_PS + RTT_PS + RTT_PS // 4
    got = lose(packets, [packets - 2])
    assert got.fct_ps() == pytest.approx(late_ps + ONE_WAY_PS, abs=10)
    assert got.flow(0)["timeouts"] == 0


def test_a_loss_amid_a_window_costs_the_same_with_and_without_probes():
    # Three behind it come sooner than a quarter of a round trip.
    assert 3 * PACKET_PS < RTT_PS // 4
    with_it, without = (lose(10, [3], TailLossProbe=on) for on in (True, False))
    assert with_it["flows"]["receiver_end_ps"] == without["flows"]["receiver_end_ps"]
    assert with_it.flow(0)["retransmitted_packets"] == 1


def test_with_probes_short_messages_of_eight_subflows_do_not_wait_for_timeouts():
    got, eight = permutation(4, 8, TailLossProbe=True)
    _, one = permutation(4, 1, TailLossProbe=True)
    assert (got["flows"]["timeouts"] > 0).mean() < 0.1
    assert one.mean() < eight.mean()
