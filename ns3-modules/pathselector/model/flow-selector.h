// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLOW_SELECTOR_H
#define FLOW_SELECTOR_H

#include "ns3/path-selector.h"
#include "ns3/random-cursor.h"
#include "ns3/slot-table.h"

/**
 * @defgroup entropy Path selectors
 * @brief The entropy that a sending host writes into each packet.
 */

namespace ns3
{

/**
 * @ingroup pathselector
 * @brief A path selector that knows something of each flow until it ends.
 *
 * @tparam Flow what it knows of one
 */
template <typename Flow>
class FlowSelector : public fabric::PathSelector
{
  public:
    void Close(uint32_t slot) override
    {
        m_flows.Close(slot);
    }

  protected:
    /// @return random numbers of a message, from the first on
    fabric::RandomCursor DrawsOf(uint32_t message) const
    {
        const auto id = static_cast<uint64_t>(Host().GetMessage(message).id);
        return fabric::RandomCursor(Host().Stream(fabric::RandomUse::PATH_ENTROPY, id));
    }

    fabric::SlotTable<Flow> m_flows;
};

} // namespace ns3

#endif // FLOW_SELECTOR_H
