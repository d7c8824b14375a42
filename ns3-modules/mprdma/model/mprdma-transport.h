// SPDX-License-Identifier: GPL-2.0-only

#ifndef MPRDMA_TRANSPORT_H
#define MPRDMA_TRANSPORT_H

#include "mprdma-window.h"

#include "ns3/message-transport.h"

#include <deque>
#include <optional>
#include <vector>

namespace ns3
{

/**
 * @defgroup mprdma MP-RDMA
 */

/// State of an MpRdmaTransport's message at its source.
struct MpRdmaOutbound : fabric::Outbound
{
    MpRdmaWindow window;
    uint32_t explores{0}; ///< Packets that may go on a path of the selector, by any port
    /// Paths that may carry a packet each, oldest first, of each port of the host
    std::vector<std::deque<uint16_t>> clocks;
    uint16_t answered{0};     ///< Path of the last answer
    uint32_t answeredPort{0}; ///< Its place among the ports of the host
    uint64_t draws{0};        ///< Of its random numbers
};

/**
 * @ingroup mprdma
 * @brief RDMA over many paths without a state of each: an answer clocks the next packet on its way.
 *
 * The first window, and a few packets later on, go where the path selector says, by whichever port
 * of the host is free; every answer lets the next packet go by its own path and port, two if the
 * window has grown, none if it has shrunk. When a port leads to the destination no more, its
 * packets go where the selector says, by the others. One window for all ports: a mark takes half a
 * packet, any other answer adds 1 / window. A path whose packet is more than DeltaPackets behind
 * the furthest one is slow: it is left, and a packet is taken off.
 *
 * **Source** Lu et al., "Multi-Path Transport for RDMA in Datacenters", NSDI 2018, sections 3.2 and
 * 3.3. That a loss counts as a mark, that a timeout leaves a window of one packet, and the use of
 * several ports, are ours.
 * **Not modelled** Synchronised messages; a receiver that drops what is beyond its bitmap.
 */
class MpRdmaTransport final : public fabric::MessageTransport<MpRdmaOutbound, fabric::Inbound>
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.needsMarks = true;
        traits.spreadsOverPorts = true;
        return traits;
    }

  private:
    void Begin(MpRdmaOutbound& out) override;
    bool MaySend(const MpRdmaOutbound& out) const override;
    bool MayLeaveBy(const MpRdmaOutbound& out, fabric::PortId port) const override;
    void Stamp(MpRdmaOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void LearnMore(fabric::Outbound& out, fabric::FrameId id, fabric::Answer& answer) override;
    void OnAnswer(MpRdmaOutbound& out, const fabric::Answer& answer) override;
    void OnTimeout(MpRdmaOutbound& out, fabric::Answer& lost) override;

    std::optional<size_t> LeftBehind(const MpRdmaOutbound& out) const;
    uint64_t Allowed(const MpRdmaOutbound& out) const;
    bool Probes(MpRdmaOutbound& out);

    double m_initialBdp{0};
    uint32_t m_deltaPackets{0};
    double m_probeShare{0};
};

} // namespace ns3

#endif // MPRDMA_TRANSPORT_H
