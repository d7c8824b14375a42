// SPDX-License-Identifier: GPL-2.0-only

#include "mprdma-transport.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(MpRdmaTransport);

namespace
{

constexpr uint16_t COPY = frame_flag::FREE; ///< Answers an answer that its packet was sent before
constexpr uint32_t MOST_CLOCKED = 2;        ///< Packets that one answer lets go

} // namespace

TypeId
MpRdmaTransport::GetTypeId()
{
    using T = MpRdmaTransport;
    static TypeId tid =
        AddAttributes(TypeId("ns3::MpRdmaTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Mprdma")
                          .AddConstructor<MpRdmaTransport>(),
                      {.entropy = "ns3::RandomEntropy", .rto = "1ms", .reorderPackets = 64})
            .AddAttribute("InitialWindowBdp",
                          "First window in bandwidth-delay products of the unloaded path [1]",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&T::m_initialBdp),
                          MakeDoubleChecker<double>(0.01, 100))
            .AddAttribute("DeltaPackets",
                          "A path whose packet is further behind than this is left [packet]",
                          UintegerValue(32),
                          MakeUintegerAccessor(&T::m_deltaPackets),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("ProbeShare",
                          "Probability that a packet goes by a path of the selector instead [1]",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&T::m_probeShare),
                          MakeDoubleChecker<double>(0, 1));
    return tid;
}

void
MpRdmaTransport::Begin(MpRdmaOutbound& out)
{
    const auto packets = static_cast<double>(BaseRttPs(out)) / static_cast<double>(PacketPs(out));
    out.window = MpRdmaWindow(m_initialBdp * packets);
    out.explores = static_cast<uint32_t>(out.window.Packets());
}

bool
MpRdmaTransport::MaySend(const MpRdmaOutbound& out) const
{
    return out.explores + out.clocks.size() > 0 && out.InFlight() + 1 <= out.window.Packets();
}

void
MpRdmaTransport::Stamp(MpRdmaOutbound& out, FrameId data)
{
    Frame& frame = Host().GetFrame(data);
    frame.flags |= (frame.flags & frame_flag::RETRANSMITTED) ? COPY : 0;
    if (out.explores > 0)
    {
        out.explores--; // with the entropy of the selector
        return;
    }
    frame.entropy = out.clocks.front();
    out.clocks.pop_front();
}

void
MpRdmaTransport::LearnMore(Outbound& out, FrameId id, Answer&)
{
    static_cast<MpRdmaOutbound&>(out).answered = Host().GetFrame(id).entropy;
}

bool
MpRdmaTransport::Probes(MpRdmaOutbound& out)
{
    const auto id = static_cast<uint64_t>(Host().GetMessage(out.message).id);
    return m_probeShare > 0 &&
           Host().Stream(RandomUse::TRANSPORT, id).Real(out.draws++) < m_probeShare;
}

void
MpRdmaTransport::OnAnswer(MpRdmaOutbound& out, const Answer& answer)
{
    const bool isTrimmed = (answer.flags & frame_flag::TRIMMED) != 0;
    out.window.OnLoss(answer.lostPackets - std::min<uint32_t>(answer.lostPackets, isTrimmed));
    const bool clocks = out.window.OnAck(answer.packet,
                                         (answer.flags & COPY) != 0,
                                         isTrimmed || (answer.flags & frame_flag::ECN_ECHO),
                                         m_deltaPackets);
    const uint64_t used = out.InFlight() + out.explores + out.clocks.size();
    const auto window = static_cast<uint64_t>(out.window.Packets());
    uint64_t free = clocks && window > used ? std::min<uint64_t>(window - used, MOST_CLOCKED) : 0;
    free = used == 0 ? 1 : free; // somebody has to go on
    for (; free > 0; free--)
    {
        if (Probes(out))
        {
            out.explores++;
        }
        else
        {
            out.clocks.push_back(out.answered);
        }
    }
}

void
MpRdmaTransport::OnTimeout(MpRdmaOutbound& out, Answer& lost)
{
    MessageTransport::OnTimeout(out, lost); // takes for lost what is out
    out.window.OnTimeout();
    out.clocks.clear();
    out.explores = 1;
}

} // namespace ns3
