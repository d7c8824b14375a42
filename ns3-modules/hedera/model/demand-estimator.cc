// SPDX-License-Identifier: GPL-2.0-only

#include "demand-estimator.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ns3
{

namespace
{

constexpr double SMALL = 1e-9; ///< Rates that differ by less are equal [1]

using Flows = std::vector<Demand*>;

bool
HaveSameRate(const Demand& a, const Demand& b)
{
    return std::abs(a.rate - b.rate) <= SMALL;
}

/// What the converged flows of a source leave is shared by its others.
void
EstimateSource(const Flows& flows)
{
    double converged = 0;
    double open = 0;
    for (const Demand* flow : flows)
    {
        (flow->isConverged ? converged : open) += flow->isConverged ? flow->rate : 1;
    }
    for (Demand* flow : flows)
    {
        flow->rate = flow->isConverged ? flow->rate : (1 - converged) / open;
    }
}

/// Flows of a receiver that gets more than its link are cut to equal shares, the small ones not.
void
EstimateReceiver(const Flows& flows)
{
    double total = 0;
    for (Demand* flow : flows)
    {
        flow->isReceiverLimited = true;
        total += flow->rate;
    }
    if (total <= 1 + SMALL)
    {
        return;
    }
    double share = 1.0 / static_cast<double>(flows.size());
    double small = 0;
    for (bool isDone = false; !isDone;)
    {
        isDone = true;
        double limited = 0;
        for (Demand* flow : flows)
        {
            if (flow->isReceiverLimited && flow->rate < share - SMALL)
            {
                small += flow->rate;
                flow->isReceiverLimited = false;
                isDone = false;
            }
            limited += flow->isReceiverLimited;
        }
        share = limited > 0 ? (1 - small) / limited : share;
    }
    for (Demand* flow : flows)
    {
        if (flow->isReceiverLimited)
        {
            flow->rate = share;
            flow->isConverged = true;
        }
    }
}

} // namespace

void
EstimateDemands(std::vector<Demand>& demands)
{
    std::map<uint32_t, Flows> ofSource;
    std::map<uint32_t, Flows> ofReceiver;
    for (Demand& demand : demands)
    {
        ofSource[demand.src].push_back(&demand);
        ofReceiver[demand.dst].push_back(&demand);
    }
    std::vector<Demand> before;
    do
    {
        before = demands;
        for (const auto& [src, flows] : ofSource)
        {
            EstimateSource(flows);
        }
        for (const auto& [dst, flows] : ofReceiver)
        {
            EstimateReceiver(flows);
        }
    } while (!std::equal(before.begin(), before.end(), demands.begin(), HaveSameRate));
}

} // namespace ns3
