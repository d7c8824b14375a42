# SPDX-License-Identifier: GPL-2.0-only
"""Packet captures as another decoder reads them: tshark."""

import shutil
import subprocess

import pytest
from captures import CE, DELAY_PS, ECT_0, MTU, NOT_ECT, RATE, ROCE, SPRAY, captured
from oracle_network import (
    Flows,
    one_flow,
    star,
)

pytestmark = pytest.mark.ns3

needs_tshark = pytest.mark.skipif(
    shutil.which("tshark") is None, reason="tshark is not installed: apt-get install tshark"
)


def tshark(path, *fields):
    """Return a row of text per frame, checksums verified."""
    asked = [part for name in fields for part in ("-e", name)]
    command = ["tshark", "-r", path, "-o", "ip.check_checksum:TRUE", "-T", "fields", *asked]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [line.split("\t") for line in done.stdout.splitlines()]


def everything(tmp_path, snaplen_bytes=65535):
    """Return the records of a host that sends, receives, loses, is marked and is paused."""
    flows = Flows()
    for i, (src, dst) in enumerate([(0, 1), (1, 0), (2, 0), (3, 1), (2, 1), (0, 2)] * 4):
        flows.add(src, dst, 1 + 40 * MTU * (i // 6 % 3) + 77 * i, i * 10_000)
    got, records = captured(
        tmp_path, [0], star(4, RATE, DELAY_PS), flows, [ROCE], snaplen_bytes=snaplen_bytes,
        pfc={"XoffBytes": 60_000}, queue=("ns3::RedEcn", {"KminBytes": 0, "KmaxBytes": 100_000}),
        drops=[(1000, 0, 30), (0, 1000, 40)],
    )  # fmt: skip
    assert all(
        any(getattr(r, what) for r in records) for what in ("is_ack", "is_nak", "is_data", "pause")
    )
    assert {r.ecn for r in records} >= {NOT_ECT, ECT_0, CE}
    return records


@needs_tshark
@pytest.mark.parametrize("snaplen_bytes", [65535, 128])
def test_tshark_reads_every_frame_as_we_do(tmp_path, snaplen_bytes):
    records = [r for r in everything(tmp_path, snaplen_bytes) if r.bth]
    rows = tshark(
        tmp_path / "host_0.pcap",
        *("infiniband.bth.opcode", "infiniband.bth.psn", "infiniband.bth.destqp"),
        *("infiniband.bth.a", "infiniband.aeth.syndrome", "infiniband.aeth.msn"),
        *("infiniband.reth.dmalen", "ip.dsfield.ecn", "ip.len", "udp.srcport", "frame.len"),
        *("ip.checksum.status", "_ws.malformed", "_ws.expert", "_ws.col.Protocol"),
    )
    rows = [row for row in rows if row[0]]

    def text(value):
        return "" if value is None else str(value)

    assert len(rows) == len(records) > 300
    for row, r in zip(rows, records, strict=True):
        opcode, psn, qp, request, syndrome, msn, length, *rest = row
        assert (int(opcode), int(psn), int(qp, 0)) == tuple(
            r.bth[name] for name in ("opcode", "psn", "qp")
        )
        assert request == str(r.bth["request"])
        assert (syndrome, msn) == (text(r.aeth.get("syndrome")), text(r.aeth.get("msn")))
        assert length == text(r.reth.get("length"))
        assert rest[:4] == [str(v) for v in (r.ecn, r.ip_bytes, r.src_port, r.frame_bytes)]
        assert rest[4:] == ["1", "", "", "RRoCE"]  # a good checksum, nothing to complain of


@needs_tshark
def test_tshark_has_nothing_to_say_against_whole_frames(tmp_path):
    records = everything(tmp_path)
    rows = tshark(tmp_path / "host_0.pcap", "_ws.col.Info", "_ws.short", "_ws.expert.message")

    assert len(rows) == len(records)
    assert not [row for row in rows if row[1] or row[2] or "Malformed" in row[0]]


@needs_tshark
def test_tshark_reads_pauses(tmp_path):
    pauses = [r for r in everything(tmp_path) if r.pause]
    rows = tshark(
        tmp_path / "host_0.pcap",
        *("macc.opcode", "macc.cbfc.enbv", "macc.cbfc.pause_time.c3", "eth.dst", "_ws.expert"),
    )

    assert [row for row in rows if row[0]] == [
        ["0x0101", "0x0008", str(r.pause[3]), "01:80:c2:00:00:01", ""] for r in pauses
    ]
    assert pauses


@needs_tshark
def test_tshark_sees_datagrams_where_no_standard_is_meant(tmp_path):
    captured(tmp_path, [0], star(2, RATE, DELAY_PS), one_flow(0, 1, 9 * MTU), [SPRAY])
    rows = tshark(tmp_path / "host_0.pcap", "frame.protocols", "udp.dstport", "_ws.expert")

    assert len(rows) == 18
    assert {tuple(row) for row in rows} == {("eth:ethertype:ip:udp:data", "1022", "")}
