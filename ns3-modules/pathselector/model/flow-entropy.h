// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLOW_ENTROPY_H
#define FLOW_ENTROPY_H

#include "flow-selector.h"

namespace ns3
{

/**
 * @ingroup pathselector
 * @brief One random entropy for all packets of a flow, as a fixed UDP source port gives.
 *
 * **Source**: RoCEv2, InfiniBand annex A17, section 17.9.2 (the source port is kept per flow).
 *
 * **Not modelled**: ranges of ports.
 */
class FlowEntropy final : public FlowSelector<uint16_t>
{
  public:
    static TypeId GetTypeId();
    void Open(uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;
    std::optional<uint16_t> Constant(uint32_t message) const override;

    Traits GetTraits() const override
    {
        return {.entropies = 1};
    }
};

} // namespace ns3

#endif // FLOW_ENTROPY_H
