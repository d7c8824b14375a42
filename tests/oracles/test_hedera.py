# SPDX-License-Identifier: GPL-2.0-only
"""Hedera on a fat tree of 128 hosts: strides and permutations near the rate of every host."""

import numpy as np
import pytest
from oracle_network import GBPS, Flows, Network, fat_tree, inter_leaf_permutation, run

pytestmark = [pytest.mark.ns3, pytest.mark.slow]

K, RATE, DELAY_PS = 8, 10 * GBPS, 1_000_000
HOSTS = K**3 // 4
MTU, WIRE, ANSWER, BYTE_PS = 4096, 4096 + 62 + 20, 66 + 20, 800
PACKETS = 10_000  # 33 ms alone: a message is hashed for the first of 33 intervals
# Windows above one product: an answer that waits must not stop its message.
CONTROL = {"Recovery": "SelectiveRepeat", "ReorderPackets": 1000, "WindowBytes": 1_000_000,
           "CongestionControl": "ns3::Dctcp"}  # fmt: skip
QUEUE = ("ns3::RedEcn", {"KminBytes": 30_000, "KmaxBytes": 30_000})
#: Every host sends and receives all the time, and answers take their share of each link.
OPTIMUM = WIRE / (WIRE + ANSWER)


def mean_rate(destinations, placement=None):
    """Return the mean rate of all messages, with their headers, over the rate of a link [1]."""
    flows = Flows()
    for source, destination in enumerate(destinations):
        flows.add(source, int(destination), PACKETS * MTU)
    got = run(
        fat_tree(K, RATE, DELAY_PS),
        flows,
        [("ns3::RoceTransport", CONTROL)],
        queue=QUEUE,
        program=("ns3::Hedera", {"Placement": placement}) if placement else None,
    )
    return float((PACKETS * WIRE * BYTE_PS / got.fcts_ps()).mean())


def stride(by):
    return (np.arange(HOSTS) + by) % HOSTS


@pytest.mark.parametrize("placement", ["Annealing", "FirstFit"])
def test_a_stride_of_a_pod_gets_what_the_network_has(placement):
    assert mean_rate(stride(16)) < 0.65  # hashed: two flows on many links
    assert 0.95 <= mean_rate(stride(16), placement) / OPTIMUM <= 1.02


def test_annealing_places_a_permutation_that_first_fit_leaves_colliding():
    # The optimum for a permutation is that of the stride, whose messages all have links of their
    # own: what hashed answers take of them is in both.
    drawn = inter_leaf_permutation(K * K // 2, K // 2, np.random.default_rng(1))
    optimum = mean_rate(stride(16), "Annealing")
    annealed, fitted = (mean_rate(drawn, name) for name in ("Annealing", "FirstFit"))
    assert annealed >= 0.95 * optimum
    assert fitted < annealed - 0.02


def two_planes():
    """Return two hosts below each of two leaves, with two spines, twice: a link in each plane."""
    network = Network(hosts=[0, 1, 2, 3])
    for plane in (100, 200):
        leaves, spines = (plane, plane + 1), (plane + 10, plane + 11)
        network.switches += [(leaf, 1) for leaf in leaves] + [(spine, 2) for spine in spines]
        for host in range(4):
            network.link(host, leaves[host // 2], RATE, DELAY_PS)
        for leaf in leaves:
            for spine in spines:
                network.link(leaf, spine, RATE, DELAY_PS)
    return network


@pytest.mark.parametrize("placement", ["Annealing", "FirstFit"])
def test_messages_of_a_host_in_two_planes_have_a_link_each(placement):
    # Oracle: hosts 0 and 1 send two messages each. In a plane there is an uplink for each host, so
    # a message is alone on all its links, or shares them with the other one of its host. A message
    # that is taken for half of a link may get an uplink together with that of the other host.
    seen = set()
    for seed in range(8):
        flows = Flows()
        for host in (0, 1) * 2:
            flows.add(host, host + 2, PACKETS * MTU)
        got = run(
            two_planes(), flows, [("ns3::RoceTransport", CONTROL)], queue=QUEUE, seed=seed,
            program=("ns3::Hedera", {"Placement": placement, "AnnealingFactor": 0.5}),
        )  # fmt: skip
        took = PACKETS * WIRE * BYTE_PS / got.fcts_ps()
        for host in (0, 1):
            packets = [got.port(host, leaf)["sent_data_packets"] for leaf in (100, 200)]
            alone = int(min(packets)) > 0
            seen.add(alone)
            assert (took[host::2] > 0.9 / (1 if alone else 2)).all(), (seed, host, took, packets)
    assert seen == {True, False}
