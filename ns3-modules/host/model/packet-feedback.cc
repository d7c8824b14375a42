// SPDX-License-Identifier: GPL-2.0-only

// PacketTransport: what is learned of packets, and who is told.

#include "packet-transport.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

NS_LOG_COMPONENT_DEFINE("FabricPacketFeedback");

namespace
{

/// @return what an answer says of the path of its packet
PathReport::Fate
FateOf(uint16_t flags)
{
    if (flags & frame_flag::TRIMMED)
    {
        return (flags & frame_flag::TRIMMED_LAST_HOP) ? PathReport::Fate::TRIMMED_AT_LAST_HOP
                                                      : PathReport::Fate::TRIMMED;
    }
    return (flags & frame_flag::ECN_ECHO) ? PathReport::Fate::MARKED : PathReport::Fate::ARRIVED;
}

} // namespace

/// Take in an answer: what has arrived. Losses are for the family to judge.
Answer
PacketTransport::Learn(Outbound& out, FrameId id)
{
    const Frame& frame = Host().GetFrame(id);
    Answer answer{};
    answer.packet = frame.packet;
    answer.cumulative = frame.aux;
    answer.flags = frame.flags;
    answer.kind = frame.kind;
    if (const FrameNote* note = Host().FindNote(id))
    {
        answer.rttPs = Host().NowPs() - note->stampPs;
    }
    if (m_reports)
    {
        ReportArrivals(out, frame, answer.rttPs);
    }
    const uint32_t base = out.packets.Base();
    const uint32_t last = out.packets.Packets() - 1;
    const bool hadLast = m_control && out.packets.HasArrived(last);
    answer.newPackets = out.packets.ArrivedBelow(frame.aux);
    const bool isGain = m_traits.acceptsOutOfOrder && !(frame.flags & frame_flag::TRIMMED);
    const bool isNew = isGain ? out.packets.Arrived(frame.packet) : answer.newPackets > 0;
    answer.newPackets += isGain && isNew;
    LearnMore(out, id, answer);
    answer.advanced = out.packets.Base() != base;
    if (m_control)
    {
        const bool withLast = !hadLast && out.packets.HasArrived(last);
        answer.newBytes = PayloadBytes(out, answer.newPackets, withLast);
        const bool isMarked = (frame.flags & frame_flag::ECN_ECHO) && answer.newPackets > 0;
        const uint64_t bytes = Host().GetMessage(out.message).bytes;
        answer.markedBytes = isMarked ? m_cut.PayloadBytes(bytes, frame.packet) : 0;
    }
    return answer;
}

bool
PacketTransport::LearnArrival(Outbound& out, uint32_t packet)
{
    if (!out.packets.Arrived(packet))
    {
        return false;
    }
    if (m_reports)
    {
        const auto& [port, entropy] = out.paths.Get(packet);
        m_entropy->Report(out.slot, {0, port, entropy, PathReport::Fate::ARRIVED});
    }
    return true;
}

/// Tell the path selector of all packets that this answer is the first to report, and its own.
void
PacketTransport::ReportArrivals(Outbound& out, const Frame& frame, uint64_t rttPs)
{
    for (uint32_t packet = out.packets.Base(); packet < frame.aux; packet++)
    {
        if (packet != frame.packet && !out.packets.HasArrived(packet))
        {
            const auto& [port, entropy] = out.paths.Get(packet);
            m_entropy->Report(out.slot, {0, port, entropy, PathReport::Fate::ARRIVED});
        }
    }
    ReportOwn(out, frame, rttPs);
}

/// Tell the path selector of the packet of an answer, or of one that has come back itself.
void
PacketTransport::ReportOwn(Outbound& out, const Frame& frame, uint64_t rttPs)
{
    PortId port = NO_PORT;
    if (frame.packet >= out.packets.Base() && out.paths.Get(frame.packet).entropy == frame.entropy)
    {
        port = out.paths.Get(frame.packet).port;
    }
    m_entropy->Report(out.slot, {rttPs, port, frame.entropy, FateOf(frame.flags)});
}

void
PacketTransport::TellLost(Outbound& out,
                          uint32_t packet,
                          CongestionControl::Loss how,
                          Answer& answer)
{
    NS_LOG_LOGIC("host " << Host().HostId() << ": message " << Host().GetMessage(out.message).id
                         << ": packet " << packet << " is lost");
    answer.lostPackets++;
    answer.lostBytes += m_cut.PayloadBytes(Host().GetMessage(out.message).bytes, packet);
    if (packet >= out.lossEnd)
    {
        answer.newLoss = how;
    }
    if (m_reports && how != CongestionControl::Loss::TRIMMED) // that was in its answer
    {
        const auto& [port, entropy] = out.paths.Get(packet);
        const bool overtaken = how == CongestionControl::Loss::OVERTAKEN;
        m_entropy->Report(out.slot,
                          {0,
                           port,
                           entropy,
                           overtaken ? PathReport::Fate::OVERTAKEN : PathReport::Fate::TIMED_OUT});
    }
}

/// Tell congestion control what an answer has changed.
void
PacketTransport::TellControl(Outbound& out, FrameId id, const Answer& answer)
{
    if (answer.newLoss)
    {
        TellNewLoss(out, *answer.newLoss);
    }
    m_control->OnAck(out.slot,
                     {.rttPs = answer.rttPs,
                      .arrivedBytes = answer.newBytes,
                      .markedBytes = answer.markedBytes,
                      .lostBytes = answer.lostBytes,
                      .inFlightBytes = InFlightBytes(out),
                      .packet = answer.packet,
                      .nextPacket = out.packets.Highest(),
                      .hops = Host().Hops(id),
                      .atLastHop = (answer.flags & frame_flag::TRIMMED_LAST_HOP) != 0,
                      .isMarked = (answer.flags & frame_flag::ECN_ECHO) != 0});
    Sync(out);
}

void
PacketTransport::TellTimeout(Outbound& out)
{
    if (m_control)
    {
        TellNewLoss(out, CongestionControl::Loss::TIMEOUT);
        Sync(out);
    }
}

/// Take in that a packet found no room and its header has come back: what has arrived is not news.
void
PacketTransport::TellBounced(Outbound& out, FrameId id)
{
    const Frame& frame = Host().GetFrame(id);
    if (m_reports)
    {
        ReportOwn(out, frame, 0);
    }
    Answer answer{};
    if (out.packets.Lost(frame.packet))
    {
        TellLost(out, frame.packet, CongestionControl::Loss::TRIMMED, answer);
    }
    if (m_control && answer.newLoss)
    {
        TellNewLoss(out, *answer.newLoss);
        Sync(out);
    }
}

void
PacketTransport::TellNewLoss(Outbound& out, CongestionControl::Loss how)
{
    out.lossEnd = out.packets.Highest();
    m_control->OnLoss(out.slot, how);
}

uint64_t
PacketTransport::InFlightBytes(const Outbound& out) const
{
    const uint32_t last = out.packets.Packets() - 1;
    return PayloadBytes(out, out.InFlight(), out.packets.IsInFlight(last));
}

// ---- other calls of congestion control

void
PacketTransport::Notified(Outbound& out)
{
    if (m_control)
    {
        m_control->OnNotification(out.slot);
        Sync(out);
    }
}

void
PacketTransport::Updated(Outbound& out)
{
    m_control->OnUpdate(out.slot);
    const uint64_t atPs = m_control->NextUpdatePs(out.slot);
    NS_ABORT_MSG_IF(atPs <= Host().NowPs(),
                    m_control->GetInstanceTypeId().GetName()
                        << ": after OnUpdate at " << Host().NowPs() << " ps NextUpdatePs is "
                        << atPs << " ps; it must be later");
    Sync(out);
}

/// Congestion control may have changed what it wants: its next call, and the rate.
void
PacketTransport::Sync(Outbound& out)
{
    if (out.deadlines.IsSet(PACE_DEADLINE))
    {
        out.pacer.Change(Host().NowPs(), RateOf(out));
        SetDeadline(out, PACE_DEADLINE, out.pacer.NextPs());
    }
    const uint64_t atPs = m_control->NextUpdatePs(out.slot);
    if (atPs == NEVER_PS)
    {
        out.deadlines.Clear(UPDATE_DEADLINE);
        return;
    }
    SetDeadline(out, UPDATE_DEADLINE, std::max(atPs, Host().NowPs()));
}

} // namespace fabric
} // namespace ns3
