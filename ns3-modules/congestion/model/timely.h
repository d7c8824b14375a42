// SPDX-License-Identifier: GPL-2.0-only

#ifndef TIMELY_H
#define TIMELY_H

#include "ns3/congestion-control.h"
#include "ns3/nstime.h"
#include "ns3/slot-table.h"

namespace ns3
{

/**
 * @ingroup congestion
 * @brief TIMELY: a rate from the gradient of the round trip time.
 *
 * **Source** Mittal et al., "TIMELY: RTT-based Congestion Control for the Datacenter", SIGCOMM
 * 2015, algorithm 1, with one completion event per round trip, the weight 0.875 of the newest
 * difference and hyper increase below T_low too, as in the simulator of HPCC's authors.
 * **Not modelled** Patched TIMELY: there is no unique fixed point, two flows may stay unequal.
 * Bursts: packets are paced one by one. Round trips include the serialisation of the packet.
 */
class Timely final : public fabric::CongestionControl
{
  public:
    static TypeId GetTypeId();

    Traits GetTraits() const override
    {
        return {.targetPs = static_cast<uint64_t>(m_highRtt.GetPicoSeconds())};
    }

    void Check() const override;
    void Open(uint32_t slot, const Path& path) override;
    void OnAck(uint32_t slot, const Ack& ack) override;
    uint64_t RateBps(uint32_t slot) const override;

  private:
    static TypeId AddRates(TypeId tid); ///< Attributes of rates

    /// One flow.
    struct Flow
    {
        double lineBps{0};
        double rateBps{0};
        double rttPs{0};          ///< At the last completion, 0: there was none [ps]
        double differencePs{0};   ///< Smoothed change of it [ps]
        uint64_t arrivedBytes{0}; ///< Since the last completion [byte]
        uint32_t updatePacket{0}; ///< Its answer ends a round trip
        uint32_t increases{0};    ///< In a row
    };

    bool Completes(Flow& flow, const Ack& ack) const;
    void Increase(Flow& flow) const;
    void Decrease(Flow& flow, double share) const;

    fabric::SlotTable<Flow> m_flows;
    double m_weight{0};
    double m_beta{0};
    double m_additiveShare{0};
    double m_hyperFactor{0};
    double m_leastShare{0};
    double m_initialShare{0};
    uint32_t m_hyperAfter{0};
    uint64_t m_segmentBytes{0};
    Time m_lowRtt;
    Time m_highRtt;
    Time m_leastRtt;
};

} // namespace ns3

#endif // TIMELY_H
