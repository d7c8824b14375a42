// SPDX-License-Identifier: GPL-2.0-only

#ifndef OVERSUBSCRIPTION_CONTROL_H
#define OVERSUBSCRIPTION_CONTROL_H

#include <cstdint>

namespace ns3
{

/**
 * @ingroup uec
 * @brief The share of its rate at which a receiver gives credit, so that no link before its own is
 * overrun: where a network is oversubscribed, line rate is too much.
 *
 * **Source** The simulator of the Ultra Ethernet transport (uet-htsim, oversubscribed_cc.cpp), with
 * its constants. That one knows how far its network is oversubscribed; its least is 0.9 over that.
 */
class OversubscriptionControl
{
  public:
    explicit OversubscriptionControl(double least = 0.01); ///< @param least Of the rate [1]

    void OnData(bool isMarked);  ///< A packet has come, whole
    void OnTrim(bool atLastHop); ///< A packet has come without its payload
    bool Update();               ///< An interval is over; @return whether anything has come in it

    double Share() const ///< Of the rate [1]
    {
        return m_share;
    }

  private:
    double m_least;
    double m_share{1};
    double m_markedShare{0}; ///< Smoothed, of whole packets [1]
    uint32_t m_wholePackets{0};
    uint32_t m_markedPackets{0};
    uint32_t m_trimmedPackets{0};   ///< All
    uint32_t m_trimmedElsewhere{0}; ///< Not at the last hop
    uint32_t m_increases{0};        ///< In a row
};

} // namespace ns3

#endif // OVERSUBSCRIPTION_CONTROL_H
