# SPDX-License-Identifier: GPL-2.0-only
"""Runs whose hosts are captured, and whose frames a record is of."""

from oracle_network import (
    GBPS,
    Captures,
    run,
)
from pcap_frames import read_pcap

RATE = 800 * GBPS
BYTE_PS = 10  # 8 / (800 Gb/s): frames do not begin at whole nanoseconds
DELAY_PS = 500_000
MTU = 4096
HEADERS, RETH, ACK_BYTES = 62, 16, 66
FIRST_PS = (MTU + HEADERS + RETH + 20) * BYTE_PS
FRAME_PS = (MTU + HEADERS + 20) * BYTE_PS
ACK_PS = (ACK_BYTES + 20) * BYTE_PS

ROCE = ("ns3::RoceTransport", {})
SELECTIVE = ("ns3::RoceTransport", {"Recovery": "SelectiveRepeat", "Rto": "100us"})
SPRAY = ("ns3::SprayTransport", {"Rto": "100us"})
NOT_ECT, ECT_0, CE = 0, 2, 3  # RFC 3168


def address(host):
    return 10 << 24 | host


def captured(tmp_path, hosts, *args, snaplen_bytes=65535, **kwargs):
    """Return the outcome of a run and the records of each captured host."""
    got = run(*args, captures=Captures(tmp_path, hosts, snaplen_bytes), **kwargs)
    return got, *(read_pcap(tmp_path / f"host_{host}.pcap") for host in hosts)


def sent_by(host, records):
    return [record for record in records if record.src == address(host)]


def sent_to(host, records):
    return [record for record in records if record.dst == address(host)]
