# SPDX-License-Identifier: GPL-2.0-only
"""Unloaded transfers against the store-and-forward recursion, to the picosecond."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracle_network import GBPS, line, one_flow, run

pytestmark = pytest.mark.ns3

MTU, HEADER, RETH, ACK, SMALLEST = 4096, 62, 16, 66, 64


def frames(size_bytes, reth=RETH):
    """Cut a message into frames [byte]: full payloads, then the rest, headers on each."""
    payloads = [MTU] * (size_bytes // MTU)
    if size_bytes % MTU:
        payloads.append(size_bytes % MTU)
    return [
        max(payload + HEADER + (reth if i == 0 else 0), SMALLEST)
        for i, payload in enumerate(payloads)
    ]


def store_and_forward(ready_ps, sizes, links, framing, processing_delay_ps):
    """Return when each frame has come through a chain of links.

    A link sends one frame at a time, in order; a frame is on the wire for (size + framing) * 8 /
    rate, rounded up to a picosecond; it may start once the one before has left and it has
    itself come in with its last bit and passed the switch.
    """
    for hop, (rate_bps, delay_ps) in enumerate(links):
        free = 0
        after = []
        for ready, size in zip(ready_ps, sizes, strict=True):
            wire_ps = -(-(size + framing) * 8 * 10**12 // rate_bps)
            free = max(free, ready) + wire_ps
            last = hop == len(links) - 1
            after.append(free + delay_ps + (0 if last else processing_delay_ps))
        ready_ps = after
    return ready_ps


def expected_ends(size_bytes, links, framing, processing_delay_ps, reth=RETH):
    """Return when the receiver has the last byte and the sender the last acknowledgement [ps].

    Every packet is acknowledged when it has come in, and data never waits for acknowledgements
    nor they for data, because links have two directions.
    """
    sizes = frames(size_bytes, reth)
    arrived = store_and_forward([0] * len(sizes), sizes, links, framing, processing_delay_ps)
    acks = [ACK] * len(sizes)
    back = store_and_forward(arrived, acks, links[::-1], framing, processing_delay_ps)
    return arrived[-1], back[-1]


def measured_ends(size_bytes, links, transport, **options):
    rates, delays = zip(*links, strict=True)
    outcome = run(line(rates, delays), one_flow(0, 1, size_bytes), [transport], **options)
    flow = outcome.flow(0)
    assert flow["sent_data_packets"] == len(frames(size_bytes))
    return flow["receiver_end_ps"], flow["sender_end_ps"]


@pytest.mark.parametrize("rate_gbps", [100, 400, 800, 1600])
@pytest.mark.parametrize("n_links", [2, 3, 4])
@pytest.mark.parametrize("framing", [0, 20])
def test_a_transfer_takes_its_closed_form_from_one_byte_to_ten_megabytes(
    rate_gbps, n_links, framing
):
    links = [(rate_gbps * GBPS, 500_000)] * n_links
    for size_bytes in (1, 2, 64, 4095, 4096, 4097, 8193, 100_000, 1_000_000, 10_000_000):
        got = measured_ends(size_bytes, links, ("ns3::RoceTransport", {}), framing_bytes=framing)
        assert got == expected_ends(size_bytes, links, framing, 0), f"{size_bytes} bytes"


def test_one_byte_by_hand():
    # 1 + 62 + 16 = 79 B, 99 B on the wire, 10 ps/B at 800 Gb/s: 990 ps on each of 4 links of
    # 500 ns, 2 003 960 ps. Its ACK: 86 B, 860 ps a link, 2 003 440 ps more.
    got = measured_ends(1, [(800 * GBPS, 500_000)] * 4, ("ns3::RoceTransport", {}))
    assert got == (2_003_960, 2_003_960 + 2_003_440)


@settings(max_examples=150)
@given(
    size_bytes=st.one_of(st.integers(1, 20_000), st.sampled_from([262_144, 1_000_003])),
    links=st.lists(
        st.tuples(
            # 40 and 56 Gb/s: 56 has no whole number of picoseconds per byte.
            st.sampled_from([rate * GBPS for rate in (40, 56, 100, 400, 800, 1600)]),
            st.integers(1, 3_000_000),
        ),
        min_size=2,
        max_size=5,
    ),
    framing=st.sampled_from([0, 20]),
    processing_delay_ps=st.sampled_from([0, 1, 300_000]),
)
@example(4096, [(800 * GBPS, 1), (100 * GBPS, 1)], 20, 0)
def test_rates_and_delays_may_differ_from_hop_to_hop(
    size_bytes, links, framing, processing_delay_ps
):
    got = measured_ends(
        size_bytes,
        links,
        ("ns3::RoceTransport", {}),
        framing_bytes=framing,
        processing_delay_ps=processing_delay_ps,
    )
    assert got == expected_ends(size_bytes, links, framing, processing_delay_ps)


@pytest.mark.parametrize("size_bytes", [1, 4096, 100_000, 10_000_000])
def test_a_window_of_one_round_trip_never_stops_the_sprayed_transport(size_bytes):
    # W = ceil(RTT / d) packets: the ACK of the first comes back RTT after its start, when at
    # most W * d of sending is over, so the wire is never idle and the closed form holds.
    # This transport has no RETH.
    links = [(800 * GBPS, 500_000)] * 4
    got = measured_ends(size_bytes, links, ("ns3::SprayTransport", {}))
    assert got == expected_ends(size_bytes, links, 20, 0, reth=0)


def test_a_window_of_one_packet_costs_a_round_trip_per_packet():
    # One packet in flight: each takes a full round trip of 4 * (d + a + 2 tau), with
    # d = 4178 * 10 ps and a = 86 * 10 ps. n packets: n - 1 round trips and one way.
    links = [(800 * GBPS, 500_000)] * 4
    n = 100
    one_way = 4 * (41_780 + 500_000)
    back = 4 * (860 + 500_000)
    got = measured_ends(
        n * MTU, links, ("ns3::RoceTransport", {"WindowBytes": MTU, "RethBytes": 0})
    )
    assert got == ((n - 1) * (one_way + back) + one_way, n * (one_way + back))


def test_one_ack_for_many_packets_leaves_the_end_at_the_sender_where_it_was():
    # The last packet is always acknowledged, so only the number of ACKs falls: 25 packets at
    # 10 per ACK give 3 (after 10, 20 and the last).
    links = [(100 * GBPS, 500_000)] * 2
    transport = ("ns3::RoceTransport", {"AckInterval": 10})
    outcome = run(line(*zip(*links, strict=True)), one_flow(0, 1, 25 * MTU), [transport])
    assert outcome.flow(0)["sender_end_ps"] == expected_ends(25 * MTU, links, 20, 0)[1]
    assert outcome.port(1, 10)["sent_frames"] == 3


def test_a_start_time_moves_everything_by_itself():
    links = [(100 * GBPS, 500_000)] * 3
    start_ps = 123_456_789_012
    outcome = run(line(*zip(*links, strict=True)), one_flow(0, 1, 100_000, start_ps))
    receiver, sender = expected_ends(100_000, links, 20, 0)
    flow = outcome.flow(0)
    assert flow["receiver_end_ps"] - start_ps == receiver
    assert flow["sender_end_ps"] - start_ps == sender
