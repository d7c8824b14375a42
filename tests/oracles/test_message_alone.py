# SPDX-License-Identifier: GPL-2.0-only
"""A message alone takes its packets' time on the first link, and the last one's on the others.

Sizes lie on both sides of one, one and a half and two bandwidth-delay products, where windows,
first credit and grants end; networks have one, two and three tiers, many equal paths, uplinks that
are slower, faster and longer than the links of hosts, and planes.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from oracle_network import GBPS, Flows, Network, fat_tree, leaf_spine, run, star

pytestmark = pytest.mark.ns3

RATE, BYTE_PS, DELAY_PS = 400 * GBPS, 20, 1_000_000
MTU = 4096
WIRE, ANSWER = MTU + 62 + 20, 66 + 20  # on the wire, with framing
PRODUCTS = [0.1, 0.5, 0.9, 1.0, 1.05, 1.26, 1.5, 1.8, 2.0, 2.4, 4, 10]
APART_PS = 10**10  # ten milliseconds: each message is alone
RETH = 16  # in the first packet of a message over RoCE
LONGEST_QUEUE = 20  # products: more than the longest message
#: Swift's and Falcon's target has the propagation of a path in it; a longer path wants another.
SWIFT_PS = 25_000_000


@dataclass(frozen=True)
class Case:
    """A network, and the links of a path through it from host 0 to another host."""

    make: Callable[[], Network]
    target: int
    rates_bps: Sequence[int]  # of one path, link after link
    delays_ps: Sequence[int]
    planes: int = 1

    @property
    def links(self):
        return len(self.rates_bps)

    @property
    def round_trip_ps(self):
        frames_ps = sum((WIRE + ANSWER) * byte_ps(rate) for rate in self.rates_bps)
        return 2 * sum(self.delays_ps) + frames_ps

    @property
    def product_bytes(self):
        return self.round_trip_ps // byte_ps(self.planes * self.rates_bps[0])

    def alone_ps(self, packets, slowest_bps):
        """Return the time of packets that leave at a rate, or pass a slower link on the way."""
        way_ps = sum(self.delays_ps) + WIRE * sum(map(byte_ps, self.rates_bps))
        return way_ps + (packets - 1) * WIRE * byte_ps(slowest_bps)


def byte_ps(rate_bps):
    return 8 * 10**12 // rate_bps


def alike(links, make, target):
    return Case(make, target, [RATE] * links, [DELAY_PS] * links)


def uplinks(number, rate_bps, delay_ps):
    """Return a host below each of two leaves, between which the links are of another kind."""

    def make():
        network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1)])
        network.switches += [(20 + spine, 2) for spine in range(number)]
        network.link(0, 10, RATE, DELAY_PS)
        network.link(1, 11, RATE, DELAY_PS)
        for spine in range(number):
            network.link(10, 20 + spine, rate_bps, delay_ps)
            network.link(11, 20 + spine, rate_bps, delay_ps)
        return network

    rates, delays = [RATE, rate_bps, rate_bps, RATE], [DELAY_PS, delay_ps, delay_ps, DELAY_PS]
    return Case(make, 1, rates, delays)


def planes(number):
    """Return two hosts with a port of a part of the rate in each plane, of two leaves each."""

    def make():
        network, part_bps = Network(hosts=[0, 1]), RATE // number
        for plane in range(number):
            leaves = [100 * plane + 10, 100 * plane + 11]
            spines = [100 * plane + 20 + spine for spine in range(4)]
            network.switches += [(leaf, 1) for leaf in leaves]
            network.switches += [(spine, 2) for spine in spines]
            for host, leaf in enumerate(leaves):
                network.link(host, leaf, part_bps, DELAY_PS)
                for spine in spines:
                    network.link(leaf, spine, part_bps, DELAY_PS)
        return network

    return Case(make, 1, [RATE // number] * 4, [DELAY_PS] * 4, number)


#: Every message takes its ideal time on these, whichever of the paths its packets take.
TIERS = {
    "one switch": alike(2, lambda: star(2, RATE, DELAY_PS), 1),
    "two tiers": alike(4, lambda: leaf_spine(2, 1, 4, RATE, DELAY_PS), 1),
    "three tiers": alike(6, lambda: fat_tree(4, RATE, DELAY_PS), 15),
    "faster uplinks": uplinks(4, 2 * RATE, DELAY_PS),
    "longer uplinks": uplinks(4, RATE, 10 * DELAY_PS),
    "one slow uplink": uplinks(1, RATE // 2, DELAY_PS),
}
#: Here it matters over how many paths a message goes.
SPREAD = {
    "slow uplinks": uplinks(4, RATE // 2, DELAY_PS),
    "two planes": planes(2),
    "four planes": planes(4),
}
CABLES_PS = [500_000, 1_000_000, 1_500_000, 2_000_000]


def unequal(cables_ps):
    """Return two hosts below leaves between which each spine has cables of a length of its own.

    The path is the longest one.
    """

    def make():
        network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1)])
        network.switches += [(20 + spine, 2) for spine in range(len(cables_ps))]
        for host, leaf in (0, 10), (1, 11):
            network.link(host, leaf, RATE, DELAY_PS)
            for spine, delay_ps in enumerate(cables_ps):
                network.link(leaf, 20 + spine, RATE, delay_ps)
        return network

    return Case(make, 1, [RATE] * 4, [DELAY_PS, max(cables_ps), max(cables_ps), DELAY_PS])


def unequal_planes(cables_ps):
    """Return two hosts with a port in each plane, all cables of which have one length."""

    def make():
        network, part_bps = Network(hosts=[0, 1]), RATE // len(cables_ps)
        for plane, delay_ps in enumerate(cables_ps):
            network.switches.append((10 + plane, 1))
            for host in network.hosts:
                network.link(host, 10 + plane, part_bps, delay_ps)
        return network

    planes = len(cables_ps)
    return Case(make, 1, [RATE // planes] * 2, [max(cables_ps)] * 2, planes)


def two_last_switches(cables_ps):
    """Return hosts of which the second is on two switches, by cables of unlike length."""

    def make():
        network = Network(hosts=[0, 1], switches=[(10, 1), (11, 1), (12, 1)])
        network.link(0, 10, RATE, DELAY_PS)
        for leaf, delay_ps in zip((11, 12), cables_ps, strict=True):
            network.link(10, leaf, RATE, DELAY_PS)
            network.link(1, leaf, RATE, delay_ps)
        return network

    return Case(make, 1, [RATE] * 3, [DELAY_PS, DELAY_PS, max(cables_ps)])


#: Paths differ in length. Windows are made before a packet has found out by how much.
UNEQUAL = {
    "shortest path first": unequal(CABLES_PS),
    "longest path first": unequal(CABLES_PS[::-1]),
    "shortest last cable first": two_last_switches([DELAY_PS, 10 * DELAY_PS]),
    "shortest plane first": unequal_planes(CABLES_PS),
    "longest plane first": unequal_planes(CABLES_PS[::-1]),
}
UEC, ROCE = "ns3::UecTransport", "ns3::RoceTransport"
NSCC, BOTH = "ns3::Nscc", "ns3::Nscc[IgnoresLastHopTrims=true]"


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
    "NSCC, in order": (
        UEC,
        {"CongestionControl": NSCC, "Delivery": "Ordered", "PathSelector": "ns3::FlowEntropy"},
    ),
    "Homa": ("ns3::HomaTransport", {}),
    "wide area": ("ns3::WanTransport", {}),
    # One flow on each path, and a window of as many packets as the longest path holds.
    "Falcon": (
        "ns3::FalconTransport",
        {"PathSelector": "ns3::PermutedEntropy", "BitmapPackets": 1024},
    ),
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
    # Where the first window meets a slow link, it sends less until that queue is gone.
    "HPCC": (controlled("ns3::Hpcc"), (1 + 42 / WIRE) / 0.95, 0.25, 0, "telemetry; 0.95 of a link"),
    # Where the first window meets a slow link: nine tenths of the rate until that queue is gone.
    "SRD": (("ns3::SrdTransport", {}), 1 / 0.9, 0, 1, "drains the queue at a slow link"),
    # Eight subflows of ten packets, then twice as many: one bubble up to three times 80 packets,
    # and from there on a window of more than a product.
    "MPTCP": (("ns3::MptcpTransport", {}), 1, 1, 0, "slow start of each subflow"),
}  # fmt: skip


#: Transports of which each packet takes a path of its own.
MANY_PATHS = {
    "sprayed", "SMaRTT", "NSCC", "Homa", "NDP", "EQDS", "RCCC", "NSCC and RCCC", "MP-RDMA", "MPTCP",
}  # fmt: skip
#: Those of which each packet does, but by one port of its host.
ONE_PORT = {"Falcon", "SRD"}


def packets_of(case):
    return [max(1, round(part * case.product_bytes / WIRE)) for part in PRODUCTS]


def times_ps(case, transport):
    """Return the times of messages, one for each of `PRODUCTS`."""
    flows = Flows()
    for number, count in enumerate(packets_of(case)):
        flows.add(0, case.target, count * MTU, number * APART_PS)
    type_name, attributes = transport
    control = attributes.get("CongestionControl", "")
    if control == "ns3::Swift" and case.round_trip_ps > SWIFT_PS:
        attributes = {**attributes, "CongestionControl": "ns3::Swift[BaseTarget=100us]"}
    if type_name == "ns3::FalconTransport" and case.round_trip_ps > SWIFT_PS:
        attributes = {**attributes, "BaseTarget": "100us"}
    marks_at = case.product_bytes
    if min(case.rates_bps) < case.rates_bps[0]:
        marks_at *= LONGEST_QUEUE  # what waits at a slow uplink is no congestion of others
    got = run(
        case.make(),
        flows,
        [(type_name, attributes)],
        queue=("ns3::RedEcn", {"KminBytes": marks_at, "KmaxBytes": marks_at}),
        program="ns3::InbandTelemetry" if control in ("ns3::Hpcc", "ns3::PowerTcp") else None,
        forwarding="ns3::EntropyModulo",
    )
    return [got.fct_ps(flow) for flow in range(len(PRODUCTS))]


def least_ps(case, transport):
    """Return the times on one path.

    The longer first packet of RoCE delays those behind it up to the last of the slowest links;
    beyond it is a gap between packets that takes the delay up.
    """
    slowest = min(case.rates_bps)
    last = max(i for i, rate in enumerate(case.rates_bps) if rate == slowest)

    def header_ps(packets):
        links = case.rates_bps if packets == 1 else case.rates_bps[: last + 1]
        return sum(RETH * byte_ps(rate) for rate in links) * (transport[0] == ROCE)

    return [case.alone_ps(n, slowest) + header_ps(n) for n in packets_of(case)]


def most_ps(case, name, least):
    """Return what a message of a transport that is no exact one may take."""
    _, factor, trips, packets, _ = SLOWER[name]
    if name == "SRD" and min(case.rates_bps) == case.rates_bps[0]:
        factor = 1
    if name == "MPTCP":  # from 80 packets to a product, twice as many each time
        trips = max(trips, math.ceil(math.log2(case.product_bytes / WIRE / 80)))
    return factor * least + trips * case.round_trip_ps + packets * WIRE * byte_ps(case.rates_bps[0])


@pytest.mark.parametrize("network", TIERS)
@pytest.mark.parametrize("name", EXACT)
def test_a_message_alone_takes_its_ideal_time(name, network):
    case, transport = TIERS[network], EXACT[name]
    assert times_ps(case, transport) == least_ps(case, transport)


@pytest.mark.parametrize("network", TIERS)
@pytest.mark.parametrize("name", SLOWER)
def test_a_message_alone_takes_no_longer_than_its_protocol_says(name, network):
    case, transport = TIERS[network], SLOWER[name][0]
    times = zip(times_ps(case, transport), least_ps(case, transport), strict=True)
    for taken, least in times:
        assert least <= taken <= most_ps(case, name, least), SLOWER[name][-1]


@pytest.mark.parametrize("network", SPREAD)
@pytest.mark.parametrize("name", [*EXACT, *SLOWER])
def test_a_message_alone_uses_the_paths_that_it_may(name, network):
    case = SPREAD[network]
    transport = EXACT[name] if name in EXACT else SLOWER[name][0]
    one_path = least_ps(case, transport)
    for part, packets, taken, least in zip(
        PRODUCTS, packets_of(case), times_ps(case, transport), one_path, strict=True
    ):
        more_ps = 0
        if name in MANY_PATHS or (name in ONE_PORT and case.planes == 1):
            least = case.alone_ps(-(-packets // case.planes), case.rates_bps[0])
            # Of two packets that follow each other one may wait at each of two slow links, and
            # that wait takes less than a packet from the window in each round trip.
            more_ps = 2 * WIRE * byte_ps(min(case.rates_bps)) * (case.planes == 1)
            more_ps += math.floor(part) * WIRE * byte_ps(case.planes * case.rates_bps[0])
        most = most_ps(case, name, least) if name in SLOWER else least
        assert least <= taken <= most + more_ps


@pytest.mark.parametrize("network", UNEQUAL)
@pytest.mark.parametrize("name", [*EXACT, *SLOWER])
def test_unequal_cables_cost_a_message_no_more_than_the_way_by_the_longest(name, network):
    case = UNEQUAL[network]
    transport = EXACT[name] if name in EXACT else SLOWER[name][0]
    # MP-RDMA leaves paths that are more than 32 packets behind, here all planes but one.
    several = case.planes > 1 and name in MANY_PATHS - {"MP-RDMA"}
    # RCCC: the first answer, by the shortest path, ends speculation, and the rest waits for credit.
    # MP-RDMA: each path that it leaves takes a packet off its window.
    more_ps = case.round_trip_ps * (name in {"RCCC", "NSCC and RCCC", "MP-RDMA"})
    for part, packets, taken in zip(
        PRODUCTS, packets_of(case), times_ps(case, transport), strict=True
    ):
        way_ps = case.alone_ps(
            -(-packets // case.planes) if several else packets, min(case.rates_bps)
        )
        way_ps += RETH * byte_ps(RATE // case.planes) * case.links * (transport[0] == ROCE)
        most = most_ps(case, name, way_ps) if name in SLOWER else way_ps
        # Planes whose answers come at other times are asked in another order.
        most += (math.floor(part) + 1) * WIRE * byte_ps(RATE // case.planes) * several
        assert taken <= most + more_ps


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
