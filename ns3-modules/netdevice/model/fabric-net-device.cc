// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-net-device.h"

#include "fabric-channel.h"
#include "node-transport.h"
#include "packet-fields.h"

#include "ns3/abort.h"
#include "ns3/ethernet-header.h"
#include "ns3/log.h"
#include "ns3/node.h"
#include "ns3/pointer.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricNetDevice");
NS_OBJECT_ENSURE_REGISTERED(FabricNetDevice);

TypeId
FabricNetDevice::GetTypeId()
{
    using T = FabricNetDevice;
    static TypeId tid =
        AddTraces(TypeId("ns3::FabricNetDevice")
                      .SetParent<NetDevice>()
                      .SetGroupName("NetDevice")
                      .AddConstructor<FabricNetDevice>()
                      .AddAttribute("Mtu",
                                    "Largest packet of the network layer [byte]",
                                    UintegerValue(1500),
                                    MakeUintegerAccessor(&T::SetMtu, &T::GetMtu),
                                    MakeUintegerChecker<uint16_t>())
                      .AddAttribute("Address",
                                    "MAC address",
                                    Mac48AddressValue(Mac48Address("ff:ff:ff:ff:ff:ff")),
                                    MakeMac48AddressAccessor(&T::m_address),
                                    MakeMac48AddressChecker())
                      .AddAttribute("ReceiveErrorModel",
                                    "What is lost as it comes in, beside losses of the fabric",
                                    PointerValue(),
                                    MakePointerAccessor(&T::m_receiveErrorModel),
                                    MakePointerChecker<ErrorModel>())
                      .AddAttribute("TxQueue",
                                    "Where packets wait for the port",
                                    PointerValue(),
                                    MakePointerAccessor(&T::m_queue),
                                    MakePointerChecker<Queue<Packet>>()));
    return tid;
}

TypeId
FabricNetDevice::AddTraces(TypeId tid)
{
    using T = FabricNetDevice;
    const std::string type = "ns3::Packet::TracedCallback";
    const auto add = [&](const char* name, const char* help, auto source) {
        tid.AddTraceSource(name, help, MakeTraceSourceAccessor(source), type);
    };
    add("MacTx", "A packet from the node, before it waits", &T::m_macTx);
    add("MacTxDrop", "A packet that TxQueue did not take", &T::m_macTxDrop);
    add("MacPromiscRx", "A packet for any address, to the node", &T::m_macPromiscRx);
    add("MacRx", "A packet for this address, to the node", &T::m_macRx);
    add("PhyTxBegin", "First bit on the wire", &T::m_phyTxBegin);
    add("PhyTxEnd", "Last bit on the wire", &T::m_phyTxEnd);
    add("PhyRxEnd", "Last bit came in", &T::m_phyRxEnd);
    add("PhyRxDrop", "Came in and was dropped by ReceiveErrorModel", &T::m_phyRxDrop);
    add("FabricDrop",
        "A packet that this device has sent was dropped, lost or corrupted on its way, met a cut "
        "link, or nobody has its address",
        &T::m_fabricDrop);
    add("Sniffer", "As a packet sniffer on the port sees it", &T::m_sniffer);
    add("PromiscSniffer", "The same, promiscuous", &T::m_promiscSniffer);
    return tid;
}

FabricNetDevice::FabricNetDevice() = default;
FabricNetDevice::~FabricNetDevice() = default;

Ptr<FabricChannel>
FabricNetDevice::GetFabricChannel() const
{
    return m_channel;
}

void
FabricNetDevice::DoDispose()
{
    m_node = nullptr;
    m_host = nullptr;
    m_channel = nullptr;
    m_queue = nullptr;
    m_receiveErrorModel = nullptr;
    NetDevice::DoDispose();
}

void
FabricNetDevice::SitOn(Ptr<NodeTransport> host, Ptr<FabricChannel> channel)
{
    NS_ABORT_MSG_IF(!m_queue, "a FabricNetDevice needs a TxQueue");
    m_host = host;
    m_channel = channel;
    m_mtuBytes = static_cast<uint16_t>(host->PacketBytes());
    channel->Add(this, host->HostIndex());
    host->SetDevice(this);
}

void
FabricNetDevice::LeaveHost()
{
    m_host = nullptr;
}

void
FabricNetDevice::SetNeedsArp(bool needsArp)
{
    m_needsArp = needsArp;
}

// ---- out --------------------------------------------------------------------------------------

bool
FabricNetDevice::Send(Ptr<Packet> packet, const Address& dest, uint16_t protocol)
{
    NS_LOG_FUNCTION(this << packet << dest << protocol);
    EthernetHeader ethernet(false);
    ethernet.SetSource(m_address);
    ethernet.SetDestination(Mac48Address::ConvertFrom(dest));
    ethernet.SetLengthType(protocol);
    packet->AddHeader(ethernet);
    m_macTx(packet);
    if (!IsLinkUp() || !m_queue->Enqueue(packet))
    {
        m_macTxDrop(packet);
        return false;
    }
    m_host->Kick();
    return true;
}

Ptr<Packet>
FabricNetDevice::Pull()
{
    const auto packet = m_queue->Dequeue();
    if (packet)
    {
        m_sniffer(packet);
        m_promiscSniffer(packet);
        m_phyTxBegin(packet);
        if (!m_phyTxEnd.IsEmpty())
        {
            Simulator::ScheduleWithContext(m_node->GetId(),
                                           PicoSeconds(m_host->SerialisationPs(packet->GetSize())),
                                           &FabricNetDevice::NotifySent,
                                           Ptr<FabricNetDevice>(this),
                                           packet);
        }
    }
    return packet;
}

void
FabricNetDevice::NotifySent(Ptr<const Packet> packet)
{
    m_phyTxEnd(packet);
}

void
FabricNetDevice::NotifyLost(Ptr<const Packet> packet)
{
    m_fabricDrop(packet);
}

// ---- in ---------------------------------------------------------------------------------------

void
FabricNetDevice::Deliver(Ptr<Packet> packet, bool isMarked)
{
    Simulator::ScheduleWithContext(m_node->GetId(),
                                   Time(0),
                                   &FabricNetDevice::Receive,
                                   Ptr<FabricNetDevice>(this),
                                   packet,
                                   isMarked);
}

void
FabricNetDevice::Receive(Ptr<Packet> packet, bool isMarked)
{
    NS_LOG_FUNCTION(this << packet << isMarked);
    EthernetHeader ethernet(false);
    if (isMarked)
    {
        packet->RemoveHeader(ethernet);
        MarkCongestion(*packet, ethernet.GetLengthType());
        packet->AddHeader(ethernet);
    }
    if (m_receiveErrorModel && m_receiveErrorModel->IsCorrupt(packet))
    {
        m_phyRxDrop(packet);
        return;
    }
    m_sniffer(packet);
    m_promiscSniffer(packet);
    m_phyRxEnd(packet);
    const auto whole = packet->Copy();
    packet->RemoveHeader(ethernet);
    const uint16_t protocol = ethernet.GetLengthType();
    const PacketType type = TypeOf(ethernet.GetDestination());
    if (!m_promiscReceive.IsNull())
    {
        m_macPromiscRx(whole);
        m_promiscReceive(this,
                         packet->Copy(),
                         protocol,
                         ethernet.GetSource(),
                         ethernet.GetDestination(),
                         type);
    }
    if (type != PACKET_OTHERHOST)
    {
        m_macRx(whole);
        m_receive(this, packet, protocol, ethernet.GetSource());
    }
}

NetDevice::PacketType
FabricNetDevice::TypeOf(const Mac48Address& to) const
{
    if (to.IsBroadcast())
    {
        return PACKET_BROADCAST;
    }
    if (to.IsGroup())
    {
        return PACKET_MULTICAST;
    }
    return to == m_address ? PACKET_HOST : PACKET_OTHERHOST;
}

// ---- what ns-3 asks of a device ---------------------------------------------------------------

void
FabricNetDevice::SetIfIndex(uint32_t index)
{
    m_ifIndex = index;
}

uint32_t
FabricNetDevice::GetIfIndex() const
{
    return m_ifIndex;
}

Ptr<Channel>
FabricNetDevice::GetChannel() const
{
    return m_channel;
}

void
FabricNetDevice::SetAddress(Address address)
{
    const auto given = Mac48Address::ConvertFrom(address);
    if (m_channel)
    {
        m_channel->Move(m_address, given);
    }
    m_address = given;
}

Address
FabricNetDevice::GetAddress() const
{
    return m_address;
}

bool
FabricNetDevice::SetMtu(uint16_t mtu)
{
    if (m_host && mtu > m_host->PacketBytes())
    {
        return false;
    }
    m_mtuBytes = mtu;
    return true;
}

uint16_t
FabricNetDevice::GetMtu() const
{
    return m_mtuBytes;
}

bool
FabricNetDevice::IsLinkUp() const
{
    return m_host && m_host->IsLinkUp();
}

void
FabricNetDevice::AddLinkChangeCallback(Callback<void>)
{
}

bool
FabricNetDevice::IsBroadcast() const
{
    return true;
}

Address
FabricNetDevice::GetBroadcast() const
{
    return Mac48Address::GetBroadcast();
}

bool
FabricNetDevice::IsMulticast() const
{
    return true;
}

Address
FabricNetDevice::GetMulticast(Ipv4Address group) const
{
    return Mac48Address::GetMulticast(group);
}

Address
FabricNetDevice::GetMulticast(Ipv6Address group) const
{
    return Mac48Address::GetMulticast(group);
}

bool
FabricNetDevice::IsBridge() const
{
    return false;
}

bool
FabricNetDevice::IsPointToPoint() const
{
    return false;
}

bool
FabricNetDevice::SendFrom(Ptr<Packet>, const Address&, const Address&, uint16_t)
{
    return false;
}

Ptr<Node>
FabricNetDevice::GetNode() const
{
    return m_node;
}

void
FabricNetDevice::SetNode(Ptr<Node> node)
{
    m_node = node;
}

bool
FabricNetDevice::NeedsArp() const
{
    return m_needsArp;
}

void
FabricNetDevice::SetReceiveCallback(ReceiveCallback callback)
{
    m_receive = callback;
}

void
FabricNetDevice::SetPromiscReceiveCallback(PromiscReceiveCallback callback)
{
    m_promiscReceive = callback;
}

bool
FabricNetDevice::SupportsSendFrom() const
{
    return false;
}

} // namespace ns3
