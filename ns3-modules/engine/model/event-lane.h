// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_LANE_H
#define FABRIC_EVENT_LANE_H

#include "event.h"

#include <algorithm>
#include <cstddef>
#include <forward_list>
#include <iterator>
#include <memory>
#include <type_traits>

namespace ns3
{
namespace fabric
{

/// Takes no note of events that come soon.
struct NothingAhead
{
    static constexpr bool NEARS = false;

    void Far(const Event& event) const
    {
    }

    void Near(const Event& event) const
    {
    }
};

/**
 * @brief Queue of events whose times never fall: all of them are "now + one constant".
 *
 * Events lie in stretches of memory, one behind the other; one that is empty is filled again next,
 * so that a lane takes the memory of the events it holds and of half a stretch at either end. Who
 * pushes vouches for the times; a check here would cost a tenth of the whole run.
 */
class EventLane
{
  public:
    /// How many events before its turn one is shown, to fetch its memory
    static constexpr size_t LOOK_AHEAD = 12;
    /// How many before its turn one is shown again, to fetch what its memory leads to
    static constexpr size_t NEAR = 6;

    explicit EventLane(size_t room = 256); ///< For this many events at first; it grows by itself

    bool IsEmpty() const
    {
        return m_head == m_tail;
    }

    /// @return event `ahead` places behind the first, at most LOOK_AHEAD, or, past the end of the
    /// first stretch, any old one
    const Event& Peek(size_t ahead) const
    {
        return m_head[ahead];
    }

    /// Show the events that come soon.
    template <typename Ahead>
    void Show(Ahead& ahead) const
    {
        Show<LOOK_AHEAD>(ahead, m_head);
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
     * @tparam AHEAD at most LOOK_AHEAD
     * @param ahead see EventQueue; its `Far` is called with each event about AHEAD before its turn
     * @return time of the next event, NEVER_PS if there is none [ps]
     */
    template <size_t AHEAD = LOOK_AHEAD, typename Sink, typename Ahead>
    uint64_t PopTime(uint64_t timePs, Sink&& sink, Ahead&& ahead)
    {
        // Copies, because the compiler must assume that `sink` writes to the members.
        const Event* end = m_end;
        const Event* const tail = m_tail;
        Event* head = m_head;
        uint64_t nextPs;
        do
        {
            sink(*head);
            Show<AHEAD>(ahead, head);
            head++;
            if (head == end) [[unlikely]]
            {
                head = LeaveStretch();
                end = m_end;
                std::for_each(head, head + AHEAD, [&](const Event& event) { ahead.Far(event); });
            }
            nextPs = head == tail ? NEVER_PS : head->timePs;
        } while (nextPs == timePs);
        m_head = head;
        return nextPs;
    }

    /// Ask for the memory of an event that will be pushed soon.
    void FetchTail() const
    {
        __builtin_prefetch(m_tail + EVENTS_PER_LINE, 1);
    }

    /// Ask for the memory of the first events but those of the next AHEAD turns.
    template <size_t AHEAD>
    void FetchHead() const
    {
        __builtin_prefetch(m_head + AHEAD + EVENTS_PER_LINE);
    }

    /// @return time of the event behind the first one, NEVER_PS if there is none [ps]
    uint64_t SecondPs() const
    {
        const Event* second =
            m_head + 1 != m_end ? m_head + 1 : std::next(m_used.begin())->events.get();
        return second != m_tail ? second->timePs : NEVER_PS;
    }

    /// @return the first event, of which there is one; it leaves
    Event Pop()
    {
        const Event event = *m_head++;
        if (m_head == m_end) [[unlikely]]
        {
            m_head = LeaveStretch();
        }
        return event;
    }

    size_t MemoryBytes() const;

  private:
    static constexpr size_t EVENTS_PER_LINE = 64 / sizeof(Event);

    /// Memory for events; some that may be looked at follow its end.
    struct Chunk
    {
        explicit Chunk(size_t room)
            : events(std::make_unique<Event[]>(room + LOOK_AHEAD)),
              end(events.get() + room)
        {
        }

        std::unique_ptr<Event[]> events;
        Event* end;
    };

    /// Show what comes behind a head of the first stretch; what is not known to be there is old.
    template <size_t AHEAD, typename Ahead>
    void Show(Ahead& ahead, const Event* head) const
    {
        ahead.Far(head[AHEAD]);
        if constexpr (std::remove_cvref_t<Ahead>::NEARS && AHEAD > NEAR)
        {
            const Event* end = m_stop == m_end ? m_tail : m_end;
            if (head + NEAR < end)
            {
                ahead.Near(head[NEAR]);
            }
        }
    }

    void FindRoom();
    Event* LeaveStretch();

    Event* m_end;                    ///< Of the stretch of the head
    Event* m_head;                   ///< The first event
    Event* m_tail;                   ///< Where the next one goes; never the end of a stretch
    Event* m_stop;                   ///< End of the stretch of the tail
    std::forward_list<Chunk> m_used; ///< From that of the head to that of the tail
    std::forward_list<Chunk>::iterator m_last; ///< That of the tail
    std::forward_list<Chunk> m_spare;          ///< The one that was left last is in front
    size_t m_room;                             ///< Events that all of them can hold
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_LANE_H
