// SPDX-License-Identifier: GPL-2.0-only

// RoceTransport at the destination of messages.

#include "roce-transport.h"

#include "ns3/fabric.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

void
RoceTransport::Answer(FrameId id, PortId port, uint8_t kind, uint32_t cumulative)
{
    // The data frame becomes its own answer: same message, packet, entropy and time stamp.
    Frame& frame = Net().Frames()[id];
    frame.kind = kind;
    frame.aux = cumulative;
    frame.dst = Net().GetMessage(frame.message).src;
    frame.bytes = static_cast<uint16_t>(m_ackBytes);
    frame.priority = m_controlPriority;
    frame.flags = frame_flag::REVERSE |
                  ((frame.flags & frame_flag::ECN_MARKED) ? frame_flag::ECN_ECHO : 0);
    SendControl(id, port);
}

void
RoceTransport::OnData(FrameId id, PortId port)
{
    const Frame& frame = Net().Frames()[id];
    Message& message = Net().GetMessage(frame.message);
    if (message.receiverSlot == DONE_SLOT)
    {
        Answer(id, port, ACK, PacketsOf(message.bytes)); // the acknowledgement was lost
        return;
    }
    if (message.receiverSlot == NO_SLOT)
    {
        message.receiverSlot = m_receivers.Open();
        m_receivers[message.receiverSlot].message = frame.message;
        m_receivers[message.receiverSlot].packets = PacketsOf(message.bytes);
    }
    Receiver& receiver = m_receivers[message.receiverSlot];
    const uint32_t expected = receiver.received.Base();
    if (frame.packet < expected) // a copy of what is here already
    {
        Answer(id, port, ACK, expected);
        return;
    }
    if (frame.packet > expected)
    {
        bool answer = true;
        if (m_recovery == Recovery::GO_BACK_N)
        {
            answer = !receiver.nakSent ||
                     Net().NowPs() - receiver.nakPs >=
                         static_cast<uint64_t>(m_nakInterval.GetPicoSeconds());
        }
        else
        {
            receiver.received.Add(frame.packet);
            message.outOfOrderPeak = std::max(message.outOfOrderPeak, receiver.received.Held());
        }
        if (!answer)
        {
            Net().Frames().Free(id);
            return;
        }
        receiver.nakSent = true;
        receiver.nakPs = Net().NowPs();
        message.naks++;
        Answer(id, port, NAK, expected);
        return;
    }
    receiver.received.Add(frame.packet);
    receiver.nakSent = false;
    receiver.sinceAck++;
    const uint32_t cumulative = receiver.received.Base();
    const bool done = cumulative == receiver.packets;
    if (done)
    {
        Net().MessageDelivered(frame.message);
        m_receivers.Close(message.receiverSlot);
        message.receiverSlot = DONE_SLOT;
    }
    if (done || receiver.sinceAck >= m_ackInterval || cumulative > expected + 1)
    {
        receiver.sinceAck = 0;
        Answer(id, port, ACK, cumulative);
        return;
    }
    Net().Frames().Free(id);
}

} // namespace ns3
