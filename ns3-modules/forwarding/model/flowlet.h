// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLOWLET_H
#define FLOWLET_H

#include "ns3/flowlet-table.h"
#include "ns3/forwarding-policy.h"
#include "ns3/nstime.h"

#include <vector>

namespace ns3
{

/**
 * @ingroup forwarding
 * @brief A flow takes a new random member whenever it was silent for longer than Gap.
 *
 * Each switch has a FlowletTable. When routes change, a flow whose path is still among them keeps
 * it.
 *
 * **Source**: LetFlow (Vanini et al., NSDI 2017), section 3.
 *
 * **Not modelled**: ageing by a bit that is cleared every Gap: times are exact here.
 */
class Flowlet final : public fabric::ForwardingPolicy
{
  public:
    static TypeId GetTypeId();
    void Attach(fabric::SwitchContext& context) override;
    uint32_t Select(const fabric::ForwardingChoice& choice, const fabric::Frame& frame) override;

    Traits GetTraits() const override
    {
        return {.keepsOrder = true};
    }

  private:
    const fabric::SwitchContext* m_context{nullptr};
    Time m_gap;
    uint64_t m_gapPs{0};
    uint32_t m_entries{0}; ///< Of each table
    fabric::FlowletTable m_table;
    std::vector<fabric::RandomCursor> m_draws; ///< Per node
};

} // namespace ns3

#endif // FLOWLET_H
