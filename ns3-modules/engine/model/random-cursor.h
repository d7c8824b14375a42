// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_RANDOM_CURSOR_H
#define FABRIC_RANDOM_CURSOR_H

#include "counter-random.h"

namespace ns3
{
namespace fabric
{

/**
 * @brief Place in a random stream of its own: one owner (node, port, flow), one use.
 *
 * Draws for one purpose never move those for another.
 */
class RandomCursor
{
  public:
    explicit RandomCursor(const CounterRandom& stream)
        : m_stream(stream)
    {
    }

    /// @return uniform in [0, n)
    uint32_t Below(uint32_t n)
    {
        return m_stream.Below(m_draws++, n);
    }

    /// @return uniform in [0, 1)
    double Real()
    {
        return m_stream.Real(m_draws++);
    }

    /// @return 64 random bits
    uint64_t Bits()
    {
        return m_stream.Bits(m_draws++);
    }

  private:
    CounterRandom m_stream;
    uint64_t m_draws{0};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_RANDOM_CURSOR_H
