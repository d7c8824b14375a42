// SPDX-License-Identifier: GPL-2.0-only

#ifndef SLOT_STATES_H
#define SLOT_STATES_H

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

/**
 * @defgroup entropy Path selectors
 * @brief The entropy that a sending host writes into each packet.
 */

namespace ns3
{

/**
 * @ingroup entropy
 * @brief What a path selector knows of each flow of its endpoint, by slot.
 */
template <typename Flow>
class SlotStates
{
  public:
    void Open(uint32_t slot, Flow flow)
    {
        if (slot >= m_flows.size())
        {
            m_flows.resize(slot + 1);
        }
        m_flows[slot].emplace(std::move(flow));
    }

    void Close(uint32_t slot)
    {
        m_flows[slot].reset();
    }

    /// @return state of an open slot
    Flow& operator[](uint32_t slot)
    {
        return *m_flows[slot];
    }

  private:
    std::vector<std::optional<Flow>> m_flows;
};

} // namespace ns3

#endif // SLOT_STATES_H
