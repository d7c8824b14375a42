# SPDX-License-Identifier: GPL-2.0-only
"""A decoder of pcap files written from the standards alone; it knows nothing of the engine.

Whatever a standard forbids fails here: a wrong checksum or length, a reserved bit that is set.
"""

import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path

NANOSECOND_MAGIC = 0xA1B23C4D
ETHERNET, IPV4, UDP, BTH, RETH, AETH = 14, 20, 8, 12, 16, 4  # bytes
FCS, ICRC = 4, 4
ROCE_V2 = 4791

# InfiniBand Architecture Specification, 9.2.1: reliable connection.
SEND = {"first": 0, "middle": 1, "last": 2, "only": 4}
WRITE = {"first": 6, "middle": 7, "last": 8, "only": 10}
ACKNOWLEDGE = 17


@dataclass
class Record:
    """One frame; fields of headers that it does not have are None."""

    time_ns: int
    frame_bytes: int
    data: bytes
    dst_mac: bytes
    src_mac: bytes
    pause: list[int] | None = None  # quanta, None where a class is not enabled
    dscp: int | None = None
    ecn: int | None = None
    identification: int | None = None
    ttl: int | None = None
    ip_bytes: int | None = None
    src: int | None = None
    dst: int | None = None
    src_port: int | None = None
    dst_port: int | None = None
    content: bytes = b""  # after UDP
    bth: dict = field(default_factory=dict)
    reth: dict = field(default_factory=dict)
    aeth: dict = field(default_factory=dict)

    @property
    def is_data(self):
        return self.bth and self.bth["opcode"] != ACKNOWLEDGE

    @property
    def is_nak(self):
        return self.aeth and self.aeth["syndrome"] >> 5 == 0b011

    @property
    def is_ack(self):
        return self.aeth and self.aeth["syndrome"] >> 5 == 0


def read_pcap(path: Path) -> list[Record]:
    """Return the records of a nanosecond pcap of Ethernet frames, checked."""
    raw = path.read_bytes()
    magic, major, minor, zone, sigfigs, snaplen, link = struct.unpack_from("=IHHiIII", raw)
    assert (magic, major, minor, zone, sigfigs, link) == (NANOSECOND_MAGIC, 2, 4, 0, 0, 1)
    records, at = [], 24
    while at < len(raw):
        seconds, nanoseconds, kept, frame_bytes = struct.unpack_from("=IIII", raw, at)
        assert nanoseconds < 10**9
        assert kept == min(snaplen, frame_bytes - FCS)
        data = raw[at + 16 : at + 16 + kept]
        assert len(data) == kept
        records.append(decode(seconds * 10**9 + nanoseconds, frame_bytes, data))
        at += 16 + kept
    times = [record.time_ns for record in records]
    assert times == sorted(times)
    return records


def decode(time_ns: int, frame_bytes: int, data: bytes) -> Record:
    dst_mac, src_mac, ethertype = data[:6], data[6:12], int.from_bytes(data[12:14], "big")
    record = Record(time_ns, frame_bytes, data, dst_mac, src_mac)
    if ethertype == 0x8808:
        _decode_pause(record)
    else:
        assert ethertype == 0x0800
        _decode_ipv4(record)
    return record


def _decode_pause(record: Record) -> None:
    """IEEE 802.1Qbb figure 36-2."""
    assert (record.frame_bytes, record.dst_mac.hex()) == (64, "0180c2000001")
    opcode, vector, *quanta = struct.unpack_from("!HH8H", record.data, ETHERNET)
    assert (opcode, vector >> 8) == (0x0101, 0)
    assert not any(record.data[34:])
    record.pause = [q if vector >> i & 1 else None for i, q in enumerate(quanta)]
    assert all(vector >> i & 1 or q == 0 for i, q in enumerate(quanta))


def _decode_ipv4(record: Record) -> None:
    header = record.data[ETHERNET : ETHERNET + IPV4]
    version, tos, total, ident, flags, ttl, protocol, _, src, dst = struct.unpack(
        "!BBHHHBBHII", header
    )
    assert (version, flags, protocol) == (0x45, 0x4000, 17)
    assert ones_complement_sum(header) == 0xFFFF, "IPv4 header checksum"
    assert ETHERNET + total + FCS <= record.frame_bytes
    # More than that is padding, which only the smallest frame of Ethernet has.
    assert ETHERNET + total + FCS == record.frame_bytes or record.frame_bytes == 64
    record.dscp, record.ecn, record.identification, record.ttl = tos >> 2, tos & 3, ident, ttl
    record.ip_bytes, record.src, record.dst = total, src, dst
    src_port, dst_port, length, checksum = struct.unpack_from("!HHHH", record.data, 34)
    assert (length, checksum) == (total - IPV4, 0)
    record.src_port, record.dst_port = src_port, dst_port
    end = ETHERNET + total
    record.content = record.data[42:end]
    assert not any(record.data[end:]), "padding"
    if dst_port == ROCE_V2:
        _decode_roce(record, record.data[ETHERNET:end], total)


def _decode_roce(record: Record, packet: bytes, total: int) -> None:
    """InfiniBand Architecture Specification 9.2 to 9.3 and annex A17."""
    opcode, flags, partition, fb, qp, request, psn = struct.unpack(
        "!BBHB3sB3s", record.content[:BTH]
    )
    assert (flags, partition) == (0, 0xFFFF)
    assert fb & 0xBF == 0, "reserved bits and FECN"
    assert request & 0x7F == 0, "reserved bits"
    record.bth = {
        "opcode": opcode,
        "becn": fb >> 6 & 1,
        "qp": int.from_bytes(qp, "big"),
        "request": request >> 7,
        "psn": int.from_bytes(psn, "big"),
    }
    rest = BTH
    if opcode in (WRITE["first"], WRITE["only"]):
        va, key, length = struct.unpack_from("!QII", record.content, rest)
        record.reth = {"va": va, "key": key, "length": length}
        rest += RETH
    if opcode == ACKNOWLEDGE:
        syndrome, msn = struct.unpack_from("!B3s", record.content, rest)
        record.aeth = {"syndrome": syndrome, "msn": int.from_bytes(msn, "big")}
        rest += AETH
    record.bth["payload_bytes"] = total - IPV4 - UDP - rest - ICRC
    if len(packet) == total:
        assert not any(record.content[rest:-ICRC]), "payload"
        assert record.content[-ICRC:] == invariant_crc(packet[:-ICRC])


def invariant_crc(packet: bytes) -> bytes:
    """Annex A17: Ethernet's CRC-32 over eight bytes of ones and the packet, variant fields ones."""
    masked = bytearray(packet)
    for offset in (1, 8, 10, 11, IPV4 + 6, IPV4 + 7, IPV4 + UDP + 4):
        masked[offset] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + masked))


def ones_complement_sum(data: bytes) -> int:
    """RFC 1071: over a header with its checksum it is all ones."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total
