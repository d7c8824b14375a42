// SPDX-License-Identifier: GPL-2.0-only

#ifndef RECENT_ARRIVALS_H
#define RECENT_ARRIVALS_H

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ns3
{

/**
 * @ingroup mptcp
 * @brief What the latest packet that has arrived says of those sent before it (RACK).
 *
 * A packet that was sent before it and has not arrived is late once its round trip and a reordering
 * window are over. The window is a quarter of the least round trip, at most the smoothed one; it is
 * 0 while nothing was seen out of order and losses are known or likely.
 *
 * **Source** RFC 8985, section 6.2. Every copy has a number of its own here, so the round trip of a
 * copy is never in doubt (step 2).
 */
class RecentArrivals
{
  public:
    /// A packet has arrived, by its number in the order of sending.
    void OnArrival(uint32_t number, uint64_t rttPs)
    {
        m_leastRttPs = std::min(m_leastRttPs, rttPs);
        m_isReordered |= number < m_number; // step 3
        if (number >= m_number)
        {
            m_number = number;
            m_rttPs = rttPs;
        }
    }

    uint32_t Number() const ///< Of the one sent last of those that have arrived
    {
        return m_number;
    }

    /**
     * @param losses whether losses are being repaired, or as many as make a loss have arrived
     * @param smoothedPs round trip [ps]
     * @return from the sending of a packet before Number() until it is late [ps]
     */
    uint64_t WaitPs(bool losses, uint64_t smoothedPs) const
    {
        const uint64_t windowPs = std::min(m_leastRttPs / 4, smoothedPs); // step 4
        return m_rttPs + (losses && !m_isReordered ? 0 : windowPs);
    }

  private:
    uint32_t m_number{0};                                        ///< "RACK.end_seq"
    uint64_t m_rttPs{0};                                         ///< "RACK.rtt" [ps]
    uint64_t m_leastRttPs{std::numeric_limits<uint64_t>::max()}; ///< "RACK.min_RTT" [ps]
    bool m_isReordered{false};                                   ///< "RACK.reordering_seen"
};

} // namespace ns3

#endif // RECENT_ARRIVALS_H
