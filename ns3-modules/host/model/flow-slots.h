// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_FLOW_SLOTS_H
#define HOST_FLOW_SLOTS_H

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace ns3
{
namespace fabric
{

constexpr uint32_t NO_SLOT = 0xffffffff;   ///< The flow has not begun at this end
constexpr uint32_t DONE_SLOT = 0xfffffffd; ///< The flow is complete at this end

/**
 * @ingroup host
 * @brief States of the flows of one endpoint, addressed by slots that are used again.
 *
 * A state never moves, so references stay valid until Close. The first lies in the object itself:
 * most hosts have one flow at a time, and it is found without following a pointer.
 */
template <typename T>
class FlowSlots
{
  public:
    /// @return slot of a fresh state
    uint32_t Open()
    {
        if (!m_free.empty())
        {
            const uint32_t slot = m_free.back();
            m_free.pop_back();
            return slot;
        }
        if (m_opened > 0 && (m_opened - 1) % CHUNK == 0)
        {
            m_chunks.push_back(std::make_unique<std::array<T, CHUNK>>());
        }
        return m_opened++;
    }

    void Close(uint32_t slot)
    {
        (*this)[slot] = T();
        m_free.push_back(slot);
    }

    T& operator[](uint32_t slot)
    {
        return slot == 0 ? m_first : (*m_chunks[(slot - 1) / CHUNK])[(slot - 1) % CHUNK];
    }

    const T& operator[](uint32_t slot) const
    {
        return const_cast<FlowSlots&>(*this)[slot];
    }

    /// @return number of slots that are open
    uint32_t Size() const
    {
        return m_opened - static_cast<uint32_t>(m_free.size());
    }

  private:
    static constexpr uint32_t CHUNK = 32;
    T m_first;
    std::vector<std::unique_ptr<std::array<T, CHUNK>>> m_chunks;
    std::vector<uint32_t> m_free;
    uint32_t m_opened{0}; ///< Slots ever used
};

} // namespace fabric
} // namespace ns3

#endif // HOST_FLOW_SLOTS_H
