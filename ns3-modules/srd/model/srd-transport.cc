// SPDX-License-Identifier: GPL-2.0-only

#include "srd-transport.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(SrdTransport);

namespace
{

constexpr uint32_t PATH = 0;        ///< Word of the note of data, which its answer brings back
constexpr uint32_t FEW_ANSWERS = 4; ///< Say nothing of a path
constexpr uint64_t OWED_RTTS = 2;   ///< Without an answer to its last packet a path is passed over
constexpr uint64_t SMOOTHING = 4;   ///< An answer is this part of the round trip of its path

/// Another path takes its place.
void
Leave(SrdPath& path)
{
    SrdPath next;
    next.round = path.round;
    next.isSlow = path.isSlow;
    path = next;
}

} // namespace

TypeId
SrdTransport::GetTypeId()
{
    using T = SrdTransport;
    static TypeId tid =
        AddAttributes(TypeId("ns3::SrdTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Srd")
                          .AddConstructor<SrdTransport>(),
                      {.entropy = "ns3::PermutedEntropy",
                       .rto = "250us",
                       .reorderPackets = 0,
                       .reorderHelp = ", 0: never"})
            .AddAttribute("Paths",
                          "Paths over which a message is sprayed [1]",
                          UintegerValue(64),
                          MakeUintegerAccessor(&T::m_paths),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("InitialPackets",
                          "First rate, in each unloaded round trip [packet], 0 = one "
                          "bandwidth-delay product of the path",
                          UintegerValue(0),
                          MakeUintegerAccessor(&T::m_initialPackets),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("MaxRateBdp",
                          "Most of that rate in bandwidth-delay products of the unloaded path [1]",
                          DoubleValue(2),
                          MakeDoubleAccessor(&T::m_mostBdp),
                          MakeDoubleChecker<double>(0.01, 100))
            .AddAttribute("SlowShare",
                          "The round trip of a path is up if it is longer than the unloaded one by "
                          "this share [1], for which there is room in flight",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&T::m_slowShare),
                          MakeDoubleChecker<double>(0.01, 100))
            .AddAttribute("RerouteShare",
                          "A path is left if its round trip is longer than that of all by this "
                          "share [1]",
                          DoubleValue(0.25),
                          MakeDoubleAccessor(&T::m_rerouteShare),
                          MakeDoubleChecker<double>(0.01, 100))
            .AddAttribute("RateTolerance",
                          "Answers of a round may take longer than sending its packets did by this "
                          "share [1]",
                          DoubleValue(0.25),
                          MakeDoubleAccessor(&T::m_tolerance),
                          MakeDoubleChecker<double>(0.0, 100));
    return tid;
}

// ---- what may go

void
SrdTransport::Begin(SrdOutbound& out)
{
    const uint32_t pipe = PipePackets(out);
    const uint32_t first = m_initialPackets > 0 ? m_initialPackets : pipe;
    out.paths.resize(m_paths);
    out.baseRttPs = BaseRttPs(out);
    out.limit = SrdLimit(first,
                         std::max<double>(first, m_mostBdp * pipe),
                         out.baseRttPs,
                         m_slowShare,
                         m_tolerance);
}

/// @return when the rate lets the next packet go [ps]
uint64_t
SrdTransport::PacedPs(const SrdOutbound& out) const
{
    const uint64_t intervalPs = out.limit.IntervalPs();
    return intervalPs > PacketPs(out) ? out.lastSentPs + intervalPs : 0;
}

bool
SrdTransport::MaySend(const SrdOutbound& out) const
{
    const bool hasSent = out.packets.Highest() > 0;
    return out.packets.InFlight() <= out.limit.Packets() &&
           (!hasSent || Host().NowPs() >= PacedPs(out));
}

/// @return the next path that is not avoided and does not owe an answer; else the next one
uint32_t
SrdTransport::Choose(const SrdOutbound& out, uint32_t avoided) const
{
    const uint64_t owedPs = OWED_RTTS * std::max(out.baseRttPs, out.rtt.SmoothedPs());
    for (uint32_t i = 0; i < m_paths; i++)
    {
        const uint32_t index = (out.next + i) % m_paths;
        const SrdPath& path = out.paths[index];
        const bool owes = path.sentPs > path.heardPs && path.sentPs + owedPs < Host().NowPs();
        if (!owes && index != avoided)
        {
            return index;
        }
    }
    return (out.next + (out.next == avoided)) % m_paths;
}

void
SrdTransport::Stamp(SrdOutbound& out, FrameId data, PortId)
{
    Frame& frame = Host().GetFrame(data);
    const bool isCopy = (frame.flags & frame_flag::RETRANSMITTED) != 0;
    const SrdSent sent{Host().NowPs(),
                       Choose(out, isCopy ? out.sent.Get(frame.packet).path : m_paths)};
    SrdPath& path = out.paths[sent.path];
    path.entropy = path.entropy.value_or(frame.entropy);
    path.sentPs = sent.ps;
    frame.entropy = *path.entropy;
    out.next = (sent.path + 1) % m_paths;
    out.sent.Put(frame.packet, out.packets.Base(), sent);
    out.lastSentPs = sent.ps;
    out.duePs = std::min(out.duePs, DuePs(out, sent));
    FrameNote& note = Host().Note(data);
    note.stampPs = sent.ps;
    note.words[PATH] = sent.path;
    Await(out);
}

// ---- what is answered

void
SrdTransport::LearnMore(Outbound& base, FrameId id, Answer&)
{
    auto& out = static_cast<SrdOutbound&>(base);
    const FrameNote* note = Host().FindNote(id);
    out.answeredPath = static_cast<uint32_t>(note->words[PATH]);
    out.answeredPs = note->stampPs;
}

/// Note the round trip of the path of an answer; leave the path if it is longer than the others'.
void
SrdTransport::JudgePath(SrdOutbound& out, uint64_t rttPs)
{
    SrdPath& path = out.paths[out.answeredPath];
    path.rttPs =
        path.answers == 0 ? rttPs : path.rttPs - path.rttPs / SMOOTHING + rttPs / SMOOTHING;
    path.answers++;
    path.heardPs = std::max(path.heardPs, out.answeredPs);
    const auto basePs = static_cast<double>(out.baseRttPs);
    const bool isSlow = static_cast<double>(rttPs) > (1 + m_slowShare) * basePs;
    const bool isFirst = path.round != out.round;
    out.seenPaths += isFirst;
    out.slowPaths += isSlow;
    out.slowPaths -= !isFirst && path.isSlow;
    path.isSlow = isSlow;
    path.round = out.round;
    const auto allPs = static_cast<double>(out.rtt.SmoothedPs());
    if (path.answers > FEW_ANSWERS &&
        static_cast<double>(path.rttPs) > (1 + m_rerouteShare) * allPs)
    {
        Leave(path);
    }
}

void
SrdTransport::OnAnswer(SrdOutbound& out, const Answer& answer)
{
    if (answer.newPackets > 0)
    {
        out.misses = 0;
    }
    if (!(answer.flags & frame_flag::TRIMMED))
    {
        const uint64_t nowPs = Host().NowPs();
        out.rtt.Sample(nowPs - out.answeredPs);
        JudgePath(out, nowPs - out.answeredPs);
        const bool hasEnded = out.limit.OnAnswer({.packets = answer.newPackets,
                                                  .sentPs = out.answeredPs,
                                                  .nowPs = nowPs,
                                                  .isMostSlow = 2 * out.slowPaths > out.seenPaths});
        out.round += hasEnded;
        out.seenPaths = hasEnded ? 0 : out.seenPaths;
        out.slowPaths = hasEnded ? 0 : out.slowPaths;
    }
    Await(out);
}

// ---- what waits

uint64_t
SrdTransport::RtoPs(const Outbound&) const
{
    return NEVER_PS; // each packet has a timeout of its own
}

/// @return when a packet that is out has been out for too long [ps]
uint64_t
SrdTransport::DuePs(const SrdOutbound& out, const SrdSent& sent) const
{
    return Later(sent.ps, out.rtt.TimeoutPs(LeastRtoPs()), std::min(out.misses, MaxBackoff()));
}

/// Take for lost what was out for too long, and leave its paths. @return when the next one is [ps]
uint64_t
SrdTransport::JudgeTimeouts(SrdOutbound& out)
{
    uint64_t nextPs = NEVER_PS;
    Answer lost{};
    bool isMiss = false;
    for (uint32_t packet = out.packets.Base(); packet < out.packets.Next(); packet++)
    {
        if (!out.packets.IsInFlight(packet))
        {
            continue;
        }
        const SrdSent& sent = out.sent.Get(packet);
        const uint64_t duePs = DuePs(out, sent);
        if (Host().NowPs() < duePs)
        {
            nextPs = std::min(nextPs, duePs);
            continue;
        }
        isMiss |= sent.ps >= out.missedPs;
        out.packets.Lost(packet);
        TellLost(out, packet, CongestionControl::Loss::TIMEOUT, lost);
        Leave(out.paths[sent.path]);
    }
    if (isMiss) // else it is of a window that is known to have lost some
    {
        out.misses++;
        out.missedPs = Host().NowPs();
        out.limit.OnTimeout();
        Host().GetMessage(out.message).timeouts++;
        TellTimeout(out);
    }
    return nextPs;
}

/// Set FAMILY_DEADLINE to what comes first, unless it is earlier already.
void
SrdTransport::Await(SrdOutbound& out)
{
    const uint64_t pacedPs = PacedPs(out);
    const bool waits = out.packets.HasMore() && pacedPs > Host().NowPs();
    const uint64_t atPs = waits ? std::min(out.duePs, pacedPs) : out.duePs;
    BringForward(out, FAMILY_DEADLINE, atPs);
}

void
SrdTransport::OnDeadline(SrdOutbound& out)
{
    if (out.duePs <= Host().NowPs())
    {
        out.duePs = JudgeTimeouts(out);
    }
    Await(out);
    Wake(out);
}

} // namespace ns3
