// SPDX-License-Identifier: GPL-2.0-only

#ifndef MESSAGE_HEADER_H
#define MESSAGE_HEADER_H

#include "ns3/header.h"

#include <cstdint>

namespace ns3
{

/**
 * @brief Header of a packet of a message: addresses, number and whether it is an acknowledgement.
 *
 * Only its fields are serialised. The rest of a real header is PADDING_BYTES of a packet's payload,
 * which ns-3 does not store, so that header, padding and PPP take 64 bytes on the wire.
 */
class MessageHeader : public Header
{
  public:
    static constexpr uint32_t FIELD_BYTES = 13;                      ///< Serialised [byte]
    static constexpr uint32_t PADDING_BYTES = 64 - 2 - FIELD_BYTES; ///< Two are PPP's [byte]

    static TypeId GetTypeId();
    TypeId GetInstanceTypeId() const override;
    void Print(std::ostream& os) const override;
    uint32_t GetSerializedSize() const override;
    void Serialize(Buffer::Iterator start) const override;
    uint32_t Deserialize(Buffer::Iterator start) override;

    uint32_t source{0};      ///< Sending host
    uint32_t destination{0}; ///< Receiving host
    uint32_t number{0};      ///< Of the packet in its message
    bool isAck{false};       ///< An acknowledgement, not data
};

} // namespace ns3

#endif // MESSAGE_HEADER_H
