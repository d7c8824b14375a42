// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FLOW_SLOTS_H
#define FABRIC_FLOW_SLOTS_H

#include "event-queue.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

constexpr uint32_t NO_SLOT = 0xffffffff;   ///< The flow has not begun at this end
constexpr uint32_t DONE_SLOT = 0xfffffffd; ///< The flow is complete at this end

/**
 * @brief States of the flows of one endpoint, addressed by slots that are used again.
 */
template <typename T>
class FlowSlots
{
  public:
    /// @return slot of a fresh state
    uint32_t Open()
    {
        if (m_free.empty())
        {
            m_states.emplace_back();
            return static_cast<uint32_t>(m_states.size() - 1);
        }
        const uint32_t slot = m_free.back();
        m_free.pop_back();
        return slot;
    }

    void Close(uint32_t slot)
    {
        m_states[slot] = T{};
        m_free.push_back(slot);
    }

    T& operator[](uint32_t slot)
    {
        return m_states[slot];
    }

  private:
    std::vector<T> m_states;
    std::vector<uint32_t> m_free;
};

/**
 * @brief First-in first-out list of the slots that may have something to send.
 *
 * Serving it from the front and putting a slot back at the end is round robin over flows.
 */
class ReadyList
{
  public:
    void Push(uint32_t slot)
    {
        if (slot >= m_next.size())
        {
            m_next.resize(slot + 1, ABSENT);
        }
        if (m_next[slot] != ABSENT)
        {
            return;
        }
        m_next[slot] = NO_SLOT;
        (m_tail == NO_SLOT ? m_head : m_next[m_tail]) = slot;
        m_tail = slot;
    }

    /// @return the first slot, NO_SLOT if the list is empty
    uint32_t Pop()
    {
        return PopFirst([](uint32_t) { return Verdict::TAKE; });
    }

    /// What becomes of a slot whose turn it is.
    enum class Verdict
    {
        TAKE, ///< It is the one
        KEEP, ///< It keeps its place
        DROP, ///< It leaves the list: there is nothing to send
    };

    /**
     * Ask one slot after the other until one is taken.
     * @param judge called with a slot, returns a Verdict
     * @return the slot taken, NO_SLOT if none is
     */
    template <typename Judge>
    uint32_t PopFirst(Judge&& judge)
    {
        uint32_t before = NO_SLOT; // the last one that keeps its place
        uint32_t slot = m_head;
        while (slot != NO_SLOT)
        {
            const uint32_t next = m_next[slot];
            const Verdict verdict = judge(slot);
            if (verdict == Verdict::KEEP)
            {
                before = slot;
            }
            else
            {
                m_next[slot] = ABSENT;
                (before == NO_SLOT ? m_head : m_next[before]) = next;
                m_tail = next == NO_SLOT ? before : m_tail;
            }
            if (verdict == Verdict::TAKE)
            {
                return slot;
            }
            slot = next;
        }
        return NO_SLOT;
    }

  private:
    static constexpr uint32_t ABSENT = 0xfffffffe; ///< This slot is not in the list
    std::vector<uint32_t> m_next;                  ///< Successor of each slot
    uint32_t m_head{NO_SLOT};
    uint32_t m_tail{NO_SLOT};
};

/**
 * @brief A deadline that moves often and is hardly ever reached, such as a retransmission timer.
 *
 * Moving it later costs nothing: the timer that is already set finds at its time that the
 * deadline has moved, and is set again.
 */
class LazyDeadline
{
  public:
    /**
     * Move the deadline.
     * @return time for which a timer must be set now, NEVER_PS if one is set early enough [ps]
     */
    uint64_t Move(uint64_t duePs)
    {
        m_duePs = duePs;
        if (duePs >= m_setPs)
        {
            return NEVER_PS;
        }
        m_setPs = duePs;
        return duePs;
    }

    /// @return whether there is a deadline
    bool IsSet() const
    {
        return m_duePs != NEVER_PS;
    }

    /// There is nothing to wait for.
    void Clear()
    {
        m_duePs = NEVER_PS;
    }

    /**
     * A timer has run out.
     * @return whether the deadline is reached, and the time for which to set the timer again
     */
    std::pair<bool, uint64_t> Fire(uint64_t nowPs)
    {
        if (nowPs < m_setPs)
        {
            return {false, NEVER_PS}; // an old timer; an earlier one did its work
        }
        m_setPs = NEVER_PS;
        if (nowPs >= m_duePs)
        {
            m_duePs = NEVER_PS;
            return {true, NEVER_PS};
        }
        return {false, m_duePs == NEVER_PS ? NEVER_PS : Move(m_duePs)};
    }

  private:
    uint64_t m_duePs{NEVER_PS}; ///< When the deadline is reached [ps]
    uint64_t m_setPs{NEVER_PS}; ///< Earliest timer set [ps]
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FLOW_SLOTS_H
