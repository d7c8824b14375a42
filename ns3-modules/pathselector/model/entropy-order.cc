// SPDX-License-Identifier: GPL-2.0-only

#include "entropy-order.h"

#include "ns3/log.h"

#include <bit>
#include <numeric>
#include <utility>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("EntropyOrder");

EntropyOrder::EntropyOrder(uint32_t n)
    : m_n(n),
      m_next(n)
{
    NS_LOG_FUNCTION(this << n);
    if (n > MOST_LISTED)
    {
        m_halfBits = (static_cast<uint32_t>(std::bit_width(n - 1)) + 1) / 2;
        return;
    }
    m_many.resize(n > FEW ? n : 0);
    std::iota(List(), List() + n, 0);
}

uint16_t
EntropyOrder::Next(RandomCursor& draws)
{
    if (m_next == m_n)
    {
        m_next = 0;
        m_rounds++;
        if (m_halfBits == 0)
        {
            Shuffle(draws);
        }
        else
        {
            m_key = draws.Bits();
        }
    }
    const uint32_t i = m_next++;
    return m_halfBits == 0 ? List()[i] : static_cast<uint16_t>(Permute(i));
}

void
EntropyOrder::Shuffle(RandomCursor& draws)
{
    uint16_t* list = List();
    for (uint32_t i = m_n - 1; i > 0; i--)
    {
        std::swap(list[i], list[draws.Below(i + 1)]);
    }
}

/// @return where the permutation of this round has i
uint32_t
EntropyOrder::Permute(uint32_t i) const
{
    const uint32_t mask = (1U << m_halfBits) - 1;
    do
    {
        uint32_t left = i >> m_halfBits;
        uint32_t right = i & mask;
        for (uint64_t round = 0; round < 4; round++)
        {
            const uint64_t mixed = Mix64(m_key ^ Mix64((round << 32) | right));
            left ^= static_cast<uint32_t>(mixed) & mask;
            std::swap(left, right);
        }
        i = (left << m_halfBits) | right;
    } while (i >= m_n);
    return i;
}

} // namespace ns3
