// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_QUEUE_H
#define FABRIC_EVENT_QUEUE_H

#include "event-calendar.h"
#include "event-heap.h"
#include "event-lane.h"
#include "instant.h"

#include "ns3/assert.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief Pending events of the engine: lanes for constant delays that many share, wires for those
 * of one long link, a calendar for near events, a heap for the rest.
 *
 * What is on a wire keeps its order, so one entry stands for all of it: its head, at the time of
 * the first frame. Frames that were sent back to back come as far apart as the later one took to
 * send, so heads have lanes for these gaps; other heads wait in the calendar or the heap.
 *
 * All events of one instant are popped together; who executes them puts them in the canonical
 * order (type, index, payload), so neither the container nor the order of insertion shows.
 */
class EventQueue
{
  public:
    static constexpr uint32_t MAX_LANES = 12;
    static constexpr uint8_t NO_LANE = 255;
    static constexpr uint32_t MAX_GAPS = 4;

    EventQueue()
    {
        m_nextPs.fill(NEVER_PS);
    }

    /**
     * Where the events of a lane come from.
     *
     * Arrivals of one delay come in order to each node if its ports hear, one behind the other, of
     * senders of these kinds; what comes from ELSEWHERE is in no order.
     */
    enum class Origin : uint8_t
    {
        FIRST,    ///< From here, to the ports of a node before any that another engine sends to
        LOWER,    ///< From engines of lower number, one behind the other
        HERE,     ///< In the order of the instants in which they are executed
        HIGHER,   ///< From engines of higher number, one behind the other
        ELSEWHERE ///< From other engines; of one time in any order
    };

    /**
     * Find or add the lane of a constant delay; those of one type and delay in the order of Origin.
     * @param type of all its events: TX_DONE or ARRIVE
     * @param delayPs the constant [ps]
     * @param origin of all its events
     * @return its index, or NO_LANE when all lanes are taken
     */
    uint8_t LaneFor(EventType type, uint64_t delayPs, Origin origin = Origin::HERE);

    /// @return the constant delay of a lane [ps]
    uint64_t LaneDelayPs(uint8_t lane) const
    {
        return m_laneDelayPs[lane];
    }

    /// Make room for wires 0 to `wires` - 1.
    void SetWires(uint32_t wires);

    /// @return whether there is room for any
    bool HasWires() const
    {
        return !m_wires.empty();
    }

    /// Many events come by a wire `gapPs` after the one before [ps]; called after the last LaneFor.
    void ExpectGap(uint64_t gapPs);

    /// Push an event to the lane of a constant delay: its time is now plus that delay.
    [[gnu::always_inline]] void PushLane(uint8_t lane, const Event& event)
    {
        uint64_t& nextPs = m_nextPs[FIRST_LANE + lane];
        if (nextPs == NEVER_PS)
        {
            nextPs = event.timePs;
        }
        m_lanes[lane].Push(event);
    }

    /// Push an event to a wire, if there are any and it is far: its time is not before that of the
    /// last one pushed there.
    void PushWire(uint64_t nowPs, uint32_t wireId, const Event& event)
    {
        if (m_wires.empty() || event.timePs - nowPs < EventCalendar::HORIZON_PS)
        {
            Push(nowPs, event);
            return;
        }
        EventLane& wire = m_wires[wireId];
        if (wire.IsEmpty())
        {
            Push(nowPs, {event.timePs, HEAD, wireId});
        }
        wire.Push(event);
        wire.FetchTail(); // there are many, so the next one is not in the cache
    }

    /// Push an event at any time not before `nowPs`.
    void Push(uint64_t nowPs, const Event& event)
    {
        NS_ASSERT_MSG(event.timePs >= nowPs, "an event lies in the past");
        if (m_calendar.Takes(nowPs, event.timePs))
        {
            m_calendar.Push(event);
        }
        else
        {
            m_heap.push(event);
        }
        m_nextPs[0] = std::min(m_nextPs[0], event.timePs);
    }

    /// The next instant and which containers have events of it.
    struct Due
    {
        uint64_t timePs; ///< NEVER_PS if there is none [ps]
        uint32_t mask;   ///< Bit 0: others than lanes; bit FIRST_LANE + i: lane i; then of heads
    };

    /// Without branches: which container is next cannot be foretold. Those that are not in use
    /// have no event; some are looked at so that the loops can be unrolled.
    Due FindNext() const
    {
        const uint64_t* const begin = m_nextPs.data();
        const uint64_t* const end = begin + m_lookedAt;
        uint64_t timePs = NEVER_PS;
        for (const uint64_t* next = begin; next != end; next += UNROLLED)
        {
            for (uint32_t i = 0; i < UNROLLED; i++)
            {
                timePs = next[i] < timePs ? next[i] : timePs;
            }
        }
        uint32_t mask = 0;
        for (const uint64_t* next = end; next != begin;)
        {
            next -= UNROLLED;
            for (uint32_t i = UNROLLED; i-- > 0;)
            {
                mask = 2 * mask + (next[i] == timePs);
            }
        }
        return {timePs, mask};
    }

    /// @return time of the earliest event, NEVER_PS if there is none [ps]
    uint64_t NextPs() const
    {
        return FindNext().timePs;
    }

    /**
     * @param due the next instant
     * @param ahead like NothingAhead; its functions are called with events before their turn: `Far`
     * to fetch the memory of what they change, `Near` to fetch what that leads to, if `NEARS`; Far
     * is also called with old events
     * @return whether an instant has one event only, an arrival or an end of a transmission
     */
    template <typename Ahead>
    bool IsAlone(const Due& due, Ahead&& ahead)
    {
        if ((due.mask & (due.mask - 1)) != 0)
        {
            return false;
        }
        if (due.mask == 1)
        {
            return IsAloneElsewhere(due.timePs, ahead);
        }
        const EventLane& lane = m_lanes[std::countr_zero(due.mask) - FIRST_LANE];
        if (lane.SecondPs() == due.timePs)
        {
            return false;
        }
        return !(due.mask & m_heads) || m_wires[lane.Peek(0).payload].SecondPs() != due.timePs;
    }

    /**
     * Pop the event of an instant that IsAlone.
     * @param due the instant
     * @param ahead see IsAlone
     */
    template <typename Ahead>
    Event PopAlone(const Due& due, Ahead&& ahead)
    {
        if (due.mask == 1)
        {
            Event event;
            m_calendar.PopNext([&event](const Event& only) { event = only; }, ahead);
            FindOthers();
            return event.target == HEAD ? PopFirst(event, ahead) : event;
        }
        const int i = std::countr_zero(due.mask);
        EventLane& lane = m_lanes[i - FIRST_LANE];
        m_nextPs[i] = lane.SecondPs();
        if (due.mask & m_heads)
        {
            return PopFirst(lane.Pop(), ahead);
        }
        lane.Show(ahead);
        return lane.Pop();
    }

    /**
     * Pop all events at one instant.
     * @param due the instant
     * @param instant takes them
     * @param ahead see IsAlone
     */
    template <typename Ahead>
    void PopInstant(const Due& due, Instant& instant, Ahead&& ahead)
    {
        instant.Clear();
        for (uint32_t lanes = due.mask & ~m_heads & ~1U; lanes != 0; lanes &= lanes - 1)
        {
            const int i = std::countr_zero(lanes);
            KeyList& keys = instant.Of(m_laneType[i - FIRST_LANE], m_laneOrders[i - FIRST_LANE]);
            m_nextPs[i] = m_lanes[i - FIRST_LANE].PopTime(
                due.timePs,
                [&keys](const Event& event) { keys.Push(event.Key()); },
                ahead);
        }
        if (due.mask & (m_heads | 1))
        {
            PopWires(due, instant, ahead);
        }
    }

    /// @return time of the earliest event of type CONTROL, NEVER_PS if there is none [ps]
    uint64_t NextControlPs() const;

    /**
     * Events of type CONTROL come earlier than they were to, all others when they were to.
     * @param byPs less than their distance; none of them is as near as the calendar reaches [ps]
     */
    void AdvanceControl(uint64_t byPs);

    size_t MemoryBytes() const;

  private:
    static constexpr uint32_t FIRST_LANE = 1;
    static constexpr uint32_t ALL_LANES = MAX_LANES + MAX_GAPS;
    /// EventLane::LOOK_AHEAD of a wire: between two events of one come those of the others
    static constexpr size_t WIRE_AHEAD = 1;
    static constexpr uint32_t UNROLLED = 3; ///< Places that FindNext looks at in one step
    /// Of an event that stands for a wire, its payload: something comes by it.
    static constexpr uint32_t HEAD = EventTarget(EventType::CONTROL, EVENT_INDEX_MASK);

    uint32_t OrdersOf(uint8_t lane) const;
    void AddPlace();

    static bool IsControl(const Event& event)
    {
        return event.Type() == EventType::CONTROL && event.target != HEAD;
    }

    void FindOthers()
    {
        m_nextPs[0] = std::min(m_calendar.NextPs(), m_heap.NextPs());
    }

    template <typename Ahead>
    bool IsAloneElsewhere(uint64_t timePs, Ahead& ahead)
    {
        if (m_heap.NextPs() == timePs)
        {
            return false;
        }
        m_calendar.Open(ahead);
        const Event* only = m_calendar.Alone();
        if (!only || only->target == HEAD)
        {
            return only && m_wires[only->payload].SecondPs() != timePs;
        }
        return only->Type() == EventType::TX_DONE || only->Type() == EventType::ARRIVE;
    }

    /// @return the first event of a wire, which leaves; the next one decides where its head waits
    template <typename Ahead>
    Event PopFirst(const Event& head, Ahead& ahead)
    {
        EventLane& wire = m_wires[head.payload];
        wire.FetchHead<WIRE_AHEAD>();
        ahead.Far(wire.Peek(WIRE_AHEAD));
        const uint64_t nextPs = wire.SecondPs();
        if (nextPs != NEVER_PS)
        {
            Await(head.timePs, nextPs, head.payload);
        }
        return wire.Pop();
    }

    /// Pop what waits neither in the lane of a delay nor behind a head, then what comes by wires.
    template <typename Ahead>
    void PopWires(const Due& due, Instant& instant, Ahead& ahead)
    {
        m_dueWires.clear(); // nothing may be pushed to what is being popped
        const auto sort = [this, &instant](const Event& event) {
            if (event.target == HEAD)
            {
                m_dueWires.push_back(event.payload);
            }
            else
            {
                instant.Add(event);
            }
        };
        for (uint32_t lanes = due.mask & m_heads; lanes != 0; lanes &= lanes - 1)
        {
            const int i = std::countr_zero(lanes);
            m_nextPs[i] = m_lanes[i - FIRST_LANE].PopTime(due.timePs, sort, NothingAhead());
        }
        if (due.mask & 1)
        {
            if (m_calendar.NextPs() == due.timePs)
            {
                m_calendar.Open(ahead);
                m_calendar.PopNext(sort, ahead);
            }
            for (; m_heap.NextPs() == due.timePs; m_heap.pop())
            {
                sort(m_heap.top());
            }
            FindOthers();
        }
        for (const uint32_t wire : m_dueWires)
        {
            m_wires[wire].FetchHead<WIRE_AHEAD>();
            const uint64_t nextPs = m_wires[wire].PopTime<WIRE_AHEAD>(
                due.timePs,
                [&instant](const Event& event) { instant.Add(event); },
                ahead);
            if (nextPs != NEVER_PS)
            {
                Await(due.timePs, nextPs, wire);
            }
        }
    }

    /// A wire waits for its next event.
    void Await(uint64_t nowPs, uint64_t timePs, uint32_t wire)
    {
        const Event head{timePs, HEAD, wire};
        const uint64_t* gaps = m_laneDelayPs.data() + m_numLanes;
        for (uint32_t gap = 0; FIRST_LANE + m_numLanes + gap < m_end; gap++)
        {
            if (gaps[gap] == timePs - nowPs)
            {
                PushLane(m_numLanes + gap, head);
                return;
            }
        }
        Push(nowPs, head);
    }

    /// Earliest time of all others, of each lane, of each lane of heads [ps]
    std::array<uint64_t, FIRST_LANE + ALL_LANES + UNROLLED> m_nextPs;
    std::array<EventLane, ALL_LANES> m_lanes;
    std::array<uint64_t, ALL_LANES> m_laneDelayPs{}; ///< The constant of each lane [ps]
    std::array<EventType, MAX_LANES> m_laneType{};
    std::array<Origin, MAX_LANES> m_laneOrigin{};
    std::array<uint32_t, MAX_LANES> m_laneOrders{}; ///< See Instant::Of
    uint8_t m_numLanes{0};                          ///< Lanes in use; those of heads follow
    uint32_t m_end{FIRST_LANE};                     ///< Of m_nextPs in use
    uint32_t m_lookedAt{UNROLLED};                  ///< The same, a whole number of times UNROLLED
    uint32_t m_heads{0};                            ///< Bits of the lanes of heads
    EventCalendar m_calendar;
    EventHeap m_heap;
    std::vector<EventLane> m_wires;   ///< What is on the way by each long link
    std::vector<uint32_t> m_dueWires; ///< Of the instant at hand
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_QUEUE_H
