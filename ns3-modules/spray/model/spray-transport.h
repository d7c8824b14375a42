// SPDX-License-Identifier: GPL-2.0-only

#ifndef SPRAY_TRANSPORT_H
#define SPRAY_TRANSPORT_H

#include "ns3/message-transport.h"

namespace ns3
{

/**
 * @defgroup spray Packet spraying
 */

/// State of a SprayTransport's message at its source.
struct SprayOutbound : fabric::Outbound
{
    uint32_t windowPackets{0}; ///< Most packets in flight
};

/**
 * @ingroup spray
 * @brief Packet spraying at its plainest: a fixed window, one entropy per packet, selective repeat.
 *
 * The sender keeps WindowBdp bandwidth-delay products in flight, or what its congestion control
 * allows if that is 0, over all ports that serve the destination, and asks its path selector for
 * the entropy of every packet. The receiver takes packets in any order and acknowledges each by its
 * number. A packet is lost when one ReorderPackets further on has arrived, when it came without its
 * payload, or after a timeout.
 *
 * **Source** Our own; the common part of NDP (SIGCOMM 2017), MP-RDMA (NSDI 2018) and the Ultra
 * Ethernet transport without their congestion control.
 * **Not modelled** Credits.
 */
class SprayTransport final : public fabric::MessageTransport<SprayOutbound, fabric::Inbound>
{
  public:
    static TypeId GetTypeId();
    void Check() const override;

    fabric::Datagram Describe(const fabric::Frame& frame) const override;

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.spreadsOverPorts = true;
        traits.mayShorten = true;
        traits.mayRepeat = true;
        return traits;
    }

  private:
    void Begin(SprayOutbound& out) override;
    bool MaySend(const SprayOutbound& out) const override;

    double m_windowBdp{0};
};

} // namespace ns3

#endif // SPRAY_TRANSPORT_H
