// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_QUEUE_H
#define FABRIC_EVENT_QUEUE_H

#include "ns3/assert.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <queue>
#include <vector>

namespace ns3
{
namespace fabric
{

/// Kinds of event, in the order in which they are executed at one instant.
enum class EventType : uint32_t
{
    CONTROL = 0, ///< A link or the routes change, a message starts: see ControlIndex
    TX_DONE = 1, ///< A port has put the last bit of a frame on its wire
    ARRIVE = 2,  ///< The last bit of a frame has reached a port
    TIMER = 3,   ///< A transport's timer has run out
};

/// What an event of type CONTROL does, in the order in which they are executed at one instant.
enum ControlIndex : uint32_t
{
    CONTROL_LINK = 0,    ///< Row `payload` of link_events comes into force
    CONTROL_REROUTE = 1, ///< Routes follow the links
    CONTROL_MESSAGE = 2, ///< Message `payload` starts
};

constexpr uint32_t EVENT_INDEX_BITS = 30;
constexpr uint32_t EVENT_INDEX_MASK = (1U << EVENT_INDEX_BITS) - 1;
constexpr uint64_t NEVER_PS = std::numeric_limits<uint64_t>::max();

/// One pending event, without code or pointers.
struct Event
{
    uint64_t timePs;  ///< When [ps]
    uint32_t target;  ///< EventType in the top two bits, index of port or endpoint below
    uint32_t payload; ///< Frame, token or message
};

/// @return the `target` of an event
constexpr uint32_t
EventTarget(EventType type, uint32_t index)
{
    return (static_cast<uint32_t>(type) << EVENT_INDEX_BITS) | index;
}

/**
 * @brief Ring of events whose times never fall: all of them are "now + one constant".
 *
 * Who pushes vouches for that; a check here would cost a tenth of the whole run.
 */
class EventLane
{
  public:
    EventLane()
        : m_ring(std::make_unique<Event[]>(1024)),
          m_mask(1023)
    {
    }

    void Push(const Event& event)
    {
        if (m_tail - m_head > m_mask)
        {
            Grow();
        }
        m_ring[m_tail++ & m_mask] = event;
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
        const Event* ring = m_ring.get();
        const uint64_t mask = m_mask;
        const uint64_t tail = m_tail;
        uint64_t head = m_head;
        uint64_t nextPs;
        do
        {
            sink(ring[head & mask]);
            soon(ring[(head + LOOK_AHEAD) & mask]);
            head++;
            nextPs = head == tail ? NEVER_PS : ring[head & mask].timePs;
        } while (nextPs == timePs);
        m_head = head;
        return nextPs;
    }

    size_t MemoryBytes() const
    {
        return (m_mask + 1) * sizeof(Event);
    }

  private:
    static constexpr uint64_t LOOK_AHEAD = 8;

    void Grow()
    {
        const uint64_t mask = 2 * m_mask + 1;
        auto larger = std::make_unique_for_overwrite<Event[]>(mask + 1);
        for (uint64_t i = m_head; i != m_tail; i++)
        {
            larger[i & mask] = m_ring[i & m_mask];
        }
        m_ring.swap(larger);
        m_mask = mask;
    }

    std::unique_ptr<Event[]> m_ring; ///< Length is a power of two
    uint64_t m_mask;                 ///< Length minus one
    uint64_t m_head{0};              ///< Count of events popped
    uint64_t m_tail{0};              ///< Count of events pushed
};

/**
 * @brief Timing wheel for events less than about a microsecond away.
 *
 * Buckets are narrower than most gaps between events, so a bucket rarely holds two times;
 * where it does, its list is searched.
 */
class EventWheel
{
  public:
    static constexpr uint32_t WIDTH_BITS = 4;                ///< Bucket width 16 ps
    static constexpr uint32_t BUCKETS = 1U << 16;            ///< Horizon 1.05 us
    static constexpr uint64_t HORIZON_PS = uint64_t{BUCKETS} << WIDTH_BITS;

    EventWheel()
        : m_bucket(BUCKETS, NIL)
    {
    }

    /// @return whether an event at `timePs` may be pushed at time `nowPs`
    static bool Covers(uint64_t nowPs, uint64_t timePs)
    {
        return (timePs >> WIDTH_BITS) - (nowPs >> WIDTH_BITS) < BUCKETS;
    }

    void Push(const Event& event)
    {
        uint32_t slot = m_free;
        if (slot != NIL)
        {
            m_free = m_entries[slot].next;
        }
        else
        {
            slot = static_cast<uint32_t>(m_entries.size());
            m_entries.emplace_back();
        }
        const auto bucket = static_cast<uint32_t>(event.timePs >> WIDTH_BITS) & (BUCKETS - 1);
        m_entries[slot] = {event, m_bucket[bucket]};
        m_bucket[bucket] = slot;
        m_words[bucket / 64] |= uint64_t{1} << (bucket % 64);
        m_summary[bucket / 4096] |= uint64_t{1} << (bucket / 64 % 64);
        m_size++;
        m_nextPs = std::min(m_nextPs, event.timePs);
    }

    /// @return time of the earliest event, NEVER_PS if there is none [ps]
    uint64_t NextPs() const
    {
        return m_nextPs;
    }

    /// Hand all events at NextPs() to `sink`, in no particular order.
    template <typename Sink>
    void PopNext(Sink&& sink)
    {
        const uint64_t timePs = m_nextPs;
        const auto bucket = static_cast<uint32_t>(timePs >> WIDTH_BITS) & (BUCKETS - 1);
        m_nextPs = NEVER_PS;
        uint32_t* link = &m_bucket[bucket];
        while (*link != NIL)
        {
            const uint32_t slot = *link;
            Entry& entry = m_entries[slot];
            if (entry.event.timePs == timePs)
            {
                sink(entry.event);
                *link = entry.next;
                entry.next = m_free;
                m_free = slot;
                m_size--;
            }
            else
            {
                m_nextPs = std::min(m_nextPs, entry.event.timePs);
                link = &entry.next;
            }
        }
        if (m_bucket[bucket] == NIL)
        {
            m_words[bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
            if (m_words[bucket / 64] == 0)
            {
                m_summary[bucket / 4096] &= ~(uint64_t{1} << (bucket / 64 % 64));
            }
            if (m_size > 0)
            {
                FindNext(bucket);
            }
        }
    }

  private:
    static constexpr uint32_t NIL = 0xffffffff;

    struct Entry
    {
        Event event;
        uint32_t next;
    };

    /// Find the first bucket in use after `bucket`, around the wheel.
    void FindNext(uint32_t bucket)
    {
        uint32_t word = bucket / 64;
        uint64_t bits = m_words[word] & ~((uint64_t{2} << (bucket % 64)) - 1);
        if (bits == 0)
        {
            uint32_t group = word / 64;
            uint64_t words = m_summary[group] & ~((uint64_t{2} << (word % 64)) - 1);
            while (words == 0)
            {
                group = (group + 1) % m_summary.size();
                words = m_summary[group];
            }
            word = group * 64 + std::countr_zero(words);
            bits = m_words[word];
        }
        const uint32_t found = word * 64 + std::countr_zero(bits);
        for (uint32_t slot = m_bucket[found]; slot != NIL; slot = m_entries[slot].next)
        {
            m_nextPs = std::min(m_nextPs, m_entries[slot].event.timePs);
        }
    }

    std::vector<uint32_t> m_bucket;                    ///< First entry of each bucket
    std::vector<Entry> m_entries;                      ///< Pool
    uint32_t m_free{NIL};                              ///< Free entries
    std::array<uint64_t, BUCKETS / 64> m_words{};      ///< Buckets in use
    std::array<uint64_t, BUCKETS / 4096> m_summary{};  ///< Words in use
    uint64_t m_size{0};                                ///< Events held
    uint64_t m_nextPs{NEVER_PS};                       ///< Earliest time held [ps]
};

/**
 * @brief Pending events of the engine: lanes for constant delays, wheel for near ones, heap for
 * the rest.
 *
 * All events of one instant are popped together; who executes them puts them in the canonical
 * order (type, index, payload), so neither the container nor the order of insertion shows.
 */
class EventQueue
{
  public:
    static constexpr uint32_t MAX_LANES = 8;
    static constexpr uint8_t NO_LANE = 255;

    EventQueue()
    {
        m_nextPs.fill(NEVER_PS);
    }

    /**
     * Find or add the lane of a constant delay.
     * @param delayPs the constant [ps]
     * @return its index, or NO_LANE when all lanes are taken
     */
    uint8_t LaneFor(uint64_t delayPs)
    {
        for (uint8_t lane = 0; lane < m_numLanes; lane++)
        {
            if (m_laneDelayPs[lane] == delayPs)
            {
                return lane;
            }
        }
        if (m_numLanes == MAX_LANES)
        {
            return NO_LANE;
        }
        m_laneDelayPs[m_numLanes] = delayPs;
        return m_numLanes++;
    }

    /// @return the constant delay of a lane [ps]
    uint64_t LaneDelayPs(uint8_t lane) const
    {
        return m_laneDelayPs[lane];
    }

    /// Push an event to the lane of a constant delay: its time is now plus that delay.
    void PushLane(uint8_t lane, const Event& event)
    {
        if (m_nextPs[lane] == NEVER_PS)
        {
            m_nextPs[lane] = event.timePs;
        }
        m_lanes[lane].Push(event);
    }

    /// Push an event at any time not before `nowPs`.
    void Push(uint64_t nowPs, const Event& event)
    {
        NS_ASSERT_MSG(event.timePs >= nowPs, "an event lies in the past");
        if (EventWheel::Covers(nowPs, event.timePs))
        {
            m_wheel.Push(event);
            m_nextPs[WHEEL] = m_wheel.NextPs();
        }
        else
        {
            m_heap.push(event);
            m_nextPs[HEAP] = m_heap.top().timePs;
        }
    }

    /// @return time of the earliest event, NEVER_PS if there is none [ps]
    uint64_t NextPs() const
    {
        return *std::min_element(m_nextPs.begin(), m_nextPs.end());
    }

    /**
     * Pop all events at one instant.
     * @param timePs NextPs()
     * @param sink called with each event and the lane it waited in, NO_LANE for wheel and heap
     * @param soon called with events that will come soon, to fetch their memory ahead of time
     */
    template <typename Sink, typename Soon>
    void PopInstant(uint64_t timePs, Sink&& sink, Soon&& soon)
    {
        for (uint8_t i = 0; i < m_numLanes; i++)
        {
            if (m_nextPs[i] != timePs)
            {
                continue;
            }
            m_nextPs[i] = m_lanes[i].PopTime(
                timePs,
                [&sink, i](const Event& event) { sink(event, i); },
                soon);
        }
        if (m_nextPs[WHEEL] == timePs)
        {
            m_wheel.PopNext([&sink](const Event& event) { sink(event, NO_LANE); });
            m_nextPs[WHEEL] = m_wheel.NextPs();
        }
        if (m_nextPs[HEAP] == timePs)
        {
            while (!m_heap.empty() && m_heap.top().timePs == timePs)
            {
                sink(m_heap.top(), NO_LANE);
                m_heap.pop();
            }
            m_nextPs[HEAP] = m_heap.empty() ? NEVER_PS : m_heap.top().timePs;
        }
    }

    size_t MemoryBytes() const
    {
        size_t bytes = EventWheel::BUCKETS * sizeof(uint32_t);
        for (const auto& lane : m_lanes)
        {
            bytes += lane.MemoryBytes();
        }
        return bytes + m_heap.size() * sizeof(Event);
    }

  private:
    static constexpr uint32_t WHEEL = MAX_LANES;
    static constexpr uint32_t HEAP = MAX_LANES + 1;
    struct Later
    {
        bool operator()(const Event& a, const Event& b) const
        {
            return a.timePs > b.timePs;
        }
    };

    std::array<uint64_t, MAX_LANES + 2> m_nextPs; ///< Earliest time of each container [ps]
    std::array<EventLane, MAX_LANES> m_lanes;
    std::array<uint64_t, MAX_LANES> m_laneDelayPs{}; ///< The constant of each lane [ps]
    uint8_t m_numLanes{0};                           ///< Lanes in use
    EventWheel m_wheel;
    std::priority_queue<Event, std::vector<Event>, Later> m_heap;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_QUEUE_H
