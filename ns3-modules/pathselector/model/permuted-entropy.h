// SPDX-License-Identifier: GPL-2.0-only

#ifndef PERMUTED_ENTROPY_H
#define PERMUTED_ENTROPY_H

#include "entropy-order.h"
#include "flow-selector.h"

#include <optional>
#include <vector>

namespace ns3
{

/// Order of the packets that leave by one port, so that each plane is used evenly.
struct PermutedPortOrder
{
    fabric::PortId port;
    uint32_t paths;  ///< Entropies in a round
    uint32_t shifts; ///< Different multiples of that to add
    EntropyOrder order;
};

/// One flow of a PermutedEntropy.
struct PermutedFlow
{
    fabric::RandomCursor draws;
    uint32_t message;
    std::optional<PermutedPortOrder> first; ///< Often the only one: found without a pointer
    std::vector<PermutedPortOrder> others;
};

/**
 * @ingroup pathselector
 * @brief Round robin over all entropies, in an order drawn anew for each round.
 *
 * As many entropies as there are paths by the routes in force as a round begins; round r adds r
 * times that number, as far as 16 bits go. Where an entropy names its path by its remainder
 * (EntropyModulo) that changes nothing while each switch on the way has the same choices. Where
 * some have fewer, the path that takes the packets of a missing one changes from round to round.
 * With the attribute Paths the entropies are 0 to Paths - 1 in every round.
 *
 * **Source**: NDP (Handley et al., SIGCOMM 2017) section 3.1: the sender permutes its list of
 * paths, sends one packet on each, and permutes again.
 *
 * **Not modelled**: reaction to what becomes of packets.
 */
class PermutedEntropy final : public FlowSelector<PermutedFlow>
{
  public:
    static TypeId GetTypeId();
    void Open(uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;

    Traits GetTraits() const override
    {
        return {.entropies = m_paths ? m_paths : ALL_ENTROPIES}; // no round has those of another
    }

  private:
    PermutedPortOrder& OrderOf(PermutedFlow& flow, fabric::PortId port) const;
    PermutedPortOrder NewOrder(const PermutedFlow& flow, fabric::PortId port) const;

    uint32_t m_paths{0}; ///< Number of entropies, 0 = number of paths
};

} // namespace ns3

#endif // PERMUTED_ENTROPY_H
