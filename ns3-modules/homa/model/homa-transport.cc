// SPDX-License-Identifier: GPL-2.0-only

#include "homa-transport.h"

#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(HomaTransport);

TypeId
HomaTransport::GetTypeId()
{
    static TypeId tid = AddResends(
        AddAttributes(TypeId("ns3::HomaTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Homa")
                          .AddConstructor<HomaTransport>(),
                      {.entropy = "ns3::PermutedEntropy",
                       .rto = "10ms",
                       .controlPriority = NUM_PRIORITIES - 1,
                       .answered = false,
                       .prioritised = false,
                       .order = FlowOrder::By::LEAST_REMAINING})
            .AddAttribute("RttBytes",
                          "Payload that a message sends without a grant, and that is granted ahead "
                          "[byte], 0 = one bandwidth-delay product of the unloaded path",
                          UintegerValue(0),
                          MakeUintegerAccessor(&HomaTransport::m_rttBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Cutoffs",
                          "Longest messages of the unscheduled priorities, rising, as bytes,bytes "
                          "[byte]: the first are sent at 7, the next at 6; longer ones one below "
                          "the last",
                          StringValue(""),
                          MakeStringAccessor(&HomaTransport::m_cutoffText),
                          MakeStringChecker())
            .AddAttribute("ScheduledLevels",
                          "Priorities of granted packets, from 0 up [1]",
                          UintegerValue(6),
                          MakeUintegerAccessor(&HomaTransport::m_scheduledLevels),
                          MakeUintegerChecker<uint8_t>(1, NUM_PRIORITIES - 1))
            .AddAttribute("Overcommitment",
                          "Messages that a host grants at a time [1]",
                          UintegerValue(6),
                          MakeUintegerAccessor(&HomaTransport::m_overcommitment),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("OldestShare",
                          "Of all that is granted, this goes to the oldest message if it is not "
                          "among the shortest [1]",
                          DoubleValue(0.05),
                          MakeDoubleAccessor(&HomaTransport::m_oldestShare),
                          MakeDoubleChecker<double>(0, 0.5))
            .AddAttribute("GrantBytes",
                          "GRANT, RESEND and BUSY frames, headers included [byte]",
                          UintegerValue(64),
                          MakeUintegerAccessor(&HomaTransport::m_grantBytes),
                          MakeUintegerChecker<uint32_t>(MIN_FRAME_BYTES, 1024)));
    return tid;
}

/// When a receiver asks for what is missing.
TypeId
HomaTransport::AddResends(TypeId tid)
{
    return tid
        .AddAttribute("ResendInterval",
                      "A receiver asks for what is missing of a message of which nothing came "
                      "for so long",
                      TimeValue(MilliSeconds(1)),
                      MakeTimeAccessor(&HomaTransport::m_resendInterval),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("GapInterval",
                      "A receiver asks for packets before one that has come, and again, when "
                      "they are missing for so long; 0 = only after ResendInterval. It has to "
                      "be longer than a round trip and what paths differ by",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&HomaTransport::m_gapInterval),
                      MakeTimeChecker(Time(0)));
}

void
HomaTransport::Check() const
{
    MessageTransport::Check();
    HomaCutoffs(m_cutoffText, m_scheduledLevels, Name("Cutoffs"));
}

void
HomaTransport::DoAttach()
{
    MessageTransport::DoAttach();
    m_resendPs = static_cast<uint64_t>(m_resendInterval.GetPicoSeconds());
    m_gapPs = static_cast<uint64_t>(m_gapInterval.GetPicoSeconds());
    m_cutoffs = HomaCutoffs(m_cutoffText, m_scheduledLevels, Name("Cutoffs"));
}

/// A source sends the message with the least that remains; priorities are for switches.
bool
HomaTransport::UrgentFirst() const
{
    return false;
}

// ---- source

void
HomaTransport::Begin(HomaOutbound& out)
{
    const uint64_t bytes = Host().GetMessage(out.message).bytes;
    // Whole packets only: the one that holds the first byte beyond RttBytes needs a grant.
    const uint64_t packets = m_rttBytes ? m_rttBytes / m_mtuBytes : PipePackets(out);
    const bool fits = m_rttBytes ? bytes <= m_rttBytes : out.packets.Packets() <= packets;
    out.unscheduled =
        fits ? out.packets.Packets() : static_cast<uint32_t>(std::max<uint64_t>(1, packets));
    out.granted = out.unscheduled;
    out.unscheduledPriority = m_cutoffs.PriorityOf(bytes);
}

bool
HomaTransport::MaySend(const HomaOutbound& out) const
{
    return out.packets.ToResend() > 0 || out.packets.Next() < out.granted;
}

uint8_t
HomaTransport::PriorityOf(const HomaOutbound& out) const
{
    const bool isScheduled = out.packets.Next() >= out.unscheduled && out.granted > out.unscheduled;
    return isScheduled ? out.scheduledPriority : out.unscheduledPriority;
}

void
HomaTransport::Stamp(HomaOutbound& out, FrameId data, PortId)
{
    Host().GetFrame(data).aux = out.unscheduled;
}

void
HomaTransport::OnControl(HomaOutbound& out, FrameId control)
{
    const Frame& frame = Host().GetFrame(control);
    if (frame.kind == RESEND)
    {
        OnResend(out, frame.packet, frame.aux);
    }
    else
    {
        OnGrant(out, control);
    }
    RestartTimeout(out);
    Wake(out);
}

void
HomaTransport::OnGrant(HomaOutbound& out, FrameId grant)
{
    const Frame& frame = Host().GetFrame(grant);
    out.packets.ArrivedBelow(frame.packet);
    if (frame.aux > out.granted)
    {
        out.granted = frame.aux;
        out.scheduledPriority = static_cast<uint8_t>(Host().FindNote(grant)->words[0]);
    }
}

void
HomaTransport::OnResend(HomaOutbound& out, uint32_t from, uint32_t to)
{
    out.granted = std::max(out.granted, to);
    Answer lost{};
    for (uint32_t packet = from; packet < std::min(to, out.packets.Next()); packet++)
    {
        if (out.packets.Lost(packet))
        {
            TellLost(out, packet, CongestionControl::Loss::TIMEOUT, lost);
        }
    }
    if (lost.lostPackets == 0)
    {
        const FrameId busy = MakeControl(out.message, BUSY, m_grantBytes);
        Host().SendControl(busy, Host().PortOf(out.message));
    }
}

void
HomaTransport::OnTimeout(HomaOutbound& out, Answer& lost)
{
    // The receiver may not know of the message, or its ACK was lost: one packet asks.
    if (out.packets.Lost(out.packets.Base()))
    {
        TellLost(out, out.packets.Base(), CongestionControl::Loss::TIMEOUT, lost);
    }
}

// ---- destination

void
HomaTransport::OnFirst(HomaInbound& in)
{
    in.src = Host().GetMessage(in.message).src;
    in.sincePs = Host().NowPs();
    m_open.push_back(in.slot);
}

void
HomaTransport::OnPayload(HomaInbound& in, FrameId data, PortId port, uint32_t)
{
    Hear(in, data, port);
    in.sincePs = Host().NowPs();
    in.ahead = Host().GetFrame(data).aux;
    in.granted = std::max(in.granted, in.ahead);
    const uint32_t packet = Host().GetFrame(data).packet;
    Host().FreeFrame(data);
    ArmTimer(Host().NowPs() + m_resendPs);
    if (m_gapPs > 0)
    {
        NoteGap(in, packet);
    }
    if (in.granted < in.packets)
    {
        m_toGrant.Push(in.slot, in.packets - in.received.Count());
        Grant();
    }
}

void
HomaTransport::OnRequest(HomaInbound& in, FrameId, PortId)
{
    in.sincePs = Host().NowPs(); // BUSY
}

void
HomaTransport::OnDelivered(HomaInbound& in)
{
    m_open.erase(std::find(m_open.begin(), m_open.end(), in.slot));
    in.granted = in.packets;
    Grant(); // another one may have its turn
}

void
HomaTransport::Grant()
{
    while (GrantRound())
    {
    }
    GrantOldest();
}

/**
 * Grant ahead for the messages with the fewest packets left, one per sender.
 * @return whether one of them has all its grants now and makes room for another
 */
bool
HomaTransport::GrantRound()
{
    bool isRoom = false;
    using Verdict = FlowOrder::Verdict;
    m_granted.clear();
    m_toGrant.PopFirst([this](uint32_t slot) {
        HomaInbound& in = InboundOf(slot);
        if (in.granted >= in.packets)
        {
            return Verdict::DROP; // nothing is left to grant
        }
        const bool isTaken = std::any_of(m_granted.begin(), m_granted.end(), [&in](auto* other) {
            return other->src == in.src;
        });
        if (!isTaken)
        {
            m_granted.push_back(&in);
        }
        return m_granted.size() == m_overcommitment ? Verdict::STOP : Verdict::KEEP;
    });
    const size_t levels = std::min<size_t>(m_granted.size(), m_scheduledLevels);
    for (size_t rank = 0; rank < m_granted.size(); rank++)
    {
        HomaInbound& in = *m_granted[rank];
        const uint32_t packets = std::min(in.packets, in.received.Count() + in.ahead);
        if (packets > in.granted)
        {
            m_oldestPackets += m_oldestShare / (1 - m_oldestShare) * (packets - in.granted);
            SendGrant(in, packets, static_cast<uint8_t>(rank < levels ? levels - 1 - rank : 0));
            isRoom |= packets == in.packets;
        }
    }
    return isRoom;
}

/// Spend what is kept for the oldest message that still wants grants; the shortest have theirs.
void
HomaTransport::GrantOldest()
{
    const auto oldest = std::find_if(m_open.begin(), m_open.end(), [this](uint32_t slot) {
        const HomaInbound& in = InboundOf(slot);
        return in.ahead > 0 && in.granted < in.packets;
    });
    const bool isThere = oldest != m_open.end();
    if (!isThere || std::count(m_granted.begin(), m_granted.end(), &InboundOf(*oldest)) > 0)
    {
        m_oldestPackets = 0;
        return;
    }
    HomaInbound& in = InboundOf(*oldest);
    const auto packets = std::min(static_cast<uint32_t>(m_oldestPackets), in.packets - in.granted);
    if (packets > 0)
    {
        m_oldestPackets -= packets;
        SendGrant(in, in.granted + packets, m_scheduledLevels - 1);
    }
}

void
HomaTransport::SendGrant(HomaInbound& in, uint32_t packets, uint8_t priority)
{
    if (in.received.Count() == in.granted)
    {
        in.sincePs = Host().NowPs(); // nothing was expected before
    }
    in.granted = packets;
    const FrameId grant = MakeControl(in.message, GRANT, m_grantBytes);
    Frame& frame = Host().GetFrame(grant);
    frame.packet = in.received.Base();
    frame.aux = packets;
    Host().Note(grant).words[0] = priority;
    SendToSource(in, grant);
    ArmTimer(Host().NowPs() + m_resendPs);
}

// ---- what does not come

/// Look after the open messages at that time, if not before.
void
HomaTransport::ArmTimer(uint64_t duePs)
{
    if (duePs < m_timerPs)
    {
        m_timerPs = duePs;
        SetHostTimer(duePs);
    }
}

/// A packet has come; what is missing between it and those that came before is a gap.
void
HomaTransport::NoteGap(HomaInbound& in, uint32_t packet)
{
    if (packet > in.end)
    {
        in.gaps.push_back({in.end, packet, Host().NowPs()});
        ArmTimer(Host().NowPs() + m_gapPs);
    }
    in.end = std::max(in.end, packet + 1);
}

/// Ask for gaps that are old enough. @return when the next one is, NEVER_PS: there is none [ps]
uint64_t
HomaTransport::AskForGaps(HomaInbound& in)
{
    uint64_t nextPs = NEVER_PS;
    std::erase_if(in.gaps, [&in](HomaGap& gap) {
        while (gap.from < gap.to && in.received.Contains(gap.from))
        {
            gap.from++;
        }
        return gap.from == gap.to;
    });
    for (HomaGap& gap : in.gaps)
    {
        if (gap.sincePs + m_gapPs <= Host().NowPs())
        {
            gap.sincePs = Host().NowPs();
            AskAgain(in, gap.from, gap.to);
        }
        nextPs = std::min(nextPs, gap.sincePs + m_gapPs);
    }
    return nextPs;
}

/// @return when to ask for what is missing, NEVER_PS: nothing is [ps]
uint64_t
HomaTransport::DuePs(const HomaInbound& in) const
{
    return in.received.Count() < in.granted ? in.sincePs + m_resendPs : NEVER_PS;
}

void
HomaTransport::OnHostTimer()
{
    uint64_t nextPs = NEVER_PS;
    for (const uint32_t slot : m_open)
    {
        HomaInbound& in = InboundOf(slot);
        if (DuePs(in) <= Host().NowPs())
        {
            in.sincePs = Host().NowPs();
            AskAgain(in, in.received.Base(), in.granted);
        }
        nextPs = std::min({nextPs, DuePs(in), AskForGaps(in)});
    }
    m_timerPs = NEVER_PS;
    ArmTimer(nextPs);
}

/// Ask for each run of packets that is missing from one, which is, up to another.
void
HomaTransport::AskAgain(const HomaInbound& in, uint32_t from, uint32_t end)
{
    while (from < end)
    {
        uint32_t to = from + 1;
        while (to < end && !in.received.Contains(to))
        {
            to++;
        }
        const FrameId resend = MakeControl(in.message, RESEND, m_grantBytes);
        Frame& frame = Host().GetFrame(resend);
        frame.packet = from;
        frame.aux = to;
        SendToSource(in, resend);
        for (from = to; from < end && in.received.Contains(from); from++)
        {
        }
    }
}

} // namespace ns3
