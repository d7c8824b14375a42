// SPDX-License-Identifier: GPL-2.0-only

#ifndef PACKET_FIELDS_H
#define PACKET_FIELDS_H

#include "ns3/packet.h"

#include <cstdint>

namespace ns3
{

/// What a switch or a host port needs to know of a packet; zero where the packet has no such field.
struct PacketFields
{
    uint64_t src{0};          ///< Network address, hashed if it is longer
    uint64_t dst{0};          ///< The same
    uint16_t srcPort{0};      ///< TCP, UDP; 0 in a fragment
    uint16_t dstPort{0};      ///< The same
    uint8_t protocol{0};      ///< Above IP
    uint8_t ecn{0};           ///< Field of two bits (RFC 3168 section 5)
    bool isTcp{false};        ///< Whole TCP header is there
    bool isIp{false};         ///< Version 4 or 6
    uint32_t sequence{0};     ///< TCP, first byte of the payload
    uint32_t payloadBytes{0}; ///< Above TCP or UDP [byte]

    uint16_t Entropy() const; ///< Hash of addresses, protocol and ports
};

/**
 * @param packet with the header of its network layer first
 * @param etherType of that layer
 * @return fields at their places in RFC 791, 8200, 9293 and 768
 */
PacketFields FieldsOf(const Packet& packet, uint16_t etherType);

/// Set Congestion Experienced in the IP header that comes first; others are left as they are.
void MarkCongestion(Packet& packet, uint16_t etherType);

} // namespace ns3

#endif // PACKET_FIELDS_H
