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
        const size_t size = Size();
        uint64_t* keys = begin();
        if (size > FEW)
        {
            std::sort(keys, end());
            return;
        }
        // Each pair is put in order without a branch: which key is less cannot be foretold. Of
        // std::min and std::max compilers make branches.
        for (size_t last = size; last-- > 1;)
        {
            for (size_t i = 0; i < last; i++)
            {
                const uint64_t a = keys[i];
                const uint64_t b = keys[i + 1];
                const uint64_t change = (a ^ b) & -uint64_t{b < a};
                keys[i] = a ^ change;
                keys[i + 1] = b ^ change;
            }
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
