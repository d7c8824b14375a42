// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_LANE_H
#define FABRIC_EVENT_LANE_H

#include "event.h"

#include <cstddef>
#include <memory>

namespace ns3
{
namespace fabric
{

/**
 * @brief Ring of events whose times never fall: all of them are "now + one constant".
 *
 * Who pushes vouches for that; a check here would cost a tenth of the whole run.
 */
class EventLane
{
  public:
    explicit EventLane(size_t room = 1024) ///< For this many events at first; it grows by itself
        : m_ring(std::make_unique<Event[]>(room + LOOK_AHEAD)),
          m_end(m_ring.get() + room),
          m_head(m_ring.get()),
          m_tail(m_head),
          m_stop(m_end)
    {
    }

    bool IsEmpty() const
    {
        return m_head == m_tail;
    }

    /// @return event `ahead` places behind the first, or, past the end, any old one
    const Event& Peek(size_t ahead) const
    {
        return m_head[ahead];
    }

    /// A fifth of all calls of a run: inlined wherever it stands.
    [[gnu::always_inline]] void Push(const Event& event)
    {
        *m_tail++ = event;
        if (m_tail == m_stop) [[unlikely]]
        {
            FindRoom();
        }
    }

    /**
     * Pop all events at one time, of which there is at least one.
     * @param timePs time of the first event [ps]
     * @param sink called with each
     * @param soon called with an event that comes LOOK_AHEAD later, or, past the end, any old one
     * @return time of the next event, NEVER_PS if there is none [ps]
     */
    template <typename Sink, typename Soon>
    uint64_t PopTime(uint64_t timePs, Sink&& sink, Soon&& soon)
    {
        // Copies, because the compiler must assume that `sink` writes to the members.
        const Event* const end = m_end;
        const Event* const tail = m_tail;
        Event* head = m_head;
        uint64_t nextPs;
        do
        {
            sink(*head);
            soon(head[LOOK_AHEAD]);
            head++;
            if (head == end) [[unlikely]]
            {
                head = m_ring.get();
            }
            nextPs = head == tail ? NEVER_PS : head->timePs;
        } while (nextPs == timePs);
        m_head = head;
        return nextPs;
    }

    /// Ask for the memory of an event that will be pushed soon.
    void FetchTail() const
    {
        constexpr uint64_t AHEAD = 4; // events in a cache line
        __builtin_prefetch(m_tail + AHEAD, 1);
    }

    /// @return time of the event behind the first one, NEVER_PS if there is none [ps]
    uint64_t SecondPs() const
    {
        const Event* second = After(m_head);
        return second != m_tail ? second->timePs : NEVER_PS;
    }

    /// @return the first event, of which there is one; it leaves
    Event Pop()
    {
        const Event event = *m_head;
        m_head = After(m_head);
        return event;
    }

    size_t MemoryBytes() const
    {
        return (m_end - m_ring.get() + LOOK_AHEAD) * sizeof(Event);
    }

    /// How many events before its turn one is shown, to fetch its memory
    static constexpr size_t LOOK_AHEAD = 12;

  private:
    void FindRoom();
    void Grow();

    Event* After(Event* event) const
    {
        return event + 1 == m_end ? m_ring.get() : event + 1;
    }

    std::unique_ptr<Event[]> m_ring; ///< Events that may be looked at follow its end
    Event* m_end;
    Event* m_head; ///< The first event
    Event* m_tail; ///< Where the next one goes; never a place that is taken
    Event* m_stop; ///< Once the tail is here there may be no room: the end, or an earlier head
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_LANE_H
