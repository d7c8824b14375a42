# SPDX-License-Identifier: GPL-2.0-only
"""Packet captures: every frame of a host, when it was there, under headers that standards allow."""

import re

import numpy as np
import pytest
from captures import (
    ACK_PS,
    DELAY_PS,
    FIRST_PS,
    FRAME_PS,
    MTU,
    RATE,
    ROCE,
    SELECTIVE,
    SPRAY,
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
        tmp_path, [0, 1], line([RATE] * 2, [DELAY_PS] * 2), flows, [ROCE], arrivals=True
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
    got, *files = captured(tmp_path, range(9), network, flows, [SELECTIVE], arrivals=True)

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


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
