// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_REPETITION_H
#define FABRIC_REPETITION_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief Whether the end of a sequence repeats itself. What it is of is known by numbers.
 */
class Repetition
{
  public:
    static constexpr size_t LEAST = 64;  ///< That must be as those a period before
    static constexpr size_t MOST = 8192; ///< That are looked through

    void Restart()
    {
        m_parts.clear();
    }

    void Add(uint64_t part)
    {
        m_parts.push_back(part);
    }

    size_t Size() const
    {
        return m_parts.size();
    }

    /// @return whether the last one is as the one a period before
    bool GoesOn(size_t period) const
    {
        return Size() > period && m_parts.back() == m_parts[Size() - 1 - period];
    }

    /// Keep as many parts as a period needs if there are many more.
    void Forget(size_t period)
    {
        if (Size() > MOST + period)
        {
            m_parts.erase(m_parts.begin(), m_parts.end() - static_cast<ptrdiff_t>(period));
        }
    }

    /// @return least period of the end of the sequence that holds for two of its turns and for
    /// LEAST beyond the first; 0: there is none
    size_t Period() const;

  private:
    std::vector<uint64_t> m_parts;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_REPETITION_H
