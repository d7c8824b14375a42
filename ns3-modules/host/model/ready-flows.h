// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_READY_FLOWS_H
#define HOST_READY_FLOWS_H

#include "flow-order.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief Flows of a host that may send: an order for each of its ports and priorities.
 *
 * The first list, often the only one, lies in the object.
 */
class ReadyFlows
{
  public:
    void Reset(FlowOrder::By order, uint32_t ports, uint8_t levels)
    {
        m_levels = levels;
        m_first = FlowOrder(order);
        m_others.clear();
        for (uint32_t list = 1; list < ports * levels; list++)
        {
            m_others.emplace_back(order);
        }
    }

    uint8_t Levels() const ///< Lists of each port
    {
        return m_levels;
    }

    bool MayHave() const ///< Some flow is listed, as far as one list can tell
    {
        return !m_first.IsEmpty() || !m_others.empty();
    }

    const FlowOrder& Of(uint32_t port, uint32_t level) const
    {
        const uint32_t place = port * m_levels + level;
        return place == 0 ? m_first : m_others[place - 1];
    }

    FlowOrder& Of(uint32_t port, uint32_t level)
    {
        return const_cast<FlowOrder&>(std::as_const(*this).Of(port, level));
    }

  private:
    uint8_t m_levels{1};
    FlowOrder m_first;
    std::vector<FlowOrder> m_others; ///< By port, then by priority
};

} // namespace fabric
} // namespace ns3

#endif // HOST_READY_FLOWS_H
