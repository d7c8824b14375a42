// SPDX-License-Identifier: GPL-2.0-only

#ifndef BITMAP_ENTROPY_H
#define BITMAP_ENTROPY_H

#include "flow-selector.h"
#include "penalised-entropies.h"

namespace ns3
{

/// One flow of a BitmapEntropy.
struct BitmapFlow
{
    fabric::RandomCursor draws;
    PenalisedEntropies entropies;
};

/**
 * @ingroup pathselector
 * @brief Entropies in turn; those that met congestion are left out for a while.
 *
 * **Source**: the "bitmap" of the Ultra Ethernet simulator (htsim), with its penalties: 1 for a
 * mark, 4 for a packet that was trimmed, 15, which is the most, for a timeout. Where packets are
 * dropped, one that others have overtaken counts as a trimmed one.
 *
 * **Not modelled**: random high bits of a flow; a switch that hashes knows flows apart anyhow.
 */
class BitmapEntropy : public FlowSelector<BitmapFlow>
{
  public:
    static TypeId GetTypeId();
    void Open(uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;
    void Report(uint32_t slot, const fabric::PathReport& report) override;

    Traits GetTraits() const override
    {
        return {.needsReports = true, .entropies = m_paths};
    }

  private:
    uint32_t m_paths{0}; ///< Number of entropies
};

} // namespace ns3

#endif // BITMAP_ENTROPY_H
