# SPDX-License-Identifier: GPL-2.0-only
"""A message alone takes its packets' time on the first link, and the last one's on the others.

Sizes lie on both sides of one, one and a half and two bandwidth-delay products, where windows,
first credit and grants end; networks have one, two and three tiers, and many equal paths.
"""

import pytest
from oracle_network import GBPS, Flows, fat_tree, leaf_spine, run, star

pytestmark = pytest.mark.ns3

RATE, BYTE_PS, DELAY_PS = 400 * GBPS, 20, 1_000_000
MTU = 4096
WIRE, ANSWER = MTU + 62 + 20, 66 + 20  # on the wire, with framing
PRODUCTS = [0.1, 0.5, 0.9, 1.0, 1.05, 1.26, 1.5, 1.8, 2.0, 2.4, 4, 10]
APART_PS = 10**9  # a millisecond: each message is alone


#: Links of a path, the network, and the host that is farthest from host 0.
TIERS = {
    1: (2, lambda: star(2, RATE, DELAY_PS), 1),
    2: (4, lambda: leaf_spine(2, 1, 4, RATE, DELAY_PS), 1),
    3: (6, lambda: fat_tree(4, RATE, DELAY_PS), 15),
}
UEC, ROCE = "ns3::UecTransport", "ns3::RoceTransport"
NSCC, BOTH = "ns3::Nscc", "ns3::Nscc[IgnoresLastHopTrims=true]"
RETH_PS = 16 * BYTE_PS  # on each link


def controlled(control):
    return (ROCE, {"CongestionControl": control})


#: Transports that take the ideal time to the ps, but for the first packet's longer header (RETH).
EXACT = {
    "go-back-N": (ROCE, {}),
    "selective repeat": (ROCE, {"Recovery": "SelectiveRepeat"}),
    "DCQCN": controlled("ns3::Dcqcn"),
    "TIMELY": controlled("ns3::Timely"),
    "sprayed": ("ns3::SprayTransport", {}),
    "SMaRTT": (
        "ns3::SprayTransport",
        {"CongestionControl": "ns3::Smartt", "PathSelector": "ns3::RepsEntropy", "WindowBdp": 0},
    ),
    "NSCC": (UEC, {"CongestionControl": NSCC}),
    "Homa": ("ns3::HomaTransport", {}),
    "wide area": ("ns3::WanTransport", {}),
}
#: Those that do not: how many times the least, and how much more [round trips, packets], and why.
SLOWER = {
    "NDP": (("ns3::NdpTransport", {}), 1 / 0.99, 0, 0, "PULLs come at 0.99 of the rate"),
    "EQDS": (("ns3::EqdsTransport", {}), 1 / 0.99, 0, 0, "credit comes at 0.99 of the rate"),
    "RCCC": ((UEC, {"ReceiverCredit": True}), 1 / 0.99, 0, 0, "credit comes at 0.99 of the rate"),
    "NSCC and RCCC": (
        (UEC, {"ReceiverCredit": True, "CongestionControl": BOTH}),
        1 / 0.99, 0, 0, "credit comes at 0.99 of the rate",
    ),
    "DCTCP": (controlled("ns3::Dctcp"), 1, 0, 1, "a product in whole packets: less than one lost"),
    "Swift": (controlled("ns3::Swift"), 1, 0, 1, "a product in whole packets: less than one lost"),
    "MP-RDMA": (("ns3::MpRdmaTransport", {}), 1, 0, 1, "a product in whole packets: the same"),
    # 2 B and 8 B for each switch, so at most 42 of 4178 B; HPCC aims at 0.95 of a link.
    "PowerTCP": (controlled("ns3::PowerTcp"), 1 + 42 / WIRE, 0, 0, "telemetry in each packet"),
    "HPCC": (controlled("ns3::Hpcc"), (1 + 42 / WIRE) / 0.95, 0, 0, "telemetry; 0.95 of a link"),
    # Eight subflows of ten packets, then twice as many: one bubble up to three times 80 packets,
    # and from there on a window of more than a product.
    "MPTCP": (("ns3::MptcpTransport", {}), 1, 1, 0, "slow start of each subflow"),
}  # fmt: skip


def round_trip_ps(links):
    return links * (2 * DELAY_PS + (WIRE + ANSWER) * BYTE_PS)


def times_ps(tiers, transport):
    """Return the time of each message, and the least that is possible."""
    links, network, target = TIERS[tiers]
    product = round_trip_ps(links) // BYTE_PS
    flows, packets = Flows(), [max(1, round(part * product / WIRE)) for part in PRODUCTS]
    for number, count in enumerate(packets):
        flows.add(0, target, count * MTU, number * APART_PS)
    type_name, attributes = transport
    telemetry = attributes.get("CongestionControl") in ("ns3::Hpcc", "ns3::PowerTcp")
    got = run(
        network(),
        flows,
        [transport],
        queue=("ns3::RedEcn", {"KminBytes": product, "KmaxBytes": product}),
        program="ns3::InbandTelemetry" if telemetry else None,
        forwarding="ns3::EntropyModulo",
    )
    least_ps = [(n + links - 1) * WIRE * BYTE_PS + links * DELAY_PS for n in packets]
    return [(got.fct_ps(flow), least) for flow, least in enumerate(least_ps)]


@pytest.mark.parametrize("tiers", TIERS)
@pytest.mark.parametrize("name", EXACT)
def test_a_message_alone_takes_its_ideal_time(name, tiers):
    header_ps = TIERS[tiers][0] * RETH_PS * (EXACT[name][0] == ROCE)
    for taken_ps, least_ps in times_ps(tiers, EXACT[name]):
        assert taken_ps == least_ps + header_ps


@pytest.mark.parametrize("tiers", TIERS)
@pytest.mark.parametrize("name", SLOWER)
def test_a_message_alone_takes_no_longer_than_its_protocol_says(name, tiers):
    transport, factor, trips, packets, why = SLOWER[name]
    links = TIERS[tiers][0]
    more_ps = trips * round_trip_ps(links) + packets * WIRE * BYTE_PS
    more_ps += links * RETH_PS * (transport[0] == ROCE)
    for taken_ps, least_ps in times_ps(tiers, transport):
        assert least_ps <= taken_ps <= factor * least_ps + more_ps, why


def test_a_ring_of_messages_a_little_longer_than_the_first_credit_takes_no_round_trips_more():
    # Twelve hosts, one message each to the next; a chain of eleven steps, 512 KiB each, which is
    # 1.25 products: each step takes its packets and the way, at most 1 % more for credit.
    links, hosts, steps = 4, 12, 11
    packets = 512 * 1024 // MTU
    flows, after = Flows(), []
    for step in range(steps):
        for host in range(hosts):
            flow = flows.add(host, (host + 1) % hosts, packets * MTU)
            if step:
                after.append((flow, flow - hosts - host + (host - 1) % hosts, 0))
    transport = (UEC, {"ReceiverCredit": True})
    got = run(
        leaf_spine(hosts, 1, hosts, RATE, DELAY_PS), flows, [transport], dependencies=after,
        forwarding="ns3::EntropyModulo",
    )  # fmt: skip
    step_ps = (packets + links - 1) * WIRE * BYTE_PS + links * DELAY_PS
    last_ps = int(got["flows"]["receiver_end_ps"].max())
    assert steps * step_ps <= last_ps <= 1.03 * steps * step_ps
