// SPDX-License-Identifier: GPL-2.0-only

#ifndef DEMAND_ESTIMATOR_H
#define DEMAND_ESTIMATOR_H

#include <cstdint>
#include <vector>

namespace ns3
{

/// A flow as demand estimation sees it; rates are in units of a host's link.
struct Demand
{
    uint32_t src; ///< Link of its source
    uint32_t dst; ///< Link of its destination
    double rate{0};          ///< What it would get if only hosts limited it [1]
    bool isConverged{false}; ///< Limited by its receiver
    bool isReceiverLimited{false};
};

/**
 * Find the rates that flows would get if the network had no limit: sources share their link
 * equally, receivers that get too much cut the largest flows equally, until nothing changes.
 *
 * **Source**: Hedera (Al-Fares et al., NSDI 2010), section 4.1, figure 4.
 */
void EstimateDemands(std::vector<Demand>& demands);

} // namespace ns3

#endif // DEMAND_ESTIMATOR_H
