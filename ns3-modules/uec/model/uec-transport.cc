// SPDX-License-Identifier: GPL-2.0-only

#include "uec-transport.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(UecTransport);

namespace
{

/// A packet that waits in two full queues of one bandwidth-delay product each arrives after two
/// products of later packets; it is late, not lost, and must not be sent again.
constexpr uint64_t REORDER_BDP = 3;
constexpr uint64_t LEAST_REORDER_PACKETS = 256;

} // namespace

TypeId
UecTransport::GetTypeId()
{
    using T = UecTransport;
    static TypeId tid =
        AddAttributes(TypeId("ns3::UecTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Uec")
                          .AddConstructor<UecTransport>(),
                      {.entropy = "ns3::MixedEntropy",
                       .rto = "100us",
                       .reorderPackets = 0,
                       .reorderHelp = ", 0 = three bandwidth-delay products, at least 256"})
            .AddAttribute("CreditTimeout",
                          "A source without credit sends one packet after this long",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&T::m_creditTimeout),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

void
UecTransport::Check() const
{
    UecDestination::Check();
    NS_ABORT_MSG_IF(!GivesCredit() && !HasControl(),
                    Name("CongestionControl")
                        << " is empty and ReceiverCredit is false, so that nobody limits what is "
                           "sent; set one of them, for example CongestionControl to ns3::Nscc");
    NS_ABORT_MSG_IF(IsOrdered() && !GetTraits().keepsOrder,
                    Name("PathSelector")
                        << " takes several paths, and Delivery=Ordered drops what comes out of "
                           "order; set PathSelector to ns3::FlowEntropy");
}

void
UecTransport::Begin(UecOutbound& out)
{
    if (out.reorderPackets == 0)
    {
        const uint64_t bdpPackets = NumPorts(out) * BaseRttPs(out) / PacketPs(out);
        const uint64_t packets = std::max(REORDER_BDP * bdpPackets, LEAST_REORDER_PACKETS);
        out.reorderPackets = static_cast<uint32_t>(std::min<uint64_t>(packets, UINT32_MAX));
    }
    if (!GivesCredit())
    {
        return;
    }
    out.mostCreditBytes = MostCreditBytes(BaseRttPs(out), PacketPs(out), NumPorts(out));
    out.creditBytes = out.mostCreditBytes;
    out.isSpeculating = true;
    WaitForCredit(out);
}

bool
UecTransport::MaySend(const UecOutbound& out) const
{
    return !GivesCredit() || out.creditBytes > 0;
}

uint64_t
UecTransport::RtoPs(const Outbound& out) const
{
    return out.packets.InFlight() > 0 ? LeastRtoPs() : NEVER_PS; // what waits is not on its way
}

void
UecTransport::Stamp(UecOutbound& out, FrameId data, PortId)
{
    Frame& frame = Host().GetFrame(data);
    if (GivesCredit())
    {
        out.creditBytes -= static_cast<int64_t>(frame.bytes + Host().FramingBytes());
        Host().Note(data).words[uec::CREDIT] = TargetBytes(out);
        frame.flags |= out.isStarved ? uec::STARVES : 0;
        out.isStarved = false;
        if (out.packets.InFlight() == 1) // it waited for credit, not for an answer
        {
            const uint32_t backoff = out.backoff;
            RestartTimeout(out);
            out.backoff = backoff;
        }
    }
    const bool isOpenEnded = out.packets.HasMore() && MaySend(out) && HasRoomForMore(out);
    frame.flags |= out.rewinds;
    frame.flags |= !isOpenEnded || (frame.flags & frame_flag::RETRANSMITTED) ? uec::ASKS : 0;
}

/// @return credit that a source wants to have been given, counted from the beginning [byte]
uint64_t
UecTransport::TargetBytes(const UecOutbound& out) const
{
    const uint64_t packets = out.packets.Packets() - out.packets.Next() + out.packets.ToResend();
    const uint64_t window = WindowPackets(out);
    const auto wanted =
        static_cast<int64_t>((window < packets ? window + 1 : packets) * PacketBytes());
    int64_t bytes = std::min(wanted, out.mostCreditBytes) - out.creditBytes;
    if (out.isSpeculating && packets > 0) // the rest of a short message must not wait
    {
        bytes = std::max(bytes, static_cast<int64_t>(PacketBytes()));
    }
    return uec::InCreditUnits(out.pulledBytes + static_cast<uint64_t>(std::max<int64_t>(bytes, 0)));
}

void
UecTransport::LearnMore(Outbound& out, FrameId id, fabric::Answer& answer)
{
    selective::Read(out, Host().FindNote(id), answer, [&](uint32_t packet) {
        return LearnArrival(out, packet);
    });
}

/// Ordered: send from a packet on once more. What was sent before says nothing of it.
void
UecTransport::GoBack(UecOutbound& out, uint32_t packet)
{
    out.packets.Rewind(packet);
    out.rewinds = (out.rewinds + 2 * uec::STARVES) & uec::REWINDS;
    out.unseenPackets = 0;
}

void
UecTransport::JudgeLosses(UecOutbound& out, fabric::Answer& answer)
{
    if (!IsOrdered())
    {
        UecDestination::JudgeLosses(out, answer);
        return;
    }
    const bool isCurrent = (answer.flags & uec::REWINDS) == out.rewinds;
    if (answer.kind == NAK && isCurrent && answer.cumulative >= out.packets.Base())
    {
        using Loss = CongestionControl::Loss;
        const bool isTrimmed = (answer.flags & frame_flag::TRIMMED) != 0;
        const Loss how = isTrimmed ? Loss::TRIMMED : Loss::OVERTAKEN;
        TellLost(out, answer.cumulative, how, answer);
        GoBack(out, answer.cumulative);
    }
}

void
UecTransport::StopSpeculating(UecOutbound& out)
{
    if (out.isSpeculating)
    {
        out.isSpeculating = false;
        out.creditBytes = std::min<int64_t>(out.creditBytes, 0);
    }
}

void
UecTransport::OnAnswer(UecOutbound& out, const fabric::Answer&)
{
    StopSpeculating(out);
}

void
UecTransport::OnControl(UecOutbound& out, FrameId pull)
{
    StopSpeculating(out);
    const uint64_t pulledBytes = Host().FindNote(pull)->words[uec::CREDIT];
    if (pulledBytes > out.pulledBytes)
    {
        out.creditBytes += static_cast<int64_t>(pulledBytes - out.pulledBytes);
        out.creditBytes = std::min(out.creditBytes, out.mostCreditBytes);
        out.pulledBytes = pulledBytes;
    }
    WaitForCredit(out);
    Wake(out);
}

void
UecTransport::WaitForCredit(UecOutbound& out)
{
    SetDeadline(out, FAMILY_DEADLINE, Host().NowPs() + m_creditTimeout.GetPicoSeconds());
}

/// Let one packet go without credit; it asks for a pull.
void
UecTransport::Starve(UecOutbound& out)
{
    if (GivesCredit() && out.creditBytes <= 0 && out.packets.HasMore())
    {
        out.creditBytes = 1;
        out.isStarved = true;
    }
}

void
UecTransport::OnTimeout(UecOutbound& out, fabric::Answer& lost)
{
    MessageTransport::OnTimeout(out, lost); // takes for lost what is out
    out.unseenPackets = 0;
    if (IsOrdered())
    {
        GoBack(out, out.packets.Base());
    }
    StopSpeculating(out);
    Starve(out);
}

void
UecTransport::OnDeadline(UecOutbound& out)
{
    Starve(out);
    WaitForCredit(out);
    Wake(out);
}

} // namespace ns3
