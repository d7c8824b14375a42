// SPDX-License-Identifier: GPL-2.0-only

#ifndef CONGESTION_FLOW_TABLE_H
#define CONGESTION_FLOW_TABLE_H

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @defgroup congestion Congestion control of sender-driven transports
 */

/**
 * @ingroup congestion
 * @brief State of the flows of a congestion control, by slot.
 *
 * @tparam Flow state of one flow
 */
template <typename Flow>
class FlowTable
{
  public:
    /// @return the state of a slot, as good as new
    Flow& Open(uint32_t slot)
    {
        if (slot >= m_flows.size())
        {
            m_flows.resize(slot + 1);
        }
        return m_flows[slot] = Flow{};
    }

    Flow& operator[](uint32_t slot)
    {
        return m_flows[slot];
    }

    const Flow& operator[](uint32_t slot) const
    {
        return m_flows[slot];
    }

  private:
    std::vector<Flow> m_flows;
};

} // namespace ns3

#endif // CONGESTION_FLOW_TABLE_H
