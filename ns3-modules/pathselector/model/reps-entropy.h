// SPDX-License-Identifier: GPL-2.0-only

#ifndef REPS_ENTROPY_H
#define REPS_ENTROPY_H

#include "flow-selector.h"
#include "reps-state.h"

#include "ns3/nstime.h"

namespace ns3
{

/// One flow of a RepsEntropy.
struct RepsFlow
{
    fabric::RandomCursor draws;
    RepsState state;
};

/**
 * @ingroup pathselector
 * @brief Entropies that came back without a mark are used again (REPS).
 *
 * **Source**: Bonato et al., "REPS: Recycled Entropy Packet Spraying", arXiv 2407.21625: a
 * ring of 8 entries, freezing after a failure, exploration afterwards. Ring, 10 ms of freezing and
 * 16 packets of exploration as in the Ultra Ethernet simulator (htsim); there as here the entropy
 * of a packet that was trimmed next to its destination is kept.
 *
 * **Not modelled**: freezing on anything but a timeout of the transport.
 */
class RepsEntropy final : public FlowSelector<RepsFlow>
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::HostContext& host) override;
    void Open(uint32_t slot, uint32_t message) override;
    uint16_t Next(uint32_t slot, fabric::PortId port) override;
    void Report(uint32_t slot, const fabric::PathReport& report) override;

    Traits GetTraits() const override
    {
        return {.needsReports = true, .entropies = m_paths};
    }

  private:
    uint32_t m_paths{0};
    uint32_t m_ringEntries{0};
    uint32_t m_lifetimeUses{0};
    uint32_t m_explorePackets{0};
    Time m_freezeTime;
    RepsState::Rules m_rules{}; ///< The attributes
};

} // namespace ns3

#endif // REPS_ENTROPY_H
