// SPDX-License-Identifier: GPL-2.0-only

#include "packet-transport.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

NS_LOG_COMPONENT_DEFINE("FabricPacketTransport");

void
PacketTransport::Check() const
{
    m_entropyType.Create<PathSelector>(Name("PathSelector"));
    const auto control = MakeControl();
    NS_ABORT_MSG_IF(!m_ecnCapable && GetTraits().needsMarks,
                    Name("EcnCapable") << " is false, so no packet is marked, and only marks tell "
                                       << (control ? control->GetInstanceTypeId().GetName() : "it")
                                       << " of queues; write EcnCapable: true");
}

/// @return a congestion control of the type that was chosen, null if there is none
Ptr<CongestionControl>
PacketTransport::MakeControl() const
{
    return HasControl() ? m_controlType.Create<CongestionControl>(Name("CongestionControl"))
                        : nullptr;
}

/// @return what is known of the path selector; that of a default may not be loaded yet
PathSelector::Traits
PacketTransport::PathTraits() const
{
    if (m_entropy)
    {
        return m_entropy->GetTraits();
    }
    return m_entropyType.IsA(PathSelector::GetTypeId())
               ? m_entropyType.Create<PathSelector>(Name("PathSelector"))->GetTraits()
               : PathSelector::Traits{};
}

Transport::Traits
PacketTransport::GetTraits() const
{
    const auto control = m_control ? m_control : MakeControl();
    const auto wants = control ? control->GetTraits() : CongestionControl::Traits{};
    const auto paths = PathTraits();
    return {.wire = {m_mtuBytes, m_headerBytes, m_firstHeaderBytes, m_ackBytes, m_ackInterval},
            .dataPriority = m_priority,
            .controlPriority = m_controlPriority,
            .isTrimmable = m_trimmable,
            .needsIntHops = wants.needsIntHops,
            .needsMarks = wants.needsMarks,
            .targetPs = wants.targetPs,
            .hopTargetPs = wants.hopTargetPs,
            .mayReadmit = true,
            .isSteady = !control || wants.mayRest,
            .reorderPackets = m_reorderPackets,
            .entropies = paths.entropies,
            .keepsOrder = paths.keepsOrder};
}

void
PacketTransport::DoAttach()
{
    NS_LOG_FUNCTION(this);
    m_cut = {m_mtuBytes, m_headerBytes, m_firstHeaderBytes};
    m_rtoPs = static_cast<uint64_t>(m_rto.GetPicoSeconds());
    m_dataFlags = static_cast<uint16_t>((m_ecnCapable ? frame_flag::ECN_CAPABLE : 0) |
                                        (m_trimmable ? frame_flag::TRIMMABLE : 0));
    m_entropy = m_entropyType.Create<PathSelector>(Name("PathSelector"));
    m_entropy->Attach(Host());
    m_reports = m_entropy->GetTraits().needsReports;
    m_control = MakeControl();
    m_traits = GetTraits();
    if (m_control)
    {
        m_control->Attach(Host());
        m_notifies = m_control->GetTraits().needsNotifications;
        m_needsHops = m_traits.needsIntHops;
        m_cnpIntervalPs = static_cast<uint64_t>(m_cnpInterval.GetPicoSeconds());
    }
    m_stamps = m_reports || m_control;
    m_paces = m_control != nullptr;
}

void
PacketTransport::DoDispose()
{
    m_entropy = nullptr;
    m_control = nullptr;
    Transport::DoDispose();
}

std::optional<uint16_t>
PacketTransport::SinglePathEntropy(uint32_t message) const
{
    const bool isSpread =
        m_traits.spreadsOverPorts && Host().NumServing(Host().GetMessage(message).dst) > 1;
    return isSpread ? std::nullopt : m_entropy->Constant(message);
}

void
PacketTransport::LearnMore(Outbound&, FrameId, Answer&)
{
}

uint32_t
PacketTransport::Packets(uint64_t bytes) const
{
    return m_cut.Packets(bytes);
}

uint64_t
PacketTransport::RtoPs(const Outbound&) const
{
    return m_rtoPs;
}

uint64_t
PacketTransport::LeastRtoPs() const
{
    return m_rtoPs;
}

uint64_t
PacketTransport::WaitsSincePs(const Outbound& out) const
{
    return out.timeoutFromPs;
}

uint64_t
PacketTransport::BaseRttPs(const Outbound& out) const
{
    return BaseRttPs(out.message, out.port);
}

uint64_t
PacketTransport::BaseRttPs(uint32_t message, PortId port) const
{
    return Host().BaseRttPs(message, port, m_mtuBytes + m_headerBytes, m_ackBytes);
}

uint64_t
PacketTransport::PacketPs(const Outbound& out) const
{
    const PortId port = out.port != NO_PORT ? out.port : Host().PortOf(out.message);
    return Host().SerialisationPs(port, m_mtuBytes + m_headerBytes);
}

uint32_t
PacketTransport::NumPorts(const Outbound& out) const
{
    return out.port != NO_PORT ? 1 : Host().NumServing(Host().GetMessage(out.message).dst);
}

uint32_t
PacketTransport::PipePackets(const Outbound& out) const
{
    return static_cast<uint32_t>(BaseRttPs(out) * NumPorts(out) / PacketPs(out) + 1);
}

uint64_t
PacketTransport::HostRateBps() const
{
    uint64_t rateBps = 0;
    for (uint32_t i = 0; i < Host().NumPorts(); i++)
    {
        rateBps += Host().RateBps(Host().FirstPort() + i);
    }
    return rateBps;
}

// ---- a flow begins and ends

void
PacketTransport::OpenFlow(Outbound& out, uint32_t message)
{
    const Message& state = Host().GetMessage(message);
    NS_LOG_LOGIC("host " << Host().HostId() << ": message " << state.id << " of " << state.bytes
                         << " bytes begins");
    out.message = message;
    out.port = m_traits.spreadsOverPorts ? NO_PORT : Host().PortOf(message);
    out.reorderPackets = m_reorderPackets;
    out.packets.Reset(Packets(state.bytes));
    m_entropy->Open(out.slot, message);
    out.entropy = m_entropy->Constant(message);
    Admit(out, state.admittedBps);
    if (!m_control)
    {
        return;
    }
    SetLineRate(out);
    const auto headerBytes = static_cast<uint32_t>(m_headerBytes + Host().FramingBytes());
    m_control->Open(
        out.slot,
        {out.lineRateBps, BaseRttPs(out), m_mtuBytes, headerBytes, Host().NumLinks(message)});
    Sync(out);
}

bool
PacketTransport::MayRepeat(uint32_t message) const
{
    return m_traits.mayRepeat && !m_reports && Host().GetMessage(message).admittedBps == 0 &&
           m_order != FlowOrder::By::LEAST_REMAINING &&
           (SinglePathEntropy(message) || Host().NumPaths(message, Host().PortOf(message)) == 1);
}

/// Note the rate of all ports by which a message may leave.
void
PacketTransport::SetLineRate(Outbound& out) const
{
    const uint32_t dst = Host().GetMessage(out.message).dst;
    out.lineRateBps = out.port != NO_PORT ? Host().RateBps(out.port) : 0;
    for (uint32_t i = 0; out.port == NO_PORT && i < Host().NumPorts(); i++)
    {
        const PortId port = Host().FirstPort() + i;
        out.lineRateBps += Host().Serves(port, dst) ? Host().RateBps(port) : 0;
    }
}

void
PacketTransport::Admit(Outbound& out, uint64_t rateBps)
{
    out.admittedBps = rateBps > 0 ? rateBps : CongestionControl::NO_LIMIT;
    if (rateBps > 0)
    {
        m_paces = true;
        SetLineRate(out);
    }
}

void
PacketTransport::Readmit(Outbound& out, uint64_t rateBps)
{
    const uint64_t beforeBps = RateOf(out);
    Admit(out, rateBps);
    const uint64_t nowBps = RateOf(out);
    if (nowBps != beforeBps)
    {
        out.pacer.Change(Host().NowPs(), nowBps);
        SetDeadline(out, PACE_DEADLINE, std::max(out.pacer.NextPs(), Host().NowPs()));
    }
}

void
PacketTransport::CloseFlow(const Outbound& out)
{
    NS_LOG_LOGIC("host " << Host().HostId() << ": message " << Host().GetMessage(out.message).id
                         << " is done");
    m_entropy->Close(out.slot);
    if (m_control)
    {
        m_control->Close(out.slot);
    }
}

// ---- rate and window

/// @return what congestion control and admission allow, at most the line rate [bit/s]
uint64_t
PacketTransport::RateOf(const Outbound& out) const
{
    const uint64_t mostBps = std::min(out.lineRateBps, out.admittedBps);
    if (!m_control)
    {
        return mostBps;
    }
    const uint64_t rateBps = m_control->RateBps(out.slot);
    NS_ABORT_MSG_IF(rateBps == 0,
                    m_control->GetInstanceTypeId().GetName()
                        << ": RateBps is 0, which would stop message "
                        << Host().GetMessage(out.message).id << " for ever; it must be above 0");
    return std::min(rateBps, mostBps);
}

void
PacketTransport::Pace(Outbound& out, FrameId frame)
{
    const uint64_t rateBps = RateOf(out);
    if (rateBps < out.lineRateBps)
    {
        const uint64_t wireBytes = Host().GetFrame(frame).bytes + Host().FramingBytes();
        out.pacer.Sent(Host().NowPs(), wireBytes, rateBps);
        SetDeadline(out, PACE_DEADLINE, out.pacer.NextPs());
    }
    if (m_control)
    {
        Sync(out);
    }
}

uint64_t
PacketTransport::WindowPackets(const Outbound& out) const
{
    // A window of less than one packet still lets one go, or nothing would ever move.
    return m_control ? std::max<uint64_t>(1, m_control->WindowBytes(out.slot) / m_mtuBytes)
                     : CongestionControl::NO_LIMIT;
}

void
PacketTransport::TellRest(const Outbound& out, MessageProgress& progress) const
{
    if (!m_control)
    {
        return;
    }
    progress.clockPs = m_control->NextUpdatePs(out.slot);
    progress.isControlled = true;
    progress.isAtRest = m_control->IsAtRest(out.slot);
}

bool
PacketTransport::ControlAllows(const Outbound& out) const
{
    return out.InFlight() < WindowPackets(out);
}

uint64_t
PacketTransport::PayloadBytes(const Outbound& out, uint32_t packets, bool withLast) const
{
    const uint32_t last = out.packets.Packets() - 1;
    const uint64_t bytes = Host().GetMessage(out.message).bytes;
    const uint32_t missing = withLast ? m_mtuBytes - m_cut.PayloadBytes(bytes, last) : 0;
    // The last may be known to have arrived after it was counted.
    return packets > 0 ? uint64_t{packets} * m_mtuBytes - missing : 0;
}

uint64_t
PacketTransport::RemainingBytes(const Outbound& out) const
{
    const uint64_t bytes = Host().GetMessage(out.message).bytes;
    return bytes - std::min(bytes, uint64_t{out.packets.Base()} * m_mtuBytes);
}

// ---- timers

void
PacketTransport::SetDeadline(Outbound& out, FlowDeadline which, uint64_t atPs)
{
    if (const uint64_t timerPs = out.deadlines.Move(which, atPs); timerPs != NEVER_PS)
    {
        Host().SetTimer(timerPs, out.slot);
    }
}

void
PacketTransport::BringForward(Outbound& out, FlowDeadline which, uint64_t atPs)
{
    if (atPs < out.deadlines.DuePs(which))
    {
        SetDeadline(out, which, std::max(atPs, Host().NowPs()));
    }
}

void
PacketTransport::SetHostTimer(uint64_t atPs)
{
    if (const uint64_t timerPs = m_hostDeadline.Move(0, atPs); timerPs != NEVER_PS)
    {
        Host().SetTimer(timerPs, HOST_TIMER);
    }
}

void
PacketTransport::HostTimer()
{
    const auto [reached, againPs] = m_hostDeadline.Fire(Host().NowPs());
    if (againPs != NEVER_PS)
    {
        Host().SetTimer(againPs, HOST_TIMER);
    }
    if (reached != 0)
    {
        OnHostTimer();
    }
}

void
PacketTransport::OnHostTimer()
{
}

void
PacketTransport::StartTimeout(Outbound& out)
{
    if (out.deadlines.IsSet(TIMEOUT_DEADLINE) || !out.packets.HasOut())
    {
        return;
    }
    out.timeoutFromPs = Host().NowPs();
    SetDeadline(out, TIMEOUT_DEADLINE, Later(out.timeoutFromPs, LeastRtoPs(), out.backoff));
}

void
PacketTransport::RestartTimeout(Outbound& out)
{
    out.backoff = 0;
    out.deadlines.Clear(TIMEOUT_DEADLINE);
    StartTimeout(out);
}

bool
PacketTransport::IsTimedOut(Outbound& out)
{
    out.timeoutFromPs = WaitsSincePs(out);
    const uint64_t duePs = Later(out.timeoutFromPs, RtoPs(out), out.backoff);
    if (Host().NowPs() < duePs)
    {
        SetDeadline(out, TIMEOUT_DEADLINE, duePs);
        return false;
    }
    NS_LOG_LOGIC("host " << Host().HostId() << ": message " << Host().GetMessage(out.message).id
                         << " has timed out at packet " << out.packets.Base());
    Host().GetMessage(out.message).timeouts++;
    out.backoff = std::min(out.backoff + 1, m_maxBackoff);
    return true;
}

} // namespace fabric
} // namespace ns3
