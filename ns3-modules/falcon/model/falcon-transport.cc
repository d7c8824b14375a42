// SPDX-License-Identifier: GPL-2.0-only

#include "falcon-transport.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(FalconTransport);

namespace
{

using Loss = CongestionControl::Loss;

constexpr uint32_t MOST_EARLY = 16;  ///< Copies of a packet before a timeout, as in isekai
constexpr uint32_t BITS = 64;        ///< In a word of the bitmap
constexpr uint32_t LEVEL_SHIFT = 32; ///< Of the level, in the word FLOW of an answer
constexpr double TIMEOUT_RTTS = 2;   ///< "retransmit_timeout_scalar" [1]
constexpr double ROUNDING = 1e-9;    ///< Of a sum of windows [packet]

/// Words of the note of data, which its answer brings back.
enum Word : uint8_t
{
    FLOW = 0,
    BITMAP = 1, ///< Two words: what has arrived behind the first packet that is missing
};

} // namespace

TypeId
FalconTransport::GetTypeId()
{
    static TypeId tid =
        AddPaths(AddWindows(AddAttributes(TypeId("ns3::FalconTransport")
                                              .SetParent<PacketTransport>()
                                              .SetGroupName("Falcon")
                                              .AddConstructor<FalconTransport>(),
                                          {.entropy = "ns3::RandomEntropy",
                                           .rto = "250us",
                                           .reorderPackets = 0,
                                           .reorderHelp = ", 0: never; for a single flow"})));
    return tid;
}

TypeId
FalconTransport::AddWindows(TypeId tid)
{
    using T = FalconTransport;
    return tid
        .AddAttribute("InitialPackets",
                      "First window of a message, of all its flows [packet], 0 = one "
                      "bandwidth-delay product of the path",
                      UintegerValue(0),
                      MakeUintegerAccessor(&T::m_initialPackets),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("MaxWindowPackets",
                      "Most of the window of a flow [packet]",
                      UintegerValue(256),
                      MakeUintegerAccessor(&T::m_mostPackets),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("BitmapPackets",
                      "Packets that a destination takes from the first missing one on [packet]",
                      UintegerValue(256),
                      MakeUintegerAccessor(&T::m_bitmapPackets),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("BaseTarget",
                      "Round trip that a flow keeps to, without what is added for links and "
                      "small windows",
                      TimeValue(MicroSeconds(25)),
                      MakeTimeAccessor(&T::m_baseTarget),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("HopTarget",
                      "Time added to BaseTarget for each link on the way",
                      TimeValue(MicroSeconds(1)),
                      MakeTimeAccessor(&T::m_hopTarget),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("ScalingRange",
                      "Most that is added to the target for a small window",
                      TimeValue(MicroSeconds(100)),
                      MakeTimeAccessor(&T::m_scalingRange),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("HostRateBps",
                      "Rate at which a host empties the memory of its interface [bit/s], 0: at "
                      "once, and there is no window for it",
                      UintegerValue(0),
                      MakeUintegerAccessor(&T::m_hostRateBps),
                      MakeUintegerChecker<uint64_t>())
        .AddAttribute("ReceiveBufferBytes",
                      "Memory of the interface of a host, of which answers carry 32 levels [byte]",
                      UintegerValue(512000),
                      MakeUintegerAccessor(&T::m_bufferBytes),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("TargetLevel",
                      "Level from which on the window for that memory shrinks [1]",
                      UintegerValue(15),
                      MakeUintegerAccessor(&T::m_targetLevel),
                      MakeUintegerChecker<uint32_t>(1, FalconReceiveBuffer::LEVELS - 1));
}

TypeId
FalconTransport::AddPaths(TypeId tid)
{
    using T = FalconTransport;
    return tid
        .AddAttribute("Flows",
                      "Flows of a message, each on one path at a time [1]",
                      UintegerValue(4),
                      MakeUintegerAccessor(&T::m_flows),
                      MakeUintegerChecker<uint32_t>(1, 256))
        .AddAttribute("RepathRounds",
                      "Congested rounds in a row after which a flow takes another path [1], 0: it "
                      "never does",
                      UintegerValue(5),
                      MakeUintegerAccessor(&T::m_repathRounds),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("TailLossProbe",
                      "After a silence the first missing packet is sent again",
                      BooleanValue(true),
                      MakeBooleanAccessor(&T::m_tailLossProbe),
                      MakeBooleanChecker())
        .AddAttribute("ProbeRtts",
                      "Such a silence in smoothed round trips [1]",
                      DoubleValue(2),
                      MakeDoubleAccessor(&T::m_probeRtts),
                      MakeDoubleChecker<double>(1, 1000))
        .AddAttribute("LeastProbe",
                      "Least time of such a silence",
                      TimeValue(MicroSeconds(50)),
                      MakeTimeAccessor(&T::m_leastProbe),
                      MakeTimeChecker(NanoSeconds(1)));
}

void
FalconTransport::DoAttach()
{
    MessageTransport::DoAttach();
    m_rules.baseTargetPs = static_cast<double>(m_baseTarget.GetPicoSeconds());
    m_rules.hopTargetPs = static_cast<double>(m_hopTarget.GetPicoSeconds());
    m_rules.scalingRangePs = static_cast<double>(m_scalingRange.GetPicoSeconds());
    m_rules.mostPackets = m_mostPackets;
    m_rules.repathRounds = m_repathRounds;
    m_buffer = FalconReceiveBuffer(m_hostRateBps, m_bufferBytes);
}

// ---- what may go

void
FalconTransport::Begin(FalconOutbound& out)
{
    const uint32_t packets = m_initialPackets > 0 ? m_initialPackets : PipePackets(out);
    const double each = static_cast<double>(packets) / m_flows;
    out.flows.resize(m_flows);
    for (FalconPath& path : out.flows)
    {
        path.flow = FalconFlow(std::min(each, m_rules.mostPackets));
    }
    out.links = Host().NumLinks(out.message);
    out.baseRttPs = BaseRttPs(out);
}

/// @return sum of the windows of the flows [packet]
double
FalconTransport::WindowOf(const FalconOutbound& out) const
{
    double packets = 0;
    for (const FalconPath& path : out.flows)
    {
        packets += path.flow.Packets();
    }
    return packets;
}

/// @return longest smoothed round trip of the flows, before the first answer that of the path [ps]
uint64_t
FalconTransport::SmoothedPs(const FalconOutbound& out) const
{
    uint64_t mostPs = 0;
    for (const FalconPath& path : out.flows)
    {
        mostPs = std::max(mostPs, path.flow.SmoothedPs());
    }
    return mostPs > 0 ? mostPs : out.baseRttPs;
}

/// @return when a window of less than a packet lets the next one go [ps]
uint64_t
FalconTransport::PacedPs(const FalconOutbound& out) const
{
    const double packets = WindowOf(out);
    const auto rttPs = static_cast<double>(SmoothedPs(out));
    return packets < 1 - ROUNDING ? out.lastSentPs + static_cast<uint64_t>(rttPs / packets) : 0;
}

bool
FalconTransport::MaySend(const FalconOutbound& out) const
{
    if (Host().NowPs() < PacedPs(out))
    {
        return false;
    }
    const Scoreboard& packets = out.packets;
    uint32_t next = packets.Next();
    if (packets.ToResend() > 0)
    {
        next = packets.Base();
        while (packets.HasArrived(next) || packets.IsInFlight(next))
        {
            next++;
        }
    }
    const auto window = std::max(1U, static_cast<uint32_t>(WindowOf(out) + ROUNDING));
    const bool hasRoom = !m_buffer.IsSlow() || packets.InFlight() < out.nic.Packets();
    return hasRoom && next - packets.Base() < std::min(window, m_bitmapPackets);
}

/// @return the flow with the most open window; of equals the one whose turn it is
uint32_t
FalconTransport::Choose(const FalconOutbound& out) const
{
    uint32_t best = 0;
    int64_t most = INT64_MIN;
    for (uint32_t i = 1; i <= m_flows; i++)
    {
        const uint32_t index = (out.chosen + i) % m_flows;
        const FalconPath& path = out.flows[index];
        const int64_t open = static_cast<int64_t>(path.flow.Packets()) - path.out;
        if (open > most)
        {
            best = index;
            most = open;
        }
    }
    return best;
}

void
FalconTransport::Stamp(FalconOutbound& out, FrameId data, PortId)
{
    Frame& frame = Host().GetFrame(data);
    FalconSent sent;
    if (frame.flags & frame_flag::RETRANSMITTED)
    {
        sent = out.sent.Get(frame.packet);
        sent.copies++;
    }
    else
    {
        out.chosen = Choose(out);
        sent.flow = out.chosen;
        out.flows[sent.flow].out++;
    }
    FalconPath& path = out.flows[sent.flow];
    path.entropy = path.entropy.value_or(frame.entropy);
    frame.entropy = *path.entropy;
    sent.ps = Host().NowPs();
    out.sent.Put(frame.packet, out.settled, sent);
    out.lastSentPs = sent.ps;
    out.duePs = std::min(out.duePs, DuePs(out, sent));
    FrameNote& note = Host().Note(data);
    note.stampPs = sent.ps;
    note.words[FLOW] = sent.flow;
    Await(out);
}

// ---- what is answered

void
FalconTransport::OnPayload(Inbound& in, FrameId id, PortId port, uint32_t)
{
    auto& words = Host().Note(id).words;
    const uint32_t from = in.received.Base() + 1;
    for (uint32_t packet = from; packet < std::min(in.received.End(), from + 2 * BITS); packet++)
    {
        const uint32_t bit = packet - from;
        words[BITMAP + bit / BITS] |= uint64_t{in.received.Contains(packet)} << bit % BITS;
    }
    if (m_buffer.IsSlow())
    {
        const Frame& frame = Host().GetFrame(id);
        const uint64_t bytes = Host().GetMessage(in.message).bytes;
        m_buffer.Add(Host().NowPs(), Cut().PayloadBytes(bytes, frame.packet));
        words[FLOW] |= uint64_t{m_buffer.Level()} << LEVEL_SHIFT;
    }
    SendAnswer(in, id, port, ACK);
}

void
FalconTransport::OnDelivered(Inbound& in)
{
    if (m_buffer.IsSlow())
    {
        m_buffer.Add(Host().NowPs(), Cut().PayloadBytes(Host().GetMessage(in.message).bytes, 0));
    }
}

/// A packet has arrived, and is out no more on its flow.
void
FalconTransport::Settle(FalconOutbound& out, uint32_t packet)
{
    FalconSent sent = out.sent.Get(packet);
    if (!sent.isSettled)
    {
        sent.isSettled = true;
        out.sent.Put(packet, out.settled, sent);
        out.flows[sent.flow].out--;
    }
}

void
FalconTransport::LearnMore(Outbound& base, FrameId id, Answer& answer)
{
    auto& out = static_cast<FalconOutbound&>(base);
    const FrameNote* note = Host().FindNote(id);
    out.answered.flow = static_cast<uint32_t>(note->words[FLOW]);
    out.answered.ps = note->stampPs;
    out.level = static_cast<uint32_t>(note->words[FLOW] >> LEVEL_SHIFT);
    for (uint32_t word = 0; word < 2; word++)
    {
        for (uint64_t bits = note->words[BITMAP + word]; bits != 0; bits &= bits - 1)
        {
            const auto bit = static_cast<uint32_t>(std::countr_zero(bits));
            const uint32_t packet = answer.cumulative + 1 + word * BITS + bit;
            if (LearnArrival(out, packet))
            {
                answer.newPackets++;
                Settle(out, packet);
            }
        }
    }
    if (answer.packet >= out.settled && out.packets.HasArrived(answer.packet))
    {
        Settle(out, answer.packet);
    }
    for (; out.settled < out.packets.Base(); out.settled++)
    {
        Settle(out, out.settled);
    }
}

/// Take for lost what is late. @return when the next packet is [ps]
uint64_t
FalconTransport::JudgeLate(FalconOutbound& out, uint32_t end, Answer& answer)
{
    uint64_t nextPs = NEVER_PS;
    for (uint32_t packet = out.packets.Base(); packet < end; packet++)
    {
        if (!out.packets.IsInFlight(packet))
        {
            continue;
        }
        const FalconSent& sent = out.sent.Get(packet);
        const uint64_t latePs = out.flows[sent.flow].flow.LatePs(sent.ps);
        if (Host().NowPs() < latePs)
        {
            nextPs = std::min(nextPs, latePs);
        }
        else if (sent.copies < MOST_EARLY && out.packets.Lost(packet))
        {
            TellLost(out, packet, Loss::OVERTAKEN, answer);
        }
    }
    return nextPs;
}

void
FalconTransport::JudgeLosses(FalconOutbound& out, Answer& answer)
{
    MessageTransport::JudgeLosses(out, answer); // trimmed, or overtaken by many
    const uint64_t nowPs = Host().NowPs();
    FalconPath& path = out.flows[out.answered.flow];
    if (answer.newPackets > 0)
    {
        out.heardPs = nowPs;
        out.hasProbed = false;
    }
    if (answer.flags & frame_flag::TRIMMED)
    {
        return;
    }
    const double roundEnds =
        m_buffer.IsSlow() ? std::min(path.flow.Packets(), out.nic.Packets()) : path.flow.Packets();
    if (path.flow.OnAck(m_rules,
                        {.packets = answer.newPackets,
                         .sentPs = out.answered.ps,
                         .nowPs = nowPs,
                         .links = out.links,
                         .roundEnds = roundEnds}))
    {
        path.entropy.reset();
    }
    if (m_buffer.IsSlow())
    {
        out.nic.OnAck(out.level, m_targetLevel, answer.rttPs, nowPs);
    }
    const bool wasCopy = out.sent.Get(answer.packet).copies > 0;
    out.latePs = JudgeLate(out, wasCopy ? out.packets.Next() : answer.packet, answer);
}

void
FalconTransport::OnAnswer(FalconOutbound& out, const Answer&)
{
    Await(out);
}

// ---- what waits

/// @return when the silence is long enough for a probe, NEVER_PS: there is none [ps]
uint64_t
FalconTransport::ProbePs(const FalconOutbound& out) const
{
    if (!m_tailLossProbe || out.hasProbed || out.packets.InFlight() == 0)
    {
        return NEVER_PS;
    }
    const auto rttsPs = static_cast<uint64_t>(m_probeRtts * static_cast<double>(SmoothedPs(out)));
    const auto leastPs = static_cast<uint64_t>(m_leastProbe.GetPicoSeconds());
    return std::max(out.lastSentPs, out.heardPs) + std::max(leastPs, rttsPs);
}

/// Send the first packet again that is out, unless others are to be sent again.
void
FalconTransport::Probe(FalconOutbound& out)
{
    out.hasProbed = true;
    uint32_t packet = out.packets.Base();
    while (!out.packets.IsInFlight(packet))
    {
        packet++;
    }
    if (out.packets.ToResend() == 0 && out.sent.Get(packet).copies < MOST_EARLY)
    {
        out.packets.Lost(packet); // not known to be lost, so nobody is told
    }
}

/// Set FAMILY_DEADLINE to what comes first, unless it is earlier already.
void
FalconTransport::Await(FalconOutbound& out)
{
    const uint64_t nowPs = Host().NowPs();
    uint64_t atPs = std::min({out.latePs, out.duePs, ProbePs(out)});
    const uint64_t pacedPs = PacedPs(out);
    atPs = pacedPs > nowPs ? std::min(atPs, pacedPs) : atPs;
    BringForward(out, FAMILY_DEADLINE, atPs);
}

void
FalconTransport::OnDeadline(FalconOutbound& out)
{
    Answer lost{};
    out.latePs = JudgeLate(out, out.packets.Next(), lost);
    if (ProbePs(out) <= Host().NowPs())
    {
        Probe(out);
    }
    if (out.duePs <= Host().NowPs())
    {
        out.duePs = JudgeTimeouts(out);
    }
    Await(out);
    Wake(out);
}

uint64_t
FalconTransport::RtoPs(const Outbound&) const
{
    return NEVER_PS; // each packet has a timeout of its own
}

/// @return when a packet that is out has been out for too long [ps]
uint64_t
FalconTransport::DuePs(const FalconOutbound& out, const FalconSent& sent) const
{
    const auto rttsPs = static_cast<uint64_t>(TIMEOUT_RTTS * static_cast<double>(SmoothedPs(out)));
    const uint32_t timeouts = out.flows[sent.flow].flow.Timeouts();
    return Later(sent.ps, std::max(LeastRtoPs(), rttsPs), std::min(timeouts, MaxBackoff()));
}

/// Give flows up of which a packet has been out for too long. @return when the next one is [ps]
uint64_t
FalconTransport::JudgeTimeouts(FalconOutbound& out)
{
    const uint64_t nowPs = Host().NowPs();
    std::vector<bool> isOver(m_flows);
    VisitOut(out, [&](uint32_t, const FalconSent& sent) {
        isOver[sent.flow] = isOver[sent.flow] || DuePs(out, sent) <= nowPs;
    });
    for (uint32_t index = 0; index < m_flows; index++)
    {
        if (isOver[index])
        {
            GiveUp(out, index);
        }
    }
    uint64_t nextPs = NEVER_PS;
    VisitOut(out, [&](uint32_t, const FalconSent& sent) {
        nextPs = std::min(nextPs, DuePs(out, sent));
    });
    return nextPs;
}

/// A flow leaves its path; what it has had out for a round trip is lost.
void
FalconTransport::GiveUp(FalconOutbound& out, uint32_t index)
{
    FalconPath& path = out.flows[index];
    const uint64_t nowPs = Host().NowPs();
    Answer lost{};
    VisitOut(out, [&](uint32_t packet, const FalconSent& sent) {
        if (sent.flow == index && sent.ps + path.flow.SmoothedPs() <= nowPs)
        {
            out.packets.Lost(packet);
            TellLost(out, packet, Loss::TIMEOUT, lost);
        }
    });
    path.flow.OnTimeout(m_rules, nowPs);
    path.entropy.reset();
    Host().GetMessage(out.message).timeouts++;
    TellTimeout(out);
}

} // namespace ns3
