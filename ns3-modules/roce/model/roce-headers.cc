// SPDX-License-Identifier: GPL-2.0-only

// RoceTransport as InfiniBand headers: what a packet capture shows.

#include "roce-transport.h"

#include "ns3/fabric.h"

#include <algorithm>

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
constexpr uint8_t MIDDLE = 1; ///< Beyond the first packet of an operation
constexpr uint8_t LAST = 2;

constexpr uint8_t BECN = 0x40;        ///< Backward congestion notification (9.2, annex A10)
constexpr uint8_t ACK_REQUEST = 0x80;
constexpr uint16_t DEFAULT_PARTITION = 0xffff;
constexpr uint32_t RESERVED_PAIRS = 2; ///< Queue pairs 0 and 1 are for management (3.9.1)

// AETH syndromes, 9.7.5.1.
constexpr uint8_t ACK_WITHOUT_CREDITS = 0x1f;
constexpr uint8_t NAK_SEQUENCE_ERROR = 0x60;

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
    datagram.invariantCrc = true;
    if (frame.kind == frame_kind::DATA)
    {
        DescribeData(frame, datagram);
        return datagram;
    }
    // A NAK names the packet that is missing, an ACK the last one that is not.
    const Message& message = Net().GetMessage(frame.message);
    const bool isNak = frame.kind == NAK;
    PutBth(datagram.headers,
           ACKNOWLEDGE,
           frame.flags & frame_flag::ECN_ECHO,
           RESERVED_PAIRS + static_cast<uint32_t>(message.id),
           false,
           isNak ? frame.aux : frame.aux - 1);
    const bool done = frame.aux == PacketsOf(message.bytes);
    datagram.headers.Put(isNak ? NAK_SEQUENCE_ERROR : ACK_WITHOUT_CREDITS, 1);
    datagram.headers.Put(done, 3); // messages completed, of one
    return datagram;
}

/// RDMA WRITE, or SEND where the sizes leave no room for a RETH.
void
RoceTransport::DescribeData(const Frame& frame, Datagram& datagram) const
{
    const Message& message = Net().GetMessage(frame.message);
    const uint32_t packets = PacketsOf(message.bytes);
    const bool isFirst = frame.packet == 0;
    const bool isLast = frame.packet + 1 == packets;
    const bool isWrite = m_rethBytes >= RETH_BYTES;
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
    const bool request = isLast || (frame.packet + 1) % m_ackInterval == 0;
    PutBth(datagram.headers, opcode, false, queuePair, request, frame.packet);
    if (isFirst && isWrite)
    {
        datagram.headers.Put(0, 8); // virtual address
        datagram.headers.Put(queuePair, 4); // remote key
        datagram.headers.Put(message.bytes, 4);
    }
    const uint64_t before = uint64_t{frame.packet} * m_mtuBytes;
    const uint64_t payload = std::min<uint64_t>(m_mtuBytes, message.bytes - before);
    const uint64_t needed = payload + m_headerBytes + (isFirst ? m_rethBytes : 0);
    datagram.paddingBytes = needed < frame.bytes ? frame.bytes - static_cast<uint32_t>(needed) : 0;
}

} // namespace ns3
