# SPDX-License-Identifier: GPL-2.0-only
"""Hosts with ports that lead to different places: scale-up links beside a network interface."""

import numpy as np
import pytest
from oracle_network import GBPS, NS_PS, US_PS, Flows, Network, run

pytestmark = pytest.mark.ns3

ROCE = ("ns3::RoceTransport", {})
SPRAY = ("ns3::SprayTransport", {})


def racks() -> Network:
    """Return two racks of two hosts: a scale-up switch each (20, 21), one leaf (30) for all."""
    network = Network(hosts=[0, 1, 2, 3], switches=[(20, 1), (21, 1), (30, 1)])
    for host in network.hosts:
        network.link(host, 20 + host // 2, 800 * GBPS, 100 * NS_PS)
        network.link(host, 30, 100 * GBPS, 100 * NS_PS)
    return network


@pytest.mark.parametrize("transport", [ROCE, SPRAY])
def test_a_flow_leaves_by_a_port_that_leads_to_its_destination(transport):
    # Oracle: the topology. Host 2 is reached by the leaf alone, whatever a hash would say.
    for flow in range(8):
        flows = Flows()
        flows.add(0, 2, 100_000, flow=flow)
        got = run(racks(), flows, [transport])

        assert got.port(0, 20)["sent_frames"] == 0
        assert got.port(0, 30)["sent_data_packets"] == 25  # of 4096 bytes


@pytest.mark.parametrize(
    "transport",
    [
        ROCE,
        SPRAY,
        ("ns3::NdpTransport", {}),
        ("ns3::EqdsTransport", {}),
        ("ns3::UecTransport", {"ReceiverCredit": True}),
        ("ns3::MpRdmaTransport", {}),
        ("ns3::HomaTransport", {}),
        ("ns3::MptcpTransport", {}),
        ("ns3::FalconTransport", {}),
        ("ns3::SrdTransport", {}),
    ],
)
@pytest.mark.parametrize("cut_at", [0, 1])
def test_a_port_that_never_leads_there_does_not_stand_in_for_one_that_is_cut(transport, cut_at):
    # Oracle: the topology. Host 0 reaches host 1 by the switch of their rack alone, and the switch
    # of its rail leads to host 2; while a link of the rack is cut there is no way at all.
    network = Network(hosts=[0, 1, 2], switches=[(20, 1), (30, 1)])
    for host, switch in ((0, 20), (1, 20), (0, 30), (2, 30)):
        network.link(host, switch, 100 * GBPS, 100 * NS_PS)
    flows = Flows()
    flows.add(0, 1, 100_000, start_ps=2 * US_PS)
    cut = [(US_PS, cut_at, 20, 0), (500 * US_PS, cut_at, 20, 100 * GBPS)]

    marks = ("ns3::RedEcn", {"KminBytes": 14_000, "KmaxBytes": 56_000})
    got = run(network, flows, [transport], link_events=cut, queue=marks)

    assert got.port(0, 30)["sent_frames"] == 0
    assert got.flow(0)["receiver_end_ps"] > 500 * US_PS


def planes(n_planes: int) -> Network:
    """Return hosts 0 and 1 with a switch in each of some planes between them."""
    network = Network(hosts=[0, 1], switches=[(10 + plane, 1) for plane in range(n_planes)])
    for plane in range(n_planes):
        network.link(0, 10 + plane, 100 * GBPS, 500 * NS_PS)
        network.link(1, 10 + plane, 100 * GBPS, 500 * NS_PS)
    return network


def test_acknowledgements_of_a_dead_port_take_another_one():
    # Oracle: a timer that is not reached. Host 1 is sending by both ports when one packet comes, so
    # its answer waits behind a frame that takes 0.33 us. The link is cut 1 ps after that packet
    # came: the answer goes out by the other plane, or it would wait for its port for ever.
    flows = Flows()
    flows.add(1, 0, 1000 * 4096)
    flows.add(0, 1, 4096, start_ps=20 * US_PS)
    transport = [("ns3::SprayTransport", {"Rto": "1s", "WindowBdp": 4})]
    before = run(planes(2), flows, transport, arrivals=True)
    came_ps = before["arrivals"]["time_ps"][before["arrivals"]["flow"] == 1][0]
    plane = 10 if before.port(0, 10)["sent_data_packets"] else 11

    got = run(planes(2), flows, transport, link_events=[(came_ps + 1, 1, plane, 0)])

    assert got.flow(1)["timeouts"] == 0
    assert 0 < got.flow(1)["sender_end_ps"] - came_ps < 5 * US_PS


def test_a_queue_may_hold_more_than_4_gib():
    # Oracle: arithmetic. 63 hosts of 100 Gb/s send 80 MB each to one of the same rate; while the
    # last begins to arrive nearly 62/63 of 5.04 GB wait at its switch.
    network = Network(hosts=list(range(64)), switches=[(1000, 1)])
    for host in network.hosts:
        network.link(host, 1000, 100 * GBPS, 500 * NS_PS)
    flows = Flows()
    for src in range(1, 64):
        flows.add(src, 0, 80_000_000)
    got = run(
        network, flows, [("ns3::RoceTransport", {"MtuBytes": 32768, "Rto": "1s"})],
        stop_ps=10**12,
    )  # fmt: skip

    sent_bytes = 63 * 80_000_000
    peak = got.port(1000, 0)["max_queue_bytes"]
    assert 0.98 * 62 / 63 * sent_bytes < peak < 1.01 * sent_bytes
    assert peak > 2**32
    assert got["flows"]["retransmitted_packets"].sum() == 0
    assert np.all(got["flows"]["receiver_end_ps"] > 0)
