// SPDX-License-Identifier: GPL-2.0-only

#ifndef MPRDMA_TRANSPORT_H
#define MPRDMA_TRANSPORT_H

#include "mprdma-window.h"

#include "ns3/message-transport.h"

#include <deque>

namespace ns3
{

/**
 * @defgroup mprdma MP-RDMA
 */

/// State of an MpRdmaTransport's message at its source.
struct MpRdmaOutbound : fabric::Outbound
{
    MpRdmaWindow window;
    uint32_t explores{0};        ///< Packets that may go on a path of the selector
    std::deque<uint16_t> clocks; ///< Paths that may carry a packet each, oldest first
    uint16_t answered{0};        ///< Path of the last answer
    uint64_t draws{0};           ///< Of its random numbers
};

/**
 * @ingroup mprdma
 * @brief RDMA over many paths without a state of each: an answer clocks the next packet on its way.
 *
 * The first window, and a few packets later on, go where the path selector says; every answer lets
 * the next packet go by its own path, two if the window has grown, none if it has shrunk. One
 * window: a mark takes half a packet, any other answer adds 1 / window. A path whose packet is more
 * than DeltaPackets behind the furthest one is slow: it is left, and a packet is taken off.
 *
 * **Source** Lu et al., "Multi-Path Transport for RDMA in Datacenters", NSDI 2018, sections 3.2 and
 * 3.3. That a loss counts as a mark, and that a timeout leaves a window of one packet, are ours.
 * **Not modelled** Synchronised messages; a receiver that drops what is beyond its bitmap; several
 * ports of a host.
 */
class MpRdmaTransport final : public fabric::MessageTransport<MpRdmaOutbound, fabric::Inbound>
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.needsMarks = true;
        return traits;
    }

  private:
    void Begin(MpRdmaOutbound& out) override;
    bool MaySend(const MpRdmaOutbound& out) const override;
    void Stamp(MpRdmaOutbound& out, fabric::FrameId data) override;
    void LearnMore(fabric::Outbound& out, fabric::FrameId id, fabric::Answer& answer) override;
    void OnAnswer(MpRdmaOutbound& out, const fabric::Answer& answer) override;
    void OnTimeout(MpRdmaOutbound& out, fabric::Answer& lost) override;

    bool Probes(MpRdmaOutbound& out);

    double m_initialBdp{0};
    uint32_t m_deltaPackets{0};
    double m_probeShare{0};
};

} // namespace ns3

#endif // MPRDMA_TRANSPORT_H
