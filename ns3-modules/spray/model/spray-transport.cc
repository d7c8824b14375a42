// SPDX-License-Identifier: GPL-2.0-only

#include "spray-transport.h"

#include "ns3/double.h"
#include "ns3/fabric.h"
#include "ns3/string.h"
#include "ns3/type-reference.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(SprayTransport);

namespace
{

constexpr uint8_t ACK = frame_kind::CONTROL;
constexpr uint32_t MAX_BACKOFF = 7;
constexpr uint32_t DEFAULT_REORDER_WINDOWS = 2;

} // namespace

TypeId
SprayTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::SprayTransport")
            .SetParent<Transport>()
            .SetGroupName("Spray")
            .AddConstructor<SprayTransport>()
            .AddAttribute("MtuBytes",
                          "Payload of a full packet [byte]",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&SprayTransport::m_mtuBytes),
                          MakeUintegerChecker<uint32_t>(1, 32768))
            .AddAttribute("HeaderBytes",
                          "Headers and checksums of each data packet [byte]",
                          UintegerValue(62),
                          MakeUintegerAccessor(&SprayTransport::m_headerBytes),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("AckBytes",
                          "Acknowledgement frame [byte]",
                          UintegerValue(66),
                          MakeUintegerAccessor(&SprayTransport::m_ackBytes),
                          MakeUintegerChecker<uint32_t>(64, 1024))
            .AddAttribute("WindowBdp",
                          "Packets in flight in bandwidth-delay products of the unloaded path [1]",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&SprayTransport::m_windowBdp),
                          MakeDoubleChecker<double>(0.01, 100))
            .AddAttribute("ReorderPackets",
                          "A packet is lost when one this far behind it has arrived [packet], "
                          "0 = two windows",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SprayTransport::m_reorderPackets),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("Rto",
                          "Retransmission timeout",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&SprayTransport::m_rto),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("Priority",
                          "Priority of data",
                          UintegerValue(3),
                          MakeUintegerAccessor(&SprayTransport::m_priority),
                          MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1))
            .AddAttribute("ControlPriority",
                          "Priority of acknowledgements",
                          UintegerValue(6),
                          MakeUintegerAccessor(&SprayTransport::m_controlPriority),
                          MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1))
            .AddAttribute("Entropy",
                          "Path selector, for example ns3::PermutedEntropy",
                          StringValue("ns3::PermutedEntropy"),
                          MakeStringAccessor(&SprayTransport::m_entropyType),
                          MakeStringChecker());
    return tid;
}

void
SprayTransport::NotifyConstructionCompleted()
{
    Transport::NotifyConstructionCompleted();
    m_entropy = CreateReferenced<PathSelector>(m_entropyType, "ns3::SprayTransport: Entropy");
}

std::vector<uint32_t>
SprayTransport::CommonFrameBytes() const
{
    return {std::max(MIN_FRAME_BYTES, m_mtuBytes + m_headerBytes), m_ackBytes};
}

uint8_t
SprayTransport::DataPriority() const
{
    return m_priority;
}

int32_t
SprayTransport::SinglePathEntropy(uint32_t message)
{
    return m_entropy->Constant(Net(), message);
}

uint32_t
SprayTransport::PacketsOf(uint64_t bytes) const
{
    return static_cast<uint32_t>((bytes + m_mtuBytes - 1) / m_mtuBytes);
}

Datagram
SprayTransport::Describe(const Frame& frame) const
{
    // Of no standard; README.md has the layout.
    constexpr uint16_t EXPERIMENT_PORT = 1022; // RFC 4727 section 6
    constexpr uint8_t ECHO = 1;
    constexpr uint8_t AGAIN = 2;
    Datagram datagram;
    datagram.destinationPort = EXPERIMENT_PORT;
    datagram.headers.Put(frame.kind, 1);
    datagram.headers.Put(((frame.flags & frame_flag::ECN_ECHO) ? ECHO : 0) |
                             ((frame.flags & frame_flag::RETRANSMITTED) ? AGAIN : 0),
                         1);
    datagram.headers.Put(0, 2);
    datagram.headers.Put(static_cast<uint64_t>(Net().GetMessage(frame.message).id), 4);
    datagram.headers.Put(frame.packet, 4);
    if (frame.kind == ACK)
    {
        datagram.headers.Put(frame.aux, 4);
    }
    return datagram;
}

// ---- source -----------------------------------------------------------------------------------

void
SprayTransport::StartMessage(uint32_t messageIndex)
{
    const uint32_t slot = m_senders.Open();
    Message& message = Net().GetMessage(messageIndex);
    message.senderSlot = slot;
    Sender& sender = m_senders[slot];
    sender.message = messageIndex;
    sender.packets = PacketsOf(message.bytes);
    const auto rttPs = static_cast<double>(
        Net().BaseRttPs(messageIndex, m_mtuBytes + m_headerBytes, m_ackBytes));
    const auto packetPs = static_cast<double>(
        Net().SerialisationPs(Net().PortOfMessage(messageIndex), m_mtuBytes + m_headerBytes));
    // Several ports send at once, so the pipe holds as many products.
    const double ports = Net().PortsOfHost(Host()).second;
    sender.windowPackets =
        static_cast<uint32_t>(std::max(1.0, std::ceil(m_windowBdp * ports * rttPs / packetPs)));
    sender.reorderPackets =
        m_reorderPackets ? m_reorderPackets : DEFAULT_REORDER_WINDOWS * sender.windowPackets;
    m_entropy->Open(Net(), slot, messageIndex);
    m_ready.Push(slot);
    Kick();
}

bool
SprayTransport::CanSend(const Sender& sender) const
{
    const size_t toResend = sender.lost.size() - sender.resent;
    const uint32_t arrived = sender.arrived.Base() + sender.arrived.Held();
    const size_t inFlight = sender.next - arrived - toResend;
    return inFlight < sender.windowPackets && (toResend > 0 || sender.next < sender.packets);
}

FrameId
SprayTransport::NextFrame(PortId port, uint32_t pausedPriorities)
{
    if ((pausedPriorities >> m_priority) & 1)
    {
        return NO_FRAME;
    }
    using Verdict = ReadyList::Verdict;
    const uint32_t slot = m_ready.PopFirst([this, port](uint32_t waiting) {
        const Sender& sender = m_senders[waiting];
        if (!CanSend(sender))
        {
            return Verdict::DROP;
        }
        // Who waits for another port is not overtaken by those that this one serves.
        const uint32_t dst = Net().GetMessage(sender.message).dst;
        return Net().LeadsNowhere(port, dst) ? Verdict::KEEP : Verdict::TAKE;
    });
    if (slot == NO_SLOT)
    {
        return NO_FRAME;
    }
    const FrameId frame = MakeData(slot, port);
    if (CanSend(m_senders[slot]))
    {
        m_ready.Push(slot);
    }
    return frame;
}

FrameId
SprayTransport::MakeData(uint32_t slot, PortId port)
{
    Sender& sender = m_senders[slot];
    const bool again = sender.resent < sender.lost.size();
    const uint32_t packet = again ? sender.lost[sender.resent++] : sender.next++;
    Message& message = Net().GetMessage(sender.message);
    const FrameId id = Net().Frames().Allocate();
    Frame& frame = Net().Frames()[id];
    frame.message = sender.message;
    frame.dst = message.dst;
    frame.packet = packet;
    frame.entropy = m_entropy->Next(slot, port);
    const uint64_t before = uint64_t{packet} * m_mtuBytes;
    const auto payload =
        static_cast<uint32_t>(std::min<uint64_t>(m_mtuBytes, message.bytes - before));
    frame.bytes = static_cast<uint16_t>(std::max(MIN_FRAME_BYTES, payload + m_headerBytes));
    frame.kind = frame_kind::DATA;
    frame.priority = m_priority;
    frame.flags = frame_flag::ECN_CAPABLE | (again ? frame_flag::RETRANSMITTED : 0);
    message.sentPackets++;
    message.retransmittedPackets += again;
    ArmTimeout(slot);
    return id;
}

/// Strike packets off the list of losses that were only late.
void
SprayTransport::ForgetArrived(Sender& sender)
{
    if (sender.resent == sender.lost.size())
    {
        sender.lost.clear();
        sender.resent = 0;
        return;
    }
    const auto first = sender.lost.begin() + static_cast<std::ptrdiff_t>(sender.resent);
    sender.lost.erase(std::remove_if(first,
                                     sender.lost.end(),
                                     [&sender](uint32_t packet) {
                                         return sender.arrived.Contains(packet);
                                     }),
                      sender.lost.end());
}

/// Take packets for lost that others have overtaken by more than the reordering allowed.
void
SprayTransport::JudgeLosses(Sender& sender)
{
    const uint32_t end = sender.arrived.End();
    if (end <= sender.reorderPackets)
    {
        return;
    }
    sender.judged = std::max(sender.judged, sender.arrived.Base());
    for (; sender.judged + sender.reorderPackets < end; sender.judged++)
    {
        if (!sender.arrived.Contains(sender.judged))
        {
            sender.lost.push_back(sender.judged);
        }
    }
}

void
SprayTransport::ArmTimeout(uint32_t slot)
{
    Sender& sender = m_senders[slot];
    if (sender.timeout.IsSet())
    {
        return;
    }
    const uint64_t duePs =
        Net().NowPs() + (static_cast<uint64_t>(m_rto.GetPicoSeconds()) << sender.backoff);
    if (const uint64_t atPs = sender.timeout.Move(duePs); atPs != NEVER_PS)
    {
        SetTimer(atPs, slot);
    }
}

void
SprayTransport::OnTimer(uint32_t slot)
{
    Sender& sender = m_senders[slot];
    const auto [reached, againPs] = sender.timeout.Fire(Net().NowPs());
    if (againPs != NEVER_PS)
    {
        SetTimer(againPs, slot);
    }
    if (!reached)
    {
        return;
    }
    Net().GetMessage(sender.message).timeouts++;
    sender.backoff = std::min(sender.backoff + 1, MAX_BACKOFF);
    // Everything that is out is taken for lost.
    sender.lost.clear();
    sender.resent = 0;
    for (uint32_t packet = sender.arrived.Base(); packet < sender.next; packet++)
    {
        if (!sender.arrived.Contains(packet))
        {
            sender.lost.push_back(packet);
        }
    }
    sender.judged = sender.next;
    ArmTimeout(slot);
    m_ready.Push(slot);
    Kick();
}

void
SprayTransport::OnAck(const Frame& frame)
{
    Message& message = Net().GetMessage(frame.message);
    if (message.senderSlot == DONE_SLOT)
    {
        return; // an old acknowledgement of a message that is done
    }
    const uint32_t slot = message.senderSlot;
    Sender& sender = m_senders[slot];
    const bool isNew = sender.arrived.Add(frame.packet) || frame.aux > sender.arrived.Base();
    sender.arrived.AdvanceTo(std::max(sender.arrived.Base(), frame.aux));
    m_entropy->Feedback(slot, frame.entropy, (frame.flags & frame_flag::ECN_ECHO) != 0, false);
    if (!isNew)
    {
        return;
    }
    sender.backoff = 0;
    sender.timeout.Clear();
    if (sender.arrived.Base() == sender.packets)
    {
        m_entropy->Close(slot);
        Net().MessageAcknowledged(frame.message);
        message.senderSlot = DONE_SLOT;
        m_senders.Close(slot);
        return;
    }
    ForgetArrived(sender);
    JudgeLosses(sender);
    ArmTimeout(slot);
    m_ready.Push(slot);
    Kick();
}

// ---- destination ------------------------------------------------------------------------------

void
SprayTransport::Receive(FrameId id, PortId port)
{
    if (Net().Frames()[id].kind == frame_kind::DATA)
    {
        OnData(id, port);
        return;
    }
    OnAck(Net().Frames()[id]);
    Net().Frames().Free(id);
}

void
SprayTransport::OnData(FrameId id, PortId port)
{
    Frame& frame = Net().Frames()[id];
    Message& message = Net().GetMessage(frame.message);
    uint32_t cumulative = PacketsOf(message.bytes);
    if (message.receiverSlot != DONE_SLOT)
    {
        if (message.receiverSlot == NO_SLOT)
        {
            message.receiverSlot = m_receivers.Open();
        }
        PacketWindow& received = m_receivers[message.receiverSlot];
        received.Add(frame.packet);
        message.outOfOrderPeak = std::max(message.outOfOrderPeak, received.Held());
        if (received.Base() == cumulative)
        {
            Net().MessageDelivered(frame.message);
            m_receivers.Close(message.receiverSlot);
            message.receiverSlot = DONE_SLOT;
        }
        else
        {
            cumulative = received.Base();
        }
    }
    // The data frame becomes its own acknowledgement: same packet number and entropy.
    frame.kind = ACK;
    frame.aux = cumulative;
    frame.dst = message.src;
    frame.bytes = static_cast<uint16_t>(m_ackBytes);
    frame.priority = m_controlPriority;
    frame.flags = frame_flag::REVERSE |
                  ((frame.flags & frame_flag::ECN_MARKED) ? frame_flag::ECN_ECHO : 0);
    SendControl(id, port);
}

} // namespace ns3
