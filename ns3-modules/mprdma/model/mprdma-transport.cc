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
constexpr uint8_t PORT = 0; ///< Word of the note of data: place of the port by which it left

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
    out.window = MpRdmaWindow(m_initialBdp * packets * NumPorts(out));
    out.clocks.resize(Host().NumPorts());
    out.explores = static_cast<uint32_t>(out.window.Packets());
}

bool
MpRdmaTransport::MaySend(const MpRdmaOutbound& out) const
{
    return Allowed(out) > 0 && out.InFlight() + 1 <= out.window.Packets();
}

/// @return packets that may go, as far as answers and exploring are concerned
uint64_t
MpRdmaTransport::Allowed(const MpRdmaOutbound& out) const
{
    uint64_t packets = out.explores;
    for (const auto& clocks : out.clocks)
    {
        packets += clocks.size();
    }
    return packets;
}

/// @return place of a port that has packets to send and leads to the destination no more
std::optional<size_t>
MpRdmaTransport::LeftBehind(const MpRdmaOutbound& out) const
{
    const uint32_t dst = Host().GetMessage(out.message).dst;
    for (size_t place = 0; place < out.clocks.size(); place++)
    {
        const auto port = static_cast<PortId>(Host().FirstPort() + place);
        if (!out.clocks[place].empty() && !Host().Serves(port, dst))
        {
            return place;
        }
    }
    return std::nullopt;
}

bool
MpRdmaTransport::MayLeaveBy(const MpRdmaOutbound& out, PortId port) const
{
    return out.explores > 0 || !out.clocks[port - Host().FirstPort()].empty() || LeftBehind(out);
}

void
MpRdmaTransport::Stamp(MpRdmaOutbound& out, FrameId data, PortId port)
{
    Frame& frame = Host().GetFrame(data);
    const uint32_t place = port - Host().FirstPort();
    frame.flags |= (frame.flags & frame_flag::RETRANSMITTED) ? COPY : 0;
    if (out.clocks.size() > 1)
    {
        Host().Note(data).words[PORT] = place;
    }
    if (out.explores > 0)
    {
        out.explores--; // with the entropy of the selector
    }
    else if (!out.clocks[place].empty())
    {
        frame.entropy = out.clocks[place].front();
        out.clocks[place].pop_front();
    }
    else
    {
        out.clocks[*LeftBehind(out)].pop_front(); // with the entropy of the selector
    }
}

void
MpRdmaTransport::LearnMore(Outbound& base, FrameId id, Answer&)
{
    auto& out = static_cast<MpRdmaOutbound&>(base);
    out.answered = Host().GetFrame(id).entropy;
    out.answeredPort =
        out.clocks.size() > 1 ? static_cast<uint32_t>(Host().FindNote(id)->words[PORT]) : 0;
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
    const uint64_t used = out.InFlight() + Allowed(out);
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
            out.clocks[out.answeredPort].push_back(out.answered);
        }
    }
}

void
MpRdmaTransport::OnTimeout(MpRdmaOutbound& out, Answer& lost)
{
    MessageTransport::OnTimeout(out, lost); // takes for lost what is out
    out.window.OnTimeout();
    for (auto& clocks : out.clocks)
    {
        clocks.clear();
    }
    out.explores = 1;
}

} // namespace ns3
