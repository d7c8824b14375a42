// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_CLOCKS_H
#define FABRIC_CLOCKS_H

#include "event.h"

#include <compare>
#include <cstdint>
#include <ostream>

namespace ns3
{
namespace fabric
{

/**
 * @brief A time of one clock. Times of two clocks are two types, and neither becomes the other by
 * itself; spans of time are numbers, which a clock does not change.
 */
template <typename Clock>
class TimeOf
{
  public:
    constexpr TimeOf() = default;

    constexpr explicit TimeOf(uint64_t ps)
        : m_ps(ps)
    {
    }

    static constexpr TimeOf Never()
    {
        return TimeOf(NEVER_PS);
    }

    constexpr uint64_t Ps() const ///< Since the beginning of the run [ps]
    {
        return m_ps;
    }

    constexpr TimeOf& operator+=(uint64_t spanPs)
    {
        m_ps += spanPs;
        return *this;
    }

    constexpr auto operator<=>(const TimeOf&) const = default;

    friend constexpr TimeOf operator+(TimeOf time, uint64_t spanPs)
    {
        return TimeOf(time.m_ps + spanPs);
    }

    friend constexpr TimeOf operator-(TimeOf time, uint64_t spanPs)
    {
        return TimeOf(time.m_ps - spanPs);
    }

    friend constexpr uint64_t operator-(TimeOf later, TimeOf earlier) ///< [ps]
    {
        return later.m_ps - earlier.m_ps;
    }

    friend std::ostream& operator<<(std::ostream& stream, TimeOf time)
    {
        return stream << time.m_ps;
    }

  private:
    uint64_t m_ps{0};
};

/// A time of an engine's clock: of its events, of what plug-ins see.
using EnginePs = TimeOf<struct EngineClock>;
/// A time of the world: of the tables of a run, of results, of stock ns-3.
using WorldPs = TimeOf<struct WorldTime>;

/**
 * @brief How far the time of the world is ahead of an engine's clock: by what is not executed.
 *
 * Only this makes a time of one clock a time of the other.
 */
class WorldClock
{
  public:
    WorldPs WorldOf(EnginePs time) const
    {
        return WorldPs(time.Ps() + m_aheadPs);
    }

    EnginePs EngineOf(WorldPs time) const
    {
        return EnginePs(time.Ps() - m_aheadPs);
    }

    void MoveAhead(uint64_t byPs) ///< [ps]
    {
        m_aheadPs += byPs;
    }

  private:
    uint64_t m_aheadPs{0};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_CLOCKS_H
