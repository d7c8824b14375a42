// SPDX-License-Identifier: GPL-2.0-only

#include "uec-destination.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/enum.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using namespace fabric;

namespace
{

constexpr double INTERVAL_JITTER = 0.5; ///< Of an interval of oversubscription control, in all

} // namespace

TypeId
UecDestination::AddAttributes(TypeId tid, const Defaults& defaults)
{
    using T = UecDestination;
    return PulledTransport::AddAttributes(tid, defaults, 66)
        .AddAttribute(
            "Delivery",
            "Unordered (RUD), or in order over one path, with go-back-N (ROD)",
            EnumValue(Delivery::UNORDERED),
            MakeEnumAccessor<Delivery>(&T::m_delivery),
            MakeEnumChecker(Delivery::UNORDERED, "Unordered", Delivery::ORDERED, "Ordered"))
        .AddAttribute("AckEveryBytes",
                      "An acknowledgement at the latest after this much has come [byte]",
                      UintegerValue(16384),
                      MakeUintegerAccessor(&T::m_ackEveryBytes),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("ReceiverCredit",
                      "Sources send what their destination gives them credit for (RCCC)",
                      BooleanValue(false),
                      MakeBooleanAccessor(&T::m_receiverCredit),
                      MakeBooleanChecker())
        .AddAttribute("CreditShare",
                      "Rate of all credit of a host over the rate of its links [1]",
                      DoubleValue(0.99),
                      MakeDoubleAccessor(&T::m_creditShare),
                      MakeDoubleChecker<double>(0.01, 1))
        .AddAttribute("QuantumPackets",
                      "Credit of one pull, in payload of full packets [packet]",
                      UintegerValue(4),
                      MakeUintegerAccessor(&T::m_quantumPackets),
                      MakeUintegerChecker<uint32_t>(1, 1024))
        .AddAttribute("OversubscriptionInterval",
                      "How often, a quarter more or less, a destination adapts its rate of "
                      "credit to marks and trims before its own link, 0 = never; 1.5 longest round "
                      "trips in the source",
                      TimeValue(Time(0)),
                      MakeTimeAccessor(&T::m_oversubscriptionInterval),
                      MakeTimeChecker(Time(0)))
        .AddAttribute("MinShare",
                      "What that leaves at least of the rate of credit [1]; 0.9 over the "
                      "oversubscription in the source",
                      DoubleValue(0.01),
                      MakeDoubleAccessor(&T::m_leastShare),
                      MakeDoubleChecker<double>(0.01, 1))
        .AddAttribute("SpeculativeBdp",
                      "Most credit of a source, which is what it begins with, in "
                      "bandwidth-delay products of the unloaded path [1]",
                      DoubleValue(1.5),
                      MakeDoubleAccessor(&T::m_speculativeBdp),
                      MakeDoubleChecker<double>(0.01, 100))
        .AddAttribute("SlowCredit",
                      "While nobody wants credit, messages get up to SpeculativeBdp more than they "
                      "ask for",
                      BooleanValue(true),
                      MakeBooleanAccessor(&T::m_slowCredit),
                      MakeBooleanChecker());
}

int64_t
UecDestination::MostCreditBytes(uint64_t rttPs, uint64_t packetPs, uint32_t ports) const
{
    const auto packets = static_cast<double>(rttPs) / static_cast<double>(packetPs);
    return static_cast<int64_t>(std::ceil(m_speculativeBdp * ports * packets) * PacketBytes());
}

void
UecDestination::DoAttach()
{
    MessageTransport::DoAttach();
    m_rateBps = static_cast<uint64_t>(m_creditShare * static_cast<double>(HostRateBps()));
    m_adapts = m_receiverCredit && m_oversubscriptionInterval.IsStrictlyPositive();
    m_oversubscription = OversubscriptionControl(m_leastShare);
    m_credit.emplace(
        CreditPacer::Rules{.quantumBytes = static_cast<uint32_t>(
                               uec::InCreditUnits(uint64_t{m_quantumPackets} * m_mtuBytes)),
                           .order = FlowOrder::By::ROUND_ROBIN,
                           .rateBps = m_rateBps});
}

void
UecDestination::OnPayload(UecInbound& in, FrameId id, PortId port, uint32_t expected)
{
    const Frame& frame = Host().GetFrame(id);
    TakeTarget(in, id, port);
    if (IsOrdered() && frame.packet > expected)
    {
        ReportGap(in, id, port);
        return;
    }
    const bool isDue = selective::IsDue(in.unanswered, frame, in.received, m_ackEveryBytes);
    if (m_adapts)
    {
        m_oversubscription.OnData((frame.flags & frame_flag::ECN_MARKED) != 0);
    }
    if (isDue)
    {
        Acknowledge(in, id, port, ACK);
        return;
    }
    Host().FreeFrame(id);
}

void
UecDestination::OnTrimmed(UecInbound& in, FrameId id, PortId port)
{
    const Frame& frame = Host().GetFrame(id);
    if (m_adapts)
    {
        m_oversubscription.OnTrim((frame.flags & frame_flag::TRIMMED_LAST_HOP) != 0);
    }
    TakeTarget(in, id, port);
    if (IsOrdered())
    {
        ReportGap(in, id, port);
        return;
    }
    Acknowledge(in, id, port, NAK);
}

/// Ordered: a packet is missing before this one, or in it. Say so once for what was sent since the
/// source went back.
void
UecDestination::ReportGap(UecInbound& in, FrameId id, PortId port)
{
    const Frame& frame = Host().GetFrame(id);
    if (frame.packet < in.received.Base())
    {
        Acknowledge(in, id, port, ACK); // a copy without its payload
        return;
    }
    const std::pair<uint32_t, uint16_t> gap{in.received.Base(), frame.flags & uec::REWINDS};
    if (in.reported == gap)
    {
        Host().FreeFrame(id);
        return;
    }
    in.reported = gap;
    in.unanswered.bytes = 0;
    Acknowledge(in, id, port, NAK);
}

void
UecDestination::Acknowledge(UecInbound& in, FrameId id, PortId port, uint8_t kind)
{
    selective::Write(Host().Note(id), Host().GetFrame(id), in.received);
    SendAnswer(in, id, port, kind);
}

/// A source says how much credit it wants to have been given.
void
UecDestination::TakeTarget(UecInbound& in, FrameId id, PortId port)
{
    if (!GivesCredit())
    {
        return;
    }
    Hear(in, id, port);
    const uint64_t wantedBytes = Host().FindNote(id)->words[uec::CREDIT];
    if (wantedBytes > in.targetBytes)
    {
        m_credit->Want(in.slot, wantedBytes - in.targetBytes);
        if (m_slowCredit && in.targetBytes == 0)
        {
            const PortId sender = Host().PortOf(in.message);
            const uint64_t packetPs = Host().SerialisationPs(sender, m_mtuBytes + m_headerBytes);
            const uint64_t rttPs = BaseRttPs(in.message, NO_PORT);
            m_credit->Spare(in.slot, MostCreditBytes(rttPs, packetPs, Host().NumPorts()));
        }
        in.targetBytes = wantedBytes;
    }
    if (Host().GetFrame(id).flags & uec::STARVES)
    {
        SendPull(in); // the last one may be lost
    }
    if (m_adapts && m_updatePs == NEVER_PS)
    {
        m_updatePs = Host().NowPs() + m_oversubscriptionInterval.GetPicoSeconds();
    }
    SendPulls();
}

UecInbound*
UecDestination::TakePull()
{
    const auto credit = m_credit->Take(Host().NowPs());
    if (!credit)
    {
        return nullptr;
    }
    UecInbound& in = InboundOf(credit->flow);
    in.grantedBytes += credit->bytes;
    return &in;
}

uint64_t
UecDestination::NextPullPs() const
{
    return std::min(m_credit->NextPs(), m_updatePs);
}

void
UecDestination::StampPull(UecInbound& in, FrameId pull)
{
    Host().Note(pull).words[uec::CREDIT] = in.grantedBytes;
    Host().GetFrame(pull).entropy = m_pullEntropy++;
}

void
UecDestination::OnHostTimer()
{
    const uint64_t nowPs = Host().NowPs();
    if (nowPs >= m_updatePs)
    {
        const double draw =
            Host()
                .Stream(RandomUse::TRANSPORT, static_cast<uint64_t>(Host().HostId()))
                .Real(m_updates++);
        const double share = 1 + INTERVAL_JITTER * (draw - 0.5);
        const auto intervalPs = static_cast<double>(m_oversubscriptionInterval.GetPicoSeconds());
        const bool isBusy = m_oversubscription.Update();
        m_updatePs = isBusy ? nowPs + static_cast<uint64_t>(share * intervalPs) : NEVER_PS;
        m_credit->SetRateBps(
            static_cast<uint64_t>(m_oversubscription.Share() * static_cast<double>(m_rateBps)));
    }
    SendPulls();
}

void
UecDestination::OnDelivered(UecInbound& in)
{
    if (in.targetBytes > 0)
    {
        m_credit->Forget(in.slot);
    }
}

} // namespace ns3
