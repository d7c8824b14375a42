# SPDX-License-Identifier: GPL-2.0-only
"""Packets over many paths: counts per path, what is left to the optimum, and reordering."""

import json
from pathlib import Path

import numpy as np
import pytest
from oracle_network import (
    GBPS,
    US_PS,
    Flows,
    Network,
    inter_leaf_permutation,
    leaf_spine,
    one_flow,
    run,
)
from scipy import stats

pytestmark = pytest.mark.ns3

RATE = 800 * GBPS
BYTE_PS = 10
MTU = 4096
DATA_PS = (MTU + 62 + 20) * BYTE_PS
ACK_PS = (66 + 20) * BYTE_PS
DELAY_PS = 500_000
UNLIKELY = 1e-4  # false alarm of each chi-square test; seeds are fixed
SPRAY = "ns3::SprayTransport"


def data_per_uplink(got, leaf, spines):
    return np.array([got.port(leaf, 20_000 + s)["sent_data_packets"] for s in range(spines)])


def crossing(spines, packets, transport, *, sources=1, **options):
    """Send from the hosts of one leaf to those of another; return the outcome."""
    flows = Flows()
    for host in range(sources):
        flows.add(host, 8 + host, packets * MTU)
    network = leaf_spine(2, 8, spines, RATE, DELAY_PS)
    return run(network, flows, [transport], **options)


@pytest.mark.parametrize(("packets", "sources"), [(1, 1), (15, 1), (1003, 1), (501, 3)])
def test_round_robin_at_the_switch_differs_by_at_most_one(packets, sources):
    got = crossing(8, packets, (SPRAY, {}), sources=sources, forwarding="ns3::RoundRobinSpray")
    counts = data_per_uplink(got, 10_000, 8)
    assert counts.sum() == packets * sources
    assert counts.max() - counts.min() <= 1


def test_acknowledgements_take_no_turn_of_data():
    # The other leaf sends, too, so both leaves spray data and acknowledgements at once.
    flows = Flows()
    for src, dst in ((0, 8), (1, 9), (10, 2), (11, 3)):
        flows.add(src, dst, 1003 * MTU)
    network = leaf_spine(2, 8, 8, RATE, DELAY_PS)
    got = run(network, flows, [(SPRAY, {})], forwarding="ns3::RoundRobinSpray")
    for leaf in (10_000, 10_001):
        counts = data_per_uplink(got, leaf, 8)
        frames = np.array([got.port(leaf, 20_000 + s)["sent_frames"] for s in range(8)])
        assert counts.sum() == 2 * 1003
        assert counts.max() - counts.min() <= 1
        assert np.ptp(frames - counts) <= 1 and (frames > counts).all()


@pytest.mark.parametrize("packets", [1, 15, 1003])
def test_permuted_entropy_of_one_flow_differs_by_at_most_one(packets):
    got = crossing(8, packets, (SPRAY, {}), forwarding="ns3::EntropyModulo")
    counts = data_per_uplink(got, 10_000, 8)
    assert counts.sum() == packets
    assert counts.max() - counts.min() <= 1


@pytest.mark.parametrize("spine_tier", [3, 10**9, 2**32 - 1])
def test_only_the_order_of_tiers_counts(spine_tier):
    network = leaf_spine(2, 8, 8, RATE, DELAY_PS)
    network.switches = [
        (node, tier if tier == 1 else spine_tier) for node, tier in network.switches
    ]
    got = run(network, one_flow(0, 8, 801 * MTU), [(SPRAY, {})], forwarding="ns3::EntropyModulo")
    assert sorted(data_per_uplink(got, 10_000, 8)) == [100] * 7 + [101]


def test_more_paths_than_entropies_are_no_mistake():
    # 256 links in each of four tiers: 2^32 paths, of which an entropy tells 2^16 apart.
    network = Network(hosts=[0, 1], switches=[(10 + tier, tier) for tier in range(1, 6)])
    network.link(0, 11, RATE, DELAY_PS)
    network.link(1, 15, RATE, DELAY_PS)
    for below in range(11, 15):
        for parallel in range(256):
            network.link(below, below + 1, RATE, DELAY_PS, parallel=parallel)
    got = run(network, one_flow(0, 1, 512 * MTU), [(SPRAY, {})], forwarding="ns3::EntropyModulo")
    counts = [got.port(11, 12, parallel)["sent_data_packets"] for parallel in range(256)]
    assert sum(counts) == 512 and len(set(counts)) > 1  # a random part of all entropies


@pytest.mark.parametrize(
    ("forwarding", "entropy"),
    [
        ("ns3::RandomSpray", "ns3::PermutedEntropy"),
        ("ns3::EntropyModulo", "ns3::RandomEntropy"),
        # A hash of 65536 entropies favours some of 8 paths by 1 % of their share at random;
        # against the 4.5 % of 500 counts that raises chi-square by 6 %: not seen.
        ("ns3::EcmpHash", "ns3::RandomEntropy"),
    ],
)
def test_random_choice_per_packet_is_binomial(forwarding, entropy):
    pvalues = []
    for seed in range(20):
        got = crossing(
            8, 4000, (SPRAY, {"PathSelector": entropy}), forwarding=forwarding, seed=seed
        )
        counts = data_per_uplink(got, 10_000, 8)
        assert counts.sum() == 4000
        pvalues.append(stats.chisquare(counts).pvalue)
    assert min(pvalues) > UNLIKELY
    # Nor too even: 20 p-values are uniform (round robin would give 1 each time).
    assert stats.kstest(pvalues, "uniform").pvalue > UNLIKELY


def optimum_ps(packets, delay_ps=DELAY_PS):
    """Return the time that no scheme of a permutation beats.

    Each host sends its message and the ACKs for the message it receives over its one link, so
    per packet 4096 + 62 + 20 B and 66 + 20 B. The last packet then crosses three more links and
    four delays. (Headers, framing and ACKs are 3.9 % of it: 4096 B of 4264.)
    """
    return packets * (DATA_PS + ACK_PS) + 3 * DATA_PS + 4 * delay_ps


def permutation(leaves, per_leaf, spines, size_bytes, transport, forwarding, **options):
    """Return slowest FCT over the optimum."""
    delay_ps = options.pop("delay_ps", DELAY_PS)
    seed = options.get("seed", 1)
    flows = Flows()
    destinations = inter_leaf_permutation(leaves, per_leaf, np.random.default_rng(seed))
    for src, dst in enumerate(destinations):
        flows.add(src, int(dst), size_bytes)
    network = leaf_spine(leaves, per_leaf, spines, RATE, delay_ps)
    got = run(network, flows, [transport], forwarding=forwarding, **options)
    assert got["flows"]["retransmitted_packets"].sum() == 0, "a late packet is not a lost one"
    return got.fcts_ps().max() / optimum_ps(-(-size_bytes // MTU), delay_ps)


def even(window_bdp):
    return (SPRAY, {"WindowBdp": window_bdp, "PathSelector": "ns3::PermutedEntropy"})


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_sprayed_permutation_of_128_hosts_is_within_five_percent_of_the_optimum(seed):
    # Measured: 0.7 % (window 1.25 of the unloaded product or more).
    slowest = permutation(8, 16, 16, 8_000_000, even(1.5), "ns3::EntropyModulo", seed=seed)
    assert 1 - 1e-3 <= slowest <= 1.05


def test_a_window_of_one_unloaded_round_trip_is_too_small_by_what_packets_wait():
    # W packets per loaded round trip: with W = RTT / d the rate is RTT / (RTT + wait). In an
    # even spray a packet meets those of other hosts at each of three switches, a few d = 42 ns
    # each; the unloaded RTT is 104 d, so each 6 packets of waiting cost 6 %. Links four times
    # as long have the same wait in four times the RTT: the loss must fall to about a quarter.
    def loss(window_bdp, delay_ps):
        transport = even(window_bdp)
        args = (8, 16, 16, 8_000_000, transport, "ns3::EntropyModulo")
        return permutation(*args, delay_ps=delay_ps) - 1

    short, long = loss(1.0, DELAY_PS), loss(1.0, 4 * DELAY_PS)
    assert 0.03 < short < 0.12
    assert long < short / 2.5
    assert loss(1.5, DELAY_PS) < short / 2.5


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_hashed_random_entropy_loses_about_ten_percent_to_the_optimum(seed):
    # Random choice makes queues of tens of packets at some links, which a window of one round
    # trip turns into lost rate. Other simulators show 1.08 to 1.17 for this.
    transport = (SPRAY, {"PathSelector": "ns3::RandomEntropy"})
    slowest = permutation(8, 16, 16, 8_000_000, transport, "ns3::EcmpHash", seed=seed)
    assert 1.08 <= slowest <= 1.17


@pytest.mark.slow
def test_a_sprayed_permutation_of_1024_hosts_is_within_five_percent_of_the_optimum(capsys):
    size_bytes = 8_000_000
    slowest = permutation(32, 32, 32, size_bytes, even(1.5), "ns3::EntropyModulo")
    random = permutation(
        32, 32, 32, size_bytes, (SPRAY, {"PathSelector": "ns3::RandomEntropy"}), "ns3::EcmpHash"
    )
    with capsys.disabled():
        print(f"\n1024 hosts, slowest / optimum: even {slowest:.4f}, hashed random {random:.4f}")
    assert 1 - 1e-3 <= slowest <= 1.05
    assert 1.05 <= random <= 1.20


#: Switches that choose by the entropy, each with every selector that varies it; who names a path
#: by an entropy (ScoredEntropy) wants one each. Then switches that choose for every packet.
BY_ENTROPY = ["ns3::EntropyModulo", "ns3::EcmpHash", "ns3::WeightedHash"]
VARIED = [f"ns3::{name}Entropy" for name in ("Permuted", "Random", "Reps", "Mixed", "Bitmap")]
SCORED = "ns3::ScoredEntropy"
BY_PACKET = [f"ns3::{name}" for name in
             ("RandomSpray", "RoundRobinSpray", "WeightedSpray", "LeastLoaded")]  # fmt: skip
SPRAYING = [
    *((forwarding, entropy) for forwarding in BY_ENTROPY for entropy in VARIED),
    ("ns3::EntropyModulo", SCORED),
    *((forwarding, "ns3::PermutedEntropy") for forwarding in BY_PACKET),
]
KEEPS_TO_A_PATH = {"ns3::ExplicitRoutes", "ns3::Flowlet", "ns3::FlowEntropy", "ns3::FlowletEntropy"}


@pytest.mark.parametrize(("forwarding", "entropy"), SPRAYING)
def test_one_of_16_uplinks_costs_a_sixteenth_whoever_sprays(forwarding, entropy):
    # Oracle: the packets of 16 hosts cross 15 links, 16/15 on each of what a host sends, and each
    # three more; 15 % for chance. Without a shift per round one link has twice the packets, as for
    # scores until late packets, taken for lost, have told of it.
    packets = 977  # 4 MB
    flows = Flows()
    for host in range(16):
        flows.add(host, 16 + host, packets * MTU)
    got = run(
        leaf_spine(2, 16, 16, RATE, DELAY_PS),
        flows,
        [(SPRAY, {"WindowBdp": 1.25, "PathSelector": entropy})],
        forwarding=forwarding,
        link_events=[(0, 10_000, 20_000, 0)],  # the routes know at once
        buffer_bytes=64_000_000,
    )
    best_ps = 16 / 15 * packets * DATA_PS + 3 * DATA_PS + 4 * DELAY_PS
    assert got["flows"]["retransmitted_packets"].sum() == 0 or entropy == SCORED
    assert 1 <= got.fcts_ps().max() / best_ps <= 1.15
    uplinks = data_per_uplink(got, 10_000, 16)
    assert uplinks[0] == 0 and uplinks.max() <= 1.15 * uplinks.sum() / 15


def test_whoever_sprays_is_tried_with_a_lost_uplink():
    entries = json.loads((Path(__file__).parents[1] / "data" / "typeids.json").read_text())
    kinds = ("forwarding", "path_selector")
    there_are = {entry["name"] for entry in entries if entry["contract"] in kinds}

    assert {name for pair in SPRAYING for name in pair} == there_are - KEEPS_TO_A_PATH


def test_entropies_of_more_paths_than_a_list_holds_use_all_of_them_evenly():
    # 64 links in each of two tiers: 4096 paths, in one round a packet on each.
    network = Network(hosts=[0, 1], switches=[(10 + tier, tier) for tier in range(1, 4)])
    network.link(0, 11, RATE, DELAY_PS)
    network.link(1, 13, RATE, DELAY_PS)
    for below in (11, 12):
        for parallel in range(64):
            network.link(below, below + 1, RATE, DELAY_PS, parallel=parallel)
    got = run(network, one_flow(0, 1, 4096 * MTU), [(SPRAY, {})], forwarding="ns3::EntropyModulo")
    for below in (11, 12):
        counts = {got.port(below, below + 1, p)["sent_data_packets"] for p in range(64)}
        assert counts == {64}


def two_paths(delays_ps):
    """Return host 0 and host 1 with a leaf each and one spine per delay between the leaves."""
    network = Network(hosts=[0, 1], switches=[(10_000, 1), (10_001, 1)])
    network.link(0, 10_000, RATE, DELAY_PS)
    network.link(1, 10_001, RATE, DELAY_PS)
    for i, delay_ps in enumerate(delays_ps):
        network.switches.append((20_000 + i, 2))
        network.link(10_000, 20_000 + i, RATE, delay_ps)
        network.link(10_001, 20_000 + i, RATE, delay_ps)
    return network


PACKETS = 2000
ROCE = ("ns3::RoceTransport", {"RethBytes": 0})


def over_two_paths(delays_ps, transport):
    got = run(
        two_paths(delays_ps),
        one_flow(0, 1, PACKETS * MTU),
        [transport],
        forwarding="ns3::RoundRobinSpray",
    )
    # The source's own link is the bottleneck: all packets, three more links, the longer path.
    best_ps = PACKETS * DATA_PS + 3 * DATA_PS + 2 * DELAY_PS + 2 * max(delays_ps)
    return got, got.fct_ps() / best_ps


def test_over_two_equal_paths_go_back_n_keeps_the_order_and_its_rate():
    got, slowdown = over_two_paths([DELAY_PS, DELAY_PS], ROCE)
    assert slowdown == 1
    assert got.flow(0)["naks"] == 0


def test_over_two_unequal_paths_go_back_n_collapses():
    # The short path is 9 us = 215 packets ahead. A NAK sends back to the first missing packet,
    # whose copy half of the time takes the long path again.
    got, slowdown = over_two_paths([DELAY_PS, 5 * US_PS], ROCE)
    flow = got.flow(0)
    assert slowdown > 3
    assert flow["retransmitted_packets"] > PACKETS
    assert got["ports"]["dropped_loss_frames"].sum() == 0, "nothing was lost at all"


def test_over_two_unequal_paths_selective_repeat_does_not_collapse():
    # A window for the longer round trip: 22 us against 4 us of the shorter one.
    transport = (SPRAY, {"WindowBdp": 12})
    got, slowdown = over_two_paths([DELAY_PS, 5 * US_PS], transport)
    assert slowdown <= 1.02
    assert got.flow(0)["retransmitted_packets"] == 0
    # What came by the short path waited for what came by the long one: half of 2 * 4.5 us.
    early = 2 * (5 * US_PS - DELAY_PS) / DATA_PS
    assert got.flow(0)["out_of_order_peak_packets"] == pytest.approx(early / 2, abs=3)


@pytest.mark.parametrize("loss", [0.0, 1e-2])
@pytest.mark.parametrize("seed", range(6))
def test_a_message_ends_with_the_packet_that_comes_last_whatever_its_number(seed, loss):
    # Oracle: the trace. Over two unequal paths the last number often overtakes those before it.
    network = two_paths([DELAY_PS, 5 * US_PS])
    network.links = [(*link[:5], loss, 0.0) for link in network.links]
    got = run(
        network,
        one_flow(0, 1, 300 * MTU),
        [(SPRAY, {"WindowBdp": 12, "Rto": "200us"})],
        forwarding="ns3::RandomSpray",
        seed=seed,
        arrivals=True,
    )
    first: dict[int, int] = {}
    for packet, time_ps in zip(got["arrivals"]["packet"], got["arrivals"]["time_ps"], strict=True):
        first.setdefault(int(packet), int(time_ps))
    assert sorted(first) == list(range(300))
    assert got.flow(0)["receiver_end_ps"] == max(first.values())
