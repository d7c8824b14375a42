// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-parts.h"

namespace ns3
{
namespace fabric
{

Message
FabricParts::GetMessage(uint32_t index) const
{
    const Message& known = First().Messages()[index];
    const Fabric& source = OfHost(known.src);
    const Fabric& destination = OfHost(known.dst);
    Message message = source.Messages()[index];
    if (&source == &destination)
    {
        return message;
    }
    const Message& there = destination.Messages()[index];
    message.receiverEndPs = there.receiverEndPs;
    message.outOfOrderPeak = std::max(message.outOfOrderPeak, there.outOfOrderPeak);
    message.sentPackets += there.sentPackets;
    message.retransmittedPackets += there.retransmittedPackets;
    message.trimmedPackets += there.trimmedPackets;
    message.markedPackets += there.markedPackets;
    message.timeouts += there.timeouts;
    message.naks += there.naks;
    return message;
}

bool
FabricParts::WaitsForOthers(uint32_t message) const
{
    return OfHost(First().Messages()[message].src).Messages().WaitsForOthers(message);
}

} // namespace fabric
} // namespace ns3
