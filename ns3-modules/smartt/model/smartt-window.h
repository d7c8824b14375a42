// SPDX-License-Identifier: GPL-2.0-only

#ifndef SMARTT_WINDOW_H
#define SMARTT_WINDOW_H

#include "ns3/congestion-control.h"

#include <cstdint>

namespace ns3
{

/**
 * @ingroup smartt
 * @brief The window of one flow under SMaRTT.
 */
class SmarttWindow
{
  public:
    /// What does not change; the names are those of the attributes of Smartt.
    struct Rules
    {
        double fairIncrease;         ///< "x" [1]
        double proportionalIncrease; ///< "y" [1]
        double proportionalDecrease; ///< "w" [1]
        double fairDecrease;         ///< "z" [1]
        double targetShare;          ///< Target round trip over base round trip, less one [1]
        double startBdp;             ///< First and largest window [bandwidth-delay product]
        double fastPackets;          ///< For each packet, per 100 Gb/s [packet]
        double fastDelayPackets;     ///< Still as good as no delay [packet]
        double quickShare;           ///< Of what arrived in a round trip with losses [1]
        double waitShare;            ///< Marked share above which windows shrink [1]
    };

    SmarttWindow() = default;
    SmarttWindow(const Rules& rules, const fabric::CongestionControl::Path& path);

    void OnSent(uint32_t bytes); ///< Payload [byte]
    void OnAck(const Rules& rules, const fabric::CongestionControl::Ack& ack, uint64_t nowPs);
    void OnTimeout(); ///< All that was in flight is taken for lost

    double PayloadBytes() const ///< Payload [byte]
    {
        return m_windowBytes;
    }

    double BdpBytes() const ///< Payload [byte]
    {
        return m_bdpBytes;
    }

  private:
    using Ack = fabric::CongestionControl::Ack;

    bool QuickAdapt(const Rules& rules, uint64_t nowPs);
    bool FastIncrease(const Rules& rules, const Ack& ack);
    void Adjust(const Rules& rules, const Ack& ack);
    void Set(double bytes); ///< Within one packet and the largest window

    double m_windowBytes{0};
    double m_mostBytes{0};
    double m_bdpBytes{0};
    double m_mtuBytes{0};
    double m_fastBytes{0}; ///< Fast increase for each packet [byte]
    uint64_t m_baseRttPs{0};
    uint64_t m_targetRttPs{0};
    uint64_t m_fastRttPs{0}; ///< Up to this round trip nothing waits [ps]
    uint64_t m_inFlightBytes{0};
    uint64_t m_roundEndPs{0};    ///< Of the round trip that is counted, 0: none yet [ps]
    uint64_t m_roundBytes{0};    ///< That arrived in it [byte]
    uint64_t m_ignoredBytes{0};  ///< Were in flight at a quick adaption; say nothing new [byte]
    double m_goodBytes{0};       ///< In a row without mark or delay [byte]
    double m_goodTargetBytes{0}; ///< Fast increase beyond [byte]
    double m_markedShare{0};     ///< Smoothed [1]
    bool m_hasLoss{false};       ///< Since the last quick adaption
    bool m_isFast{false};        ///< Fast increase
};

} // namespace ns3

#endif // SMARTT_WINDOW_H
