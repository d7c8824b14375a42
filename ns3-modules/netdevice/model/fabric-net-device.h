// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_NET_DEVICE_H
#define FABRIC_NET_DEVICE_H

#include "ns3/error-model.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"
#include "ns3/packet.h"
#include "ns3/queue.h"
#include "ns3/traced-callback.h"

/**
 * @defgroup netdevice Nodes of ns-3 on the fabric
 */

namespace ns3
{

class FabricChannel;
class NodeTransport;

/**
 * @ingroup netdevice
 * @brief Network interface of an ns-3 node that sits on a host port of the fabric.
 *
 * What its node sends waits in TxQueue until the port is free, and rides in a frame; what comes is
 * handed to the node in an event of its own. Trace sources have the names and moments of
 * PointToPointNetDevice, with Ethernet headers; FabricDrop is new.
 *
 * **Source** IEEE 802.3 headers; trace sources as ns-3's PointToPointNetDevice.
 * **Not modelled** Callbacks when the link goes down or up (IsLinkUp is right); sending with
 * another source address; jumbo segments that the interface would cut (offload).
 */
class FabricNetDevice final : public NetDevice
{
  public:
    static TypeId GetTypeId();
    FabricNetDevice();
    ~FabricNetDevice() override;

    /// Sit on a host from now on; makes its channel's entry and takes its MTU.
    void SitOn(Ptr<NodeTransport> host, Ptr<FabricChannel> channel);
    void LeaveHost();                ///< The fabric is gone
    void SetNeedsArp(bool needsArp); ///< Without, the transport knows who is where

    // ---- for the host
    Ptr<Packet> Pull(); ///< @return what goes next, null if nothing waits
    void Deliver(Ptr<Packet> packet, bool isMarked); ///< A packet has come in
    void NotifyLost(Ptr<const Packet> packet);       ///< One of its packets is gone for good

    Ptr<FabricChannel> GetFabricChannel() const;

    // ---- NetDevice
    void SetIfIndex(uint32_t index) override;
    uint32_t GetIfIndex() const override;
    Ptr<Channel> GetChannel() const override;
    void SetAddress(Address address) override;
    Address GetAddress() const override;
    bool SetMtu(uint16_t mtu) override;
    uint16_t GetMtu() const override;
    bool IsLinkUp() const override;
    void AddLinkChangeCallback(Callback<void> callback) override;
    bool IsBroadcast() const override;
    Address GetBroadcast() const override;
    bool IsMulticast() const override;
    Address GetMulticast(Ipv4Address group) const override;
    Address GetMulticast(Ipv6Address group) const override;
    bool IsBridge() const override;
    bool IsPointToPoint() const override;
    bool Send(Ptr<Packet> packet, const Address& dest, uint16_t protocol) override;
    bool SendFrom(Ptr<Packet> packet,
                  const Address& source,
                  const Address& dest,
                  uint16_t protocol) override;
    Ptr<Node> GetNode() const override;
    void SetNode(Ptr<Node> node) override;
    bool NeedsArp() const override;
    void SetReceiveCallback(ReceiveCallback callback) override;
    void SetPromiscReceiveCallback(PromiscReceiveCallback callback) override;
    bool SupportsSendFrom() const override;

  private:
    void DoDispose() override;
    void Receive(Ptr<Packet> packet, bool isMarked);
    PacketType TypeOf(const Mac48Address& to) const;
    void NotifySent(Ptr<const Packet> packet);
    static TypeId AddTraces(TypeId tid);

    Ptr<Node> m_node;
    Ptr<NodeTransport> m_host;
    Ptr<FabricChannel> m_channel;
    Ptr<Queue<Packet>> m_queue;
    Ptr<ErrorModel> m_receiveErrorModel;
    Mac48Address m_address;
    uint32_t m_ifIndex{0};
    uint16_t m_mtuBytes{1500};
    bool m_needsArp{true};
    ReceiveCallback m_receive;
    PromiscReceiveCallback m_promiscReceive;

    TracedCallback<Ptr<const Packet>> m_macTx;
    TracedCallback<Ptr<const Packet>> m_macTxDrop;
    TracedCallback<Ptr<const Packet>> m_macPromiscRx;
    TracedCallback<Ptr<const Packet>> m_macRx;
    TracedCallback<Ptr<const Packet>> m_phyTxBegin;
    TracedCallback<Ptr<const Packet>> m_phyTxEnd;
    TracedCallback<Ptr<const Packet>> m_phyRxEnd;
    TracedCallback<Ptr<const Packet>> m_phyRxDrop;
    TracedCallback<Ptr<const Packet>> m_fabricDrop;
    TracedCallback<Ptr<const Packet>> m_sniffer;
    TracedCallback<Ptr<const Packet>> m_promiscSniffer;
};

} // namespace ns3

#endif // FABRIC_NET_DEVICE_H
