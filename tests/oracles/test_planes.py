# SPDX-License-Identifier: GPL-2.0-only
"""A permutation over four planes takes as long as over one of four times the rate."""

import numpy as np
import pytest
from oracle_network import GBPS, Flows, Network, inter_leaf_permutation, run

pytestmark = pytest.mark.ns3

HOSTS, LEAVES, SPINES, DELAY_PS = 32, 8, 4, 500_000
PACKETS = 1500
WIRE, BYTE_PS, LINKS = 4096 + 62 + 20, 10, 4
PRODUCT = LINKS * (2 * DELAY_PS + (WIRE + 86) * BYTE_PS) // BYTE_PS  # at 800 Gb/s
WIDE = 1.5  # bandwidth-delay products


def planes(count):
    """Return a network of so many leaf-spines that share hosts and 800 Gb/s for each host."""
    network, rate = Network(hosts=list(range(HOSTS))), 800 * GBPS // count
    for plane in range(count):
        leaf, spine = 10_000 + 100 * plane, 20_000 + 100 * plane
        network.switches += [(leaf + i, 1) for i in range(LEAVES)]
        network.switches += [(spine + i, 2) for i in range(SPINES)]
        for host in network.hosts:
            network.link(host, leaf + host * LEAVES // HOSTS, rate, DELAY_PS)
        for i in range(LEAVES):
            for j in range(SPINES):
                network.link(leaf + i, spine + j, rate, DELAY_PS)
    return network


def median_ps(count, transport, queue):
    flows = Flows()
    drawn = inter_leaf_permutation(LEAVES, HOSTS // LEAVES, np.random.default_rng(3))
    for source, destination in enumerate(drawn):
        flows.add(source, int(destination), PACKETS * 4096)
    got = run(
        planes(count), flows, [transport], queue=queue, forwarding="ns3::EntropyModulo",
        buffer_bytes=10**9,
    )  # fmt: skip
    return float(np.median(got.fcts_ps()))


@pytest.mark.parametrize(
    ("transport", "queue"),
    [
        (("ns3::SprayTransport", {"WindowBdp": WIDE}), None),
        (
            ("ns3::NdpTransport", {"InitialPackets": round(WIDE * PRODUCT / WIRE)}),
            ("ns3::TrimmingQueue", {"LimitBytes": 8 * 4158}),
        ),
        (("ns3::HomaTransport", {"RttBytes": round(WIDE * PRODUCT)}), None),
    ],
    ids=["sprayed", "NDP", "Homa"],
)
def test_four_planes_are_as_good_as_one_for_windows_that_outlast_a_packet_at_each_hop(
    transport, queue
):
    # A packet lasts four times as long on each of four slower links, and who waits behind one at
    # each hop waits four times as long. A window of one product of the unloaded path is used up
    # meanwhile: then four planes take 1.09 times as long.
    assert median_ps(4, transport, queue) <= 1.02 * median_ps(1, transport, queue)


def test_a_window_of_one_product_is_used_up_on_four_planes():
    plain = ("ns3::SprayTransport", {"WindowBdp": 1})
    assert median_ps(4, plain, None) >= 1.06 * median_ps(1, plain, None)


def smartt_ps(count, entropy):
    # Queues of one product of a plane, marked from a fifth of it on.
    product = (8 * DELAY_PS + 4 * (WIRE + 86) * BYTE_PS * count) // (BYTE_PS * count)
    queue = {"LimitBytes": product, "KminBytes": product // 5, "KmaxBytes": product * 4 // 5}
    smartt = {"WindowBdp": 0, "CongestionControl": "ns3::Smartt", "Trimmable": True}
    return median_ps(
        count,
        ("ns3::SprayTransport", {**smartt, "PathSelector": entropy}),
        ("ns3::TrimmingQueue", {**queue, "Pmax": 1}),
    )


def test_what_smartt_pays_for_four_planes_is_what_its_entropies_collide():
    # A permutation of entropies does not collide, so nothing is marked. REPS draws at random until
    # marks teach it: as many packets collide as on one plane, a fifth of a product is a quarter of
    # the packets there, and each takes four times as long.
    even, drawn = "ns3::PermutedEntropy", "ns3::RepsEntropy"
    assert smartt_ps(4, even) <= 1.02 * smartt_ps(1, even)
    assert smartt_ps(4, drawn) >= 1.06 * smartt_ps(1, drawn)


UEC, PACKETS_128 = "ns3::UecTransport", {"LimitBytes": 128 * WIRE}
TRIMS = ("ns3::TrimmingQueue", PACKETS_128)
MARKS = {"KminBytes": 26 * WIRE, "KmaxBytes": 102 * WIRE, "Pmax": 1}


@pytest.mark.parametrize(
    ("transport", "queue"),
    [
        (
            (UEC, {"Trimmable": True, "CongestionControl": "ns3::Nscc"}),
            ("ns3::TrimmingQueue", {**PACKETS_128, **MARKS}),
        ),
        ((UEC, {"Trimmable": True, "ReceiverCredit": True}), TRIMS),
        (("ns3::EqdsTransport", {}), TRIMS),
        (("ns3::NdpTransport", {}), TRIMS),
        (("ns3::HomaTransport", {}), None),
        (("ns3::SprayTransport", {}), None),
    ],
    ids=["NSCC", "RCCC", "EQDS", "NDP", "Homa", "sprayed"],
)
def test_an_incast_fills_all_planes_of_its_receiver(transport, queue):
    # Each of 16 senders has a sixteenth of the rate of its 16 ports: most of them are idle.
    senders, switches, rate, size_bytes = 16, 16, 50 * GBPS, 10**6
    network = Network(hosts=list(range(senders + 1)))
    network.switches = [(1000 + plane, 1) for plane in range(switches)]
    flows = Flows()
    for host in network.hosts:
        for plane in range(switches):
            network.link(host, 1000 + plane, rate, DELAY_PS)
    for sender in range(1, senders + 1):
        flows.add(sender, 0, size_bytes)
    got = run(network, flows, [transport], queue=queue, buffer_bytes=10**9)
    bound_ps = senders * size_bytes * 8000 // (switches * rate // GBPS)
    sent = [got.port(1000 + plane, 0)["sent_bytes"] for plane in range(switches)]
    assert max(sent) <= 1.1 * np.mean(sent)
    assert got.fcts_ps().max() <= 1.2 * bound_ps
