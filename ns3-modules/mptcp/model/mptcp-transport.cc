// SPDX-License-Identifier: GPL-2.0-only

#include "mptcp-transport.h"

#include "ns3/boolean.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(MptcpTransport);

namespace
{

using Loss = CongestionControl::Loss;

constexpr uint32_t NO_SUBFLOW = 0xffffffff;

/// Words of the note of data, which its answer brings back.
enum Word : uint8_t
{
    SUBFLOW = 0,
    NUMBER = 1, ///< Of the packet on its subflow
};

} // namespace

TypeId
MptcpTransport::GetTypeId()
{
    using T = MptcpTransport;
    static TypeId tid = AddAttributes(TypeId("ns3::MptcpTransport")
                                          .SetParent<PacketTransport>()
                                          .SetGroupName("Mptcp")
                                          .AddConstructor<MptcpTransport>(),
                                      {.entropy = "ns3::RandomEntropy",
                                       .rto = "1ms",
                                       .reorderPackets = 3,
                                       .reorderHelp = ", on its subflow"})
                            .AddAttribute("Subflows",
                                          "Subflows of each message [1]",
                                          UintegerValue(8),
                                          MakeUintegerAccessor(&T::m_subflows),
                                          MakeUintegerChecker<uint32_t>(1, 256))
                            .AddAttribute("InitialPackets",
                                          "First window of each subflow [packet]",
                                          UintegerValue(10),
                                          MakeUintegerAccessor(&T::m_initialPackets),
                                          MakeUintegerChecker<uint32_t>(1))
                            .AddAttribute("TailLossProbe",
                                          "Losses are also found by time, and a quiet subflow "
                                          "probes its tail (RACK-TLP)",
                                          BooleanValue(false),
                                          MakeBooleanAccessor(&T::m_tailLossProbe),
                                          MakeBooleanChecker());
    return tid;
}

void
MptcpTransport::Begin(MptcpOutbound& out)
{
    out.subflows.resize(m_subflows);
    for (MptcpSubflow& subflow : out.subflows)
    {
        subflow.sent.Reset(Segmentation::MAX_PACKETS); // copies included: as many as there are
    }
    out.windows = LinkedWindows(m_subflows, m_initialPackets);
    SpreadOverPorts(out);
}

/// Give each subflow a port; the first one has that of a message that keeps to one.
void
MptcpTransport::SpreadOverPorts(MptcpOutbound& out)
{
    const PortId first = Host().PortOf(out.message);
    const uint32_t ports = Host().NumPorts();
    uint32_t turn = first - Host().FirstPort();
    for (MptcpSubflow& subflow : out.subflows)
    {
        subflow.port = first;
        for (uint32_t tried = 0; tried < ports; tried++)
        {
            const PortId port = Host().FirstPort() + (turn + tried) % ports;
            if (Host().Serves(port, Host().GetMessage(out.message).dst))
            {
                subflow.port = port;
                turn += tried + 1;
                break;
            }
        }
    }
}

/// @return whether a subflow may send a packet: its port leads there and its window allows it
bool
MptcpTransport::HasRoom(const MptcpOutbound& out, uint32_t index) const
{
    const MptcpSubflow& subflow = out.subflows[index];
    const bool hasRoom =
        subflow.wantsProbe || subflow.sent.InFlight() + 1 <= out.windows.Packets(index);
    return hasRoom && Host().Serves(subflow.port, Host().GetMessage(out.message).dst);
}

/// @return subflow of a port that is to send a probe; else that with room that has the shortest
/// round trip: not yet known ones are first; none that has timed out more often than one of another
/// port that has room
uint32_t
MptcpTransport::Choose(const MptcpOutbound& out, PortId port) const
{
    uint32_t best = NO_SUBFLOW;
    uint32_t leastTimeouts = std::numeric_limits<uint32_t>::max();
    std::tuple<uint32_t, uint64_t, uint32_t> least;
    for (uint32_t i = 0; i < out.subflows.size(); i++)
    {
        if (!HasRoom(out, i))
        {
            continue;
        }
        const MptcpSubflow& subflow = out.subflows[i];
        if (subflow.wantsProbe && subflow.port == port)
        {
            return i;
        }
        const auto key =
            std::make_tuple(subflow.timeouts, out.windows.RttPs(i), subflow.sent.InFlight());
        leastTimeouts = std::min(leastTimeouts, subflow.timeouts);
        if (subflow.port == port && (best == NO_SUBFLOW || key < least))
        {
            best = i;
            least = key;
        }
    }
    return best != NO_SUBFLOW && std::get<0>(least) == leastTimeouts ? best : NO_SUBFLOW;
}

bool
MptcpTransport::MaySend(const MptcpOutbound& out) const
{
    for (uint32_t i = 0; i < out.subflows.size(); i++)
    {
        if (HasRoom(out, i))
        {
            return true;
        }
    }
    return false;
}

bool
MptcpTransport::MayLeaveBy(const MptcpOutbound& out, PortId port) const
{
    return Choose(out, port) != NO_SUBFLOW;
}

void
MptcpTransport::Stamp(MptcpOutbound& out, FrameId data, PortId port)
{
    Frame& frame = Host().GetFrame(data);
    const uint32_t index = Choose(out, port);
    MptcpSubflow& subflow = out.subflows[index];
    subflow.entropy = subflow.entropy.value_or(frame.entropy);
    frame.entropy = *subflow.entropy;
    const uint64_t nowPs = Host().NowPs();
    if (subflow.sent.InFlight() == 0 || subflow.wantsProbe)
    {
        subflow.waitsPs = nowPs;
    }
    const uint32_t number = subflow.sent.Take().packet;
    subflow.sentAs.Put(number, subflow.sent.Base(), {frame.packet, nowPs});
    subflow.lastSentPs = nowPs;
    if (std::exchange(subflow.wantsProbe, false))
    {
        subflow.probeEnd = number;
        RestartTimeout(out);
    }
    FrameNote& note = Host().Note(data);
    note.stampPs = nowPs;
    note.words[SUBFLOW] = index;
    note.words[NUMBER] = number;
    Await(out, std::min(DuePs(subflow), ProbePs(out, index)));
}

void
MptcpTransport::LearnMore(Outbound& base, FrameId id, Answer&)
{
    auto& out = static_cast<MptcpOutbound&>(base);
    const FrameNote* note = Host().FindNote(id);
    out.answered = static_cast<uint32_t>(note->words[SUBFLOW]);
    out.answeredNumber = static_cast<uint32_t>(note->words[NUMBER]);
}

/// At most once per window of a subflow.
void
MptcpTransport::Reduce(MptcpOutbound& out, uint32_t index, uint32_t number)
{
    MptcpSubflow& subflow = out.subflows[index];
    if (number >= subflow.reduced)
    {
        subflow.reduced = subflow.sent.Next();
        out.windows.OnLoss(index);
    }
}

/// The subflow is done with that number; another one carries its packet.
void
MptcpTransport::Lose(MptcpOutbound& out,
                     MptcpSubflow& subflow,
                     uint32_t number,
                     Loss how,
                     Answer& answer)
{
    subflow.sent.Arrived(number);
    const uint32_t packet = subflow.sentAs.Get(number).packet;
    if (out.packets.Lost(packet))
    {
        TellLost(out, packet, how, answer);
    }
}

void
MptcpTransport::JudgeLosses(MptcpOutbound& out, Answer& answer)
{
    const uint32_t index = out.answered;
    const uint32_t number = out.answeredNumber;
    MptcpSubflow& subflow = out.subflows[index];
    subflow.waitsPs = Host().NowPs();
    subflow.timeouts = 0;
    if (!(answer.flags & (frame_flag::TRIMMED | frame_flag::ECN_ECHO)))
    {
        out.windows.OnAck(index, answer.rttPs);
    }
    else if (!(answer.flags & frame_flag::TRIMMED))
    {
        Reduce(out, index, number);
    }
    else if (subflow.sent.IsInFlight(number))
    {
        Reduce(out, index, number);
        Lose(out, subflow, number, Loss::TRIMMED, answer);
    }
    subflow.sent.Arrived(number);
    subflow.sent.JudgeOvertaken(out.reorderPackets, [&](uint32_t lost) {
        Reduce(out, index, lost);
        Lose(out, subflow, lost, Loss::OVERTAKEN, answer);
    });
    if (m_tailLossProbe)
    {
        LookBehind(out, index, number, answer);
    }
}

// ---- what has no other behind it

/// A packet of a subflow was answered: what was sent before it may be late, its probe is done.
void
MptcpTransport::LookBehind(MptcpOutbound& out, uint32_t index, uint32_t number, Answer& answer)
{
    MptcpSubflow& subflow = out.subflows[index];
    if (!(answer.flags & frame_flag::TRIMMED))
    {
        subflow.arrivals.OnArrival(number, answer.rttPs);
    }
    if (subflow.probeEnd && number >= *subflow.probeEnd)
    {
        subflow.probeEnd.reset();
    }
    Await(out, std::min(JudgeLate(out, index, answer), ProbePs(out, index)));
}

/// Set FAMILY_DEADLINE, unless it is earlier already; without TailLossProbe, unless it is set.
void
MptcpTransport::Await(MptcpOutbound& out, uint64_t atPs)
{
    if (m_tailLossProbe || !out.deadlines.IsSet(FAMILY_DEADLINE))
    {
        BringForward(out, FAMILY_DEADLINE, atPs);
    }
}

/// Take for lost what is late (RFC 8985, section 6.2, step 5). @return when the next one is [ps]
uint64_t
MptcpTransport::JudgeLate(MptcpOutbound& out, uint32_t index, Answer& answer)
{
    MptcpSubflow& subflow = out.subflows[index];
    const bool recovers = subflow.sent.Base() < subflow.reduced;
    const uint32_t beyond = subflow.sent.NumArrived() - subflow.sent.Base();
    const uint64_t waitPs =
        subflow.arrivals.WaitPs(recovers || beyond >= out.reorderPackets, out.windows.RttPs(index));
    for (uint32_t number = subflow.sent.Base(); number < subflow.arrivals.Number(); number++)
    {
        if (!subflow.sent.IsInFlight(number))
        {
            continue;
        }
        const uint64_t latePs = subflow.sentAs.Get(number).ps + waitPs;
        if (Host().NowPs() < latePs)
        {
            return latePs; // later ones were sent later
        }
        Reduce(out, index, number);
        Lose(out, subflow, number, Loss::OVERTAKEN, answer);
    }
    return NEVER_PS;
}

/// @return when a subflow is quiet for long enough to probe, NEVER_PS: it does not [ps]
uint64_t
MptcpTransport::ProbePs(const MptcpOutbound& out, uint32_t index) const
{
    const MptcpSubflow& subflow = out.subflows[index];
    const uint64_t rttPs = out.windows.RttPs(index);
    const bool isDone = subflow.probeEnd || subflow.wantsProbe || subflow.timeouts > 0;
    if (!m_tailLossProbe || isDone || rttPs == 0 || subflow.sent.InFlight() == 0)
    {
        return NEVER_PS;
    }
    return std::max(subflow.lastSentPs, subflow.waitsPs) + 2 * rttPs; // RFC 8985, section 7.2
}

/// Let a subflow send one packet more: the next one, else its last one that is still missing.
void
MptcpTransport::Probe(MptcpOutbound& out, MptcpSubflow& subflow)
{
    subflow.probeEnd = subflow.sent.Next(); // once, also if there is nothing to send
    for (uint32_t number = subflow.sent.Next();
         number-- > subflow.sent.Base() && !out.packets.HasMore();)
    {
        const uint32_t packet = subflow.sentAs.Get(number).packet;
        if (subflow.sent.IsInFlight(number))
        {
            out.packets.Lost(packet); // not known to be lost, so nobody is told
        }
    }
    subflow.wantsProbe = out.packets.HasMore();
}

/// The deadline of a subflow may be reached. @return when it will be again [ps]
uint64_t
MptcpTransport::ProbeOrJudge(MptcpOutbound& out, uint32_t index)
{
    Answer lost{};
    const uint64_t latePs = JudgeLate(out, index, lost);
    if (ProbePs(out, index) <= Host().NowPs())
    {
        Probe(out, out.subflows[index]);
    }
    return std::min(latePs, ProbePs(out, index));
}

// ---- timeouts

uint64_t
MptcpTransport::DuePs(const MptcpSubflow& subflow) const
{
    return Later(subflow.waitsPs, LeastRtoPs(), std::min(subflow.timeouts, MaxBackoff()));
}

/// All that a subflow has on its way is lost.
void
MptcpTransport::GiveUp(MptcpOutbound& out, uint32_t index, Answer& lost)
{
    MptcpSubflow& subflow = out.subflows[index];
    subflow.sent.LoseAll([&](uint32_t number) { Lose(out, subflow, number, Loss::TIMEOUT, lost); });
    subflow.reduced = subflow.sent.Next();
    subflow.timeouts++;
    subflow.probeEnd.reset();
    out.windows.OnTimeout(index);
}

void
MptcpTransport::OnDeadline(MptcpOutbound& out)
{
    uint64_t nextPs = NEVER_PS;
    for (uint32_t i = 0; i < out.subflows.size(); i++)
    {
        MptcpSubflow& subflow = out.subflows[i];
        if (subflow.sent.InFlight() > 0 && DuePs(subflow) <= Host().NowPs())
        {
            Answer lost{};
            GiveUp(out, i, lost);
            Host().GetMessage(out.message).timeouts++;
        }
        else if (m_tailLossProbe)
        {
            nextPs = std::min(nextPs, ProbeOrJudge(out, i));
        }
        nextPs = subflow.sent.InFlight() > 0 ? std::min(nextPs, DuePs(subflow)) : nextPs;
    }
    if (nextPs != NEVER_PS)
    {
        SetDeadline(out, FAMILY_DEADLINE, nextPs);
    }
    Wake(out);
}

void
MptcpTransport::OnTimeout(MptcpOutbound& out, Answer& lost)
{
    for (uint32_t i = 0; i < out.subflows.size(); i++)
    {
        if (out.subflows[i].sent.InFlight() > 0)
        {
            GiveUp(out, i, lost);
        }
    }
}

} // namespace ns3
