// SPDX-License-Identifier: GPL-2.0-only

#include "ndp-transport.h"

#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>
#include <limits>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(NdpTransport);

namespace
{

constexpr int REMEMBERED = std::numeric_limits<decltype(NdpOutbound::arrivals)>::digits;

} // namespace

TypeId
NdpTransport::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::NdpTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Ndp")
                          .AddConstructor<NdpTransport>(),
                      TrimmedInTurn("5ms"))
            .AddAttribute("InitialPackets",
                          "Packets that a message sends blind [packet], 0 = one bandwidth-delay "
                          "product of the unloaded path",
                          UintegerValue(0),
                          MakeUintegerAccessor(&NdpTransport::m_initialPackets),
                          MakeUintegerChecker<uint32_t>())
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
                                          "Fifo"));
    return tid;
}

void
NdpTransport::DoAttach()
{
    MessageTransport::DoAttach();
    m_packetBytes = m_mtuBytes + m_headerBytes + Host().FramingBytes();
    m_pulls.emplace(CreditPacer::Rules{
        .quantumBytes = static_cast<uint32_t>(m_packetBytes),
        .order = m_pullOrder,
        .rateBps = static_cast<uint64_t>(m_pullShare * static_cast<double>(HostRateBps()))});
}

// ---- source

void
NdpTransport::Begin(NdpOutbound& out)
{
    out.initialPackets = m_initialPackets ? m_initialPackets : PipePackets(out);
    // What is sent again waits for PULLs, also of a message shorter than its first window.
    out.credit = std::min(out.initialPackets, out.packets.Packets());
}

bool
NdpTransport::MaySend(const NdpOutbound& out) const
{
    return out.credit > 0;
}

void
NdpTransport::Stamp(NdpOutbound& out, FrameId data, PortId)
{
    out.credit--;
    out.sentPs.Put(Host().GetFrame(data).packet, out.packets.Base(), Host().NowPs());
}

void
NdpTransport::JudgeLosses(NdpOutbound& out, Answer& answer)
{
    out.answers++;
    Heard(out);
    const bool isTrimmed = answer.flags & frame_flag::TRIMMED;
    Remember(out, !isTrimmed);
    const bool waits = isTrimmed && out.packets.IsInFlight(answer.packet);
    MessageTransport::JudgeLosses(out, answer);
    out.credit += answer.lostPackets - waits; // no PULL comes for what has not come
}

/// Answers do not put off the timeouts of other packets: see Heard.
bool
NdpTransport::IsProgress(const Answer&) const
{
    return false;
}

void
NdpTransport::Heard(NdpOutbound& out)
{
    out.heardPs = Host().NowPs();
    if (!out.packets.HasOut())
    {
        RestartTimeout(out); // there is nothing to wait for
    }
    else if (out.backoff > 0)
    {
        AwaitFirst(out);
    }
}

/// What is on its way is waited for as if there had been no timeout.
void
NdpTransport::AwaitFirst(NdpOutbound& out)
{
    out.backoff = 0;
    out.timeoutFromPs = WaitsSincePs(out);
    SetDeadline(out, TIMEOUT_DEADLINE, std::max(Host().NowPs(), out.timeoutFromPs + RtoPs(out)));
}

/// @return when the first packet of those on their way was sent; if none is, when anything came;
/// behind a timeout, the time of that
uint64_t
NdpTransport::WaitsSincePs(const Outbound& base) const
{
    const auto& out = static_cast<const NdpOutbound&>(base);
    if (out.backoff > 0)
    {
        return out.timeoutFromPs;
    }
    uint64_t firstPs = out.packets.InFlight() > 0 ? NEVER_PS : out.heardPs;
    for (uint32_t packet = out.packets.Base(); packet < out.packets.Next(); packet++)
    {
        if (out.packets.IsInFlight(packet))
        {
            firstPs = std::min(firstPs, out.sentPs.Get(packet));
        }
    }
    return firstPs;
}

void
NdpTransport::OnStarved(NdpOutbound& out)
{
    out.credit = 1;
}

void
NdpTransport::OnControl(NdpOutbound& out, FrameId control)
{
    const uint32_t number = Host().GetFrame(control).aux;
    if (number > out.pulled)
    {
        out.credit += number - out.pulled;
        out.pulled = number;
        Heard(out);
        Wake(out);
    }
}

void
NdpTransport::Remember(NdpOutbound& out, bool hasArrived)
{
    out.arrivals = static_cast<uint16_t>((out.arrivals << 1) | hasArrived);
}

void
NdpTransport::OnBounced(NdpOutbound& out)
{
    const bool expectsPull = out.packets.InFlight() > 0 || out.answers > out.pulled;
    const bool mostArrive = std::popcount(out.arrivals) > REMEMBERED / 2;
    out.credit += mostArrive || (out.credit == 0 && !expectsPull);
    Remember(out, false);
}

void
NdpTransport::OnTimeout(NdpOutbound& out, Answer& lost)
{
    if (Host().NowPs() - out.heardPs < RtoPs(out))
    {
        LoseLate(out, lost);
        return;
    }
    MessageTransport::OnTimeout(out, lost);
    out.credit = std::clamp(lost.lostPackets, 1U, out.initialPackets);
}

/// Something was heard: only what is late itself is lost. If more is on its way, this is no timeout
/// in a row.
void
NdpTransport::LoseLate(NdpOutbound& out, Answer& lost)
{
    for (uint32_t packet = out.packets.Base(); packet < out.packets.Next(); packet++)
    {
        const bool isLate =
            out.packets.IsInFlight(packet) && Host().NowPs() - out.sentPs.Get(packet) >= RtoPs(out);
        if (isLate && out.packets.Lost(packet))
        {
            TellLost(out, packet, CongestionControl::Loss::TIMEOUT, lost);
        }
    }
    out.credit += lost.lostPackets;
    if (out.packets.InFlight() > 0)
    {
        AwaitFirst(out);
    }
}

// ---- destination

void
NdpTransport::OnHeard(NdpInbound& in, FrameId)
{
    m_pulls->Want(in.slot, m_packetBytes);
}

void
NdpTransport::OnDelivered(NdpInbound& in)
{
    m_pulls->Forget(in.slot);
}

NdpInbound*
NdpTransport::TakePull()
{
    const auto credit = m_pulls->Take(Host().NowPs());
    return credit ? &InboundOf(credit->flow) : nullptr;
}

uint64_t
NdpTransport::NextPullPs() const
{
    return m_pulls->NextPs();
}

void
NdpTransport::StampPull(NdpInbound& in, FrameId pull)
{
    Host().GetFrame(pull).aux = ++in.pulls;
}

} // namespace ns3
