// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_QUEUE_H
#define FABRIC_EVENT_QUEUE_H

#include "event-lane.h"
#include "event-wheel.h"

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
    uint8_t LaneFor(uint64_t delayPs);

    /// @return the constant delay of a lane [ps]
    uint64_t LaneDelayPs(uint8_t lane) const
    {
        return m_laneDelayPs[lane];
    }

    /// Make room for wires 0 to `wires` - 1.
    void SetWires(uint32_t wires);

    /// Push an event to the lane of a constant delay: its time is now plus that delay.
    void PushLane(uint8_t lane, const Event& event)
    {
        if (m_nextPs[lane] == NEVER_PS)
        {
            m_nextPs[lane] = event.timePs;
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

    /// The next instant and which containers have events of it.
    struct Due
    {
        uint64_t timePs; ///< NEVER_PS if there is none [ps]
        uint32_t mask;   ///< Bit per container
    };

    Due FindNext() const
    {
        Due due{m_nextPs[0], 1};
        const auto consider = [this, &due](uint32_t container) {
            const uint64_t timePs = m_nextPs[container];
            if (timePs < due.timePs)
            {
                due = {timePs, 1U << container};
            }
            else if (timePs == due.timePs)
            {
                due.mask |= 1U << container;
            }
        };
        for (uint32_t lane = 1; lane < m_numLanes; lane++)
        {
            consider(lane);
        }
        consider(WHEEL);
        consider(HEAP);
        consider(WIRES);
        consider(FAR_WIRES);
        return due;
    }

    /// @return time of the earliest event, NEVER_PS if there is none [ps]
    uint64_t NextPs() const
    {
        return FindNext().timePs;
    }

    /// @return whether an instant has one event only, and that waits in a lane
    bool IsAlone(const Due& due) const
    {
        return std::has_single_bit(due.mask) && due.mask < (1U << MAX_LANES) &&
               m_lanes[std::countr_zero(due.mask)].SecondPs() != due.timePs;
    }

    /**
     * Pop the event of an instant that IsAlone.
     * @param due the instant
     * @param soon called with an event that will come soon, to fetch its memory ahead of time
     */
    template <typename Soon>
    Event PopAlone(const Due& due, Soon&& soon)
    {
        const int lane = std::countr_zero(due.mask);
        soon(m_lanes[lane].Peek(EventLane::LOOK_AHEAD));
        m_nextPs[lane] = m_lanes[lane].SecondPs();
        return m_lanes[lane].Pop();
    }

    /**
     * Pop all events at one instant.
     * @param due the instant
     * @param sink called with each event and the lane it waited in, NO_LANE for all else
     * @param soon called with events that will come soon, to fetch their memory ahead of time
     */
    template <typename Sink, typename Soon>
    void PopInstant(const Due& due, Sink&& sink, Soon&& soon)
    {
        for (uint32_t lanes = due.mask & ((1U << MAX_LANES) - 1); lanes != 0; lanes &= lanes - 1)
        {
            const auto i = static_cast<uint8_t>(std::countr_zero(lanes));
            m_nextPs[i] = m_lanes[i].PopTime(
                due.timePs,
                [&sink, i](const Event& event) { sink(event, i); },
                soon);
        }
        if (due.mask & (1U << WHEEL))
        {
            m_wheel.PopNext([&sink](const Event& event) { sink(event, NO_LANE); });
            m_nextPs[WHEEL] = m_wheel.NextPs();
        }
        if (due.mask & (1U << HEAP))
        {
            PopHeap(due.timePs, sink);
        }
        if (due.mask & (1U << WIRES))
        {
            PopWires(due.timePs, sink, soon);
        }
        if (due.mask & (1U << FAR_WIRES))
        {
            PopFarWires(due.timePs, sink, soon);
        }
    }

    size_t MemoryBytes() const;

  private:
    static constexpr uint32_t WHEEL = MAX_LANES;
    static constexpr uint32_t HEAP = MAX_LANES + 1;
    static constexpr uint32_t WIRES = MAX_LANES + 2;     ///< Wires whose next frame is near
    static constexpr uint32_t FAR_WIRES = MAX_LANES + 3; ///< The others

    struct Later
    {
        bool operator()(const Event& a, const Event& b) const
        {
            return a.timePs > b.timePs;
        }
    };

    template <typename Sink>
    void PopHeap(uint64_t timePs, Sink&& sink)
    {
        while (!m_heap.empty() && m_heap.top().timePs == timePs)
        {
            sink(m_heap.top(), NO_LANE);
            m_heap.pop();
        }
        m_nextPs[HEAP] = m_heap.empty() ? NEVER_PS : m_heap.top().timePs;
    }

    /// Hand over what arrives by a wire now; its next frame decides where the wire waits.
    template <typename Sink, typename Soon>
    void PopWire(uint64_t timePs, uint32_t wire, Sink&& sink, Soon&& soon)
    {
        const uint64_t nextPs = m_wires[wire].PopTime(
            timePs,
            [&sink](const Event& event) { sink(event, NO_LANE); },
            soon);
        if (nextPs != NEVER_PS)
        {
            Await(timePs, nextPs, wire);
        }
    }

    template <typename Sink, typename Soon>
    void PopWires(uint64_t timePs, Sink&& sink, Soon&& soon)
    {
        m_dueWires.clear(); // the wheel may not be pushed to while it is popped
        m_wireWheel->PopNext([this](const Event& head) { m_dueWires.push_back(head.payload); });
        m_nextPs[WIRES] = m_wireWheel->NextPs();
        for (const uint32_t wire : m_dueWires)
        {
            PopWire(timePs, wire, sink, soon);
        }
    }

    template <typename Sink, typename Soon>
    void PopFarWires(uint64_t timePs, Sink&& sink, Soon&& soon)
    {
        while (!m_farWires.empty() && m_farWires.top().timePs == timePs)
        {
            const uint32_t wire = m_farWires.top().payload;
            m_farWires.pop();
            PopWire(timePs, wire, sink, soon);
        }
        m_nextPs[FAR_WIRES] = m_farWires.empty() ? NEVER_PS : m_farWires.top().timePs;
    }

    /// A wire waits for its next frame, in the wheel if that is near.
    void Await(uint64_t nowPs, uint64_t timePs, uint32_t wire)
    {
        const Event head{timePs, 0, wire};
        if (EventWheel::Covers(nowPs, timePs))
        {
            m_wireWheel->Push(head);
            m_nextPs[WIRES] = m_wireWheel->NextPs();
        }
        else
        {
            m_farWires.push(head);
            m_nextPs[FAR_WIRES] = m_farWires.top().timePs;
        }
    }

    std::array<uint64_t, MAX_LANES + 4> m_nextPs; ///< Earliest time of each container [ps]
    std::array<EventLane, MAX_LANES> m_lanes;
    std::array<uint64_t, MAX_LANES> m_laneDelayPs{}; ///< The constant of each lane [ps]
    uint8_t m_numLanes{0};                           ///< Lanes in use
    EventWheel m_wheel;
    std::priority_queue<Event, std::vector<Event>, Later> m_heap;
    std::vector<EventLane> m_wires;
    std::unique_ptr<EventWheel> m_wireWheel; ///< Wires by the arrival of their next frame
    std::priority_queue<Event, std::vector<Event>, Later> m_farWires; ///< The same, if it is far
    std::vector<uint32_t> m_dueWires;                                 ///< Of the instant at hand
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_QUEUE_H
