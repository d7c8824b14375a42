// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_PACKET_WINDOW_H
#define HOST_PACKET_WINDOW_H

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief Set of packet numbers at and above a base: what has come behind the first hole.
 *
 * A ring of bits that grows with the span it holds; a short one lies in the object itself. The base
 * is never in the set: adding it moves the base to the next number that is missing.
 */
class PacketWindow
{
  public:
    /// @return first number that is not in the set
    uint32_t Base() const
    {
        return m_base;
    }

    /// @return one more than the largest number ever added, at least Base()
    uint32_t End() const
    {
        return m_end;
    }

    /// @return how many numbers above the base are in the set
    uint32_t Held() const
    {
        return m_held;
    }

    /// @return how many numbers are there: those below the base, and those held above it
    uint32_t Count() const
    {
        return m_base + m_held;
    }

    bool Contains(uint32_t packet) const
    {
        if (packet < m_base)
        {
            return true;
        }
        return packet < m_end && (Words()[Word(packet)] >> (packet % 64)) & 1;
    }

    /**
     * Add a number.
     * @return whether it was missing
     */
    bool Add(uint32_t packet)
    {
        if (packet == m_base && m_held == 0) // in order: nothing to remember
        {
            m_base++;
            m_end = std::max(m_end, m_base);
            return true;
        }
        if (Contains(packet))
        {
            return false;
        }
        Reserve(packet);
        Words()[Word(packet)] |= uint64_t{1} << (packet % 64);
        m_held++;
        m_end = std::max(m_end, packet + 1);
        if (packet == m_base)
        {
            Advance();
        }
        return true;
    }

    /// Forget everything below a new base, which is at least Base().
    void AdvanceTo(uint32_t base)
    {
        while (m_base < base)
        {
            Drop(m_base++);
        }
        m_end = std::max(m_end, m_base);
        if (m_base < m_end && Contains(m_base))
        {
            Advance();
        }
    }

  private:
    static constexpr size_t FEW_WORDS = 4;

    const uint64_t* Words() const
    {
        return m_many.empty() ? m_few.data() : m_many.data();
    }

    uint64_t* Words()
    {
        return m_many.empty() ? m_few.data() : m_many.data();
    }

    size_t Length() const ///< Of the ring, a power of two [word]
    {
        return std::max(m_many.size(), FEW_WORDS);
    }

    size_t Word(uint32_t packet) const
    {
        return packet / 64 & (Length() - 1);
    }

    void Drop(uint32_t packet)
    {
        if (packet < m_end)
        {
            uint64_t& word = Words()[Word(packet)];
            const uint64_t bit = uint64_t{1} << (packet % 64);
            m_held -= (word & bit) != 0;
            word &= ~bit;
        }
    }

    void Advance()
    {
        while (m_base < m_end && (Words()[Word(m_base)] >> (m_base % 64)) & 1)
        {
            Drop(m_base++);
        }
    }

    void Reserve(uint32_t packet)
    {
        const size_t words = packet / 64 - m_base / 64 + 1;
        if (words <= Length())
        {
            return;
        }
        std::vector<uint64_t> larger(std::bit_ceil(words));
        for (uint32_t word = m_base / 64; m_held > 0 && word <= (m_end - 1) / 64; word++)
        {
            larger[word & (larger.size() - 1)] = Words()[word & (Length() - 1)];
        }
        m_many.swap(larger);
    }

    std::array<uint64_t, FEW_WORDS> m_few{}; ///< The ring while it is short
    std::vector<uint64_t> m_many;            ///< The ring once it is not
    uint32_t m_base{0};
    uint32_t m_end{0};
    uint32_t m_held{0};
};

} // namespace fabric
} // namespace ns3

#endif // HOST_PACKET_WINDOW_H
