// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_CALENDAR_H
#define FABRIC_EVENT_CALENDAR_H

#include "event-lane.h"
#include "reserved-array.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief Events less than about a microsecond away, in buckets of 256 ps.
 *
 * A bucket holds its events in chunks of memory, in no order; it is opened when its first event is
 * due, and its events are then put in order of time by counting. So an event is written and read
 * once where its neighbours in time are, and the events that follow one are known ahead of time.
 *
 * **Source**: calendar queue: R. Brown, CACM 31(10), 1988; buckets that are put in order when their
 * turn comes: ladder queue, W. T. Tang et al., ACM TOMACS 15(3), 2005.
 */
class EventCalendar
{
  public:
    static constexpr uint32_t WIDTH_BITS = 8;     ///< Bucket width 256 ps
    static constexpr uint32_t BUCKETS = 1U << 12; ///< Horizon 1.05 us
    static constexpr uint64_t HORIZON_PS = uint64_t{BUCKETS} << WIDTH_BITS;

    /// @return whether an event at `timePs` may be pushed at time `nowPs`: it is near, and its
    /// bucket is not open
    bool Takes(uint64_t nowPs, uint64_t timePs) const
    {
        const uint64_t bucket = timePs >> WIDTH_BITS;
        return bucket - (nowPs >> WIDTH_BITS) < BUCKETS && bucket != m_open;
    }

    void Push(const Event& event)
    {
        const uint32_t bucket = BucketOf(event.timePs);
        uint32_t& place = m_places[bucket];
        if (place % CHUNK == 0) [[unlikely]]
        {
            BeginChunk(bucket);
        }
        m_slots[place++] = event;
        m_nextPs = std::min(m_nextPs, event.timePs);
    }

    /// @return time of the earliest event, NEVER_PS if there is none [ps]
    uint64_t NextPs() const
    {
        return m_nextPs;
    }

    /// Open the bucket of the earliest event, which is due; once it is open, do nothing.
    /// @param ahead is shown its events: see EventQueue
    template <typename Ahead>
    void Open(Ahead&& ahead)
    {
        if (m_next == m_end)
        {
            OpenBucket();
            ShowFirst(ahead);
        }
    }

    /// @return the earliest event if no other has its time, null otherwise; its bucket is open
    const Event* Alone() const
    {
        return m_next[1].timePs != m_nextPs ? m_next : nullptr;
    }

    /**
     * Hand all events at NextPs() to `sink`, in no particular order; their bucket is open.
     * @param ahead is shown those that follow
     */
    template <typename Sink, typename Ahead>
    void PopNext(Sink&& sink, Ahead&& ahead)
    {
        const uint64_t timePs = m_nextPs;
        do
        {
            sink(*m_next);
            m_next++;
            Show(ahead);
        } while (m_next->timePs == timePs);
        if (m_next->timePs != NEVER_PS)
        {
            m_nextPs = m_next->timePs;
        }
        else
        {
            FindNext();
        }
    }

    /// Call with each event, in no particular order.
    template <typename Visit>
    void ForEach(Visit&& visit) const
    {
        for (const Event* event = m_next; event->timePs != NEVER_PS; event++)
        {
            visit(*event);
        }
        for (const uint32_t place : m_places)
        {
            VisitBucket(place, visit);
        }
    }

    size_t MemoryBytes() const
    {
        return m_places.size() * sizeof(uint32_t) + (m_begun + m_due.size()) * sizeof(Event);
    }

  private:
    /// Slots of a chunk: four cache lines. The first one leads to the chunk before it.
    static constexpr uint32_t CHUNK = 16;
    static constexpr uint32_t NONE = 0; ///< Of places: the first chunk holds no events
    static constexpr uint32_t STEP = 1U << 16;
    static constexpr uint32_t CAPACITY = 1U << 27; ///< 2 GiB of events
    static constexpr size_t FEW = 16;              ///< Events that are put in order by insertion
    static constexpr size_t FAR = EventLane::LOOK_AHEAD;
    static constexpr size_t NEAR = EventLane::NEAR;

    static uint32_t ChunkOf(uint32_t place) ///< In which the next event goes to `place`
    {
        return (place - 1) / CHUNK * CHUNK;
    }

    static uint32_t BucketOf(uint64_t timePs)
    {
        return static_cast<uint32_t>(timePs >> WIDTH_BITS) & (BUCKETS - 1);
    }

    template <typename Ahead>
    void Show(Ahead& ahead) const;
    template <typename Ahead>
    void ShowFirst(Ahead& ahead) const;

    /// Call with each event of a bucket whose next event goes to `place`.
    template <typename Visit>
    void VisitBucket(uint32_t place, Visit&& visit) const
    {
        while (place != NONE)
        {
            const uint32_t chunk = ChunkOf(place);
            std::for_each(m_slots.Data() + chunk + 1, m_slots.Data() + place, visit);
            place = m_slots[chunk].payload;
        }
    }

    void OpenBucket();
    void BeginChunk(uint32_t bucket);
    size_t SizeOf(uint32_t place) const;
    void OrderFew(uint32_t place);
    void OrderMany(uint32_t place);
    void FindNext();

    std::vector<uint32_t> m_places = std::vector<uint32_t>(BUCKETS, NONE); ///< Of the next event
    GrowingArray<Event> m_slots{STEP, CAPACITY};
    uint32_t m_room{STEP};
    uint32_t m_begun{CHUNK};    ///< Slots of chunks that were ever in use
    uint32_t m_freeChunk{NONE}; ///< The first slot of each leads to the next
    uint64_t m_open{NEVER_PS};  ///< Number of the bucket that was opened last
    /// Of the open bucket, by time, then one of NEVER_PS
    std::vector<Event> m_due = std::vector<Event>(1, {NEVER_PS, 0, 0});
    const Event* m_next{m_due.data()}; ///< Of these, the first that was not popped
    const Event* m_end{m_due.data()};
    std::array<uint64_t, BUCKETS / 64> m_words{}; ///< Buckets in use
    uint64_t m_summary{0};                        ///< Words in use
    uint64_t m_nextPs{NEVER_PS};                  ///< Earliest time held [ps]
};

/// Of the events that follow, two come nearer.
template <typename Ahead>
void
EventCalendar::Show(Ahead& ahead) const
{
    const auto left = static_cast<size_t>(m_end - m_next);
    if (left > FAR)
    {
        ahead.Far(m_next[FAR]);
    }
    if (std::remove_cvref_t<Ahead>::NEARS && left > NEAR)
    {
        ahead.Near(m_next[NEAR]);
    }
}

/// The first events of a bucket that was opened.
template <typename Ahead>
void
EventCalendar::ShowFirst(Ahead& ahead) const
{
    const auto size = static_cast<size_t>(m_end - m_next);
    for (size_t i = 0; i < std::min(size, FAR + 1); i++)
    {
        ahead.Far(m_next[i]);
    }
    for (size_t i = 0; std::remove_cvref_t<Ahead>::NEARS && i < std::min(size, NEAR + 1); i++)
    {
        ahead.Near(m_next[i]);
    }
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_CALENDAR_H
