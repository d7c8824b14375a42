# SPDX-License-Identifier: GPL-2.0-only
"""What switches do, they do wherever the bottleneck is: at the first switch, the second, the last.

Hosts 0 and 1 send 100 Gb/s each to host 9 over three switches, whose links have 200 Gb/s but for
one of 100.
"""

import pytest
from oracle_network import GBPS, Flows, Network, fat_tree, leaf_spine, run, star

pytestmark = pytest.mark.ns3

DELAY_PS = 500_000
MTU, WIRE = 4096, 4096 + 62 + 20
PACKET_PS = WIRE * 80  # at the bottleneck
SWITCHES = (10, 11, 12)


def chain(bottleneck):
    """Return the network whose switch of this place has the slow link behind it."""
    network = Network(hosts=[0, 1, 9], switches=[(switch, 1) for switch in SWITCHES])
    for host in (0, 1):
        network.link(host, 10, 100 * GBPS, DELAY_PS)
    for place, (here, there) in enumerate(((10, 11), (11, 12), (12, 9))):
        rate = (100 if place == bottleneck else 200) * GBPS
        network.link(here, there, rate, DELAY_PS)
    return network


def egress(bottleneck):
    return ((10, 11), (11, 12), (12, 9))[bottleneck]


@pytest.mark.parametrize("bottleneck", range(3))
@pytest.mark.parametrize(
    "scheduler",
    [
        ("ns3::WeightedRoundRobin", {"Weights": "5:1,3:3"}),
        ("ns3::DeficitRoundRobin", {"Quanta": "5:5000,3:15000"}),
        ("ns3::VlArbitration", {"LowTable": "5:64,3:192", "HighTable": ""}),
    ],
)
def test_a_scheduler_shares_by_weight(scheduler, bottleneck):
    # Three times the weight and three times the packets: both end together, when the link has sent
    # all. Control has a priority of its own.
    flows = Flows()
    flows.add(0, 9, 900 * MTU)
    flows.add(1, 9, 300 * MTU, transport=1)
    roce = {"RethBytes": 0, "ControlPriority": 6}
    got = run(
        chain(bottleneck),
        flows,
        [("ns3::RoceTransport", {**roce, "Priority": 3}),
         ("ns3::RoceTransport", {**roce, "Priority": 5})],
        scheduler=scheduler,
    )  # fmt: skip
    first_ps, last_ps = sorted(got.fct_ps(flow) for flow in range(2))
    assert last_ps - first_ps <= 8 * PACKET_PS  # two rounds
    assert last_ps >= 1200 * PACKET_PS


@pytest.mark.parametrize("bottleneck", range(3))
def test_a_switch_marks_where_its_queue_is(bottleneck):
    # Of 200 packets that come at twice the rate every second one waits; from 20 waiting ones on
    # each that leaves is marked: all but the first 20 or so and the last 20.
    flows = Flows()
    flows.add(0, 9, 100 * MTU)
    flows.add(1, 9, 100 * MTU)
    limit = 20 * (MTU + 62)
    got = run(
        chain(bottleneck),
        flows,
        [("ns3::RoceTransport", {"RethBytes": 0})],
        queue=("ns3::RedEcn", {"KminBytes": limit, "KmaxBytes": limit}),
    )
    marked = got["ports"]["ecn_marked_packets"]
    here = got.port(*egress(bottleneck))["ecn_marked_packets"]
    assert here == marked.sum() == got["flows"]["ecn_marked_packets"].sum()
    # Queue: n / 2 when n have come. More than 20 wait behind those from about the 20th that
    # leaves until 20 are left.
    assert here == pytest.approx(200 - 20 - 21, abs=3)


@pytest.mark.parametrize("bottleneck", range(3))
def test_pfc_loses_nothing_and_pauses_back_to_the_hosts(bottleneck):
    flows = Flows()
    flows.add(0, 9, 500 * MTU)
    flows.add(1, 9, 500 * MTU)
    got = run(
        chain(bottleneck),
        flows,
        [("ns3::RoceTransport", {"RethBytes": 0})],
        pfc={"XoffBytes": 50_000, "XonOffsetBytes": 10_000},
        buffer_bytes=10**7,
    )
    assert got.drops() == 0
    assert got.port(0, 10)["pause_frames_received"] > 0
    assert got.port(1, 10)["pause_frames_received"] > 0
    behind = [switch for place, switch in enumerate(SWITCHES) if place > bottleneck]
    ports = got["ports"]
    assert ports["pause_frames_sent"][[node in behind for node in ports["node"]]].sum() == 0
    # The slow link is never idle once it has begun, but for what hysteresis may leave.
    assert got.fcts_ps().max() <= 1.02 * 1000 * PACKET_PS + 10 * DELAY_PS


@pytest.mark.parametrize("network", ["one switch", "two tiers", "three tiers"])
def test_headers_without_room_go_back_from_any_tier(network):
    # 431 first windows of 23 packets at once: most packets are cut at an earlier switch and their
    # headers find no room at the last one. They come back, so nobody waits for a timeout of 5 ms:
    # the incast takes what the receiver's link takes, 0.99 of it being PULLed.
    rate, senders, packets = 100 * GBPS, 431, 66
    built = {
        "one switch": lambda: star(432, rate, DELAY_PS),
        "two tiers": lambda: leaf_spine(24, 18, 18, rate, DELAY_PS),
        "three tiers": lambda: fat_tree(12, rate, DELAY_PS),
    }[network]()
    flows = Flows()
    for sender in range(1, senders + 1):
        flows.add(sender, 0, packets * MTU)
    got = run(
        built,
        flows,
        [("ns3::NdpTransport", {"InitialPackets": 23})],
        queue=("ns3::TrimmingQueue", {"LimitBytes": 8 * (MTU + 62)}),
        forwarding="ns3::EntropyModulo",
        buffer_bytes=10**9,
    )
    ports = got["ports"]
    assert ports["bounced_packets"].sum() > 5000
    assert ports["dropped_buffer_frames"].sum() == 0
    assert got["flows"]["timeouts"].sum() == 0
    assert 1 <= got.fcts_ps().max() / (senders * packets * PACKET_PS) <= 1.02
