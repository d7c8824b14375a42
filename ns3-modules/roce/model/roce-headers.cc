// SPDX-License-Identifier: GPL-2.0-only

// RoceTransport as InfiniBand headers: what a packet capture shows.

#include "roce-transport.h"

#include <algorithm>
#include <array>

namespace ns3
{

using namespace fabric;

namespace
{

constexpr uint16_t ROCE_V2_PORT = 4791;
constexpr uint32_t RETH_BYTES = 16;

// Operation codes of the reliable connection, InfiniBand Architecture Specification 9.2.1.
constexpr uint8_t SEND_FIRST = 0x00;
constexpr uint8_t SEND_ONLY = 0x04;
constexpr uint8_t WRITE_FIRST = 0x06;
constexpr uint8_t WRITE_ONLY = 0x0a;
constexpr uint8_t ACKNOWLEDGE = 0x11;
constexpr uint8_t CONGESTION = 0x81; ///< Notification packet (annex A17.9)
constexpr uint8_t MIDDLE = 1;        ///< Beyond the first packet of an operation
constexpr uint8_t LAST = 2;

constexpr uint8_t BECN = 0x40; ///< Backward congestion notification (9.2, annex A10)
constexpr uint8_t ACK_REQUEST = 0x80;
constexpr uint16_t DEFAULT_PARTITION = 0xffff;
constexpr uint32_t RESERVED_PAIRS = 2; ///< Queue pairs 0 and 1 are for management (3.9.1)

constexpr uint32_t CNP_RESERVED_BYTES = 16;

// AETH syndromes, 9.7.5.1.
constexpr uint8_t ACK_WITHOUT_CREDITS = 0x1f;
constexpr uint8_t NAK_SEQUENCE_ERROR = 0x60;

constexpr size_t IP_UDP_BTH_BYTES = 20 + 8 + 12;
constexpr uint32_t ICRC_BYTES = 4;

/// CRC-32 of IEEE 802.3 section 3.2.9, byte by byte, least significant bit first.
constexpr std::array<uint32_t, 256> CRC_TABLE = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t byte = 0; byte < table.size(); byte++)
    {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++)
        {
            crc = (crc >> 1) ^ ((crc & 1) ? 0xedb88320 : 0);
        }
        table[byte] = crc;
    }
    return table;
}();

uint32_t
AddToCrc(uint32_t crc, const uint8_t* data, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
    {
        crc = (crc >> 8) ^ CRC_TABLE[(crc ^ data[i]) & 0xff];
    }
    return crc;
}

/// Annex A17: CRC-32 from the IP header on, with ones for the local route header that is not there
/// and for all that a router may change: DSCP and ECN, TTL, checksums, FECN and BECN.
WireBytes
InvariantCrc(const uint8_t* packet, size_t bytes)
{
    constexpr size_t LRH_BYTES = 8;
    const size_t masked = std::min(bytes, IP_UDP_BTH_BYTES);
    std::array<uint8_t, LRH_BYTES + IP_UDP_BTH_BYTES> headers;
    headers.fill(0xff);
    std::copy_n(packet, masked, &headers[LRH_BYTES]);
    for (const size_t changes : {1, 8, 10, 11, 26, 27, 32})
    {
        headers[LRH_BYTES + changes] = 0xff;
    }
    uint32_t crc = AddToCrc(0xffffffff, headers.data(), LRH_BYTES + masked);
    crc = ~AddToCrc(crc, packet + masked, bytes - masked);
    WireBytes seal;
    for (int shift = 0; shift < 32; shift += 8) // its first bit is the least significant one
    {
        seal.Put(crc >> shift, 1);
    }
    return seal;
}

/// Base transport header (9.2); queue pair and sequence number have 24 bits.
void
PutBth(WireBytes& bytes, uint8_t opcode, bool becn, uint32_t queuePair, bool request, uint32_t psn)
{
    bytes.Put(opcode, 1);
    bytes.Put(0, 1); // no solicited event, no migration, no pad, version 0
    bytes.Put(DEFAULT_PARTITION, 2);
    bytes.Put(becn ? BECN : 0, 1);
    bytes.Put(queuePair, 3);
    bytes.Put(request ? ACK_REQUEST : 0, 1);
    bytes.Put(psn, 3);
}

} // namespace

Datagram
RoceTransport::Describe(const Frame& frame) const
{
    Datagram datagram;
    datagram.destinationPort = ROCE_V2_PORT;
    datagram.seal = InvariantCrc;
    datagram.sealBytes = ICRC_BYTES;
    if (frame.kind == frame_kind::DATA)
    {
        DescribeData(frame, datagram);
        return datagram;
    }
    const Message& message = Host().GetMessage(frame.message);
    const uint32_t queuePair = RESERVED_PAIRS + static_cast<uint32_t>(message.id);
    if (frame.kind == CNP)
    {
        PutBth(datagram.headers, CONGESTION, true, queuePair, false, 0);
        datagram.headers.PutZeros(CNP_RESERVED_BYTES);
        return datagram;
    }
    // A NAK names the packet that is missing, an ACK the last one that is not.
    const bool isNak = frame.kind == NAK;
    const bool becn = frame.flags & frame_flag::ECN_ECHO;
    const uint32_t psn = isNak ? frame.aux : frame.aux - 1;
    PutBth(datagram.headers, ACKNOWLEDGE, becn, queuePair, false, psn);
    const bool done = frame.aux == Cut().Packets(message.bytes);
    datagram.headers.Put(isNak ? NAK_SEQUENCE_ERROR : ACK_WITHOUT_CREDITS, 1);
    datagram.headers.Put(done, 3); // messages completed, of one
    return datagram;
}

/// RDMA WRITE, or SEND where the sizes leave no room for a RETH.
void
RoceTransport::DescribeData(const Frame& frame, Datagram& datagram) const
{
    const Message& message = Host().GetMessage(frame.message);
    const bool isFirst = frame.packet == 0;
    const bool isLast = frame.packet + 1 == Cut().Packets(message.bytes);
    const bool isWrite = m_firstHeaderBytes >= RETH_BYTES;
    uint8_t opcode = isWrite ? WRITE_FIRST : SEND_FIRST;
    if (isFirst && isLast)
    {
        opcode = isWrite ? WRITE_ONLY : SEND_ONLY;
    }
    else if (!isFirst)
    {
        opcode += isLast ? LAST : MIDDLE;
    }
    const uint32_t queuePair = RESERVED_PAIRS + static_cast<uint32_t>(message.id);
    const bool atInterval = (frame.packet + 1) % m_ackInterval == 0;
    const bool request = isLast || atInterval || (frame.flags & ACK_REQUEST);
    PutBth(datagram.headers, opcode, false, queuePair, request, frame.packet);
    if (isFirst && isWrite)
    {
        datagram.headers.Put(0, 8);         // virtual address
        datagram.headers.Put(queuePair, 4); // remote key
        datagram.headers.Put(message.bytes, 4);
    }
    if (frame.flags & frame_flag::TRIMMED)
    {
        return;
    }
    const uint64_t needed = Cut().PayloadBytes(message.bytes, frame.packet) + m_headerBytes +
                            (isFirst ? m_firstHeaderBytes : 0);
    datagram.paddingBytes = needed < frame.bytes ? frame.bytes - static_cast<uint32_t>(needed) : 0;
}

} // namespace ns3
