// SPDX-License-Identifier: GPL-2.0-only

#include "tcp-transport.h"

#include "ns3/fabric-net-device-helper.h"
#include "ns3/fabric-net-device.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/ipv4.h"
#include "ns3/log.h"
#include "ns3/node-container.h"
#include "ns3/queue-size.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("TcpTransport");
NS_OBJECT_ENSURE_REGISTERED(TcpTransport);

namespace
{

constexpr uint16_t SERVICE_PORT = 5001;
constexpr uint32_t NETWORK = 10U << 24; // 10.0.0.0/8, host k has address k + 1
constexpr uint32_t IP_AND_TCP_BYTES = 40;
constexpr uint32_t TIMESTAMP_BYTES = 12; // option of RFC 7323 with its padding
constexpr uint32_t OPTION_BYTES = 40;    // most that a TCP header has
constexpr uint32_t MAX_SEND_BYTES = 1U << 30;

} // namespace

// ---- a host is a node -------------------------------------------------------------------------

void
TcpTransport::DoAttach()
{
    m_node = CreateObject<Node>();
    FabricNetDeviceHelper helper;
    helper.SetQueueAttribute("MaxSize", QueueSizeValue(QueueSize("4294967295p")));
    helper.DisableFlowControl();
    const auto device = helper.Install(m_node, this);
    device->SetNeedsArp(false);
    InternetStackHelper stack;
    stack.SetRoutingHelper(Ipv4StaticRoutingHelper());
    stack.SetIpv6StackInstall(false);
    stack.Install(m_node);
    const auto ip = m_node->GetObject<Ipv4>();
    const uint32_t interface = ip->AddInterface(device);
    ip->AddAddress(interface, Ipv4InterfaceAddress(AddressOf(Host().Host()), Ipv4Mask("/8")));
    ip->SetUp(interface);
    m_listener = SocketOf(0, 0);
    m_listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), SERVICE_PORT));
    m_listener->Listen();
    m_listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                  MakeCallback(&TcpTransport::Accept, this));
}

void
TcpTransport::DoDispose()
{
    const auto null = MakeNullCallback<void, Ptr<Socket>>();
    for (auto& [message, connections] : m_sending)
    {
        for (auto& connection : connections)
        {
            connection.socket->SetConnectCallback(null, null);
            connection.socket->SetSendCallback(MakeNullCallback<void, Ptr<Socket>, uint32_t>());
        }
    }
    m_sending.clear();
    m_listener = nullptr;
    m_node = nullptr;
    NodeTransport::DoDispose();
}

Ptr<Node>
TcpTransport::GetNode() const
{
    return m_node;
}

Ipv4Address
TcpTransport::AddressOf(uint32_t host)
{
    return Ipv4Address(NETWORK + host + 1);
}

uint32_t
TcpTransport::HostOf(uint64_t address)
{
    return static_cast<uint32_t>(address) - NETWORK - 1;
}

/// @param wireBps rate to which its message is admitted, its part of it; 0: to any [bit/s]
Ptr<TcpSocketBase>
TcpTransport::SocketOf(uint64_t key, uint64_t wireBps) const
{
    TcpSettings settings = *this;
    if (wireBps)
    {
        const WireProfile wire = GetTraits().wire;
        const uint64_t frameBytes = wire.mtuBytes + wire.headerBytes + Host().FramingBytes();
        const uint64_t ownBps = wireBps / frameBytes * wire.mtuBytes; // pacing counts payload
        const uint64_t cap = maxPacingBps ? maxPacingBps : ownBps;
        settings.pacing = true;
        settings.maxPacingBps = std::max<uint64_t>(std::min(cap, ownBps), 1);
    }
    const auto stream = Host().Stream(RandomUse::TRANSPORT, key).Bits(0);
    return settings.MakeSocket(m_node, RateBps(), static_cast<uint32_t>(stream >> 32));
}

// ---- at the source ----------------------------------------------------------------------------

void
TcpTransport::StartMessage(uint32_t message)
{
    Simulator::ScheduleWithContext(m_node->GetId(),
                                   Time(0),
                                   &TcpTransport::Open,
                                   Ptr<TcpTransport>(this),
                                   message);
}

void
TcpTransport::Open(uint32_t index)
{
    const Message& message = Host().GetMessage(index);
    auto& connections = m_sending[index];
    const uint64_t n = std::min<uint64_t>(m_connections, message.bytes);
    connections.resize(n);
    for (uint32_t i = 0; i < n; i++)
    {
        Connection& connection = connections[i];
        connection.leftBytes = message.bytes / n + (i < message.bytes % n);
        connection.socket = SocketOf(static_cast<uint64_t>(message.id) * m_connections + i,
                                     message.admittedBps / n);
        const auto& socket = connection.socket;
        socket->TraceConnectWithoutContext(
            "CongState",
            MakeCallback(&TcpTransport::CountTimeout, this).Bind(index));
        socket->Bind();
        Address own;
        socket->GetSockName(own);
        const uint16_t port = InetSocketAddress::ConvertFrom(own).GetPort();
        m_known[{message.dst, Opener::HERE, port}] = {index};
        const auto send = [this, index, i](Ptr<Socket>) { Send(index, i); };
        socket->SetConnectCallback(Callback<void, Ptr<Socket>>(send),
                                   MakeNullCallback<void, Ptr<Socket>>());
        socket->SetSendCallback(Callback<void, Ptr<Socket>, uint32_t>(
            [this, index, i](Ptr<Socket>, uint32_t) { Send(index, i); }));
        socket->Connect(InetSocketAddress(AddressOf(message.dst), SERVICE_PORT));
    }
}

/// Give the socket what it can take; find out whether all is acknowledged.
void
TcpTransport::Send(uint32_t index, uint32_t number)
{
    auto& connections = m_sending.at(index);
    Connection& connection = connections[number];
    auto& socket = *connection.socket;
    while (connection.leftBytes > 0 && socket.GetTxAvailable() > 0)
    {
        const uint64_t some =
            std::min<uint64_t>({connection.leftBytes, socket.GetTxAvailable(), MAX_SEND_BYTES});
        connection.leftBytes -= some; // sending may call this again
        socket.Send(Create<Packet>(static_cast<uint32_t>(some)), 0);
    }
    if (connection.isDone || connection.leftBytes > 0 || socket.GetTxAvailable() < sendBufferBytes)
    {
        return;
    }
    connection.isDone = true;
    socket.Close();
    if (std::all_of(connections.begin(), connections.end(), [](auto& c) { return c.isDone; }))
    {
        Host().Acknowledged(index);
    }
}

void
TcpTransport::CountTimeout(uint32_t message,
                           TcpSocketState::TcpCongState_t,
                           TcpSocketState::TcpCongState_t after)
{
    if (after == TcpSocketState::CA_LOSS)
    {
        Host().GetMessage(message).timeouts++;
    }
}

// ---- at the destination -----------------------------------------------------------------------

/// The first frame of a connection says to which message it belongs.
void
TcpTransport::Receive(FrameId id, PortId port)
{
    const Frame& frame = Host().GetFrame(id);
    const uint32_t index = frame.message;
    const Message& message = Host().GetMessage(index);
    const uint64_t n = std::min<uint64_t>(m_connections, message.bytes);
    if (!(frame.flags & frame_flag::REVERSE) && m_accepted[index] < n)
    {
        const Ends ends{message.src, Opener::THERE, static_cast<uint16_t>(frame.aux)};
        if (!m_known.contains(ends) || m_known[ends].message != index)
        {
            m_known[ends] = {index};
        }
        m_missingBytes.try_emplace(index, message.bytes);
    }
    NodeTransport::Receive(id, port);
}

void
TcpTransport::Accept(Ptr<Socket> socket, const Address& from)
{
    const auto peer = InetSocketAddress::ConvertFrom(from);
    const auto known = m_known.find({HostOf(peer.GetIpv4().Get()), Opener::THERE, peer.GetPort()});
    NS_ASSERT_MSG(known != m_known.end(), "a connection of a message is known by its first frame");
    const uint32_t message = known->second.message;
    m_accepted[message]++;
    socket->SetRecvCallback(
        Callback<void, Ptr<Socket>>([this, message](Ptr<Socket> ready) { Read(message, ready); }));
    socket->SetCloseCallbacks(MakeCallback(&TcpTransport::Close, this),
                              MakeNullCallback<void, Ptr<Socket>>());
}

void
TcpTransport::Read(uint32_t message, Ptr<Socket> socket)
{
    uint64_t& missing = m_missingBytes.at(message);
    const bool wasComplete = missing == 0;
    while (const auto packet = socket->Recv())
    {
        if (packet->GetSize() == 0)
        {
            break; // the other end has closed
        }
        missing -= packet->GetSize();
    }
    if (missing == 0 && !wasComplete)
    {
        Host().Delivered(message);
    }
}

void
TcpTransport::Close(Ptr<Socket> socket)
{
    socket->Close();
}

// ---- frames -----------------------------------------------------------------------------------

std::optional<Ride>
TcpTransport::RideOf(const PacketFields& fields, const Mac48Address&)
{
    const uint32_t peer = HostOf(fields.dst);
    const bool isForward = fields.dstPort == SERVICE_PORT;
    const uint16_t opener = isForward ? fields.srcPort : fields.dstPort;
    const auto found = m_known.find({peer, isForward ? Opener::HERE : Opener::THERE, opener});
    if (!fields.isTcp || found == m_known.end())
    {
        return std::nullopt;
    }
    Known& known = found->second;
    Ride ride{known.message, peer, 0, opener};
    if (!isForward)
    {
        ride.flags |= frame_flag::REVERSE;
    }
    else if (fields.payloadBytes > 0)
    {
        const uint32_t end = fields.sequence + fields.payloadBytes;
        if (known.hasSent && static_cast<int32_t>(end - known.nextSequence) <= 0)
        {
            ride.flags |= frame_flag::RETRANSMITTED;
        }
        else
        {
            known.nextSequence = end;
            known.hasSent = true;
        }
    }
    if (isForward && m_connections == 1)
    {
        m_entropies.try_emplace(known.message, fields.Entropy());
    }
    return ride;
}

uint32_t
TcpTransport::PacketBytes() const
{
    return segmentBytes + IP_AND_TCP_BYTES + OPTION_BYTES;
}

Transport::Traits
TcpTransport::GetTraits() const
{
    Traits traits = NodeTransport::GetTraits();
    const uint32_t around = HeaderBytes() + IP_AND_TCP_BYTES + (timestamps ? TIMESTAMP_BYTES : 0);
    const uint32_t ackBytes = std::max({around, MinFrameBytes(), MIN_FRAME_BYTES});
    traits.wire = {segmentBytes, around, 0, ackBytes, delayedAckSegments};
    traits.isOpen = false;
    return traits;
}

std::optional<uint16_t>
TcpTransport::SinglePathEntropy(uint32_t message) const
{
    const auto found = m_entropies.find(message);
    return found == m_entropies.end() ? std::nullopt : std::optional(found->second);
}

} // namespace ns3
