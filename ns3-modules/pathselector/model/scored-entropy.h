// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCORED_ENTROPY_H
#define SCORED_ENTROPY_H

#include "flow-selector.h"
#include "path-scores.h"

#include <vector>

namespace ns3
{

/// Packets that leave by one port.
struct ScoredPlane
{
    fabric::PortId port;
    PathScores scores;
};

/// One flow of a ScoredEntropy.
struct ScoredFlow
{
    fabric::RandomCursor draws;
    uint32_t message;
    std::vector<ScoredPlane> planes;
};

/**
 * @ingroup pathselector
 * @brief Round robin over all entropies, without those that are worse than the mean.
 *
 * PathScores for each port by which a message leaves. An entropy is to mean a path: by default
 * there are as many as paths, which EntropyModulo gives one each.
 *
 * **Source**: NDP (Handley et al., SIGCOMM 2017) section 3.2.3: senders count ACKs, NACKs and
 * losses per path and take outliers out of the set of paths for a while. What an outlier is and how
 * long it stays out are choices of ours.
 *
 * **Not modelled**: counts that messages to the same destination share.
 */
class ScoredEntropy final : public FlowSelector<ScoredFlow>
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::HostContext& host) override;
    void Open(uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;
    void Report(uint32_t slot, const fabric::PathReport& report) override;

    Traits GetTraits() const override
    {
        return {.needsReports = true, .entropies = m_paths ? m_paths : ONE_FOR_EACH_PATH};
    }

  private:
    uint32_t m_paths{0}; ///< Number of entropies, 0 = number of paths
    double m_outlierSigmas{0};
    uint32_t m_excludedRounds{0};
    PathScores::Rules m_rules{}; ///< The attributes
};

} // namespace ns3

#endif // SCORED_ENTROPY_H
