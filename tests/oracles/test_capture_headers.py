# SPDX-License-Identifier: GPL-2.0-only
"""Packet captures: what headers say, as standards have them."""

from collections import Counter

import pytest
from captures import (
    ACK_BYTES,
    CE,
    DELAY_PS,
    ECT_0,
    HEADERS,
    MTU,
    NOT_ECT,
    RATE,
    RETH,
    ROCE,
    SPRAY,
    address,
    captured,
    sent_by,
    sent_to,
)
from oracle_network import (
    Flows,
    Network,
    leaf_spine,
    line,
    one_flow,
    star,
)
from pcap_frames import SEND, WRITE

pytestmark = pytest.mark.ns3


# ---- RoCEv2 -------------------------------------------------------------------------------------


@pytest.mark.parametrize(("reth", "codes"), [(RETH, WRITE), (0, SEND)])
@pytest.mark.parametrize("packets", [1, 2, 5])
def test_operation_codes_follow_the_place_of_a_packet(tmp_path, packets, reth, codes):
    size = (packets - 1) * MTU + 100
    flows = Flows()
    flows.add(0, 1, size, flow=1234)
    transport = ("ns3::RoceTransport", {"RethBytes": reth})
    _, records = captured(tmp_path, [0], line([RATE] * 2, [DELAY_PS] * 2), flows, [transport])

    data = [r for r in records if r.is_data]
    places = ["only"] if packets == 1 else ["first", *["middle"] * (packets - 2), "last"]
    assert [r.bth["opcode"] for r in data] == [codes[place] for place in places]
    assert [r.bth["psn"] for r in data] == list(range(packets))
    assert [r.bth["payload_bytes"] for r in data] == [MTU] * (packets - 1) + [100]
    assert [r.frame_bytes for r in data] == [
        r.bth["payload_bytes"] + HEADERS + (reth if i == 0 else 0) for i, r in enumerate(data)
    ]
    assert {r.bth["qp"] for r in records} == {1236}
    assert [r.reth.get("length") for r in data] == [size if reth else None] + [None] * (packets - 1)
    assert {r.dscp for r in data} == {3 << 3}  # priorities 3 and 6 as class selectors
    assert {r.dscp for r in records if r.is_ack} == {6 << 3}
    assert {r.ecn for r in data} == {ECT_0}


def test_acknowledgements_name_the_last_packet_in_order(tmp_path):
    packets, interval = 11, 4
    transport = ("ns3::RoceTransport", {"AckInterval": interval})
    _, records = captured(
        tmp_path, [1], line([RATE] * 2, [DELAY_PS] * 2), one_flow(0, 1, packets * MTU), [transport]
    )

    acks = [r for r in records if r.is_ack]
    assert [r.bth["psn"] for r in acks] == [3, 7, 10]
    assert [r.aeth["msn"] for r in acks] == [0, 0, 1]
    assert {r.aeth["syndrome"] for r in acks} == {0x1F}  # no credits: 9.7.5.1
    assert {r.frame_bytes for r in acks} == {ACK_BYTES}
    # What asks for an answer is what gets one.
    assert [r.bth["psn"] for r in records if r.bth["request"]] == [3, 7, 10]


def test_a_lost_packet_is_seen_as_one_nak_and_what_follows_it(tmp_path):
    packets, lost = 2000, 7  # the seventh data frame from host 0: PSN 6
    got, source, target = captured(
        tmp_path, [0, 1], line([RATE] * 2, [DELAY_PS] * 2), one_flow(0, 1, packets * MTU), [ROCE],
        drops=[(0, 10, lost)],
    )  # fmt: skip

    naks = [r for r in target if r.is_nak]
    assert [(r.bth["psn"], r.aeth["syndrome"], r.aeth["msn"]) for r in naks] == [(6, 0x60, 0)]
    assert got.flow(0)["naks"] == 1
    # The first packet behind the hole tells of it; PSN 6 is not here before it was sent again.
    arrived = [r for r in target if r.is_data]
    assert [r.bth["psn"] for r in arrived][:7] == [0, 1, 2, 3, 4, 5, 7]
    assert naks[0].time_ns == arrived[6].time_ns
    psns = [r.bth["psn"] for r in source if r.is_data]
    (again,) = (i for i in range(1, len(psns)) if psns[i] <= psns[i - 1])
    assert psns == [*range(again), *range(6, packets)]
    assert len(psns) - packets == got.flow(0)["retransmitted_packets"] > 0
    # Go back N on the next packet boundary after the NAK is there.
    nak = next(r for r in source if r.is_nak)
    after = next(r for r in source if r.is_data and r.time_ns > nak.time_ns)
    assert after.bth["psn"] == 6


def test_marks_are_congestion_experienced_and_come_back(tmp_path):
    flows = Flows()
    flows.add(1, 0, 200 * MTU)
    flows.add(2, 0, 200 * MTU)
    got, receiver, first = captured(
        tmp_path, [0, 1], star(3, RATE, DELAY_PS), flows, [ROCE],
        queue=("ns3::RedEcn", {"KminBytes": 50_000, "KmaxBytes": 200_000, "Pmax": 0.5}),
    )  # fmt: skip

    marks = got["flows"]["ecn_marked_packets"].tolist()
    for flow, n in enumerate(marks):
        mine = [r for r in receiver if r.bth["qp"] == flow + 2]
        assert 0 < n == sum(r.ecn == CE for r in mine if r.is_data) < 200
        assert {r.ecn for r in mine if r.is_data} == {ECT_0, CE}
        assert {r.ecn for r in mine if r.is_ack} == {NOT_ECT}
        # Each packet is answered by itself, in order.
        assert [r.bth["becn"] for r in mine if r.is_ack] == [
            int(r.ecn == CE) for r in mine if r.is_data
        ]
    assert sum(r.bth["becn"] for r in first) == marks[0]


def test_data_that_may_not_be_marked_says_so(tmp_path):
    transport = ("ns3::RoceTransport", {"EcnCapable": False, "Priority": 1})
    _, records = captured(
        tmp_path, [0], line([RATE] * 2, [DELAY_PS] * 2), one_flow(0, 1, 3 * MTU), [transport]
    )

    assert {(r.ecn, r.dscp) for r in records if r.is_data} == {(NOT_ECT, 1 << 3)}


def test_the_smallest_frame_is_padded_behind_its_datagram(tmp_path):
    _, records = captured(
        tmp_path, [0], line([RATE] * 2, [DELAY_PS] * 2), one_flow(0, 1, MTU + 1), [ROCE]
    )

    last = [r for r in records if r.is_data][-1]
    # One byte of payload and 62 of headers are 63: Ethernet adds one, IP does not count it.
    assert (last.frame_bytes, last.ip_bytes, last.bth["payload_bytes"]) == (64, 63 - 18, 1)


def test_the_source_port_is_of_the_entropy_that_switches_hash(tmp_path):
    flows = Flows()
    for _ in range(100):
        flows.add(0, 1, 100)
    _, records = captured(tmp_path, [0], line([RATE] * 2, [DELAY_PS] * 2), flows, [ROCE])

    entropy = {r.bth["qp"]: r.identification for r in records}
    assert len(set(entropy.values())) > 90  # of 65536 values: two of 100 are equal in 7 of 100 runs
    for r in records:  # data and answers
        assert r.identification == entropy[r.bth["qp"]]
        assert r.src_port == 0xC000 | r.identification & 0x3FFF


# ---- spray, PFC ---------------------------------------------------------------------------------


def test_sprayed_packets_have_a_header_of_their_own(tmp_path):
    packets, paths = 40, 4
    flows = Flows()
    flows.add(0, 3, packets * MTU, flow=77)
    got, source, target = captured(
        tmp_path, [0, 3], leaf_spine(2, 2, paths, RATE, DELAY_PS), flows, [SPRAY],
        drops=[(0, 10_000, 5)],
    )  # fmt: skip

    assert {r.dst_port for r in source} == {1022}
    fields = [
        (kind, flags, int.from_bytes(flow, "big"), int.from_bytes(number, "big"))
        for kind, flags, flow, number in (
            (r.content[0], r.content[1], r.content[2:8], r.content[8:12])
            for r in sent_by(0, source)
        )
    ]
    assert got.flow(77)["retransmitted_packets"] == 1
    first_copies = [(0, 0, 77, k) for k in range(packets)]
    assert Counter(fields) == Counter([*first_copies, (0, 2, 77, 4)])
    # Each round of the path selector takes every path once.
    entropies = [r.identification % paths for r in sent_by(0, source)]
    assert all(sorted(entropies[i : i + paths]) == [0, 1, 2, 3] for i in range(0, packets, paths))
    # An answer has the number and the entropy of its packet, and how many came in order.
    data, acks = sent_to(3, target), sent_by(3, target)
    assert [(r.content[0], r.content[8:12], r.identification) for r in acks] == [
        (1, r.content[8:12], r.identification) for r in data
    ]
    seen, oracle = set(), []
    for r in data:
        seen.add(int.from_bytes(r.content[8:12], "big"))
        oracle.append(next(k for k in range(packets + 1) if k not in seen))
    assert [int.from_bytes(r.content[12:16], "big") for r in acks] == oracle


def test_checksums_hold_for_every_identification(tmp_path):
    # A round of the path selector takes each entropy once. The words of these addresses alone sum
    # to more than 16 bits, so the sum of some header has a carry from adding its carries.
    source, target, entropies = 60_000, 60_001, 65_535
    network = Network(hosts=[source, target], switches=[(10, 1)])
    for host in network.hosts:
        network.link(host, 10, RATE, DELAY_PS)
    selector = {"PathSelector": f"ns3::PermutedEntropy[Paths={entropies}]", "MtuBytes": 1}
    transport = ("ns3::SprayTransport", selector)
    _, records = captured(
        tmp_path, [source], network, one_flow(source, target, entropies), [transport],
        snaplen_bytes=42,
    )  # fmt: skip

    sent = sent_by(source, records)  # the decoder sums each header
    assert sorted(r.identification for r in sent) == list(range(entropies))


def test_pause_frames_hold_the_host_until_they_release_it(tmp_path):
    flows = Flows()
    for host in (1, 2, 3):
        flows.add(host, 0, 300 * MTU)
    got, records = captured(
        tmp_path, [1], star(4, RATE, DELAY_PS), flows, [ROCE], pfc={"XoffBytes": 100_000}
    )

    pauses = [r for r in records if r.pause]
    assert len(pauses) == got.port(1, 1000)["pause_frames_received"] > 4
    assert {r.src_mac.hex() for r in pauses} == {f"0201{1000:08x}"}  # port 1 of the switch
    # Of priority 3 alone, by turns the longest time and none.
    assert [r.pause[3] for r in pauses] == [0xFFFF, 0] * (len(pauses) // 2)
    assert {q for r in pauses for i, q in enumerate(r.pause) if i != 3} == {None}
    for stop, go in zip(pauses[::2], pauses[1::2], strict=True):
        assert not [
            r for r in records if r.is_data and r.src == address(1)
            and stop.time_ns < r.time_ns < go.time_ns
        ]  # fmt: skip
    # The port counts the same time; each end of a pause was cut to a nanosecond.
    times = [r.time_ns for r in pauses]
    held_ps = 1000 * (sum(times[1::2]) - sum(times[::2]))
    assert abs(held_ps - got.port(1, 1000)["paused_ps"]) <= 1000 * len(pauses) / 2
