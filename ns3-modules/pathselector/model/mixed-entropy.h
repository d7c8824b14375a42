// SPDX-License-Identifier: GPL-2.0-only

#ifndef MIXED_ENTROPY_H
#define MIXED_ENTROPY_H

#include "bitmap-entropy.h"
#include "recycled-entropies.h"

namespace ns3
{

/**
 * @ingroup pathselector
 * @brief Recycled entropies if there are any, otherwise those of a BitmapEntropy.
 *
 * **Source**: the "mixed" of the Ultra Ethernet simulator (htsim), its default: a queue of the
 * entropies that came back without a mark, each sent once, beside the penalties of BitmapEntropy.
 *
 * **Not modelled**: the freezing of RepsEntropy.
 */
class MixedEntropy final : public BitmapEntropy
{
  public:
    static TypeId GetTypeId();
    void Open(uint32_t slot, uint32_t message) override;
    void Close(uint32_t slot) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;
    void Report(uint32_t slot, const fabric::PathReport& report) override;

  private:
    fabric::SlotTable<RecycledEntropies> m_recycled;
};

} // namespace ns3

#endif // MIXED_ENTROPY_H
