// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-parts.h"

namespace ns3
{
namespace fabric
{

namespace
{

/// Add what another engine has seen of a message.
void
AddCounts(Message& message, const Message& there)
{
    message.outOfOrderPeak = std::max(message.outOfOrderPeak, there.outOfOrderPeak);
    message.sentPackets += there.sentPackets;
    message.retransmittedPackets += there.retransmittedPackets;
    message.trimmedPackets += there.trimmedPackets;
    message.markedPackets += there.markedPackets;
    message.timeouts += there.timeouts;
    message.naks += there.naks;
}

} // namespace

Message
FabricParts::GetMessage(uint32_t index) const
{
    const Message& known = First().Messages()[index];
    const RunView& source = OfHost(known.src);
    const RunView& destination = OfHost(known.dst);
    Message message = source.Messages()[index];
    if (First().Messages().EndsAtReceiver(index)) // and others may send in its name
    {
        message.receiverEndPs = destination.Messages()[index].receiverEndPs;
        message.senderEndPs = destination.Messages()[index].senderEndPs;
        for (const RunView* part : m_parts)
        {
            AddCounts(message, part == &source ? Message{} : part->Messages()[index]);
        }
        return message;
    }
    if (&source == &destination)
    {
        return message;
    }
    const Message& there = destination.Messages()[index];
    message.receiverEndPs = there.receiverEndPs;
    AddCounts(message, there);
    return message;
}

bool
FabricParts::WaitsForOthers(uint32_t message) const
{
    return OfHost(First().Messages()[message].src).Messages().WaitsForOthers(message);
}

} // namespace fabric
} // namespace ns3
