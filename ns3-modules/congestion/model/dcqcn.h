// SPDX-License-Identifier: GPL-2.0-only

#ifndef DCQCN_H
#define DCQCN_H

#include "ns3/congestion-control.h"
#include "ns3/nstime.h"
#include "ns3/slot-table.h"

namespace ns3
{

/**
 * @ingroup congestion
 * @brief DCQCN: a rate that notifications of congestion (CNP) cut, and two clocks that raise it.
 *
 * This is the reaction point. The congestion point is ns3::RedEcn, the notification point the
 * `CnpInterval` of the transport, kept for each flow.
 *
 * **Source** Zhu et al., "Congestion Control for Large-Scale RDMA Deployments", SIGCOMM 2015,
 * section 3 and figure 7: a cut uses alpha as it was before; hyper increase adds i R_HAI.
 * **Not modelled** A least time between cuts (a notification comes at most once per CnpInterval);
 * the hardware that forgets a flow which is back at line rate: alpha goes on ageing instead.
 */
class Dcqcn final : public fabric::CongestionControl
{
  public:
    static TypeId GetTypeId();

    void Attach(fabric::HostContext& host) override;
    void Open(uint32_t slot, const Path& path) override;
    void OnSent(uint32_t slot, uint32_t packet, uint32_t bytes) override;
    void OnAck(uint32_t slot, const Ack& ack) override;
    void OnNotification(uint32_t slot) override;
    uint64_t NextUpdatePs(uint32_t slot) const override;
    void OnUpdate(uint32_t slot) override;
    uint64_t RateBps(uint32_t slot) const override;
    bool IsAtRest(uint32_t slot) const override; ///< It has never been notified

    Traits GetTraits() const override
    {
        return {.needsNotifications = true, .mayRest = true};
    }

    double Alpha(uint32_t slot) const;     ///< Estimate of congestion now [1]
    double TargetBps(uint32_t slot) const; ///< "R_T" [bit/s]

  private:
    /// One flow.
    struct Flow
    {
        double lineBps{0};
        double rateBps{0};                  ///< "R_C" [bit/s]
        double targetBps{0};                ///< "R_T" [bit/s]
        double alpha{1};                    ///< When it was last changed by a notification [1]
        uint64_t alphaPs{0};                ///< That time [ps]
        uint64_t timerPs{fabric::NEVER_PS}; ///< Runs out next; never: at line rate [ps]
        uint64_t sentBytes{0};              ///< Since the byte counter last ran out [byte]
        uint32_t timerRounds{0};            ///< How often the timer ran out since the last cut, "T"
        uint32_t byteRounds{0};             ///< How often the byte counter did, "BC"
    };

    void Increase(Flow& flow) const;

    fabric::SlotTable<Flow> m_flows;
    double m_gain{0};
    double m_additiveShare{0};
    double m_hyperShare{0};
    double m_leastShare{0};
    uint64_t m_counterBytes{0};
    uint64_t m_alphaPs{0};
    uint64_t m_timerPs{0};
    uint32_t m_recoveryRounds{0};
    bool m_clampsTarget{true};
    Time m_alphaInterval;
    Time m_timer;
};

} // namespace ns3

#endif // DCQCN_H
