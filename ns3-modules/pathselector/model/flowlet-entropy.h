// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLOWLET_ENTROPY_H
#define FLOWLET_ENTROPY_H

#include "flow-selector.h"

#include "ns3/nstime.h"

namespace ns3
{

/// One flow of a FlowletEntropy.
struct FlowletFlow
{
    fabric::RandomCursor draws;
    uint16_t entropy;
    uint64_t lastPs; ///< When a packet was last sent [ps]
};

/**
 * @ingroup pathselector
 * @brief A flow takes a new random entropy after it has been silent for longer than Gap.
 *
 * **Source**: Sinha, Kandula and Katabi, "Harnessing TCP's Burstiness with Flowlet Switching",
 * HotNets 2004, at the sending host.
 *
 * **Not modelled**: reaction to what becomes of packets.
 */
class FlowletEntropy final : public FlowSelector<FlowletFlow>
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::HostContext& host) override;
    void Open(uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;

    Traits GetTraits() const override
    {
        return {.keepsOrder = true};
    }

  private:
    Time m_gap;
    uint64_t m_gapPs{0};
};

} // namespace ns3

#endif // FLOWLET_ENTROPY_H
