// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_KEY_LIST_H
#define FABRIC_KEY_LIST_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace fabric
{

/// Keys of events; like a vector, but with an append of three instructions.
class KeyList
{
  public:
    void Clear()
    {
        m_end = m_keys.data();
    }

    void Push(uint64_t key)
    {
        if (m_end == m_limit) [[unlikely]]
        {
            Grow();
        }
        *m_end++ = key;
    }

    /// Put the keys in order; of few, which is usual, faster than std::sort.
    void Sort()
    {
        constexpr size_t FEW = 8;
        if (Size() > FEW)
        {
            std::sort(begin(), end());
            return;
        }
        for (uint64_t* next = begin(); next != end(); next++)
        {
            const uint64_t key = *next;
            uint64_t* place = next;
            for (; place != begin() && place[-1] > key; place--)
            {
                *place = place[-1];
            }
            *place = key;
        }
    }

    size_t Size() const
    {
        return m_end - m_keys.data();
    }

    uint64_t* begin()
    {
        return m_keys.data();
    }

    uint64_t* end()
    {
        return m_end;
    }

    uint64_t operator[](size_t i) const
    {
        return m_keys[i];
    }

  private:
    void Grow()
    {
        const size_t size = Size();
        m_keys.resize(std::max<size_t>(64, 2 * size));
        m_end = m_keys.data() + size;
        m_limit = m_keys.data() + m_keys.size();
    }

    std::vector<uint64_t> m_keys;
    uint64_t* m_end{nullptr};
    uint64_t* m_limit{nullptr}; ///< End of the room there is
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_KEY_LIST_H
