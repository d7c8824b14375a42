// SPDX-License-Identifier: GPL-2.0-only

#include "roce-transport.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("RoceTransport");

NS_OBJECT_ENSURE_REGISTERED(RoceTransport);

TypeId
RoceTransport::GetTypeId()
{
    static TypeId tid = AddFailover(
        AddAttributes(TypeId("ns3::RoceTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Roce")
                          .AddConstructor<RoceTransport>(),
                      {.entropy = "ns3::FlowEntropy",
                       .rto = "4ms",
                       .reorderHelp = "; SelectiveRepeat only, 1 = IRN"})
            .AddAttribute("RethBytes",
                          "RETH in the first packet of a message [byte]",
                          UintegerValue(16),
                          MakeUintegerAccessor(&RoceTransport::m_firstHeaderBytes),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("AckInterval",
                          "In-order packets per acknowledgement [packet]; one is also sent at the "
                          "end of a message, and when a sender would wait for it",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RoceTransport::m_ackInterval),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Recovery",
                          "What is sent again after a loss",
                          EnumValue(Recovery::GO_BACK_N),
                          MakeEnumAccessor<Recovery>(&RoceTransport::m_recovery),
                          MakeEnumChecker(Recovery::GO_BACK_N,
                                          "GoBackN",
                                          Recovery::SELECTIVE_REPEAT,
                                          "SelectiveRepeat"))
            .AddAttribute("DirectPlacement",
                          "GoBackN: packets are taken in any order, and what is lost is sent again "
                          "after a timeout alone. Each packet has an address then: add RethBytes "
                          "to HeaderBytes",
                          BooleanValue(false),
                          MakeBooleanAccessor(&RoceTransport::m_places),
                          MakeBooleanChecker())
            .AddAttribute("WindowBytes",
                          "Most payload in flight [byte], 0 = no limit with GoBackN, one "
                          "bandwidth-delay product with SelectiveRepeat (BDP-FC of IRN)",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceTransport::m_windowBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("RtoLow",
                          "SelectiveRepeat: timeout while at most RtoLowPackets are in flight",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&RoceTransport::m_rtoLow),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("RtoLowPackets",
                          "SelectiveRepeat: see RtoLow [packet]",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RoceTransport::m_rtoLowPackets),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("NakInterval",
                          "GoBackN: a NAK for the same gap is repeated after this time",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&RoceTransport::m_nakInterval),
                          MakeTimeChecker(NanoSeconds(1))));
    return tid;
}

/// What becomes of a message whose port leads nowhere.
TypeId
RoceTransport::AddFailover(TypeId tid)
{
    return tid
        .AddAttribute("PortFailover",
                      "A message whose retries are used up goes on by another port of its host",
                      BooleanValue(false),
                      MakeBooleanAccessor(&RoceTransport::m_portFailover),
                      MakeBooleanChecker())
        .AddAttribute("RetryLimit",
                      "PortFailover: retries that may time out in a row [1]",
                      UintegerValue(7),
                      MakeUintegerAccessor(&RoceTransport::m_retryLimit),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("FailoverDelay",
                      "PortFailover: from the last timeout until the message goes on",
                      TimeValue(MilliSeconds(10)),
                      MakeTimeAccessor(&RoceTransport::m_failoverDelay),
                      MakeTimeChecker(Time(0)));
}

void
RoceTransport::Check() const
{
    MessageTransport::Check();
    NS_ABORT_MSG_IF(m_places && m_recovery == Recovery::SELECTIVE_REPEAT,
                    "ns3::RoceTransport: DirectPlacement is for Recovery=GoBackN; with "
                    "SelectiveRepeat packets are taken in any order anyway");
}

void
RoceTransport::DoAttach()
{
    MessageTransport::DoAttach();
    m_rtoLowPs = static_cast<uint64_t>(m_rtoLow.GetPicoSeconds());
    m_nakIntervalPs = static_cast<uint64_t>(m_nakInterval.GetPicoSeconds());
    m_failoverPs = static_cast<uint64_t>(m_failoverDelay.GetPicoSeconds());
}

// ---- source

void
RoceTransport::Begin(RoceOutbound& out)
{
    if (m_portFailover && Host().IsDown(out.port))
    {
        LeavePort(out);
    }
    out.windowPackets = out.packets.Packets();
    if (m_windowBytes > 0)
    {
        out.windowPackets = Cut().Packets(m_windowBytes);
    }
    else if (m_recovery == Recovery::SELECTIVE_REPEAT)
    {
        const uint64_t packetPs = PacketPs(out);
        out.windowPackets = static_cast<uint32_t>((BaseRttPs(out) + packetPs - 1) / packetPs);
    }
}

bool
RoceTransport::MaySend(const RoceOutbound& out) const
{
    const bool isWithin =
        out.packets.ToResend() > 0 || out.packets.Next() - out.packets.Base() < out.windowPackets;
    return isWithin && Host().NowPs() >= out.resumesPs;
}

void
RoceTransport::Stamp(RoceOutbound& out, FrameId data, PortId)
{
    Frame& frame = Host().GetFrame(data);
    frame.flags |= out.rewinds;
    // An answer will come of itself when as many are out as the destination answers at once.
    const bool stops = out.packets.HasMore() && !MaySend(out) &&
                       out.packets.Next() - out.packets.Base() < m_ackInterval;
    // A window that congestion control has cut meanwhile must not wait for packets it forbids.
    if (stops || HasWindow(out))
    {
        frame.flags |= ACK_REQUEST;
    }
}

/// Go-back-N: send from a packet on once more. What was sent before says nothing of it.
void
RoceTransport::GoBack(RoceOutbound& out, uint32_t packet)
{
    NS_LOG_LOGIC("message " << out.message << " goes back from packet " << out.packets.Next()
                            << " to " << packet);
    out.packets.Rewind(packet);
    out.rewinds = (out.rewinds + 2 * ACK_REQUEST) & REWINDS;
}

void
RoceTransport::JudgeLosses(RoceOutbound& out, Answer& answer)
{
    out.retries = answer.advanced ? 0 : out.retries;
    if (m_places)
    {
        return; // until the timeout
    }
    if (m_recovery == Recovery::SELECTIVE_REPEAT)
    {
        MessageTransport::JudgeLosses(out, answer);
        return;
    }
    // Once per gap: a NAK that answers a packet sent before the last time is a repetition.
    const bool isCurrent = (answer.flags & REWINDS) == out.rewinds;
    if (answer.kind == NAK && isCurrent && answer.cumulative >= out.packets.Base())
    {
        TellLost(out, answer.cumulative, CongestionControl::Loss::OVERTAKEN, answer);
        GoBack(out, answer.cumulative);
    }
}

bool
RoceTransport::IsProgress(const Answer& answer) const
{
    return answer.advanced;
}

void
RoceTransport::OnTimeout(RoceOutbound& out, Answer& lost)
{
    if (m_portFailover && ++out.retries > m_retryLimit && !out.hasMoved)
    {
        FailOver(out);
    }
    if (m_recovery == Recovery::SELECTIVE_REPEAT || m_places)
    {
        MessageTransport::OnTimeout(out, lost);
        return;
    }
    for (uint32_t packet = out.packets.Base(); packet < out.packets.Next(); packet++)
    {
        TellLost(out, packet, CongestionControl::Loss::TIMEOUT, lost);
    }
    GoBack(out, out.packets.Base());
}

/// @return whether the message leaves by another port of its host that leads to its destination
bool
RoceTransport::LeavePort(RoceOutbound& out)
{
    const uint32_t dst = Host().GetMessage(out.message).dst;
    const uint32_t ports = Host().NumPorts();
    for (uint32_t i = 1; i < ports; i++)
    {
        const PortId other = Host().FirstPort() + (out.port - Host().FirstPort() + i) % ports;
        if (!Host().IsDown(other) && Host().Serves(other, dst))
        {
            NS_LOG_LOGIC("message " << out.message << " leaves by port " << other);
            out.port = other;
            return true;
        }
    }
    return false;
}

/// The retries of its port are used up: another one carries the message, once what has arrived is
/// known.
void
RoceTransport::FailOver(RoceOutbound& out)
{
    if (LeavePort(out))
    {
        out.hasMoved = true;
        out.backoff = 0;
        out.resumesPs = Host().NowPs() + m_failoverPs;
        out.timeoutFromPs = out.resumesPs;
        SetDeadline(out, TIMEOUT_DEADLINE, out.resumesPs + LeastRtoPs());
        SetDeadline(out, FAMILY_DEADLINE, out.resumesPs);
    }
}

void
RoceTransport::OnDeadline(RoceOutbound& out)
{
    Wake(out);
}

uint64_t
RoceTransport::LeastRtoPs() const
{
    return m_recovery == Recovery::SELECTIVE_REPEAT
               ? std::min(m_rtoLowPs, MessageTransport::LeastRtoPs())
               : MessageTransport::LeastRtoPs();
}

uint64_t
RoceTransport::RtoPs(const Outbound& out) const
{
    const bool few = m_recovery == Recovery::SELECTIVE_REPEAT &&
                     out.packets.Next() - out.packets.Base() <= m_rtoLowPackets;
    return few ? m_rtoLowPs : MessageTransport::RtoPs(out);
}

// ---- destination

void
RoceTransport::OnPayload(RoceInbound& in, FrameId data, PortId port, uint32_t expected)
{
    const Frame& frame = Host().GetFrame(data);
    const bool isEarly = frame.packet > expected;
    if (isEarly && m_places && !(frame.flags & ACK_REQUEST))
    {
        Host().FreeFrame(data);
        return;
    }
    if (isEarly && !m_places)
    {
        ReportGap(in, data, port);
        return;
    }
    const uint32_t accepted = in.received.Base() - expected;
    in.sinceAck += accepted > 0;
    if (accepted > 0)
    {
        in.nakPs.reset();
    }
    // A packet that was here already (0), or one that has filled a hole (2), is answered at once.
    if (accepted == 1 && in.sinceAck < m_ackInterval && !(frame.flags & ACK_REQUEST))
    {
        Host().FreeFrame(data);
        return;
    }
    if (accepted > 0)
    {
        in.sinceAck = 0;
    }
    SendAnswer(in, data, port, ACK);
}

void
RoceTransport::OnTrimmed(RoceInbound& in, FrameId header, PortId port)
{
    if (Host().GetFrame(header).packet < in.received.Base())
    {
        SendAnswer(in, header, port, ACK);
        return;
    }
    ReportGap(in, header, port);
}

/// Something is missing before a packet, or in it.
void
RoceTransport::ReportGap(RoceInbound& in, FrameId frame, PortId port)
{
    const uint64_t nowPs = Host().NowPs();
    if (m_recovery == Recovery::GO_BACK_N && in.nakPs && nowPs - *in.nakPs < m_nakIntervalPs)
    {
        Host().FreeFrame(frame);
        return;
    }
    in.nakPs = nowPs;
    SendAnswer(in, frame, port, NAK);
}

} // namespace ns3
