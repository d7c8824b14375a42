// SPDX-License-Identifier: GPL-2.0-only

#include "message-header.h"

namespace ns3
{

TypeId
MessageHeader::GetTypeId()
{
    static TypeId tid = TypeId("ns3::MessageHeader")
                            .SetParent<Header>()
                            .SetGroupName("Benchmarks")
                            .AddConstructor<MessageHeader>();
    return tid;
}

TypeId
MessageHeader::GetInstanceTypeId() const
{
    return GetTypeId();
}

void
MessageHeader::Print(std::ostream& os) const
{
    os << source << ">" << destination << (isAck ? " ack " : " data ") << number;
}

uint32_t
MessageHeader::GetSerializedSize() const
{
    return FIELD_BYTES;
}

void
MessageHeader::Serialize(Buffer::Iterator start) const
{
    start.WriteU32(source);
    start.WriteU32(destination);
    start.WriteU32(number);
    start.WriteU8(isAck);
}

uint32_t
MessageHeader::Deserialize(Buffer::Iterator start)
{
    source = start.ReadU32();
    destination = start.ReadU32();
    number = start.ReadU32();
    isAck = start.ReadU8() != 0;
    return FIELD_BYTES;
}

} // namespace ns3
