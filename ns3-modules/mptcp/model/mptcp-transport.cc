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

constexpr uint32_t NO_SUBFLOW = 0xffffffff;
constexpr uint32_t MOST_DOUBLINGS = 7;

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
    static TypeId tid =
        AddAttributes(TypeId("ns3::MptcpTransport")
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
    out.windows = LinkedWindows(m_subflows, m_initialPackets);
}

/// @return subflow with room that has the shortest round trip; not yet known ones are first, ones
/// that have timed out last
uint32_t
MptcpTransport::Choose(const MptcpOutbound& out) const
{
    uint32_t best = NO_SUBFLOW;
    for (uint32_t i = 0; i < out.subflows.size(); i++)
    {
        const MptcpSubflow& subflow = out.subflows[i];
        if (subflow.inFlight + 1 > out.windows.Packets(i))
        {
            continue;
        }
        const auto key = [&out](uint32_t index) {
            const MptcpSubflow& one = out.subflows[index];
            return std::make_tuple(one.backoff, out.windows.RttPs(index), one.inFlight);
        };
        best = best == NO_SUBFLOW || key(i) < key(best) ? i : best;
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
    FrameNote& note = Host().Note(data);
    note.stampPs = Host().NowPs();
    note.words[SUBFLOW] = index;
    note.words[NUMBER] = subflow.first + subflow.sent.size();
    subflow.sent.push_back({frame.packet, false});
    if (subflow.inFlight++ == 0)
    {
        subflow.waitsPs = Host().NowPs();
    }
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
    out.answeredNumber = note->words[NUMBER];
}

/// It is known what became of a packet of a subflow.
void
MptcpTransport::Settle(MptcpSubflow& subflow, uint64_t number)
{
    if (number < subflow.first || subflow.sent[number - subflow.first].isKnown)
    {
        return;
    }
    subflow.sent[number - subflow.first].isKnown = true;
    subflow.inFlight--;
    while (!subflow.sent.empty() && subflow.sent.front().isKnown)
    {
        subflow.sent.pop_front();
        subflow.first++;
    }
}

/// At most once per window of a subflow.
void
MptcpTransport::Reduce(MptcpOutbound& out, uint32_t index, uint64_t number)
{
    MptcpSubflow& subflow = out.subflows[index];
    if (number >= subflow.reduced)
    {
        subflow.reduced = subflow.first + subflow.sent.size();
        out.windows.OnLoss(index);
    }
}

void
MptcpTransport::Lose(MptcpOutbound& out, uint32_t index, uint64_t number, Answer& answer)
{
    MptcpSubflow& subflow = out.subflows[index];
    const uint32_t packet = subflow.sent[number - subflow.first].packet;
    Reduce(out, index, number);
    Settle(subflow, number);
    if (out.packets.Lost(packet))
    {
        const bool isTrimmed = (answer.flags & frame_flag::TRIMMED) && answer.packet == packet;
        using Loss = CongestionControl::Loss;
        TellLost(out, packet, isTrimmed ? Loss::TRIMMED : Loss::OVERTAKEN, answer);
    }
}

void
MptcpTransport::JudgeLosses(MptcpOutbound& out, Answer& answer)
{
    const uint32_t index = out.answered;
    MptcpSubflow& subflow = out.subflows[index];
    const uint64_t number = out.answeredNumber;
    subflow.waitsPs = Host().NowPs();
    subflow.backoff = 0;
    if (answer.flags & frame_flag::TRIMMED)
    {
        if (number >= subflow.first && !subflow.sent[number - subflow.first].isKnown)
        {
            Lose(out, index, number, answer);
        }
    }
    else if (answer.flags & frame_flag::ECN_ECHO)
    {
        Reduce(out, index, number);
    }
    else
    {
        out.windows.OnAck(index, answer.rttPs);
    }
    subflow.furthest = std::max(subflow.furthest, number + 1);
    Settle(subflow, number);
    while (!subflow.sent.empty() && subflow.first + out.reorderPackets < subflow.furthest)
    {
        Lose(out, index, subflow.first, answer);
    }
}

// ---- timeouts

uint64_t
MptcpTransport::DuePs(const MptcpSubflow& subflow) const
{
    return Later(subflow.waitsPs, LeastRtoPs(), subflow.backoff);
}

/// All that a subflow has on its way is lost.
void
MptcpTransport::GiveUp(MptcpOutbound& out, uint32_t index, Answer& lost)
{
    MptcpSubflow& subflow = out.subflows[index];
    for (const auto& sent : subflow.sent)
    {
        if (!sent.isKnown && out.packets.Lost(sent.packet))
        {
            TellLost(out, sent.packet, CongestionControl::Loss::TIMEOUT, lost);
        }
    }
    subflow.first += subflow.sent.size();
    subflow.reduced = subflow.first;
    subflow.sent.clear();
    subflow.inFlight = 0;
    subflow.backoff = std::min(subflow.backoff + 1, MOST_DOUBLINGS);
    out.windows.OnTimeout(index);
}

void
MptcpTransport::OnDeadline(MptcpOutbound& out)
{
    uint64_t nextPs = NEVER_PS;
    for (uint32_t i = 0; i < out.subflows.size(); i++)
    {
        MptcpSubflow& subflow = out.subflows[i];
        if (subflow.inFlight > 0 && DuePs(subflow) <= Host().NowPs())
        {
            Answer lost{};
            GiveUp(out, i, lost);
            Host().GetMessage(out.message).timeouts++;
        }
        nextPs = subflow.inFlight > 0 ? std::min(nextPs, DuePs(subflow)) : nextPs;
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
        if (out.subflows[i].inFlight > 0)
        {
            GiveUp(out, i, lost);
        }
    }
}

} // namespace ns3
