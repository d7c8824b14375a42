// SPDX-License-Identifier: GPL-2.0-only

#ifndef RECYCLED_ENTROPIES_H
#define RECYCLED_ENTROPIES_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup pathselector
 * @brief Entropies that came back and are yet to be sent again, oldest first.
 *
 * A ring that grows: few wait, and they lie in one place.
 */
class RecycledEntropies
{
  public:
    bool IsEmpty() const
    {
        return m_head == m_tail;
    }

    void Push(uint16_t entropy)
    {
        if (m_tail - m_head == m_ring.size())
        {
            Grow();
        }
        m_ring[m_tail++ & (m_ring.size() - 1)] = entropy;
    }

    /// @return the oldest, of which there is one; it leaves
    uint16_t Pop()
    {
        return m_ring[m_head++ & (m_ring.size() - 1)];
    }

  private:
    void Grow()
    {
        constexpr size_t FEW = 16;
        std::vector<uint16_t> larger(m_ring.empty() ? FEW : 2 * m_ring.size());
        for (size_t i = m_head; i != m_tail; i++)
        {
            larger[i & (larger.size() - 1)] = m_ring[i & (m_ring.size() - 1)];
        }
        m_ring.swap(larger);
    }

    size_t m_head{0};             ///< Count of those that have left
    size_t m_tail{0};             ///< Count of those that have come
    std::vector<uint16_t> m_ring; ///< Length is a power of two
};

} // namespace ns3

#endif // RECYCLED_ENTROPIES_H
