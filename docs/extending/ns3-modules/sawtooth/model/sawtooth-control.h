// SPDX-License-Identifier: GPL-2.0-only

#ifndef SAWTOOTH_CONTROL_H
#define SAWTOOTH_CONTROL_H

#include "ns3/congestion-control.h"
#include "ns3/nstime.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup sawtooth
 * @brief A rate that a notification of congestion (CNP) cuts, and that a clock raises again.
 *
 * **Source** Additive increase, multiplicative decrease (Chiu and Jain, Computer Networks and ISDN
 * Systems 17, 1989, section 3.2), as a rate; the signals are those of DCQCN (SIGCOMM 2015,
 * section 3).
 * **Not modelled** The estimate of congestion and the fast recovery of DCQCN.
 */
class SawtoothControl final : public fabric::CongestionControl
{
  public:
    static TypeId GetTypeId();

    void Open(uint32_t slot, const Path& path) override;
    void OnAck(uint32_t slot, const Ack& ack) override;
    void OnNotification(uint32_t slot) override;
    uint64_t NextUpdatePs(uint32_t slot) const override;
    void OnUpdate(uint32_t slot) override;
    uint64_t RateBps(uint32_t slot) const override;

    Traits GetTraits() const override
    {
        return {.needsNotifications = true};
    }

  private:
    /// One message.
    struct Flow
    {
        double lineBps;
        double rateBps;
        uint64_t raisePs; ///< When the rate grows next; never: it is the line rate [ps]
    };

    double m_decrease{0};
    double m_raiseShare{0};
    Time m_interval;
    std::vector<Flow> m_flows; ///< By slot
};

} // namespace ns3

#endif // SAWTOOTH_CONTROL_H
