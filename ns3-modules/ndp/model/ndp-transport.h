// SPDX-License-Identifier: GPL-2.0-only

#ifndef NDP_TRANSPORT_H
#define NDP_TRANSPORT_H

#include "ns3/credit-pacer.h"
#include "ns3/pulled-transport.h"

#include <optional>

namespace ns3
{

/**
 * @defgroup ndp NDP
 */

/// State of an NDP message at its source.
struct NdpOutbound : fabric::Outbound
{
    uint32_t initialPackets{0}; ///< First window
    uint32_t credit{0};         ///< Packets that may go now
    uint32_t pulled{0};         ///< Largest pull number that has come
    uint32_t answers{0};        ///< ACKs and NACKs that have come, each to be followed by a PULL
    uint16_t arrivals{0};       ///< Of what was last heard of, the latest lowest: bit per ACK
    uint64_t heardPs{0};        ///< When the last answer or PULL came [ps]
    fabric::PacketRing<uint64_t> sentPs; ///< By packet [ps]
};

/// State of an NDP message at its destination.
struct NdpInbound : fabric::DrivenInbound
{
    uint32_t pulls{0}; ///< Sent, which a PULL says in `aux`
};

/**
 * @ingroup ndp
 * @brief NDP: one window blind, then one packet for each PULL that the receiver paces.
 *
 * The receiver answers each packet with an ACK and each trimmed one with a NACK at once, and puts a
 * PULL into the one queue of its host, which it serves in turns of one per message and empties at
 * just under the rate of its links. PULLs are numbered, so that a later one makes up for one that
 * was lost. A NACKed packet waits for a PULL and goes before new ones. The last packet of a message
 * removes the PULLs that wait for it.
 *
 * A packet that a switch sent back because it had no room even for its header is sent again at once
 * if nothing else would bring a PULL, or if most of what was heard of lately has arrived, so that
 * its path was to blame; it waits for a PULL otherwise. A packet of which nothing was heard for Rto
 * since it was sent is sent again without a PULL; so is all that is out if nothing at all was heard
 * for so long.
 *
 * **Source** Handley et al., "Re-architecting datacenter networks and stacks for low latency and
 * high performance", SIGCOMM 2017, section 3.2. That a PULL which comes before the NACK of the
 * packet it is for is kept, the timeout of each packet, and the default share of the line rate, are
 * those of the authors' simulator.
 * **Not modelled** Connection set-up (its packets carry data); PULLs in an ACK; a priority of one
 * message over the others other than by PullOrder.
 */
class NdpTransport final : public fabric::PulledTransport<NdpOutbound, NdpInbound>
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        Traits traits = PulledTransport::GetTraits();
        traits.mayShorten = true;
        return traits;
    }

  private:
    void DoAttach() override;

    // ---- source
    void Begin(NdpOutbound& out) override;
    bool MaySend(const NdpOutbound& out) const override;
    void Stamp(NdpOutbound& out, fabric::FrameId data, fabric::PortId port) override;
    void JudgeLosses(NdpOutbound& out, fabric::Answer& answer) override;
    bool IsProgress(const fabric::Answer& answer) const override;
    uint64_t WaitsSincePs(const fabric::Outbound& out) const override;
    void OnControl(NdpOutbound& out, fabric::FrameId control) override;
    void OnBounced(NdpOutbound& out) override;
    void OnTimeout(NdpOutbound& out, fabric::Answer& lost) override;
    void OnStarved(NdpOutbound& out) override;

    static void Remember(NdpOutbound& out, bool hasArrived);
    void Heard(NdpOutbound& out);
    void AwaitFirst(NdpOutbound& out);
    void LoseLate(NdpOutbound& out, fabric::Answer& lost);

    // ---- destination
    void OnHeard(NdpInbound& in, fabric::FrameId data) override;
    void OnDelivered(NdpInbound& in) override;
    NdpInbound* TakePull() override;
    uint64_t NextPullPs() const override;
    void StampPull(NdpInbound& in, fabric::FrameId pull) override;

    std::optional<fabric::CreditPacer> m_pulls;
    uint64_t m_packetBytes{0}; ///< Full packet on the wire [byte]
    uint32_t m_initialPackets{0};
    double m_pullShare{0};
    fabric::FlowOrder::By m_pullOrder{fabric::FlowOrder::By::ROUND_ROBIN};
};

} // namespace ns3

#endif // NDP_TRANSPORT_H
