// SPDX-License-Identifier: GPL-2.0-only

#include "node-transport.h"

#include "fabric-net-device.h"

#include "ns3/abort.h"
#include "ns3/ethernet-header.h"
#include "ns3/fabric-channel.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("NodeTransport");
NS_OBJECT_ENSURE_REGISTERED(NodeTransport);

namespace
{

constexpr uint32_t ETHERNET_BYTES = 14; // what EthernetHeader adds to a packet; no checksum
constexpr uint8_t ECN_CE = 3;

/// A packet that rides in a frame; its device learns if it ends there.
class PacketCargo final : public fabric::FrameCargo
{
  public:
    PacketCargo(Ptr<Packet> packet, Ptr<FabricNetDevice> from)
        : m_packet(packet),
          m_from(from)
    {
    }

    Ptr<Packet> GetPacket() const
    {
        return m_packet;
    }

    void OnLost() override
    {
        m_from->NotifyLost(m_packet);
    }

    std::unique_ptr<FrameCargo> Copy() const override
    {
        return std::make_unique<PacketCargo>(m_packet->Copy(), m_from);
    }

  private:
    Ptr<Packet> m_packet;
    Ptr<FabricNetDevice> m_from;
};

} // namespace

TypeId
NodeTransport::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::NodeTransport")
                          .SetParent<Transport>()
                          .SetGroupName("NetDevice")
                          .AddConstructor<NodeTransport>()
                          .AddAttribute("MtuBytes",
                                        "Largest packet, its IP header included [byte]",
                                        UintegerValue(1500),
                                        MakeUintegerAccessor(&NodeTransport::m_mtuBytes),
                                        MakeUintegerChecker<uint32_t>(68, 65000)));
    return tid;
}

TypeId
NodeTransport::AddAttributes(TypeId tid)
{
    using T = NodeTransport;
    return tid
        .AddAttribute("HeaderBytes",
                      "Around a packet in a buffer: Ethernet header and checksum [byte]",
                      UintegerValue(18),
                      MakeUintegerAccessor(&T::m_headerBytes),
                      MakeUintegerChecker<uint32_t>(0, 256))
        .AddAttribute("MinFrameBytes",
                      "Shorter frames are padded to this [byte]",
                      UintegerValue(MIN_FRAME_BYTES),
                      MakeUintegerAccessor(&T::m_minFrameBytes),
                      MakeUintegerChecker<uint32_t>(0, 1024))
        .AddAttribute("Priority",
                      "Priority of all its frames",
                      UintegerValue(3),
                      MakeUintegerAccessor(&T::m_priority),
                      MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1));
}

void
NodeTransport::DoDispose()
{
    if (m_device)
    {
        m_device->LeaveHost();
    }
    m_device = nullptr;
    Transport::DoDispose();
}

void
NodeTransport::SetDevice(Ptr<FabricNetDevice> device)
{
    NS_ABORT_MSG_IF(Host().NumPorts() != 1,
                    GetInstanceTypeId().GetName()
                        << ": host " << Host().HostId() << " has " << Host().NumPorts()
                        << " ports; a device sits on a host with one: give each device of "
                           "a node a host of its own");
    NS_ABORT_MSG_IF(m_device, "host " << Host().HostId() << " has a device already");
    m_device = device;
}

uint32_t
NodeTransport::HostIndex() const
{
    return Host().Host();
}

uint64_t
NodeTransport::RateBps() const
{
    return Host().RateBps(Host().FirstPort());
}

bool
NodeTransport::IsLinkUp() const
{
    return !Host().IsDown(Host().FirstPort());
}

uint32_t
NodeTransport::PacketBytes() const
{
    return m_mtuBytes;
}

uint32_t
NodeTransport::FrameBytes(uint32_t packetBytes) const
{
    return std::max(m_minFrameBytes, packetBytes - ETHERNET_BYTES + m_headerBytes);
}

uint64_t
NodeTransport::SerialisationPs(uint32_t packetBytes) const
{
    return Host().SerialisationPs(Host().FirstPort(), FrameBytes(packetBytes));
}

void
NodeTransport::Kick()
{
    Host().Kick();
}

// ---- frames -----------------------------------------------------------------------------------

FrameId
NodeTransport::NextFrame(PortId port, const NicState& nic)
{
    if (!m_device || !nic.Takes(m_priority))
    {
        return NO_FRAME;
    }
    if (!m_copies.empty())
    {
        const FrameId next = m_copies.front();
        m_copies.pop_front();
        return next;
    }
    while (const auto packet = m_device->Pull())
    {
        auto content = packet->Copy();
        EthernetHeader ethernet(false);
        content->RemoveHeader(ethernet);
        const PacketFields fields = FieldsOf(*content, ethernet.GetLengthType());
        if (const auto ride = RideOf(fields, ethernet.GetDestination()))
        {
            return FrameFor(*ride, fields, packet);
        }
        if (ethernet.GetDestination().IsGroup())
        {
            if (const FrameId frame = FirstCopy(fields, packet); frame != NO_FRAME)
            {
                return frame;
            }
        }
        m_device->NotifyLost(packet);
    }
    return NO_FRAME;
}

FrameId
NodeTransport::FrameFor(const Ride& ride, const PacketFields& fields, Ptr<Packet> packet)
{
    const FrameId id = Host().AllocateFrame();
    Frame& frame = Host().GetFrame(id);
    const bool isBare = !fields.isIp || (fields.isTcp && fields.payloadBytes == 0);
    frame.kind = isBare ? frame_kind::CONTROL : frame_kind::DATA;
    frame.message = ride.message;
    frame.dst = ride.dst;
    frame.packet = static_cast<uint32_t>(Host().GetMessage(ride.message).sentPackets);
    frame.flags = ride.flags;
    frame.aux = ride.aux;
    frame.entropy = fields.Entropy();
    frame.bytes = static_cast<uint16_t>(FrameBytes(packet->GetSize()));
    frame.priority = m_priority;
    if (fields.ecn != 0)
    {
        frame.flags |= frame_flag::ECN_CAPABLE;
    }
    if (fields.ecn == ECN_CE)
    {
        frame.flags |= frame_flag::ECN_MARKED;
    }
    Host().Load(id, std::make_unique<PacketCargo>(packet, m_device));
    return id;
}

/// @return the first of the frames of a packet for each other host; the others follow it
FrameId
NodeTransport::FirstCopy(const PacketFields& fields, Ptr<Packet> packet)
{
    for (const uint32_t host : m_device->GetFabricChannel()->HostsBut(HostIndex()))
    {
        const FrameId id = FrameFor({ConversationWith(host), host, 0}, fields, packet->Copy());
        Host().GetFrame(id).kind = frame_kind::CONTROL;
        m_copies.push_back(id);
    }
    if (m_copies.empty())
    {
        return NO_FRAME;
    }
    const FrameId first = m_copies.front();
    m_copies.pop_front();
    return first;
}

std::optional<Ride>
NodeTransport::RideOf(const PacketFields&, const Mac48Address& to)
{
    const auto host = m_device->GetFabricChannel()->HostOf(to);
    if (!host || *host == HostIndex())
    {
        return std::nullopt;
    }
    return Ride{ConversationWith(*host), *host, 0};
}

uint32_t
NodeTransport::ConversationWith(uint32_t host)
{
    const auto [entry, isNew] = m_conversations.try_emplace(host, 0);
    if (isNew)
    {
        entry->second = Host().OpenConversation(host);
    }
    return entry->second;
}

void
NodeTransport::Receive(FrameId id, PortId)
{
    const bool isMarked = Host().GetFrame(id).flags & frame_flag::ECN_MARKED;
    const auto cargo = Host().Unload(id);
    Host().FreeFrame(id);
    NS_ASSERT_MSG(cargo, "a frame of a node carries a packet");
    if (m_device)
    {
        m_device->Deliver(static_cast<PacketCargo&>(*cargo).GetPacket(), isMarked);
    }
}

// ---- as a transport ---------------------------------------------------------------------------

void
NodeTransport::StartMessage(uint32_t message)
{
    NS_ABORT_MSG("flows: flow " << Host().GetMessage(message).id
                                << ": ns3::NodeTransport carries what applications of ns-3 send, "
                                   "and no message of the tables; use ns3::TcpTransport");
}

void
NodeTransport::OnTimer(uint32_t)
{
}

std::optional<uint16_t>
NodeTransport::SinglePathEntropy(uint32_t) const
{
    return std::nullopt;
}

} // namespace ns3
