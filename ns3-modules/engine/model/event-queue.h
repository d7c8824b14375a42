// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_QUEUE_H
#define FABRIC_EVENT_QUEUE_H

#include "event-lane.h"
#include "event-wheel.h"
#include "instant.h"

#include "ns3/assert.h"

#include <algorithm>
#include <array>
#include <memory>
#include <queue>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief Pending events of the engine: lanes for constant delays that many share, wires for those
 * of one link, a wheel for near events, a heap for the rest.
 *
 * What is on a wire keeps its order, so a wheel of wires (a heap of those whose next frame is far)
 * holds one entry for each wire and not one for each frame on it.
 *
 * All events of one instant are popped together; who executes them puts them in the canonical
 * order (type, index, payload), so neither the container nor the order of insertion shows.
 */
class EventQueue
{
  public:
    static constexpr uint32_t MAX_LANES = 12;
    static constexpr uint8_t NO_LANE = 255;

    EventQueue()
    {
        m_nextPs.fill(NEVER_PS);
        m_otherPs.fill(NEVER_PS);
    }

    /**
     * Where the events of a lane come from.
     *
     * Arrivals of one delay come in order to each node if its ports hear, one behind the other, of
     * senders of these kinds; what comes from ELSEWHERE is in no order.
     */
    enum class Origin : uint8_t
    {
        FIRST,    ///< From here, to the ports of a node before any that another domain sends to
        LOWER,    ///< From domains of lower number, one behind the other
        HERE,     ///< In the order of the instants in which they are executed
        HIGHER,   ///< From domains of higher number, one behind the other
        ELSEWHERE ///< From other domains; of one time in any order
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

    /// Push an event to a wire: its time is not before that of the last one pushed there.
    void PushWire(uint64_t nowPs, uint32_t wire, const Event& event)
    {
        if (m_wires[wire].IsEmpty())
        {
            Await(nowPs, event.timePs, wire);
        }
        m_wires[wire].Push(event);
        m_wires[wire].FetchTail(); // there are many, so the next one is not in the cache
    }

    /// Push an event at any time not before `nowPs`.
    void Push(uint64_t nowPs, const Event& event)
    {
        NS_ASSERT_MSG(event.timePs >= nowPs, "an event lies in the past");
        if (EventWheel::Covers(nowPs, event.timePs))
        {
            m_wheel.Push(event);
            SetNext(WHEEL, m_wheel.NextPs());
        }
        else
        {
            m_heap.push(event);
            SetNext(HEAP, m_heap.top().timePs);
        }
    }

    /// The next instant and which containers have events of it.
    struct Due
    {
        uint64_t timePs; ///< NEVER_PS if there is none [ps]
        uint32_t mask;   ///< Bit 0: others than lanes; bit FIRST_LANE + i: lane i
    };

    /// Without branches: which container is next cannot be foretold.
    Due FindNext() const
    {
        const uint32_t end = FIRST_LANE + m_numLanes;
        uint64_t timePs = m_nextPs[0];
        for (uint32_t i = FIRST_LANE; i < end; i++)
        {
            timePs = std::min(timePs, m_nextPs[i]);
        }
        uint32_t mask = m_nextPs[0] == timePs;
        for (uint32_t i = FIRST_LANE; i < end; i++)
        {
            mask |= uint32_t{m_nextPs[i] == timePs} << i;
        }
        return {timePs, mask};
    }

    /// @return time of the earliest event, NEVER_PS if there is none [ps]
    uint64_t NextPs() const
    {
        return FindNext().timePs;
    }

    /// @return whether an instant has one event only, and that waits in a lane or on a wire
    bool IsAlone(const Due& due) const
    {
        if (due.mask == 1)
        {
            return IsAloneOnWire(due.timePs);
        }
        const bool isOne = (due.mask & (due.mask - 1)) == 0;
        return isOne &&
               m_lanes[std::countr_zero(due.mask) - FIRST_LANE].SecondPs() != due.timePs;
    }

    /**
     * Pop the event of an instant that IsAlone.
     * @param due the instant
     * @param soon called with an event that will come soon, to fetch its memory ahead of time
     */
    template <typename Soon>
    Event PopAlone(const Due& due, Soon&& soon)
    {
        if (due.mask == 1)
        {
            return PopAloneOnWire(soon);
        }
        const int i = std::countr_zero(due.mask);
        EventLane& lane = m_lanes[i - FIRST_LANE];
        soon(lane.Peek(EventLane::LOOK_AHEAD));
        m_nextPs[i] = lane.SecondPs();
        return lane.Pop();
    }

    /**
     * Pop all events at one instant.
     * @param due the instant
     * @param instant takes them
     * @param soon called with events that will come soon, to fetch their memory ahead of time
     */
    template <typename Soon>
    void PopInstant(const Due& due, Instant& instant, Soon&& soon)
    {
        instant.Clear();
        for (uint32_t lanes = due.mask & ~1U; lanes != 0; lanes &= lanes - 1)
        {
            const int i = std::countr_zero(lanes);
            KeyList& keys =
                instant.Of(m_laneType[i - FIRST_LANE], m_laneOrders[i - FIRST_LANE]);
            m_nextPs[i] = m_lanes[i - FIRST_LANE].PopTime(
                due.timePs,
                [&keys](const Event& event) { keys.Push(event.Key()); },
                soon);
        }
        if (due.mask & 1)
        {
            PopOthers(due.timePs, instant, soon);
        }
    }

    /// @return time of the earliest event of type CONTROL, NEVER_PS if there is none [ps]
    uint64_t NextControlPs() const;

    /**
     * Events of type CONTROL come earlier than they were to, all others when they were to.
     * @param byPs less than their distance; none of them is as near as a wheel covers [ps]
     */
    void AdvanceControl(uint64_t byPs);

    size_t MemoryBytes() const;

  private:
    static constexpr uint32_t FIRST_LANE = 1;

    /// What is not a lane.
    enum Other : uint32_t
    {
        WHEEL,
        HEAP,
        WIRES,     ///< Wires whose next frame is near
        FAR_WIRES, ///< The others
        NUM_OTHERS
    };

    struct Later
    {
        bool operator()(const Event& a, const Event& b) const
        {
            return a.timePs > b.timePs;
        }
    };

    /// A heap whose events can be looked through.
    struct Heap : std::priority_queue<Event, std::vector<Event>, Later>
    {
        const std::vector<Event>& Events() const
        {
            return c;
        }
    };

    uint32_t OrdersOf(uint8_t lane) const;

    void SetNext(Other other, uint64_t timePs)
    {
        m_otherPs[other] = timePs;
        m_nextPs[0] = *std::min_element(m_otherPs.begin(), m_otherPs.end());
    }

    template <typename Soon>
    void PopOthers(uint64_t timePs, Instant& instant, Soon& soon)
    {
        if (m_otherPs[WHEEL] == timePs)
        {
            m_wheel.PopNext([&instant](const Event& event) { instant.Add(event); });
            SetNext(WHEEL, m_wheel.NextPs());
        }
        while (!m_heap.empty() && m_heap.top().timePs == timePs)
        {
            instant.Add(m_heap.top());
            m_heap.pop();
            SetNext(HEAP, m_heap.empty() ? NEVER_PS : m_heap.top().timePs);
        }
        if (m_otherPs[WIRES] == timePs)
        {
            m_dueWires.clear(); // the wheel may not be pushed to while it is popped
            m_wireWheel->PopNext(
                [this](const Event& head) { m_dueWires.push_back(head.payload); });
            SetNext(WIRES, m_wireWheel->NextPs());
            for (const uint32_t wire : m_dueWires)
            {
                PopWire(timePs, wire, instant, soon);
            }
        }
        while (!m_farWires.empty() && m_farWires.top().timePs == timePs)
        {
            const uint32_t wire = m_farWires.top().payload;
            m_farWires.pop();
            SetNext(FAR_WIRES, m_farWires.empty() ? NEVER_PS : m_farWires.top().timePs);
            PopWire(timePs, wire, instant, soon);
        }
    }

    /// @return whether all that is due is one event of a wire that waits in the wheel
    bool IsAloneOnWire(uint64_t timePs) const
    {
        const bool isWire = m_otherPs[WIRES] == timePs && m_otherPs[WHEEL] != timePs &&
                            m_otherPs[HEAP] != timePs && m_otherPs[FAR_WIRES] != timePs;
        const Event* head = isWire ? m_wireWheel->Alone() : nullptr;
        return head && m_wires[head->payload].SecondPs() != timePs;
    }

    template <typename Soon>
    Event PopAloneOnWire(Soon& soon)
    {
        uint32_t wire = 0;
        m_wireWheel->PopNext([&wire](const Event& head) { wire = head.payload; });
        SetNext(WIRES, m_wireWheel->NextPs());
        soon(m_wires[wire].Peek(EventLane::LOOK_AHEAD));
        const Event event = m_wires[wire].Pop();
        if (!m_wires[wire].IsEmpty())
        {
            Await(event.timePs, m_wires[wire].Peek(0).timePs, wire);
        }
        return event;
    }

    /// Hand over what arrives by a wire now; its next frame decides where the wire waits.
    template <typename Soon>
    void PopWire(uint64_t timePs, uint32_t wire, Instant& instant, Soon& soon)
    {
        const uint64_t nextPs = m_wires[wire].PopTime(
            timePs,
            [&instant](const Event& event) { instant.Add(event); },
            soon);
        if (nextPs != NEVER_PS)
        {
            Await(timePs, nextPs, wire);
        }
    }

    /// A wire waits for its next frame, in the wheel if that is near.
    void Await(uint64_t nowPs, uint64_t timePs, uint32_t wire)
    {
        const Event head{timePs, 0, wire};
        if (EventWheel::Covers(nowPs, timePs))
        {
            m_wireWheel->Push(head);
            SetNext(WIRES, m_wireWheel->NextPs());
        }
        else
        {
            m_farWires.push(head);
            SetNext(FAR_WIRES, m_farWires.top().timePs);
        }
    }

    std::array<uint64_t, FIRST_LANE + MAX_LANES> m_nextPs; ///< Earliest of all others, of each lane
    std::array<EventLane, MAX_LANES> m_lanes;
    std::array<uint64_t, MAX_LANES> m_laneDelayPs{}; ///< The constant of each lane [ps]
    std::array<EventType, MAX_LANES> m_laneType{};
    std::array<Origin, MAX_LANES> m_laneOrigin{};
    std::array<uint32_t, MAX_LANES> m_laneOrders{}; ///< See Instant::Of
    uint8_t m_numLanes{0};                        ///< Lanes in use
    std::array<uint64_t, NUM_OTHERS> m_otherPs; ///< Earliest time of each of the others [ps]
    EventWheel m_wheel;
    Heap m_heap;
    std::vector<EventLane> m_wires;
    std::unique_ptr<EventWheel> m_wireWheel; ///< Wires by the arrival of their next frame
    std::priority_queue<Event, std::vector<Event>, Later> m_farWires; ///< The same, if it is far
    std::vector<uint32_t> m_dueWires;                                 ///< Of the instant at hand
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_QUEUE_H
