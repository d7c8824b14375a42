# SPDX-License-Identifier: GPL-2.0-only
"""A plane that is cut for good amid a run: what is left carries on, after what it takes to see it.

Two hosts around one switch in each plane. Oracle: before the cut all planes carry packets, after it
all but one, and what the dead one has swallowed comes when its transport finds out.
"""

import pytest
from oracle_network import GBPS, MS_PS, US_PS, Network, one_flow, run

pytestmark = pytest.mark.ns3

MTU = 4096
WIRE = MTU + 62 + 20
DELAY_PS = 500_000
SWITCH = 1000


def planes(count, rate_bps):
    network = Network(hosts=[0, 1], switches=[(SWITCH + i, 1) for i in range(count)])
    for i in range(count):
        for host in network.hosts:
            network.link(host, SWITCH + i, rate_bps, DELAY_PS)
    return network


def cut(plane, at_ps):
    return [(at_ps, host, SWITCH + plane, 0) for host in (0, 1)]


# ---- sprayed over four planes of 200 Gb/s

PLANES, BYTE_PS = 4, 10  # of all four
PACKET_PS = WIRE * BYTE_PS
PRODUCT = 4 * DELAY_PS + 2 * PLANES * (WIRE + 86) * BYTE_PS  # round trip over one of them
WINDOW = -(-3 * PRODUCT // (2 * PACKET_PS))  # what several planes need, see test_planes.py
CUT_PS = 60 * US_PS


def lost_plane(transport, packets, **options):
    got = run(
        planes(PLANES, 200 * GBPS), one_flow(0, 1, packets * MTU), [transport],
        forwarding="ns3::EntropyModulo", link_events=cut(2, CUT_PS), buffer_bytes=10**9, **options,
    )  # fmt: skip
    assert got.drops() > 0, "something was under way"
    return got


def what_is_left_ps(packets, share=1.0):
    """Return when a message ends that has all planes until the cut and all but one from then on."""
    return CUT_PS + (packets * PACKET_PS / share - CUT_PS) * PLANES / (PLANES - 1)


NDP = {"InitialPackets": WINDOW}
NDP_QUEUE = ("ns3::TrimmingQueue", {"LimitBytes": 8 * 4158})
ROUND_TRIPS_PS = 4 * PRODUCT  # the last packets of the dead plane, and their copies


def test_ndp_sends_again_what_a_plane_has_swallowed_one_timeout_after_it_was_sent():
    # The message goes on for longer than Rto, so the dead plane costs no time but its share.
    packets, rto_ps = 16_000, 300 * US_PS
    got = lost_plane(("ns3::NdpTransport", {**NDP, "Rto": "300us"}), packets, queue=NDP_QUEUE)
    left_ps = what_is_left_ps(packets, share=0.99)
    assert left_ps > CUT_PS + 2 * rto_ps
    assert got.fct_ps() <= 1.03 * left_ps + ROUND_TRIPS_PS


def test_ndp_is_late_by_no_more_than_its_timeout():
    # A message that would end before: the bound is when the last that was lost is sent again.
    got = lost_plane(("ns3::NdpTransport", {**NDP, "Rto": "1ms"}), 4000, queue=NDP_QUEUE)
    assert CUT_PS + MS_PS - 2 * PRODUCT <= got.fct_ps() <= CUT_PS + MS_PS + ROUND_TRIPS_PS


def test_ndp_that_takes_overtaken_packets_for_lost_does_not_wait_for_a_timeout():
    packets = 4000
    ndp = ("ns3::NdpTransport", {**NDP, "ReorderPackets": 2 * WINDOW})
    got = lost_plane(ndp, packets, queue=NDP_QUEUE)
    assert got.flow(0)["timeouts"] == 0
    assert got.fct_ps() <= 1.03 * what_is_left_ps(packets, share=0.99) + ROUND_TRIPS_PS


HOMA = {"RttBytes": WINDOW * MTU}


def test_homa_asks_for_gaps_before_the_message_ends():
    packets, gap_ps = 4000, 20 * US_PS
    got = lost_plane(("ns3::HomaTransport", {**HOMA, "GapInterval": "20us"}), packets)
    assert got.fct_ps() <= 1.03 * what_is_left_ps(packets) + gap_ps + ROUND_TRIPS_PS


def test_homa_without_gaps_asks_when_nothing_comes_any_more():
    # 1 ms behind the last packet that has come: the transport's own time to see it.
    packets = 4000
    got = lost_plane(("ns3::HomaTransport", HOMA), packets)
    left_ps = what_is_left_ps(packets)
    assert left_ps + 0.9 * MS_PS < got.fct_ps() <= 1.03 * left_ps + MS_PS + ROUND_TRIPS_PS


def test_mptcp_loses_the_subflows_of_a_plane_and_sends_what_they_had_by_the_others():
    # Two of its eight subflows are on that plane; each gives up after a timeout.
    packets, rto_ps = 16_000, 300 * US_PS
    got = lost_plane(("ns3::MptcpTransport", {"Rto": "300us"}), packets)
    slow_start_ps = 3 * PRODUCT  # eight times ten packets, 160, 320: more than a window
    left_ps = what_is_left_ps(packets)
    assert left_ps > CUT_PS + 2 * rto_ps
    assert left_ps <= got.fct_ps() <= 1.03 * left_ps + slow_start_ps + ROUND_TRIPS_PS
    assert got.flow(0)["timeouts"] == 2


def test_mprdma_leaves_a_plane_whose_packets_do_not_come():
    # Sixty-four packets later they count as lost; no answer sends another one that way.
    packets = 4000
    far = 10**8  # [byte]: marks nothing
    got = lost_plane(
        ("ns3::MpRdmaTransport", {"InitialWindowBdp": 1.5}), packets,
        queue=("ns3::RedEcn", {"KminBytes": far, "KmaxBytes": far}),
    )  # fmt: skip
    left_ps = what_is_left_ps(packets)
    assert left_ps <= got.fct_ps() <= 1.03 * left_ps + ROUND_TRIPS_PS


@pytest.mark.parametrize("plane", [0, 1])
def test_what_a_receiver_asks_for_leaves_by_a_plane_that_is_there(plane):
    # Eight packets come by two planes, one of them is lost; then the plane is cut by which the last
    # has come, or the other one. The request goes 1 ms behind it; a source that hears of nothing
    # would help itself after 10 ms.
    homa = ("ns3::HomaTransport", {"RttBytes": 8 * MTU, "Rto": "10ms"})
    got = run(
        planes(2, 100 * GBPS), one_flow(0, 1, 8 * MTU), [homa],
        drops=[(0, SWITCH, 2)], link_events=cut(plane, 500 * US_PS),
    )  # fmt: skip
    assert MS_PS < got.fct_ps() < MS_PS + 20 * US_PS


# ---- one path, by go-back-N

SLOT_PS = WIRE * 80  # at 100 Gb/s
HOP_PS = SLOT_PS + DELAY_PS
BACK_PS = 2 * ((66 + 20) * 80 + DELAY_PS)
ROUND_TRIP_PS = 2 * HOP_PS + BACK_PS
RTO_PS = 50 * US_PS
ROCE = {"RethBytes": 0, "Rto": "50us", "MaxBackoff": 0}


def first_port(packets):
    """Return the plane by which the message goes."""
    got = run(planes(3, 100 * GBPS), one_flow(0, 1, packets * MTU))
    return max(range(3), key=lambda i: got.port(0, SWITCH + i)["sent_data_packets"])


@pytest.mark.parametrize("recovery", ["GoBackN", "SelectiveRepeat"])
@pytest.mark.parametrize(("retries", "delay_us"), [(7, 100), (0, 0), (2, 10)])
def test_a_message_goes_on_by_another_port_when_its_retries_are_used_up(
    recovery, retries, delay_us
):
    # Packet i is begun at i d and acknowledged a round trip later. The first whose ACK does not
    # come before the cut is m; the timer has started with the ACK before it and runs out as often
    # as there are retries, and once more. Then the rest goes by the next port.
    packets, cut_ps = 1000, 100_123_456
    m = (cut_ps - ROUND_TRIP_PS) // SLOT_PS + 1
    heard_ps = (m - 1) * SLOT_PS + ROUND_TRIP_PS
    resumes_ps = heard_ps + (retries + 1) * RTO_PS + delay_us * US_PS
    plane = first_port(packets)
    roce = {
        **ROCE, "PortFailover": True, "RetryLimit": retries, "FailoverDelay": f"{delay_us}us",
        "Recovery": recovery, "RtoLow": "50us", "WindowBytes": packets * MTU,
    }  # fmt: skip

    got = run(
        planes(3, 100 * GBPS), one_flow(0, 1, packets * MTU), [("ns3::RoceTransport", roce)],
        link_events=cut(plane, cut_ps),
    )  # fmt: skip

    assert got.fct_ps() == resumes_ps + (packets - m - 1) * SLOT_PS + 2 * HOP_PS
    assert got.flow(0)["timeouts"] == retries + 1
    assert got.port(0, SWITCH + (plane + 1) % 3)["sent_data_packets"] == packets - m


def test_a_message_that_begins_on_a_dead_port_takes_the_next_at_once():
    packets = 100
    plane = first_port(packets)
    got = run(
        planes(3, 100 * GBPS), one_flow(0, 1, packets * MTU, start_ps=20 * US_PS),
        [("ns3::RoceTransport", {**ROCE, "PortFailover": True})],
        link_events=cut(plane, 10 * US_PS),
    )  # fmt: skip
    assert got.fct_ps() == (packets - 1) * SLOT_PS + 2 * HOP_PS


def test_without_failover_a_message_never_leaves_its_port():
    packets = 1000
    got = run(
        planes(3, 100 * GBPS), one_flow(0, 1, packets * MTU), [("ns3::RoceTransport", ROCE)],
        link_events=cut(first_port(packets), 100 * US_PS), stop_ps=20 * MS_PS,
    )  # fmt: skip
    assert got.flow(0)["receiver_end_ps"] == -1
