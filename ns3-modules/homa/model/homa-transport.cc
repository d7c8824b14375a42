// SPDX-License-Identifier: GPL-2.0-only

#include "homa-transport.h"

#include "ns3/abort.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(HomaTransport);

TypeId
HomaTransport::GetTypeId()
{
    static TypeId tid =
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
                          MakeStringAccessor(&HomaTransport::m_cutoffs),
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
            .AddAttribute("GrantBytes",
                          "GRANT, RESEND and BUSY frames, headers included [byte]",
                          UintegerValue(64),
                          MakeUintegerAccessor(&HomaTransport::m_grantBytes),
                          MakeUintegerChecker<uint32_t>(MIN_FRAME_BYTES, 1024))
            .AddAttribute("ResendInterval",
                          "A receiver asks for missing packets of a message that was silent for "
                          "so long",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&HomaTransport::m_resendInterval),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

void
HomaTransport::DoAttach()
{
    MessageTransport::DoAttach();
    m_resendPs = PositivePs(m_resendInterval, Name("ResendInterval"));
    ReadCutoffs();
}

void
HomaTransport::ReadCutoffs()
{
    m_cutoffBytes.clear();
    std::istringstream text(m_cutoffs);
    for (std::string part; std::getline(text, part, ',');)
    {
        const bool isNumber = !part.empty() && part.size() < 19 &&
                              part.find_first_not_of("0123456789") == std::string::npos;
        const uint64_t bytes = isNumber ? std::stoull(part) : 0;
        NS_ABORT_MSG_IF(bytes == 0 || (!m_cutoffBytes.empty() && bytes <= m_cutoffBytes.back()),
                        Name("Cutoffs") << " is '" << m_cutoffs << "'; write rising numbers of "
                                        << "bytes, for example 2000,8000");
        m_cutoffBytes.push_back(bytes);
    }
    const size_t levels = m_cutoffBytes.size() + 1 + m_scheduledLevels;
    NS_ABORT_MSG_IF(levels > NUM_PRIORITIES,
                    Name("Cutoffs") << " makes " << m_cutoffBytes.size() + 1
                                    << " unscheduled priorities, which collide with "
                                    << +m_scheduledLevels << " ScheduledLevels: there are "
                                    << NUM_PRIORITIES << " priorities in all");
}

uint8_t
HomaTransport::DataPriority() const
{
    return NUM_PRIORITIES - 1;
}

bool
HomaTransport::VariesUrgency() const
{
    return true;
}

/// A source sends the message with the least that remains; priorities are for switches.
bool
HomaTransport::UrgentFirst() const
{
    return false;
}

bool
HomaTransport::SpreadsOverPorts() const
{
    return true;
}

// ---- source

void
HomaTransport::Begin(HomaOutbound& out)
{
    const uint64_t bytes = Host().GetMessage(out.message).bytes;
    // Whole packets only: the one that holds the first byte beyond RttBytes needs a grant.
    const uint64_t packets = m_rttBytes ? m_rttBytes / m_mtuBytes : PipePackets(out);
    const bool fits = m_rttBytes ? bytes <= m_rttBytes : out.packets.Packets() <= packets;
    out.unscheduled = fits ? out.packets.Packets()
                           : static_cast<uint32_t>(std::max<uint64_t>(1, packets));
    out.granted = out.unscheduled;
    const auto level =
        std::lower_bound(m_cutoffBytes.begin(), m_cutoffBytes.end(), bytes) - m_cutoffBytes.begin();
    out.unscheduledPriority = static_cast<uint8_t>(NUM_PRIORITIES - 1 - level);
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
HomaTransport::Stamp(HomaOutbound& out, FrameId data)
{
    Host().GetFrame(data).aux = out.unscheduled;
}

void
HomaTransport::OnControl(HomaOutbound& out, FrameId control)
{
    const Frame& frame = Host().GetFrame(control);
    out.packets.ArrivedBelow(frame.packet);
    if (frame.kind == RESEND)
    {
        OnResend(out, frame.packet, frame.aux);
    }
    else if (frame.aux > out.granted)
    {
        out.granted = frame.aux;
        out.scheduledPriority = static_cast<uint8_t>(Host().FindNote(control)->words[0]);
    }
    RestartTimeout(out);
    Wake(out);
}

void
HomaTransport::OnResend(HomaOutbound& out, uint32_t from, uint32_t to)
{
    out.granted = std::max(out.granted, to);
    if (from >= out.packets.Next() || out.packets.ToResend() > 0)
    {
        const FrameId busy = MakeControl(out.message, BUSY, m_grantBytes);
        Host().SendControl(busy, Host().PortOf(out.message));
        return;
    }
    Answer lost{};
    for (uint32_t packet = from; packet < std::min(to, out.packets.Next()); packet++)
    {
        if (out.packets.Lost(packet))
        {
            TellLost(out, packet, CongestionControl::Loss::TIMEOUT, lost);
        }
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
    in.heardPs = Host().NowPs();
    if (m_open.empty())
    {
        SetHostTimer(Host().NowPs() + m_resendPs);
    }
    m_open.push_back(in.slot);
}

void
HomaTransport::OnPayload(HomaInbound& in, FrameId data, PortId port, uint32_t)
{
    const Frame& frame = Host().GetFrame(data);
    in.port = port;
    in.entropy = frame.entropy;
    in.heardPs = Host().NowPs();
    in.ahead = frame.aux;
    in.granted = std::max(in.granted, in.ahead);
    Host().FreeFrame(data);
    if (in.granted < in.packets)
    {
        const uint32_t arrived = in.received.Base() + in.received.Held();
        m_toGrant.Push(in.slot, in.packets - arrived);
        Grant();
    }
}

void
HomaTransport::OnRequest(HomaInbound& in, FrameId, PortId)
{
    in.heardPs = Host().NowPs(); // BUSY
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
        const uint32_t arrived = in.received.Base() + in.received.Held();
        const uint32_t packets = std::min(in.packets, arrived + in.ahead);
        if (packets > in.granted)
        {
            SendGrant(in, packets, static_cast<uint8_t>(rank < levels ? levels - 1 - rank : 0));
            isRoom |= packets == in.packets;
        }
    }
    return isRoom;
}

void
HomaTransport::SendGrant(HomaInbound& in, uint32_t packets, uint8_t priority)
{
    in.granted = packets;
    const FrameId grant = MakeControl(in.message, GRANT, m_grantBytes);
    Frame& frame = Host().GetFrame(grant);
    frame.packet = in.received.Base();
    frame.aux = packets;
    frame.entropy = in.entropy;
    Host().Note(grant).words[0] = priority;
    Host().SendControl(grant, in.port);
}

void
HomaTransport::OnHostTimer()
{
    const uint64_t nowPs = Host().NowPs();
    for (const uint32_t slot : m_open)
    {
        HomaInbound& in = InboundOf(slot);
        if (nowPs - in.heardPs >= m_resendPs && in.received.Base() < in.granted)
        {
            in.heardPs = nowPs;
            AskAgain(in);
        }
    }
    if (!m_open.empty())
    {
        SetHostTimer(nowPs + m_resendPs);
    }
}

/// Ask for the packets from the first that is missing to the first that is there.
void
HomaTransport::AskAgain(HomaInbound& in)
{
    uint32_t to = in.received.Base() + 1;
    while (to < in.granted && !in.received.Contains(to))
    {
        to++;
    }
    const FrameId resend = MakeControl(in.message, RESEND, m_grantBytes);
    Frame& frame = Host().GetFrame(resend);
    frame.packet = in.received.Base();
    frame.aux = to;
    frame.entropy = in.entropy;
    Host().SendControl(resend, in.port);
}

} // namespace ns3
