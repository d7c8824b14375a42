# SPDX-License-Identifier: GPL-2.0-only
"""Packet captures: every frame of a host, when it was there, under headers that standards allow."""

import re
from collections import Counter

import numpy as np
import pytest
from captures import (
    ACK_BYTES,
    ACK_PS,
    CE,
    DELAY_PS,
    ECT_0,
    FIRST_PS,
    FRAME_PS,
    HEADERS,
    MTU,
    NOT_ECT,
    RATE,
    RETH,
    ROCE,
    SELECTIVE,
    SPRAY,
    address,
    captured,
    sent_by,
    sent_to,
)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle_network import (
    MS_PS,
    US_PS,
    Captures,
    Flows,
    Network,
    leaf_spine,
    line,
    one_flow,
    run,
    run_tables,
    star,
)
from pcap_frames import SEND, WRITE

from pyorch.errors import PyorchError

pytestmark = pytest.mark.ns3


# ---- who -----------------------------------------------------------------------------------------


def test_every_port_of_a_large_switch_has_a_mac_address_of_its_own(tmp_path):
    # IEEE 802-2014 section 8.4: of the first byte 2 means locally administered, 1 a group.
    hosts = [0, 255, 256, 257, 511, 512, 599]
    flows = Flows()
    for host in hosts:
        flows.add(host, 1, MTU)

    _, *captures = captured(tmp_path, hosts, star(600, RATE, DELAY_PS), flows, [ROCE])

    macs = [{record.dst_mac for record in sent_by(host, records)}
            for host, records in zip(hosts, captures, strict=True)]  # fmt: skip
    assert [len(found) for found in macs] == [1] * len(hosts)
    assert len(set.union(*macs)) == len(hosts)
    assert {mac[0] & 3 for found in macs for mac in found} == {2}


# ---- when ---------------------------------------------------------------------------------------


def test_a_record_has_the_time_of_the_first_bit_out_or_the_last_bit_in(tmp_path):
    packets = 50
    flows = one_flow(0, 1, packets * MTU)
    got, source, target = captured(
        tmp_path, [0, 1], line([RATE] * 2, [DELAY_PS] * 2), flows, [ROCE], trace_arrivals=True
    )

    # The source sends back to back; what is stored and forwarded comes 2 (frame + delay) later,
    # the shorter frames behind the first one as soon as that is through; the answer leaves at once.
    begins = [0] + [FIRST_PS + k * FRAME_PS for k in range(packets - 1)]
    last_bits = [2 * (FIRST_PS + DELAY_PS) + k * FRAME_PS for k in range(packets)]
    answers = [t + 2 * (ACK_PS + DELAY_PS) for t in last_bits]

    def ns(times_ps):
        return [t // 1000 for t in times_ps]

    assert [t % 1000 for t in begins if t % 1000], "truncation must be seen"
    assert [r.time_ns for r in sent_by(0, source)] == ns(begins)
    assert [r.time_ns for r in sent_to(1, target)] == ns(last_bits)
    assert [r.time_ns for r in sent_by(1, target)] == ns(last_bits)
    assert [r.time_ns for r in sent_to(0, source)] == ns(answers)
    assert got["arrivals"]["time_ps"].tolist() == last_bits


def test_data_in_is_the_table_of_arrivals(tmp_path):
    rng = np.random.default_rng(3)
    network, flows = leaf_spine(3, 3, 2, RATE, DELAY_PS), Flows()
    for _ in range(30):
        src, dst = rng.choice(9, 2, replace=False)
        flows.add(int(src), int(dst), int(rng.integers(1, 100_000)), int(rng.integers(0, US_PS)))
    got, *files = captured(tmp_path, range(9), network, flows, [SELECTIVE], trace_arrivals=True)

    arrivals = got["arrivals"]
    for host, records in enumerate(files):
        here = arrivals["node"] == host
        times, ids, psns = (arrivals[name][here] for name in ("time_ps", "flow", "packet"))
        data = [r for r in sent_to(host, records) if r.is_data]
        assert [r.time_ns for r in data] == (times // 1000).tolist()
        assert [(r.bth["qp"], r.bth["psn"]) for r in data] == list(
            zip((ids + 2).tolist(), psns.tolist(), strict=True)
        )


# ---- how many -----------------------------------------------------------------------------------


@st.composite
def troubles(draw):
    """Draw a network, flows, a transport and what goes wrong."""
    planes = draw(st.integers(1, 2))
    network = Network(hosts=[0, 1, 2, 70_000], switches=[(100 + p, 1) for p in range(planes)])
    loss = draw(st.sampled_from([0.0, 0.02]))
    for host in network.hosts:
        for plane in range(planes):
            network.link(host, 100 + plane, RATE, DELAY_PS, loss=loss)
    flows = Flows()
    for _ in range(draw(st.integers(1, 8))):
        src, dst = draw(st.permutations(network.hosts))[:2]
        flows.add(src, dst, draw(st.integers(1, 300_000)), draw(st.integers(0, US_PS)))
    transport = draw(st.sampled_from([("ns3::RoceTransport", {"Rto": "100us"}), SELECTIVE, SPRAY]))
    pfc = None if loss else draw(st.sampled_from([None, {"XoffBytes": 20_000}]))
    queue = ("ns3::RedEcn", {"KminBytes": 8000, "KmaxBytes": 30_000, "LimitBytes": 120_000})
    return network, flows, [transport], {"pfc": pfc, "queue": queue}


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(trouble=troubles(), seed=st.integers(1, 1000))
def test_records_are_the_frames_that_the_ports_count(tmp_path, trouble, seed):
    network, flows, transports, options = trouble
    hosts = network.hosts
    got, *files = captured(
        tmp_path, hosts, network, flows, transports, seed=seed, stop_ps=50 * MS_PS, **options
    )

    ports = got["ports"]
    for host, records in zip(hosts, files, strict=True):
        here = ports["node"] == host
        out, into = sent_by(host, records), sent_to(host, records)
        pauses = [r for r in records if r.pause]
        assert len(out) == ports["sent_frames"][here].sum()
        assert sum(r.frame_bytes + 20 for r in out) == ports["sent_bytes"][here].sum()
        assert len(into) + len(pauses) == ports["received_frames"][here].sum()
        assert len(pauses) == ports["pause_frames_received"][here].sum()
        assert len(records) == len(out) + len(into) + len(pauses)
        # A host is one switch away, and two from another host.
        assert {r.ttl for r in out} <= {64}
        assert {r.ttl for r in into} <= {63}
        macs = {bytes([2, i]) + host.to_bytes(4, "big") for i in range(here.sum())}
        assert {r.src_mac for r in out} <= macs
        assert {r.dst_mac for r in into} <= macs


def test_the_order_of_the_tables_changes_no_byte(tmp_path):
    rng = np.random.default_rng(11)
    network, flows = leaf_spine(2, 3, 2, RATE, DELAY_PS), Flows()
    for src in range(6):
        for dst in range(6):
            if src != dst:
                flows.add(src, dst, 20_000)
    pcaps = []
    for shuffled in (False, True):
        tables = [network.nodes_table(), network.links_table(), flows.table()]
        for table in tables if shuffled else ():
            order = rng.permutation(len(next(iter(table.values()))))
            table.update({name: values[order] for name, values in table.items()})
        run_tables(
            *tables, [SELECTIVE], forwarding="ns3::EcmpHash", queue=None, pfc=None, drops=(),
            seed=1, stop_ps=MS_PS, captures=Captures(tmp_path, [4]),
        )  # fmt: skip
        pcaps.append((tmp_path / "host_4.pcap").read_bytes())

    assert pcaps[0] == pcaps[1]


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
    selector = {"Entropy": f"ns3::PermutedEntropy[Paths={entropies}]", "MtuBytes": 1}
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


# ---- what is kept -------------------------------------------------------------------------------


@pytest.mark.parametrize("snaplen_bytes", [1, 54, 62, 64, 4153, 4154, 4170])
def test_a_snaplen_keeps_the_beginning_of_the_same_frames(tmp_path, snaplen_bytes):
    arguments = (star(3, RATE, DELAY_PS), one_flow(1, 0, 5 * MTU), [ROCE])
    run(*arguments, captures=Captures(tmp_path, [1]))
    whole = (tmp_path / "host_1.pcap").read_bytes()
    run(*arguments, captures=Captures(tmp_path, [1], snaplen_bytes))
    cut = (tmp_path / "host_1.pcap").read_bytes()

    def parts(raw):
        at = 24
        while at < len(raw):
            kept = int.from_bytes(raw[at + 8 : at + 12], "little")
            yield raw[at : at + 8], raw[at + 12 : at + 16], raw[at + 16 : at + 16 + kept]
            at += 16 + kept

    assert int.from_bytes(cut[16:20], "little") == snaplen_bytes
    assert list(parts(cut)) == [(*head, data[:snaplen_bytes]) for *head, data in parts(whole)]


def test_capturing_changes_no_result_and_leaves_files_of_the_named_hosts_alone(tmp_path):
    rng = np.random.default_rng(8)
    network, flows = leaf_spine(2, 4, 2, RATE, DELAY_PS), Flows()
    for _ in range(20):
        src, dst = rng.choice(8, 2, replace=False)
        flows.add(int(src), int(dst), int(rng.integers(1, 400_000)))
    options = {"pfc": {"XoffBytes": 30_000}, "queue": ("ns3::RedEcn", {"KminBytes": 10_000})}
    without = run(network, flows, [ROCE], **options)
    assert list(tmp_path.iterdir()) == []
    got, *_ = captured(tmp_path, [2, 5], network, flows, [ROCE], **options)

    assert {p.name for p in tmp_path.iterdir()} == {"host_2.pcap", "host_5.pcap"}
    for table, columns in without.tables.items():
        for name, values in columns.items():
            assert (got[table][name] == values).all(), f"{table}.{name}"


@pytest.mark.parametrize(
    ("hosts", "message"),
    [
        ([7], "capture: there is no host 7"),
        ([1000], "capture: there is no host 1000"),  # the switch
        ([1, 1], "capture: host 1 is named twice"),
    ],
)
def test_what_cannot_be_captured_is_refused_and_leaves_nothing(tmp_path, hosts, message):
    with pytest.raises(PyorchError, match=re.escape(message)):
        run(star(2, RATE, DELAY_PS), one_flow(0, 1, MTU), captures=Captures(tmp_path, hosts))
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_named(tmp_path):
    missing = tmp_path / "missing"
    with pytest.raises(PyorchError, match=f"{missing}/host_1.pcap cannot be written: No such file"):
        run(star(2, RATE, DELAY_PS), one_flow(0, 1, MTU), captures=Captures(missing, [1]))
