// SPDX-License-Identifier: GPL-2.0-only

#ifndef LINKED_WINDOWS_H
#define LINKED_WINDOWS_H

#include "ns3/round-trip-estimator.h"

#include <cstdint>
#include <limits>
#include <vector>

/**
 * @defgroup mptcp Multipath TCP
 */

namespace ns3
{

/**
 * @ingroup mptcp
 * @brief The windows of the subflows of one message, whose increases are linked (LIA).
 *
 * Slow start and halving are those of each subflow. Beyond slow start an answer adds
 * min(A / sum of windows, 1 / window), with
 * A = sum of windows * max(window / rtt^2) / (sum of window / rtt)^2.
 *
 * **Source** RFC 6356, section 3; slow start and halving: RFC 5681, sections 3.1 and 3.2.
 */
class LinkedWindows
{
  public:
    explicit LinkedWindows(uint32_t subflows = 0, double packets = 1);

    void OnAck(uint32_t subflow, uint64_t rttPs);
    void OnLoss(uint32_t subflow); ///< At most once per window
    void OnTimeout(uint32_t subflow);
    double Aggressiveness() const; ///< A [1]

    double Packets(uint32_t subflow) const ///< Window [packet]
    {
        return m_subflows[subflow].packets;
    }

    uint64_t RttPs(uint32_t subflow) const ///< Smoothed, 0: not known yet [ps]
    {
        return m_subflows[subflow].rtt.SmoothedPs();
    }

    uint32_t Size() const
    {
        return static_cast<uint32_t>(m_subflows.size());
    }

  private:
    struct Subflow
    {
        double packets;                                            ///< Window
        double threshold{std::numeric_limits<double>::infinity()}; ///< Of slow start [packet]
        fabric::RttEstimator rtt;
    };

    double Sum() const;

    std::vector<Subflow> m_subflows;
};

} // namespace ns3

#endif // LINKED_WINDOWS_H
