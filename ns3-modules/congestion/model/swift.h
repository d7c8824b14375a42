// SPDX-License-Identifier: GPL-2.0-only

#ifndef SWIFT_H
#define SWIFT_H

#include "ns3/congestion-control.h"
#include "ns3/nstime.h"
#include "ns3/slot-table.h"

namespace ns3
{

/**
 * @ingroup congestion
 * @brief Swift: a window that keeps the delay at a target, also with less than a packet per flow.
 *
 * **Source** Kumar et al., "Swift: Delay is Simple and Effective for Congestion Control in the
 * Datacenter", SIGCOMM 2020, algorithm 1 and section 3.1. The paper gives few of its parameters:
 * defaults are those of csg-htsim, which calls them guesses. Starts with one bandwidth-delay
 * product, as the other controls here do; a window grows only while it is in use.
 * **Not modelled** The second window, for the delay at the receiving host: hosts have none here, so
 * the delay of the fabric is the round trip.
 */
class Swift final : public fabric::CongestionControl
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        return {.targetPs = static_cast<uint64_t>(m_baseTarget.GetPicoSeconds()),
                .hopTargetPs = static_cast<uint64_t>(m_hopTarget.GetPicoSeconds())};
    }

    void Check() const override;
    void Attach(fabric::HostContext& host) override;
    void Open(uint32_t slot, const Path& path) override;
    void OnAck(uint32_t slot, const Ack& ack) override;
    void OnLoss(uint32_t slot, Loss how) override;
    uint64_t WindowBytes(uint32_t slot) const override;
    uint64_t RateBps(uint32_t slot) const override;

    /// @return delay to keep to with that window [ps]
    double TargetPs(uint32_t slot, double windowPackets) const;
    double WindowPackets(uint32_t slot) const; ///< May be below 1 [packet]

  private:
    static TypeId AddWindows(TypeId tid); ///< Attributes of windows

    /// One flow.
    struct Flow
    {
        double windowPackets{0};
        double mtuBytes{0};
        double frameBits{0};    ///< Of a full packet on the wire [bit]
        double rttPs{0};        ///< Of the last answer [ps]
        double hops{0};         ///< Links on the way
        uint64_t decreasePs{0}; ///< When the window was last cut [ps]
        uint32_t timeouts{0};   ///< In a row
    };

    void Decrease(Flow& flow, double factor);

    fabric::SlotTable<Flow> m_flows;
    double m_increase{0};
    double m_beta{0};
    double m_mostDecrease{0};
    double m_scalingFew{0};
    double m_scalingMany{0};
    double m_leastPackets{0};
    double m_initialPackets{0};
    double m_scalingAlphaPs{0}; ///< "fs_alpha" [ps]
    double m_scalingBetaPs{0};  ///< "fs_beta" [ps]
    uint32_t m_resetTimeouts{0};
    Time m_baseTarget;
    Time m_hopTarget;
    Time m_scalingRange;
};

} // namespace ns3

#endif // SWIFT_H
