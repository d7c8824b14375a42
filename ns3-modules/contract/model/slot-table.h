// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SLOT_TABLE_H
#define FABRIC_SLOT_TABLE_H

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief What a path selector or a congestion control knows of each flow of its endpoint, by slot.
 *
 * The first lies in the object itself: most hosts have one flow at a time, and it is found without
 * following a pointer. Open may move the others.
 */
template <typename Flow>
class SlotTable
{
  public:
    Flow& Open(uint32_t slot, Flow flow = {})
    {
        if (slot > m_others.size())
        {
            m_others.resize(slot);
        }
        return Of(slot).emplace(std::move(flow));
    }

    void Close(uint32_t slot)
    {
        Of(slot).reset();
    }

    /// @return state of an open slot
    Flow& operator[](uint32_t slot)
    {
        return *Of(slot);
    }

    const Flow& operator[](uint32_t slot) const
    {
        return *const_cast<SlotTable*>(this)->Of(slot);
    }

  private:
    std::optional<Flow>& Of(uint32_t slot)
    {
        return slot == 0 ? m_first : m_others[slot - 1];
    }

    std::optional<Flow> m_first;
    std::vector<std::optional<Flow>> m_others; ///< From slot 1 up
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_SLOT_TABLE_H
