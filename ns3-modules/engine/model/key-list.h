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
        if (m_end == m_keys.data() + m_keys.size())
        {
            const size_t size = Size();
            m_keys.resize(std::max<size_t>(64, 2 * size));
            m_end = m_keys.data() + size;
        }
        *m_end++ = key;
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
    std::vector<uint64_t> m_keys;
    uint64_t* m_end{m_keys.data()};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_KEY_LIST_H
