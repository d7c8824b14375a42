// SPDX-License-Identifier: GPL-2.0-only

// RoceTransport at the source of messages.

#include "roce-transport.h"

#include "ns3/fabric.h"
#include "ns3/type-reference.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

namespace
{

constexpr uint32_t PACE_TOKEN = 1U << 31; ///< Timer token: pacing of the slot below
constexpr uint32_t NO_HOLE = 0xffffffff;

} // namespace

ReadyList&
RoceTransport::ReadyOf(const Sender& sender)
{
    const auto [first, ports] = Net().PortsOfHost(Host());
    if (m_ready.empty())
    {
        m_ready.resize(ports);
    }
    return m_ready[sender.port - first];
}

void
RoceTransport::StartMessage(uint32_t messageIndex)
{
    const uint32_t slot = m_senders.Open();
    Message& message = Net().GetMessage(messageIndex);
    message.senderSlot = slot;
    Sender& sender = m_senders[slot];
    sender.message = messageIndex;
    sender.packets = PacketsOf(message.bytes);
    sender.port = Net().PortOfMessage(messageIndex);
    const uint64_t rttPs =
        Net().BaseRttPs(messageIndex, m_mtuBytes + m_headerBytes, m_ackBytes);
    const uint64_t packetPs = Net().SerialisationPs(sender.port, m_mtuBytes + m_headerBytes);
    if (m_windowBytes > 0)
    {
        sender.windowPackets = PacketsOf(m_windowBytes);
    }
    else if (m_recovery == Recovery::SELECTIVE_REPEAT)
    {
        sender.windowPackets = static_cast<uint32_t>((rttPs + packetPs - 1) / packetPs);
    }
    else
    {
        sender.windowPackets = sender.packets;
    }
    if (m_hasControl)
    {
        sender.control = CreateReferenced<CongestionControl>(
            m_controlType,
            "ns3::RoceTransport: CongestionControl");
        sender.control->Start(Net().NowPs(), {Net().RateBps(sender.port), rttPs, m_mtuBytes});
    }
    m_entropy->Open(Net(), slot, messageIndex);
    sender.entropy = m_entropy->Constant(Net(), messageIndex);
    Wake(slot);
}

uint32_t
RoceTransport::Window(const Sender& sender) const
{
    if (!sender.control)
    {
        return sender.windowPackets;
    }
    // A window of less than one packet still lets one go, or nothing would ever move.
    return std::min<uint64_t>(sender.windowPackets,
                              std::max<uint64_t>(1, sender.control->WindowBytes() / m_mtuBytes));
}

/// @return first packet known to be lost and not yet sent again, NO_HOLE if there is none
uint32_t
RoceTransport::NextHole(Sender& sender) const
{
    if (m_recovery == Recovery::GO_BACK_N)
    {
        return NO_HOLE;
    }
    sender.repair = std::max(sender.repair, sender.unacked);
    while (sender.repair < sender.repairEnd)
    {
        if (!sender.sacked.Contains(sender.repair))
        {
            return sender.repair;
        }
        sender.repair++;
    }
    return NO_HOLE;
}

bool
RoceTransport::CanSend(uint32_t slot)
{
    Sender& sender = m_senders[slot];
    if (sender.control && Net().NowPs() < sender.paceUntilPs)
    {
        return false;
    }
    return NextHole(sender) != NO_HOLE || (sender.next < sender.packets &&
                                           sender.next - sender.unacked < Window(sender));
}

void
RoceTransport::Wake(uint32_t slot)
{
    if (CanSend(slot))
    {
        ReadyOf(m_senders[slot]).Push(slot);
        Kick();
    }
}

FrameId
RoceTransport::NextFrame(PortId port, uint32_t pausedPriorities)
{
    if ((pausedPriorities >> m_priority) & 1)
    {
        return NO_FRAME;
    }
    const uint32_t local = port - Net().PortsOfHost(Host()).first;
    if (local >= m_ready.size())
    {
        return NO_FRAME;
    }
    for (uint32_t slot = m_ready[local].Pop(); slot != NO_SLOT; slot = m_ready[local].Pop())
    {
        // A slot may have ended and begun again, for a message that leaves by another port.
        if (m_senders[slot].port != port || !CanSend(slot))
        {
            continue;
        }
        Sender& sender = m_senders[slot];
        const uint32_t hole = NextHole(sender);
        uint32_t packet;
        if (hole != NO_HOLE)
        {
            packet = hole;
            sender.repair++;
        }
        else
        {
            packet = sender.next++;
        }
        const FrameId frame = MakeData(slot, packet);
        Pace(slot, Net().Frames()[frame].bytes);
        if (CanSend(slot))
        {
            m_ready[local].Push(slot);
        }
        return frame;
    }
    return NO_FRAME;
}

FrameId
RoceTransport::MakeData(uint32_t slot, uint32_t packet)
{
    Sender& sender = m_senders[slot];
    Message& message = Net().GetMessage(sender.message);
    const FrameId id = Net().Frames().Allocate();
    Frame& frame = Net().Frames()[id];
    frame.message = sender.message;
    frame.dst = message.dst;
    frame.packet = packet;
    frame.entropy = sender.entropy >= 0 ? static_cast<uint16_t>(sender.entropy)
                                        : m_entropy->Next(slot, sender.port);
    frame.bytes = static_cast<uint16_t>(FrameBytes(message, packet));
    frame.kind = frame_kind::DATA;
    frame.priority = m_priority;
    frame.flags = m_ecnCapable ? frame_flag::ECN_CAPABLE : 0;
    message.sentPackets++;
    if (packet < sender.highest)
    {
        frame.flags |= frame_flag::RETRANSMITTED;
        message.retransmittedPackets++;
    }
    sender.highest = std::max(sender.highest, packet + 1);
    if (sender.control)
    {
        Net().Frames().StampPs(id) = Net().NowPs();
        sender.control->OnSent(Net().NowPs(), frame.bytes);
    }
    ArmTimeout(slot);
    return id;
}

void
RoceTransport::Pace(uint32_t slot, uint32_t frameBytes)
{
    Sender& sender = m_senders[slot];
    if (!sender.control || sender.control->RateBps() >= Net().RateBps(sender.port))
    {
        return;
    }
    const double wireBits = 8.0 * static_cast<double>(frameBytes + Net().Options().framingBytes);
    const auto gapPs = static_cast<uint64_t>(wireBits * 1e12 /
                                             static_cast<double>(sender.control->RateBps()));
    sender.paceUntilPs = Net().NowPs() + gapPs;
    if (const uint64_t atPs = sender.pace.Move(sender.paceUntilPs); atPs != NEVER_PS)
    {
        SetTimer(atPs, slot | PACE_TOKEN);
    }
}

/// Start the timeout anew if it does not run.
void
RoceTransport::ArmTimeout(uint32_t slot)
{
    Sender& sender = m_senders[slot];
    if (sender.timeout.IsSet())
    {
        return;
    }
    const bool few = m_recovery == Recovery::SELECTIVE_REPEAT &&
                     sender.next - sender.unacked <= m_rtoLowPackets;
    const auto rtoPs =
        static_cast<uint64_t>((few ? m_rtoLow : m_rto).GetPicoSeconds()) << sender.backoff;
    if (const uint64_t atPs = sender.timeout.Move(Net().NowPs() + rtoPs); atPs != NEVER_PS)
    {
        SetTimer(atPs, slot);
    }
}

void
RoceTransport::OnTimer(uint32_t token)
{
    const uint32_t slot = token & ~PACE_TOKEN;
    LazyDeadline& deadline =
        (token & PACE_TOKEN) ? m_senders[slot].pace : m_senders[slot].timeout;
    const auto [reached, againPs] = deadline.Fire(Net().NowPs());
    if (againPs != NEVER_PS)
    {
        SetTimer(againPs, token);
    }
    if (reached)
    {
        if (token & PACE_TOKEN)
        {
            Wake(slot);
        }
        else
        {
            OnTimeout(slot);
        }
    }
}

void
RoceTransport::OnTimeout(uint32_t slot)
{
    Sender& sender = m_senders[slot];
    Net().GetMessage(sender.message).timeouts++;
    sender.backoff = std::min(sender.backoff + 1, m_maxBackoff);
    if (m_recovery == Recovery::GO_BACK_N)
    {
        sender.next = sender.unacked;
    }
    else
    {
        sender.repair = sender.unacked;
        sender.repairEnd = sender.next;
    }
    if (sender.control)
    {
        sender.control->OnLoss(Net().NowPs(), true);
    }
    ArmTimeout(slot);
    Wake(slot);
}

void
RoceTransport::Acknowledge(uint32_t slot, uint32_t cumulative)
{
    Sender& sender = m_senders[slot];
    sender.unacked = cumulative;
    sender.next = std::max(sender.next, cumulative);
    sender.backoff = 0;
    sender.timeout.Clear();
    if (m_recovery == Recovery::SELECTIVE_REPEAT)
    {
        sender.sacked.AdvanceTo(cumulative);
    }
    if (cumulative == sender.packets)
    {
        m_entropy->Close(slot);
        Net().MessageAcknowledged(sender.message);
    }
    else if (sender.highest > cumulative)
    {
        ArmTimeout(slot);
    }
}

void
RoceTransport::OnAck(const Frame& frame, uint64_t sentPs)
{
    Message& message = Net().GetMessage(frame.message);
    if (message.senderSlot == DONE_SLOT)
    {
        return; // an old acknowledgement of a message that is done
    }
    const uint32_t slot = message.senderSlot;
    Sender& sender = m_senders[slot];
    const uint32_t before = sender.unacked;
    const bool advanced = frame.aux > before;
    if (advanced)
    {
        Acknowledge(slot, frame.aux);
    }
    if (m_recovery == Recovery::SELECTIVE_REPEAT && frame.packet >= sender.unacked)
    {
        sender.sacked.Add(frame.packet);
        if (sender.sacked.End() > m_reorderPackets)
        {
            sender.repairEnd =
                std::max(sender.repairEnd, sender.sacked.End() - m_reorderPackets);
        }
    }
    if (frame.kind == NAK && m_recovery == Recovery::GO_BACK_N && frame.aux >= before)
    {
        sender.next = frame.aux; // go back N
    }
    if (sender.control)
    {
        if (frame.kind == NAK)
        {
            sender.control->OnLoss(Net().NowPs(), false);
        }
        sender.control->OnAck({Net().NowPs(),
                               Net().NowPs() - sentPs,
                               uint64_t{advanced ? frame.aux - before : 0} * m_mtuBytes,
                               frame.packet,
                               (frame.flags & frame_flag::ECN_ECHO) != 0});
    }
    if (sender.unacked == sender.packets)
    {
        message.senderSlot = DONE_SLOT;
        m_senders.Close(slot);
        return;
    }
    Wake(slot);
}

} // namespace ns3
