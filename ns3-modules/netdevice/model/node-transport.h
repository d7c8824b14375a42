// SPDX-License-Identifier: GPL-2.0-only

#ifndef NODE_TRANSPORT_H
#define NODE_TRANSPORT_H

#include "fabric-net-device.h"
#include "packet-fields.h"

#include "ns3/mac48-address.h"
#include "ns3/transport.h"

#include <deque>
#include <map>

namespace ns3
{

/// How a packet goes through the fabric.
struct Ride
{
    uint32_t message; ///< Its frames count for this one
    uint32_t dst;     ///< Dense index of a host
    uint16_t flags;   ///< See frame_flag, ECN apart
    uint32_t aux{0};  ///< For the other end
};

/**
 * @ingroup netdevice
 * @brief The end of the fabric at a host on which a FabricNetDevice sits: its packets in frames.
 *
 * A packet of an ns-3 node rides in a frame from port to port and ends with it, so it meets the
 * queues, losses, marks and cuts that all frames meet. TCP segments with payload, and all else that
 * is no ARP, no broadcast and no bare TCP header, are data; the rest is control. A mark of the
 * fabric becomes Congestion Experienced in the IP header when the packet leaves it, and only
 * packets whose header says that they are ECN-capable may be marked.
 *
 * **Source** Our own; ECN: RFC 3168.
 * **Not modelled** Hosts with several ports: each device of a node has a host of its own.
 * Segmentation offload. Trimming: packets are whole.
 */
class NodeTransport : public fabric::Transport
{
  public:
    static TypeId GetTypeId();

    /// A device sits on this host from now on.
    void SetDevice(Ptr<FabricNetDevice> device);

    uint32_t HostIndex() const; ///< Dense index of its host
    uint64_t RateBps() const;   ///< Of its link [bit/s]
    bool IsLinkUp() const;
    virtual uint32_t PacketBytes() const; ///< Largest packet, its IP header included [byte]
    /// @return time on the wire of a packet with its Ethernet header [ps]
    uint64_t SerialisationPs(uint32_t packetBytes) const;
    void Kick(); ///< The device has something to send

    void StartMessage(uint32_t message) override;
    void Receive(fabric::FrameId frame, fabric::PortId port) override;
    fabric::FrameId NextFrame(fabric::PortId port, const fabric::NicState& nic) override;
    void OnTimer(uint32_t token) override;

    Traits GetTraits() const override
    {
        const uint32_t ackBytes = std::max(m_minFrameBytes, fabric::MIN_FRAME_BYTES);
        return {.wire = {m_mtuBytes, m_headerBytes, 0, ackBytes, 1},
                .dataPriority = m_priority,
                .isOpen = true,
                .usesStockEvents = true};
    }

    std::optional<uint16_t> SinglePathEntropy(uint32_t message) const override;

  protected:
    void DoDispose() override;

    /// Add the attributes that every transport of nodes has.
    static TypeId AddAttributes(TypeId tid);

    uint32_t HeaderBytes() const
    {
        return m_headerBytes;
    }

    uint32_t MinFrameBytes() const
    {
        return m_minFrameBytes;
    }

    /// @return how a packet goes to one host, none: nobody there has this address
    virtual std::optional<Ride> RideOf(const PacketFields& fields, const Mac48Address& to);

    Ptr<FabricNetDevice> m_device;

  private:
    fabric::FrameId FrameFor(const Ride& ride, const PacketFields& fields, Ptr<Packet> packet);
    fabric::FrameId FirstCopy(const PacketFields& fields, Ptr<Packet> packet);
    uint32_t FrameBytes(uint32_t packetBytes) const;
    uint32_t ConversationWith(uint32_t host);

    std::map<uint32_t, uint32_t> m_conversations; ///< By host: message for its frames
    std::deque<fabric::FrameId> m_copies;         ///< Of a broadcast, to be sent next
    uint32_t m_mtuBytes{0};
    uint32_t m_headerBytes{0};
    uint32_t m_minFrameBytes{0};
    uint8_t m_priority{0};
};

} // namespace ns3

#endif // NODE_TRANSPORT_H
