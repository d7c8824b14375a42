// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PATH_SELECTORS_H
#define FABRIC_PATH_SELECTORS_H

#include "fabric-random.h"
#include "path-selector.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup fabric
 * @brief One entropy for all packets of a flow, as a fixed UDP source port gives.
 */
class FlowEntropy final : public fabric::PathSelector
{
  public:
    static TypeId GetTypeId();
    void Open(fabric::Fabric& fabric, uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;
    int32_t Constant(fabric::Fabric& fabric, uint32_t message) const override;

  private:
    std::vector<uint16_t> m_entropy; ///< Per slot
};

/**
 * @ingroup fabric
 * @brief A fresh uniform entropy for every packet ("oblivious spraying").
 */
class RandomEntropy final : public fabric::PathSelector
{
  public:
    static TypeId GetTypeId();
    void Open(fabric::Fabric& fabric, uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;

  private:
    /// Random stream of one flow.
    struct Flow
    {
        fabric::CounterRandom stream;
        uint64_t draws;
    };

    uint32_t m_paths{0};       ///< Number of entropies, 0 = all 65536
    std::vector<Flow> m_flows; ///< Per slot
};

/**
 * @ingroup fabric
 * @brief Round robin over all entropies, in an order drawn anew for each round.
 *
 * Source: NDP (Handley et al., SIGCOMM 2017) section 3.1: the sender permutes its list of paths,
 * sends one packet on each, and permutes again.
 */
class PermutedEntropy final : public fabric::PathSelector
{
  public:
    static TypeId GetTypeId();
    void Open(fabric::Fabric& fabric, uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;

  private:
    /// Order of the packets that leave by one port, so that each plane is used evenly.
    struct Round
    {
        fabric::PortId port;
        uint32_t next;
        std::vector<uint16_t> order;
    };

    /// Rounds of one flow.
    struct Flow
    {
        fabric::CounterRandom stream;
        uint64_t draws;
        uint32_t paths;
        std::vector<Round> rounds;
    };

    static Round& RoundOf(Flow& flow, fabric::PortId port);

    uint32_t m_paths{0};       ///< Number of entropies, 0 = number of paths
    std::vector<Flow> m_flows; ///< Per slot
};

} // namespace ns3

#endif // FABRIC_PATH_SELECTORS_H
