// SPDX-License-Identifier: GPL-2.0-only

#include "packet-fields.h"

#include "ns3/counter-random.h"
#include "ns3/ipv4-header.h"
#include "ns3/ipv6-header.h"
#include "ns3/node.h"

#include <array>

namespace ns3
{

namespace
{

constexpr uint16_t ETHER_IPV4 = 0x0800;
constexpr uint16_t ETHER_IPV6 = 0x86dd;
constexpr uint8_t TCP = 6;
constexpr uint8_t UDP = 17;
constexpr uint32_t IPV4_BYTES = 20;
constexpr uint32_t IPV6_BYTES = 40;
constexpr uint32_t UDP_BYTES = 8;
constexpr uint32_t TCP_BYTES = 20;

/// The first bytes of a packet; what it does not have is zero.
class FirstBytes
{
  public:
    explicit FirstBytes(const Packet& packet)
        : m_size(packet.CopyData(m_bytes.data(), m_bytes.size()))
    {
    }

    uint32_t Size() const
    {
        return m_size;
    }

    uint64_t Number(uint32_t at, uint32_t bytes) const
    {
        uint64_t value = 0;
        for (uint32_t i = at; i < at + bytes; i++)
        {
            value = (value << 8) | m_bytes[i];
        }
        return value;
    }

  private:
    std::array<uint8_t, 96> m_bytes{}; // IPv4 with options, or IPv6, and a TCP header
    uint32_t m_size;
};

void
ReadPorts(PacketFields& fields, const FirstBytes& bytes, uint32_t at, uint32_t packetBytes)
{
    if (fields.protocol == UDP && bytes.Size() >= at + UDP_BYTES)
    {
        fields.payloadBytes = packetBytes - at - UDP_BYTES;
    }
    else if (fields.protocol == TCP && bytes.Size() >= at + TCP_BYTES)
    {
        const auto headerBytes = static_cast<uint32_t>(bytes.Number(at + 12, 1) >> 4) * 4;
        fields.isTcp = true;
        fields.sequence = static_cast<uint32_t>(bytes.Number(at + 4, 4));
        fields.payloadBytes = packetBytes - at - headerBytes;
    }
    else
    {
        return;
    }
    fields.srcPort = static_cast<uint16_t>(bytes.Number(at, 2));
    fields.dstPort = static_cast<uint16_t>(bytes.Number(at + 2, 2));
}

} // namespace

uint16_t
PacketFields::Entropy() const
{
    const uint64_t ends = fabric::Mix64(fabric::Mix64(src) + dst);
    const uint64_t ports = (uint64_t{srcPort} << 16) | dstPort;
    return static_cast<uint16_t>(fabric::Mix64(ends ^ (ports << 8) ^ protocol));
}

PacketFields
FieldsOf(const Packet& packet, uint16_t etherType)
{
    PacketFields fields;
    const FirstBytes bytes(packet);
    if (etherType == ETHER_IPV4 && bytes.Size() >= IPV4_BYTES)
    {
        fields.isIp = true;
        fields.ecn = bytes.Number(1, 1) & 3;
        fields.protocol = static_cast<uint8_t>(bytes.Number(9, 1));
        fields.src = bytes.Number(12, 4);
        fields.dst = bytes.Number(16, 4);
        const bool isFragment = (bytes.Number(6, 2) & 0x3fff) != 0;
        if (!isFragment)
        {
            ReadPorts(fields,
                      bytes,
                      static_cast<uint32_t>(bytes.Number(0, 1) & 15) * 4,
                      static_cast<uint32_t>(bytes.Number(2, 2)));
        }
    }
    else if (etherType == ETHER_IPV6 && bytes.Size() >= IPV6_BYTES)
    {
        fields.isIp = true;
        fields.ecn = (bytes.Number(1, 1) >> 4) & 3;
        fields.protocol = static_cast<uint8_t>(bytes.Number(6, 1));
        fields.src = fabric::Mix64(bytes.Number(8, 8)) ^ bytes.Number(16, 8);
        fields.dst = fabric::Mix64(bytes.Number(24, 8)) ^ bytes.Number(32, 8);
        ReadPorts(fields,
                  bytes,
                  IPV6_BYTES,
                  IPV6_BYTES + static_cast<uint32_t>(bytes.Number(4, 2)));
    }
    return fields;
}

void
MarkCongestion(Packet& packet, uint16_t etherType)
{
    if (etherType == ETHER_IPV4)
    {
        Ipv4Header header;
        packet.RemoveHeader(header);
        header.SetEcn(Ipv4Header::ECN_CE);
        if (Node::ChecksumEnabled())
        {
            header.EnableChecksum();
        }
        packet.AddHeader(header);
    }
    else if (etherType == ETHER_IPV6)
    {
        Ipv6Header header;
        packet.RemoveHeader(header);
        header.SetEcn(Ipv6Header::ECN_CE);
        packet.AddHeader(header);
    }
}

} // namespace ns3
