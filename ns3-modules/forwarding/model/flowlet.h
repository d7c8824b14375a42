// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLOWLET_H
#define FLOWLET_H

#include "flow-hash.h"

#include "ns3/forwarding-policy.h"
#include "ns3/nstime.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief A flow takes a new random member whenever it was silent for longer than Gap.
 *
 * Each switch has a table of a fixed number of entries, addressed by a hash of header fields and
 * entropy; flows that fall on one entry are one flow to it. When routes change, a flow whose way
 * is still among them keeps it.
 *
 * **Source**: LetFlow (Vanini et al., NSDI 2017), section 3.
 *
 * **Not modelled**: ageing by a bit that is cleared every Gap: times are exact here.
 */
class Flowlet final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchView& view) override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;
    Sees LooksAt() const override;
    bool KeepsFlowOnOnePath() const override;

  private:
    /// Entry of a table: where a flow went last, and when.
    struct Last
    {
        uint64_t timePs{0};
        fabric::PortId port{fabric::NO_PORT};
        uint32_t member{0}; ///< Where that port was among the members
    };

    Last& EntryOf(uint32_t node, const fabric::Frame& frame);

    const fabric::SwitchView* m_view{nullptr};
    FlowHash m_hash;
    Time m_gap;
    uint64_t m_gapPs{0};
    uint32_t m_entries{0};                     ///< Of each table
    std::vector<std::vector<Last>> m_tables;   ///< Per node; empty until it has to choose
    std::vector<fabric::RandomCursor> m_draws; ///< Per node
};

} // namespace ns3

#endif // FLOWLET_H
