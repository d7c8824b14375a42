// SPDX-License-Identifier: GPL-2.0-only

#ifndef RANDOM_ENTROPY_H
#define RANDOM_ENTROPY_H

#include "flow-selector.h"

namespace ns3
{

/**
 * @ingroup pathselector
 * @brief A fresh uniform entropy for every packet ("oblivious spraying").
 *
 * **Source**: Dixit et al., INFOCOM 2013, section IV, at the host.
 *
 * **Not modelled**: reaction to what becomes of packets.
 */
class RandomEntropy final : public FlowSelector<fabric::RandomCursor>
{
  public:
    static TypeId GetTypeId();
    void Open(uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;

    Traits GetTraits() const override
    {
        return {.entropies = m_paths ? m_paths : ALL_ENTROPIES};
    }

  private:
    uint32_t m_paths{0}; ///< Number of entropies, 0 = all 65536
};

} // namespace ns3

#endif // RANDOM_ENTROPY_H
