// SPDX-License-Identifier: GPL-2.0-only

#ifndef PACKET_CARGO_H
#define PACKET_CARGO_H

#include "fabric-net-device.h"

#include "ns3/frame.h"

namespace ns3
{

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

} // namespace ns3

#endif // PACKET_CARGO_H
