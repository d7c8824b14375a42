// SPDX-License-Identifier: GPL-2.0-only

#include "eqds-transport.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(EqdsTransport);

TypeId
EqdsTransport::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::EqdsTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Eqds")
                          .AddConstructor<EqdsTransport>(),
                      TrimmedInTurn("100us"))
            .AddAttribute("WindowPackets",
                          "Speculative credit of a message, and most credit that it asks for ahead "
                          "[packet], 0 = one bandwidth-delay product of the unloaded path",
                          UintegerValue(0),
                          MakeUintegerAccessor(&EqdsTransport::m_windowPackets),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("SpeculativePriority",
                          "Priority of data that is sent on speculative credit",
                          UintegerValue(2),
                          MakeUintegerAccessor(&EqdsTransport::m_speculativePriority),
                          MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1))
            .AddAttribute("CreditQuanta",
                          "Credit of one PULL [512 byte]",
                          UintegerValue(8),
                          MakeUintegerAccessor(&EqdsTransport::m_creditQuanta),
                          MakeUintegerChecker<uint32_t>(1, 127))
            .AddAttribute("SlowCredit",
                          "While nobody wants credit, messages get up to a window more than they "
                          "ask for",
                          BooleanValue(true),
                          MakeBooleanAccessor(&EqdsTransport::m_slowCredit),
                          MakeBooleanChecker())
            .AddAttribute("CreditShare",
                          "All credit together, as a share of the rate of the host's links [1]",
                          DoubleValue(0.99),
                          MakeDoubleAccessor(&EqdsTransport::m_creditShare),
                          MakeDoubleChecker<double>(0.01, 1.0))
            .AddAttribute("CreditTimeout",
                          "A source that has nothing on its way and no credit sends one packet "
                          "after this long, or after Rto if that is longer",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&EqdsTransport::m_creditTimeout),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

void
EqdsTransport::DoAttach()
{
    MessageTransport::DoAttach();
    // Credit is for frames, and full ones take their framing with them.
    const double framed = FullFrameBytes() + static_cast<double>(Host().FramingBytes());
    m_creditBps = static_cast<uint64_t>(m_creditShare * static_cast<double>(HostRateBps()) *
                                        FullFrameBytes() / framed);
}

uint32_t
EqdsTransport::FullFrameBytes() const
{
    return m_mtuBytes + m_headerBytes;
}

// ---- source

uint64_t
EqdsTransport::RtoPs(const Outbound& out) const
{
    const bool isWaiting = out.packets.InFlight() == 0; // for its turn at the receiver
    const auto creditPs = static_cast<uint64_t>(m_creditTimeout.GetPicoSeconds());
    return isWaiting ? std::max(LeastRtoPs(), creditPs) : LeastRtoPs();
}

void
EqdsTransport::Begin(EqdsOutbound& out)
{
    const uint64_t bytes = Host().GetMessage(out.message).bytes;
    out.windowBytes =
        int64_t{m_windowPackets ? m_windowPackets : PipePackets(out)} * FullFrameBytes();
    out.speculativeBytes = out.windowBytes;
    out.backlogBytes = static_cast<int64_t>(bytes + out.packets.Packets() * m_headerBytes);
}

bool
EqdsTransport::MaySend(const EqdsOutbound& out) const
{
    return out.creditBytes > 0 || out.speculativeBytes > 0;
}

uint8_t
EqdsTransport::PriorityOf(const EqdsOutbound& out) const
{
    return out.creditBytes > 0 ? m_priority : m_speculativePriority;
}

void
EqdsTransport::Stamp(EqdsOutbound& out, FrameId data, PortId)
{
    Frame& frame = Host().GetFrame(data);
    (out.creditBytes > 0 ? out.creditBytes : out.speculativeBytes) -= frame.bytes;
    out.backlogBytes -= frame.bytes;
    const int64_t aheadBytes = std::clamp<int64_t>(out.backlogBytes, 0, out.windowBytes);
    const int64_t unspentBytes = out.creditBytes + std::max<int64_t>(0, out.speculativeBytes);
    const int64_t targetBytes = out.pulledBytes + aheadBytes - unspentBytes;
    frame.aux = static_cast<uint32_t>((std::max<int64_t>(0, targetBytes) + QUANTUM_BYTES - 1) /
                                      QUANTUM_BYTES);
}

void
EqdsTransport::JudgeLosses(EqdsOutbound& out, Answer& answer)
{
    if (answer.flags & frame_flag::TRIMMED)
    {
        out.speculativeBytes = 0; // the packet that is sent again asks for its replacement
    }
    MessageTransport::JudgeLosses(out, answer);
    out.backlogBytes += int64_t{answer.lostPackets} * FullFrameBytes();
}

bool
EqdsTransport::IsProgress(const Answer&) const
{
    return true;
}

void
EqdsTransport::OnControl(EqdsOutbound& out, FrameId control)
{
    const int64_t bytes = int64_t{Host().GetFrame(control).aux} * QUANTUM_BYTES;
    if (bytes > out.pulledBytes)
    {
        out.creditBytes += bytes - out.pulledBytes;
        out.pulledBytes = bytes;
        RestartTimeout(out);
        Wake(out);
    }
}

void
EqdsTransport::OnStarved(EqdsOutbound& out)
{
    out.speculativeBytes = FullFrameBytes(); // its packet asks for more
}

void
EqdsTransport::OnBounced(EqdsOutbound& out)
{
    out.backlogBytes += FullFrameBytes();
    if (out.packets.InFlight() == 0 && !MaySend(out))
    {
        out.speculativeBytes = FullFrameBytes(); // the receiver may not know that it is wanted
    }
}

void
EqdsTransport::OnTimeout(EqdsOutbound& out, Answer& lost)
{
    MessageTransport::OnTimeout(out, lost);
    out.backlogBytes += int64_t{lost.lostPackets} * FullFrameBytes();
    out.speculativeBytes = std::max(out.speculativeBytes, int64_t{FullFrameBytes()});
}

void
EqdsTransport::OnShortened(EqdsOutbound& out, uint32_t packets)
{
    out.backlogBytes -= int64_t{packets} * FullFrameBytes();
}

// ---- destination

void
EqdsTransport::OnFirst(EqdsInbound& in)
{
    if (!m_slowCredit)
    {
        return;
    }
    const PortId port = Host().PortOf(in.message);
    const uint64_t pipePackets = BaseRttPs(in.message, NO_PORT) * Host().NumPorts() /
                                     Host().SerialisationPs(port, FullFrameBytes()) +
                                 1;
    const uint64_t packets = m_windowPackets ? m_windowPackets : pipePackets;
    in.slowQuanta = packets * FullFrameBytes() / QUANTUM_BYTES;
}

void
EqdsTransport::OnHeard(EqdsInbound& in, FrameId data)
{
    const Frame& frame = Host().GetFrame(data);
    in.repairBytes += (frame.flags & frame_flag::TRIMMED) ? FullFrameBytes() : 0;
    in.targetQuanta = std::max<uint64_t>(in.targetQuanta, frame.aux);
    List(in);
}

/// A message that has arrived wants nothing: its state is a fresh one.
bool
EqdsTransport::Wants(const EqdsInbound& in, size_t want)
{
    switch (want)
    {
    case REPAIR:
        return in.repairBytes > 0;
    case DEMAND:
        return in.targetQuanta > in.pulledQuanta;
    default:
        return in.targetQuanta + in.slowQuanta > in.pulledQuanta;
    }
}

/// Put a message where it is to be served; in other lists it is passed over.
void
EqdsTransport::List(const EqdsInbound& in)
{
    size_t want = REPAIR;
    while (want < NUM_WANTS && !Wants(in, want))
    {
        want++;
    }
    if (want < NUM_WANTS)
    {
        m_waiting[want].Push(in.slot, 0);
        m_waits = true;
    }
}

/// @return a message that is to have credit, NOBODY if none is
uint32_t
EqdsTransport::NextInTurn()
{
    using Verdict = FlowOrder::Verdict;
    for (size_t want = REPAIR; want < NUM_WANTS; want++)
    {
        const uint32_t slot = m_waiting[want].PopFirst([this, want](uint32_t waiting) {
            return Wants(InboundOf(waiting), want) ? Verdict::TAKE : Verdict::DROP;
        });
        if (slot != FlowOrder::NOBODY)
        {
            return slot;
        }
    }
    return FlowOrder::NOBODY;
}

EqdsInbound*
EqdsTransport::TakePull()
{
    if (Host().NowPs() < m_pacer.NextPs())
    {
        return nullptr;
    }
    const uint32_t slot = NextInTurn();
    m_waits = slot != FlowOrder::NOBODY;
    if (!m_waits)
    {
        return nullptr;
    }
    EqdsInbound& in = InboundOf(slot);
    const uint32_t bytes = m_creditQuanta * QUANTUM_BYTES;
    in.pulledQuanta += m_creditQuanta;
    in.repairBytes = std::max<int64_t>(0, in.repairBytes - bytes);
    m_pacer.Sent(Host().NowPs(), bytes, m_creditBps);
    List(in);
    return &in;
}

uint64_t
EqdsTransport::NextPullPs() const
{
    return m_waits ? m_pacer.NextPs() : NEVER_PS;
}

void
EqdsTransport::StampPull(EqdsInbound& in, FrameId pull)
{
    Host().GetFrame(pull).aux = static_cast<uint32_t>(in.pulledQuanta);
}

} // namespace ns3
