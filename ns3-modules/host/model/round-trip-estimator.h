// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_ROUND_TRIP_ESTIMATOR_H
#define HOST_ROUND_TRIP_ESTIMATOR_H

#include <algorithm>
#include <cstdint>
#include <limits>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief Smoothed round trip time, its variation, and the least ever seen.
 *
 * Source: RFC 6298 sections 2.2 and 2.3, with its gains of 1/8 and 1/4.
 */
class RttEstimator
{
  public:
    void Sample(uint64_t rttPs)
    {
        m_leastPs = std::min(m_leastPs, rttPs);
        if (m_smoothedPs == 0)
        {
            m_smoothedPs = rttPs;
            m_variationPs = rttPs / 2;
            return;
        }
        const uint64_t apartPs = std::max(m_smoothedPs, rttPs) - std::min(m_smoothedPs, rttPs);
        m_variationPs = m_variationPs - m_variationPs / 4 + apartPs / 4;
        m_smoothedPs = m_smoothedPs - m_smoothedPs / 8 + rttPs / 8;
    }

    uint64_t SmoothedPs() const ///< 0 before the first sample [ps]
    {
        return m_smoothedPs;
    }

    uint64_t LeastPs() const ///< As late as can be before the first sample [ps]
    {
        return m_leastPs;
    }

    /// @return retransmission timeout, not below a least one [ps]
    uint64_t TimeoutPs(uint64_t leastPs) const
    {
        return std::max(leastPs, m_smoothedPs + 4 * m_variationPs);
    }

  private:
    uint64_t m_smoothedPs{0};
    uint64_t m_variationPs{0};
    uint64_t m_leastPs{std::numeric_limits<uint64_t>::max()};
};

} // namespace fabric
} // namespace ns3

#endif // HOST_ROUND_TRIP_ESTIMATOR_H
