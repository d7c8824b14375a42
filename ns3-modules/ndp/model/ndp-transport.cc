// SPDX-License-Identifier: GPL-2.0-only

#include "ndp-transport.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(NdpTransport);

TypeId
NdpTransport::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::NdpTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Ndp")
                          .AddConstructor<NdpTransport>(),
                      {.entropy = "ns3::PermutedEntropy",
                       .rto = "5ms",
                       .reorderPackets = 0,
                       .reorderHelp = ", 0 = never: trimming tells",
                       .controlPriority = NUM_PRIORITIES - 1,
                       .ecnCapable = false,
                       .trimmable = true})
            .AddAttribute("InitialPackets",
                          "Packets that a message sends blind [packet], 0 = one bandwidth-delay "
                          "product of the unloaded path",
                          UintegerValue(0),
                          MakeUintegerAccessor(&NdpTransport::m_initialPackets),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("PullBytes",
                          "PULL frame, headers included [byte]",
                          UintegerValue(64),
                          MakeUintegerAccessor(&NdpTransport::m_pullBytes),
                          MakeUintegerChecker<uint32_t>(MIN_FRAME_BYTES, 1024))
            .AddAttribute("PullShare",
                          "PULLs ask for full packets at this share of the rate of the host's "
                          "links [1]",
                          DoubleValue(0.99),
                          MakeDoubleAccessor(&NdpTransport::m_pullShare),
                          MakeDoubleChecker<double>(0.01, 1.0))
            .AddAttribute("PullOrder",
                          "Which message is pulled next",
                          EnumValue(FlowOrder::By::ROUND_ROBIN),
                          MakeEnumAccessor<FlowOrder::By>(&NdpTransport::m_pullOrder),
                          MakeEnumChecker(FlowOrder::By::ROUND_ROBIN,
                                          "RoundRobin",
                                          FlowOrder::By::FIRST_COME,
                                          "FirstCome"));
    return tid;
}

bool
NdpTransport::MayShorten() const
{
    return true;
}

void
NdpTransport::DoAttach()
{
    MessageTransport::DoAttach();
    m_packetBytes = m_mtuBytes + m_headerBytes + Host().FramingBytes();
    m_pulls.emplace(CreditPacer::Rules{
        .quantumBytes = static_cast<uint32_t>(m_packetBytes),
        .order = m_pullOrder,
        .rateBps = static_cast<uint64_t>(m_pullShare * static_cast<double>(HostRateBps())),
        .mostFlows = 0,
        .mostOutstandingBytes = 0});
}

bool
NdpTransport::SpreadsOverPorts() const
{
    return true;
}

// ---- source

void
NdpTransport::Begin(NdpOutbound& out)
{
    out.initialPackets = m_initialPackets ? m_initialPackets : PipePackets(out);
    out.credit = out.initialPackets;
}

bool
NdpTransport::MaySend(const NdpOutbound& out) const
{
    return out.credit > 0;
}

void
NdpTransport::Stamp(NdpOutbound& out, FrameId)
{
    out.credit--;
}

void
NdpTransport::JudgeLosses(NdpOutbound& out, Answer& answer)
{
    out.answers++;
    MessageTransport::JudgeLosses(out, answer);
}

bool
NdpTransport::IsProgress(const Answer&) const
{
    return true;
}

void
NdpTransport::OnAnswer(NdpOutbound& out, const Answer&)
{
    // With nothing out the retransmission timeout does not run, and the last PULL may be lost.
    if (!out.packets.HasOut())
    {
        SetDeadline(out, FAMILY_DEADLINE, Host().NowPs() + RtoPs(out));
    }
}

void
NdpTransport::OnDeadline(NdpOutbound& out)
{
    if (!out.packets.HasOut() && out.credit == 0)
    {
        out.credit = 1;
        Wake(out);
    }
}

void
NdpTransport::OnControl(NdpOutbound& out, FrameId control)
{
    const uint32_t number = Host().GetFrame(control).aux;
    if (number > out.pulled)
    {
        out.credit += number - out.pulled;
        out.pulled = number;
        RestartTimeout(out);
        Wake(out);
    }
}

void
NdpTransport::OnBounced(NdpOutbound& out)
{
    const bool expectsPull = out.packets.InFlight() > 0 || out.answers > out.pulled;
    out.credit += out.credit == 0 && !expectsPull;
}

void
NdpTransport::OnTimeout(NdpOutbound& out, Answer& lost)
{
    MessageTransport::OnTimeout(out, lost);
    out.credit = std::clamp(lost.lostPackets, 1U, out.initialPackets);
}

// ---- destination

void
NdpTransport::OnPayload(NdpInbound& in, FrameId data, PortId port, uint32_t expected)
{
    Want(in, data, port);
    MessageTransport::OnPayload(in, data, port, expected);
    SendPulls();
}

void
NdpTransport::OnTrimmed(NdpInbound& in, FrameId header, PortId port)
{
    Want(in, header, port);
    MessageTransport::OnTrimmed(in, header, port);
    SendPulls();
}

void
NdpTransport::OnDelivered(NdpInbound& in)
{
    m_pulls->Forget(in.slot);
}

void
NdpTransport::OnHostTimer()
{
    SendPulls();
}

void
NdpTransport::Want(NdpInbound& in, FrameId frame, PortId port)
{
    in.port = port;
    in.entropy = Host().GetFrame(frame).entropy;
    m_pulls->Want(in.slot, m_packetBytes);
}

void
NdpTransport::SendPulls()
{
    while (const auto credit = m_pulls->Take(Host().NowPs()))
    {
        NdpInbound& in = InboundOf(credit->flow);
        const FrameId pull = MakeControl(in.message, PULL, m_pullBytes);
        Host().GetFrame(pull).aux = ++in.pulls;
        Host().GetFrame(pull).entropy = in.entropy;
        Host().SendControl(pull, in.port);
    }
    if (const uint64_t nextPs = m_pulls->NextPs(); nextPs != NEVER_PS)
    {
        SetHostTimer(nextPs);
    }
}

} // namespace ns3
