// SPDX-License-Identifier: GPL-2.0-only

#include "aimd-transport.h"

#include "ns3/double.h"
#include "ns3/fabric.h"
#include "ns3/string.h"
#include "ns3/type-reference.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(AimdTransport);

namespace
{

constexpr uint8_t ACK = frame_kind::CONTROL;
constexpr uint32_t MAX_BACKOFF = 7; ///< Timeouts in a row double the timeout this often

} // namespace

TypeId
AimdTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::AimdTransport")
            .SetParent<Transport>()
            .SetGroupName("Aimd")
            .AddConstructor<AimdTransport>()
            .AddAttribute("MtuBytes",
                          "Payload of a full packet [byte]",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&AimdTransport::m_mtuBytes),
                          MakeUintegerChecker<uint32_t>(1, 32768))
            .AddAttribute("HeaderBytes",
                          "Headers and checksums of each data packet [byte]",
                          UintegerValue(62),
                          MakeUintegerAccessor(&AimdTransport::m_headerBytes),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("AckBytes",
                          "Acknowledgement frame [byte]",
                          UintegerValue(66),
                          MakeUintegerAccessor(&AimdTransport::m_ackBytes),
                          MakeUintegerChecker<uint32_t>(64, 1024))
            .AddAttribute("InitialPackets",
                          "Window of a new message [packet]",
                          UintegerValue(1),
                          MakeUintegerAccessor(&AimdTransport::m_initialPackets),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Decrease",
                          "What is left of the window after a mark or a loss [1]",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&AimdTransport::m_decrease),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("ReorderPackets",
                          "A packet is lost when one this far behind it has arrived [packet]",
                          UintegerValue(1),
                          MakeUintegerAccessor(&AimdTransport::m_reorderPackets),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Rto",
                          "Retransmission timeout",
                          TimeValue(MilliSeconds(1)),
                          MakeTimeAccessor(&AimdTransport::m_rto),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("Priority",
                          "Priority of data",
                          UintegerValue(3),
                          MakeUintegerAccessor(&AimdTransport::m_priority),
                          MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1))
            .AddAttribute("ControlPriority",
                          "Priority of acknowledgements",
                          UintegerValue(6),
                          MakeUintegerAccessor(&AimdTransport::m_controlPriority),
                          MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1))
            .AddAttribute("Entropy",
                          "Path selector, for example ns3::FlowEntropy",
                          StringValue("ns3::FlowEntropy"),
                          MakeStringAccessor(&AimdTransport::m_entropyType),
                          MakeStringChecker());
    return tid;
}

void
AimdTransport::NotifyConstructionCompleted()
{
    Transport::NotifyConstructionCompleted();
    m_entropy = CreateReferenced<PathSelector>(m_entropyType, "ns3::AimdTransport: Entropy");
}

std::vector<uint32_t>
AimdTransport::CommonFrameBytes() const
{
    return {std::max(MIN_FRAME_BYTES, m_mtuBytes + m_headerBytes), m_ackBytes};
}

uint8_t
AimdTransport::DataPriority() const
{
    return m_priority;
}

int32_t
AimdTransport::SinglePathEntropy(uint32_t message)
{
    return m_entropy->Constant(Net(), message);
}

uint32_t
AimdTransport::PacketsOf(uint64_t bytes) const
{
    return static_cast<uint32_t>((bytes + m_mtuBytes - 1) / m_mtuBytes);
}

// ---- source -----------------------------------------------------------------------------------

void
AimdTransport::StartMessage(uint32_t messageIndex)
{
    const uint32_t slot = m_senders.Open();
    Message& message = Net().GetMessage(messageIndex);
    message.senderSlot = slot;
    Sender& sender = m_senders[slot];
    sender.message = messageIndex;
    sender.packets = PacketsOf(message.bytes);
    sender.port = Net().PortOfMessage(messageIndex);
    sender.window = m_initialPackets;
    m_entropy->Open(Net(), slot, messageIndex);
    Wake(slot);
}

ReadyList&
AimdTransport::ReadyAt(PortId port)
{
    const auto [first, ports] = Net().PortsOfHost(Host());
    m_ready.resize(ports);
    return m_ready[port - first];
}

bool
AimdTransport::CanSend(const Sender& sender) const
{
    const size_t arrived = sender.arrived.Base() + sender.arrived.Held();
    const size_t inFlight = sender.next - arrived - sender.lost.size();
    return inFlight < sender.window && (!sender.lost.empty() || sender.next < sender.packets);
}

/// Let the interface ask for this flow's next packet, if it has one to send.
void
AimdTransport::Wake(uint32_t slot)
{
    if (CanSend(m_senders[slot]))
    {
        ReadyAt(m_senders[slot].port).Push(slot);
        Kick();
    }
}

FrameId
AimdTransport::NextFrame(PortId port, uint32_t pausedPriorities)
{
    if ((pausedPriorities >> m_priority) & 1)
    {
        return NO_FRAME;
    }
    ReadyList& ready = ReadyAt(port);
    for (uint32_t slot = ready.Pop(); slot != NO_SLOT; slot = ready.Pop())
    {
        // A slot may have ended and begun again, for a message that leaves by another port.
        if (m_senders[slot].port != port || !CanSend(m_senders[slot]))
        {
            continue;
        }
        const FrameId frame = MakeData(slot);
        if (CanSend(m_senders[slot]))
        {
            ready.Push(slot); // at the end: round robin over flows
        }
        return frame;
    }
    return NO_FRAME;
}

FrameId
AimdTransport::MakeData(uint32_t slot)
{
    Sender& sender = m_senders[slot];
    Message& message = Net().GetMessage(sender.message);
    const bool again = !sender.lost.empty();
    const FrameId id = Net().Frames().Allocate();
    Frame& frame = Net().Frames()[id];
    frame.message = sender.message;
    frame.dst = message.dst;
    frame.packet = again ? *sender.lost.begin() : sender.next++;
    frame.entropy = m_entropy->Next(slot, sender.port);
    const uint64_t before = uint64_t{frame.packet} * m_mtuBytes;
    const auto payload =
        static_cast<uint32_t>(std::min<uint64_t>(m_mtuBytes, message.bytes - before));
    frame.bytes = static_cast<uint16_t>(std::max(MIN_FRAME_BYTES, payload + m_headerBytes));
    frame.kind = frame_kind::DATA;
    frame.priority = m_priority;
    frame.flags = frame_flag::ECN_CAPABLE | (again ? frame_flag::RETRANSMITTED : 0);
    sender.lost.erase(frame.packet);
    message.sentPackets++;
    message.retransmittedPackets += again;
    ArmTimeout(slot);
    return id;
}

/// Start the timeout unless it runs.
void
AimdTransport::ArmTimeout(uint32_t slot)
{
    Sender& sender = m_senders[slot];
    if (sender.timeout.IsSet())
    {
        return;
    }
    const uint64_t afterPs = static_cast<uint64_t>(m_rto.GetPicoSeconds()) << sender.backoff;
    if (const uint64_t atPs = sender.timeout.Move(Net().NowPs() + afterPs); atPs != NEVER_PS)
    {
        SetTimer(atPs, slot);
    }
}

void
AimdTransport::OnTimer(uint32_t slot)
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
    for (uint32_t packet = sender.arrived.Base(); packet < sender.next; packet++)
    {
        if (!sender.arrived.Contains(packet)) // whatever is out is taken for lost
        {
            sender.lost.insert(packet);
        }
    }
    sender.judged = sender.next;
    sender.window = 1; // nothing is known to be on its way any more
    sender.acked = 0;
    sender.cutEnd = sender.next;
    ArmTimeout(slot);
    Wake(slot);
}

/// Take packets for lost that others have overtaken; each is judged once, then by the timeout.
bool
AimdTransport::JudgeLosses(Sender& sender)
{
    const size_t before = sender.lost.size();
    sender.judged = std::max(sender.judged, sender.arrived.Base());
    for (; sender.judged + m_reorderPackets < sender.arrived.End(); sender.judged++)
    {
        if (!sender.arrived.Contains(sender.judged))
        {
            sender.lost.insert(sender.judged);
        }
    }
    return sender.lost.size() > before;
}

/// An acknowledgement of a packet has come.
void
AimdTransport::Adapt(Sender& sender, uint32_t packet, bool congested)
{
    if (congested && packet >= sender.cutEnd) // RFC 3168: at most once per window
    {
        sender.window = std::max(1U, static_cast<uint32_t>(sender.window * m_decrease));
        sender.acked = 0;
        sender.cutEnd = sender.next;
    }
    else if (!congested && ++sender.acked >= sender.window)
    {
        sender.window++;
        sender.acked = 0;
    }
}

void
AimdTransport::OnAck(const Frame& frame)
{
    Message& message = Net().GetMessage(frame.message);
    if (message.senderSlot == DONE_SLOT)
    {
        return; // an old acknowledgement of a message that is done
    }
    const uint32_t slot = message.senderSlot;
    Sender& sender = m_senders[slot];
    const bool isNew = sender.arrived.Add(frame.packet) || frame.aux > sender.arrived.Base();
    if (!isNew)
    {
        return;
    }
    sender.arrived.AdvanceTo(std::max(sender.arrived.Base(), frame.aux));
    sender.lost.erase(frame.packet);
    sender.lost.erase(sender.lost.begin(), sender.lost.lower_bound(sender.arrived.Base()));
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
    const bool lost = JudgeLosses(sender);
    Adapt(sender, frame.packet, lost || (frame.flags & frame_flag::ECN_ECHO));
    ArmTimeout(slot);
    Wake(slot);
}

// ---- destination ------------------------------------------------------------------------------

void
AimdTransport::Receive(FrameId id, PortId port)
{
    const Frame& frame = Net().Frames()[id];
    if (frame.kind == frame_kind::DATA && !(frame.flags & frame_flag::TRIMMED))
    {
        OnData(id, port);
        return;
    }
    if (frame.kind == ACK)
    {
        OnAck(frame);
    }
    Net().Frames().Free(id);
}

void
AimdTransport::OnData(FrameId id, PortId port)
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
