# SPDX-License-Identifier: GPL-2.0-only
"""EQDS: a timeout is for what is on its way, not for a message whose turn is yet to come."""

import pytest
from oracle_network import GBPS, US_PS, Flows, leaf_spine, line, one_flow, run

pytestmark = pytest.mark.ns3

MTU, WIRE, BYTE_PS = 4096, 4096 + 62 + 20, 80
PACKET_PS = WIRE * BYTE_PS
DELAY_PS = 500_000
EQDS = ("ns3::EqdsTransport", {"SpeculativePriority": 3})
QUEUE = ("ns3::TrimmingQueue", {"LimitBytes": 8 * (MTU + 62)})


def test_messages_that_wait_for_their_turn_do_not_time_out():
    # A turn of all 1000 takes 1000 packets' time, 334 us, three times the timeout of 100 us. If it
    # ran meanwhile, each would send a packet that nobody asked for in each turn: 65 000 timeouts.
    senders, packets = 1000, 25
    flows = Flows()
    for sender in range(1, senders + 1):
        flows.add(sender, 0, packets * MTU)
    network = leaf_spine(32, 32, 32, 100 * GBPS, DELAY_PS)
    got = run(network, flows, [EQDS], queue=QUEUE, forwarding="ns3::EntropyModulo")
    assert got["flows"]["timeouts"].sum() <= senders / 50
    assert 1 <= got.fcts_ps().max() / (senders * packets * PACKET_PS) <= 1.02


def test_a_packet_that_is_lost_is_sent_again_after_the_timeout():
    # The last of ten packets is lost on the first link. The timeout counts from what was heard
    # last: the answer to the packet before it, or a PULL, at most a round trip later.
    got = run(
        line([100 * GBPS] * 2, [DELAY_PS] * 2),
        one_flow(0, 1, 10 * MTU),
        [EQDS],
        queue=QUEUE,
        drops=[(0, 10, 10)],
    )
    trip_ps = 2 * (PACKET_PS + (66 + 20) * BYTE_PS) + 4 * DELAY_PS
    answer_ps = 8 * PACKET_PS + trip_ps
    least_ps = answer_ps + 100 * US_PS + 2 * (PACKET_PS + DELAY_PS)
    assert least_ps <= got.fct_ps() <= least_ps + trip_ps
    assert got.flow(0)["timeouts"] == 1
