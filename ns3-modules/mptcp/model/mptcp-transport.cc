// SPDX-License-Identifier: GPL-2.0-only

#include "mptcp-transport.h"

#include "ns3/uinteger.h"

#include <algorithm>
#include <tuple>

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
                                          MakeUintegerChecker<uint32_t>(1));
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
}

/// @return subflow with room that has the shortest round trip; not yet known ones are first, ones
/// that have timed out last
uint32_t
MptcpTransport::Choose(const MptcpOutbound& out) const
{
    uint32_t best = NO_SUBFLOW;
    std::tuple<uint32_t, uint64_t, uint32_t> least;
    for (uint32_t i = 0; i < out.subflows.size(); i++)
    {
        const MptcpSubflow& subflow = out.subflows[i];
        const uint32_t inFlight = subflow.sent.InFlight();
        const auto key = std::make_tuple(subflow.timeouts, out.windows.RttPs(i), inFlight);
        if (inFlight + 1 <= out.windows.Packets(i) && (best == NO_SUBFLOW || key < least))
        {
            best = i;
            least = key;
        }
    }
    return best;
}

bool
MptcpTransport::MaySend(const MptcpOutbound& out) const
{
    return Choose(out) != NO_SUBFLOW;
}

void
MptcpTransport::Stamp(MptcpOutbound& out, FrameId data)
{
    Frame& frame = Host().GetFrame(data);
    const uint32_t index = Choose(out);
    MptcpSubflow& subflow = out.subflows[index];
    subflow.entropy = subflow.entropy.value_or(frame.entropy);
    frame.entropy = *subflow.entropy;
    if (subflow.sent.InFlight() == 0)
    {
        subflow.waitsPs = Host().NowPs();
    }
    const uint32_t number = subflow.sent.Take().packet;
    subflow.packetOf.Put(number, subflow.sent.Base(), frame.packet);
    FrameNote& note = Host().Note(data);
    note.stampPs = Host().NowPs();
    note.words[SUBFLOW] = index;
    note.words[NUMBER] = number;
    if (!out.deadlines.IsSet(FAMILY_DEADLINE))
    {
        SetDeadline(out, FAMILY_DEADLINE, DuePs(subflow));
    }
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
    const uint32_t packet = subflow.packetOf.Get(number);
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
