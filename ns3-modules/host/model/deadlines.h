// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_DEADLINES_H
#define HOST_DEADLINES_H

#include "ns3/event.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief Several deadlines of one flow behind one timer token.
 *
 * Deadlines move often and are hardly ever reached. Moving one later costs nothing: the timer that
 * is already set finds at its time that nothing is due, and is set again. A fresh object ignores
 * the timers of the one that had its slot before.
 *
 * @tparam N number of deadlines, numbered from 0
 */
template <size_t N>
class Deadlines
{
  public:
    Deadlines()
    {
        m_duePs.fill(NEVER_PS);
    }

    /// What has been found at the time of a timer.
    struct Fired
    {
        uint32_t reached; ///< Bit per deadline that is due; they are cleared
        uint64_t againPs; ///< When to set the timer again, NEVER_PS: not [ps]
    };

    /**
     * Move a deadline.
     * @return time for which a timer must be set now, NEVER_PS if one is set early enough [ps]
     */
    uint64_t Move(size_t which, uint64_t duePs)
    {
        m_duePs[which] = duePs;
        if (duePs >= m_timerPs)
        {
            return NEVER_PS;
        }
        m_laterPs = m_timerPs;
        m_timerPs = duePs;
        return duePs;
    }

    /// There is nothing to wait for.
    void Clear(size_t which)
    {
        m_duePs[which] = NEVER_PS;
    }

    bool IsSet(size_t which) const
    {
        return DuePs(which) != NEVER_PS;
    }

    uint64_t DuePs(size_t which) const ///< When it is reached, NEVER_PS: not [ps]
    {
        return m_duePs[which];
    }

    /// A timer has run out.
    Fired Fire(uint64_t nowPs)
    {
        if (nowPs < m_timerPs)
        {
            return {0, NEVER_PS}; // an old timer; an earlier one did its work
        }
        uint32_t reached = 0;
        uint64_t nextPs = NEVER_PS;
        for (size_t i = 0; i < N; i++)
        {
            if (m_duePs[i] <= nowPs)
            {
                reached |= 1U << i;
                m_duePs[i] = NEVER_PS;
            }
            nextPs = std::min(nextPs, m_duePs[i]);
        }
        const bool isSet = m_laterPs <= nextPs; // a flow that is paced would set one each packet
        m_timerPs = isSet ? std::exchange(m_laterPs, NEVER_PS) : nextPs;
        return {reached, isSet ? NEVER_PS : nextPs};
    }

  private:
    std::array<uint64_t, N> m_duePs; ///< When each is reached [ps]
    uint64_t m_timerPs{NEVER_PS};    ///< Earliest timer set [ps]
    uint64_t m_laterPs{NEVER_PS};    ///< One that was set before that and is yet to come [ps]
};

/// @return the time at which a wait that was doubled so often is over, NEVER_PS at the latest [ps]
constexpr uint64_t
Later(uint64_t fromPs, uint64_t waitPs, uint32_t doublings)
{
    const auto room = static_cast<uint32_t>(std::countl_zero(waitPs));
    const uint64_t longPs = doublings <= room ? waitPs << doublings : NEVER_PS;
    return longPs < NEVER_PS - fromPs ? fromPs + longPs : NEVER_PS;
}

} // namespace fabric
} // namespace ns3

#endif // HOST_DEADLINES_H
