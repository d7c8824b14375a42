# SPDX-License-Identifier: GPL-2.0-only
"""Hashed paths against balls in bins, and shares of links computed by hand."""

from collections import Counter
from fractions import Fraction
from math import factorial

import numpy as np
import pytest
from oracle_network import (
    GBPS,
    US_PS,
    Flows,
    Network,
    inter_leaf_permutation,
    leaf_spine,
    run,
)
from scipy import stats

pytestmark = pytest.mark.ns3

RATE = 100 * GBPS
BYTE_PS = 80
MTU = 4096
DATA_PS = (MTU + 62 + 20) * BYTE_PS
DELAY_PS = US_PS
ROCE = ("ns3::RoceTransport", {"RethBytes": 0})
UNLIKELY = 1e-4  # false alarm of each chi-square test; seeds are fixed


def permutation_flows(leaves, per_leaf, size_bytes, seed):
    flows = Flows()
    rng = np.random.default_rng(seed)
    for src, dst in enumerate(inter_leaf_permutation(leaves, per_leaf, rng)):
        flows.add(src, int(dst), size_bytes)
    return flows


def uplinks(leaves, per_leaf, spines, seed):
    """Return the spine that each flow of a permutation is hashed to; nothing is sent."""
    network = leaf_spine(leaves, per_leaf, spines, RATE, DELAY_PS)
    flows = permutation_flows(leaves, per_leaf, MTU, seed)
    paths = run(network, flows, [ROCE], seed=seed, stop_ps=0).paths()
    return np.array([paths[flow][1][1] - 20_000 for flow in sorted(paths)])


def chance_of_maximum(balls, bins):
    """Return P(fullest bin holds k) for k = 0.., balls thrown independently and uniformly.

    The number of ways to have no bin above k is balls! times the coefficient of x^balls in
    (1 + x + x^2/2! + ... + x^k/k!)^bins.
    """
    at_most = []
    for k in range(balls + 1):
        power = [Fraction(1)] + [Fraction(0)] * balls
        for _ in range(bins):
            power = [
                sum(power[i - j] * Fraction(1, factorial(j)) for j in range(min(i, k) + 1))
                for i in range(balls + 1)
            ]
        at_most.append(float(power[balls] * factorial(balls) / bins**balls))
    return np.diff([0.0, *at_most])


def test_the_oracle_of_the_fullest_bin_by_hand():
    # Two balls in two bins: 1/2 together. Three in two: 2 of 8 all together, else 2.
    assert chance_of_maximum(2, 2).tolist() == [0, 0.5, 0.5]
    assert chance_of_maximum(3, 2).tolist() == [0, 0, 0.75, 0.25]


def test_the_fullest_uplink_of_a_hashed_permutation_is_balls_in_bins():
    # 8 leaves of 8 hosts and 8 uplinks: each leaf of each seed throws 8 balls into 8 bins, and
    # leaves are independent of each other. 150 seeds: 1200 draws in four classes.
    seeds = 150
    fullest = []
    for seed in range(seeds):
        by_leaf = uplinks(8, 8, 8, seed).reshape(8, 8)
        fullest += [max(Counter(leaf).values()) for leaf in by_leaf.tolist()]
    chance = chance_of_maximum(8, 8)
    classes = [chance[:3].sum(), chance[3], chance[4], chance[5:].sum()]
    observed = [sum(f <= 2 for f in fullest), fullest.count(3), fullest.count(4)]
    observed.append(len(fullest) - sum(observed))

    assert stats.chisquare(observed, np.array(classes) * len(fullest)).pvalue > UNLIKELY


def test_every_uplink_is_as_likely_as_any_other():
    counts = np.zeros(8)
    for seed in range(150):
        counts += np.bincount(uplinks(8, 8, 8, seed), minlength=8)
    assert counts.sum() == 150 * 64
    assert stats.chisquare(counts).pvalue > UNLIKELY


def test_another_seed_draws_other_paths_and_the_same_seed_the_same():
    assert (uplinks(8, 8, 8, 1) == uplinks(8, 8, 8, 1)).all()
    # The same permutation under other hash salts: 64 flows agree by chance in about 8 places.
    network = leaf_spine(8, 8, 8, RATE, DELAY_PS)
    flows = permutation_flows(8, 8, MTU, 1)
    one, two = (
        [path[1] for path in run(network, flows, [ROCE], seed=seed, stop_ps=0).paths().values()]
        for seed in (1, 2)
    )
    assert one != two
    assert sum(a == b for a, b in zip(one, two, strict=True)) < 25


def test_the_second_choice_does_not_follow_the_first():
    # Polarisation: switches that hash alike leave half of the second stage's links empty. Here
    # 4 spines (first choice) and 4 parallel links from spine to leaf (second choice): all 16
    # pairs equally likely. Independence by a contingency table of 150 * 32 flows.
    table = np.zeros((4, 4))
    for seed in range(150):
        network = Network(hosts=list(range(64)))
        network.switches = [(10_000, 1), (10_001, 1)] + [(20_000 + s, 2) for s in range(4)]
        for host in network.hosts:
            network.link(host, 10_000 + host // 32, RATE, DELAY_PS)
        for spine in range(4):
            network.link(10_000, 20_000 + spine, RATE, DELAY_PS)
            for parallel in range(4):
                network.link(10_001, 20_000 + spine, RATE, DELAY_PS, parallel=parallel)
        flows = Flows()
        for host in range(32):
            flows.add(host, 32 + host, MTU)
        for path in run(network, flows, [ROCE], seed=seed, stop_ps=0).paths().values():
            table[path[1][1] - 20_000, path[2][2]] += 1
    assert stats.chi2_contingency(table).pvalue > UNLIKELY
    assert stats.chisquare(table.ravel()).pvalue > UNLIKELY


@pytest.mark.parametrize("pfc", [None, {"XoffBytes": 100_000}])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_last_flow_of_a_link_is_never_faster_than_its_bytes(pfc, seed):
    # All flows of a link together put n * DATA_PS on it. Before that the first packet crosses
    # the links ahead of it, after it the last one the links behind it.
    size = 60 * MTU
    network = leaf_spine(4, 8, 8, RATE, DELAY_PS)
    got = run(network, permutation_flows(4, 8, size, seed), [ROCE], pfc=pfc, seed=seed)
    on_link: dict = {}
    for flow, path in got.paths().items():
        for link in path:
            on_link.setdefault((link, len(path)), []).append(flow)
    fullest = 0
    for (_, links), flows in on_link.items():
        bound_ps = len(flows) * 60 * DATA_PS + (links - 1) * DATA_PS + links * DELAY_PS
        assert max(got.fct_ps(flow) for flow in flows) >= bound_ps
        fullest = max(fullest, len(flows))
    assert fullest > 1, "this draw has no collision and shows nothing"
    # And a good fabric comes near: the slowest flow within 15 % of its most loaded link.
    assert got.fcts_ps().max() <= 1.15 * (fullest * 60 * DATA_PS + 3 * DATA_PS + 4 * DELAY_PS)


def one_uplink(n):
    """Return hosts 0..n-1 left, n..2n-1 right, one link between the two switches."""
    network = Network(hosts=list(range(2 * n)), switches=[(1000, 1), (1001, 1)])
    for host in network.hosts:
        network.link(host, 1000 + host // n, RATE, DELAY_PS)
    network.link(1000, 1001, RATE, DELAY_PS)
    return network


@pytest.mark.parametrize("n", [2, 5, 40, 150])
def test_equal_flows_on_one_link_take_turns_packet_by_packet(n):
    # n hosts start together. Packet k of all n comes to the switch at the same instant and they
    # queue in the order of their ports. So packet k of host i is number k * n + i on the link,
    # and the last of host i ends there after (P - 1) * n + i + 1 packets. (150: every instant has
    # hundreds of events, which the engine puts in order in another way than a few.)
    packets = 80
    flows = Flows()
    for host in range(n):
        flows.add(host, n + host, packets * MTU)
    got = run(one_uplink(n), flows, [ROCE])
    for host in range(n):
        on_link = (packets - 1) * n + host + 1
        assert got.fct_ps(host) == DATA_PS + on_link * DATA_PS + DATA_PS + 3 * DELAY_PS


def test_equal_flows_of_one_host_take_turns_packet_by_packet():
    # Flow 0 starts first, so its first packet leaves before the others are in line. Then the
    # interface serves all in turn, 0 1 2 .. n-1: flow 0 is one round ahead, and its packet
    # P - 1 is number 1 + (P - 2) n + 1 on the wire. The others end with the last n - 1 packets.
    n, packets = 5, 80
    flows = Flows()
    for i in range(n):
        flows.add(0, n + i, packets * MTU)
    got = run(one_uplink(n), flows, [ROCE])
    for i in range(n):
        on_wire = (packets - 2) * n + 2 if i == 0 else (packets - 1) * n + i + 1
        assert got.fct_ps(i) == on_wire * DATA_PS + 2 * DATA_PS + 3 * DELAY_PS


def test_a_host_sends_the_more_urgent_of_its_messages_first():
    # The low one starts at 0, the high one in the middle of the low one's packet number 10. It
    # waits for its end, half a packet, and then has the wire to itself; so has the switch. The
    # low one ends after all packets of both.
    low_packets, high_packets = 50, 20
    flows = Flows()
    flows.add(0, 2, low_packets * MTU)
    flows.add(0, 3, high_packets * MTU, start_ps=10 * DATA_PS + DATA_PS // 2, transport=1)
    urgent = ("ns3::RoceTransport", {"RethBytes": 0, "Priority": 5})
    got = run(one_uplink(2), flows, [ROCE, urgent])
    beyond_ps = 2 * DATA_PS + 3 * DELAY_PS
    assert got.fct_ps(1) == DATA_PS // 2 + high_packets * DATA_PS + beyond_ps
    assert got.fct_ps(0) == (low_packets + high_packets) * DATA_PS + beyond_ps


def test_equal_flows_on_one_link_end_together_under_flow_control_too():
    n, packets = 5, 500
    flows = Flows()
    for host in range(n):
        flows.add(host, n + host, packets * MTU)
    got = run(one_uplink(n), flows, [ROCE], pfc={"XoffBytes": 50_000})
    fcts = got.fcts_ps()
    assert got["ports"]["pause_frames_sent"].sum() > 0
    assert fcts.max() == pytest.approx(n * packets * DATA_PS, rel=0.01)
    # A queue of 50 kB of the others, 12 packets each, may stand before the last of one flow.
    assert fcts.min() >= fcts.max() - 2 * n * 50_000 * BYTE_PS


def parking_lot(pfc):
    """Return packets delivered in the second half of 4 ms by L (S1-S2-S3), X (S1-S2), Y (S2-S3)."""
    network = Network(hosts=[0, 1, 2, 3, 4, 5], switches=[(1000, 1), (1001, 1), (1002, 1)])
    for host, switch in enumerate((1000, 1000, 1001, 1001, 1002, 1002)):
        network.link(host, switch, RATE, DELAY_PS)
    network.link(1000, 1001, RATE, DELAY_PS)
    network.link(1001, 1002, RATE, DELAY_PS)
    flows = Flows()
    flows.add(0, 4, 100_000_000)  # L
    flows.add(1, 2, 100_000_000)  # X
    flows.add(3, 5, 100_000_000)  # Y
    stop_ps = 4000 * US_PS
    got = run(network, flows, [ROCE], pfc=pfc, stop_ps=stop_ps, arrivals=True)
    late = got["arrivals"]["time_ps"] > stop_ps // 2
    delivered = np.bincount(got["arrivals"]["flow"][late], minlength=3)
    return delivered / (stop_ps // 2 / DATA_PS)


def test_the_parking_lot_in_first_in_first_out_order():
    # S1-S2 gets L and X at full rate each and sends them one for one: 1/2, 1/2. At S2-S3 L
    # arrives at 1/2 and Y at 1; a first-in first-out queue serves them as they come, 1 : 2. So
    # L 1/3, X 1/2, Y 2/3 (max-min would be 1/2 each; no buffer ends here, so nobody stops Y).
    assert parking_lot(None) == pytest.approx([1 / 3, 1 / 2, 2 / 3], rel=0.01)


def test_the_parking_lot_under_flow_control():
    # A first-in first-out queue serves its inputs in proportion to what they hold in it. PFC
    # keeps what L's port and Y's port hold between Xoff - XonOffset - U and Xoff + U, where U is
    # what comes or goes while a PAUSE or RESUME takes effect: 2 * DELAY and three frames at full
    # rate, 38 kB. With Xoff of 2 MB: 1.95 .. 2.04 MB, so L gets 0.489 .. 0.511 of S2-S3. (With
    # Xoff of 100 kB the two differ: L comes back at half the rate of Y, as X is in between.)
    # L thus has half of S1-S2, and X takes turns with it there.
    shares = parking_lot({"XoffBytes": 2_000_000})
    assert shares == pytest.approx([1 / 2, 1 / 2, 1 / 2], rel=0.03)


def test_ports_are_served_alike_not_flows():
    # One flow comes to the switch by its own port, three by one other port (behind a switch).
    # Ports take turns under PFC: 1/2 for the one, 1/6 for each of the three.
    network = Network(hosts=[0, 1, 2, 3, 4], switches=[(1000, 1), (1001, 1)])
    for host in (0, 1, 2):
        network.link(host, 1000, RATE, DELAY_PS)
    network.link(3, 1001, RATE, DELAY_PS)
    network.link(4, 1001, RATE, DELAY_PS)
    network.link(1000, 1001, RATE, DELAY_PS)
    flows = Flows()
    for host in range(4):
        flows.add(host, 4, 100_000_000)
    stop_ps = 4000 * US_PS
    got = run(network, flows, [ROCE], pfc={"XoffBytes": 50_000}, stop_ps=stop_ps)
    shares = got["flows"]["sent_data_packets"] / (stop_ps / DATA_PS)
    assert shares == pytest.approx([1 / 6, 1 / 6, 1 / 6, 1 / 2], rel=0.05)


@pytest.mark.parametrize(
    ("policy", "links"),
    [
        (("ns3::EcmpHash", {}), 16),
        (("ns3::EcmpHash", {"Seed": 7}), 16),
        (("ns3::EcmpHash", {"OwnSeeds": False}), 4),
        (("ns3::EcmpHash", {"OwnSeeds": False, "Seed": 7}), 4),
        (("ns3::EcmpHash", {"Fields": "Hosts"}), 16),
        (("ns3::EcmpHash", {"Fields": "Hosts", "OwnSeeds": False}), 4),
    ],
)
def test_equal_seeds_of_two_tiers_leave_one_uplink_of_each_switch(policy, links):
    # One edge switch with 4 uplinks to switches of 4 uplinks each. With equal seeds what comes to
    # the second tier by member i has a hash in part i of the range, so it goes on by member i: 4 of
    # 16 links up. With seeds of their own 400 messages leave none of 16 unused: the chance is below
    # 16 (15/16)^400 = 1e-10.
    network, flows = Network(hosts=list(range(401))), Flows()
    network.switches = [(1000, 1), *((2000 + i, 2) for i in range(4))]
    network.switches += [(3000 + i, 3) for i in range(16)] + [(4000, 3)]
    for host in range(400):
        network.link(host, 1000, RATE, DELAY_PS)
        flows.add(host, 400, 1000)
    for middle in range(4):
        network.link(1000, 2000 + middle, RATE, DELAY_PS)
        for top in range(4):
            network.link(2000 + middle, 3000 + 4 * middle + top, RATE, DELAY_PS)
    for top in range(16):
        network.link(3000 + top, 4000, RATE, DELAY_PS)
    network.link(4000, 400, RATE, DELAY_PS)
    got = run(network, flows, [ROCE], forwarding=policy)

    ports = got["ports"]
    up = (ports["node"] // 1000 == 2) & (ports["peer"] // 1000 == 3)
    assert (ports["sent_data_packets"][up] > 0).sum() == links


@pytest.mark.parametrize(("fields", "paths"), [("Hosts", 2), ("Destination", 1)])
def test_messages_whose_hashed_fields_are_equal_take_one_path(fields, paths):
    # Two pairs of hosts with one destination, ten messages each: by their hosts at most two paths,
    # by the destination one; by all fields, 20 messages over 8 spines, more than two.
    network, flows = leaf_spine(2, 2, 8, RATE, DELAY_PS), Flows()
    for _ in range(10):
        for src in (0, 1):
            flows.add(src, 2, 1000)

    def spines(policy):
        got = run(network, flows, [ROCE], forwarding=policy)
        return [path[1][1] for path in got.paths().values()]

    found = spines(("ns3::EcmpHash", {"Fields": fields}))
    assert len(set(found)) <= paths
    assert len(set(found[0::2])) == len(set(found[1::2])) == 1
    assert len(set(spines("ns3::EcmpHash"))) > 2
