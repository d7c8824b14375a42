// SPDX-License-Identifier: GPL-2.0-only

#include "event-queue.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr size_t WIRE_ROOM = 4; ///< Events for which a wire has room at first

} // namespace

uint8_t
EventQueue::LaneFor(EventType type, uint64_t delayPs, Origin origin)
{
    for (uint8_t lane = 0; lane < m_numLanes; lane++)
    {
        if (m_laneType[lane] == type && m_laneDelayPs[lane] == delayPs &&
            m_laneOrigin[lane] == origin)
        {
            return lane;
        }
    }
    if (m_numLanes == MAX_LANES)
    {
        return NO_LANE;
    }
    m_laneType[m_numLanes] = type;
    m_laneDelayPs[m_numLanes] = delayPs;
    m_laneOrigin[m_numLanes] = origin;
    m_laneOrders[m_numLanes] = OrdersOf(m_numLanes);
    AddPlace();
    return m_numLanes++;
}

/// @return a bit that the lanes of arrivals share which are in order one behind the other; two if
/// what comes by a lane is not
uint32_t
EventQueue::OrdersOf(uint8_t lane) const
{
    if (m_laneType[lane] != EventType::ARRIVE)
    {
        return 0;
    }
    if (m_laneOrigin[lane] == Origin::ELSEWHERE)
    {
        return Instant::NO_ORDER;
    }
    uint8_t first = 0;
    while (m_laneType[first] != EventType::ARRIVE || m_laneDelayPs[first] != m_laneDelayPs[lane] ||
           m_laneOrigin[first] == Origin::ELSEWHERE)
    {
        first++;
    }
    return 1U << first;
}

void
EventQueue::SetWires(uint32_t wires)
{
    m_wires.clear();
    m_wires.reserve(wires);
    for (uint32_t wire = 0; wire < wires; wire++)
    {
        m_wires.emplace_back(WIRE_ROOM);
    }
}

void
EventQueue::ExpectGap(uint64_t gapPs)
{
    const uint64_t* gaps = m_laneDelayPs.data() + m_numLanes;
    const uint32_t used = m_end - FIRST_LANE - m_numLanes;
    if (used == MAX_GAPS || std::find(gaps, gaps + used, gapPs) != gaps + used)
    {
        return;
    }
    m_laneDelayPs[m_numLanes + used] = gapPs;
    m_heads |= 1U << m_end;
    AddPlace();
}

/// One more lane is in use.
void
EventQueue::AddPlace()
{
    m_end++;
    m_lookedAt = (m_end + UNROLLED - 1) / UNROLLED * UNROLLED;
}

uint64_t
EventQueue::NextControlPs() const
{
    uint64_t nextPs = NEVER_PS;
    const auto look = [&nextPs](const Event& event) {
        nextPs = IsControl(event) ? std::min(nextPs, event.timePs) : nextPs;
    };
    m_calendar.ForEach(look);
    std::for_each(m_heap.Events().begin(), m_heap.Events().end(), look);
    return nextPs;
}

void
EventQueue::AdvanceControl(uint64_t byPs)
{
    EventHeap advanced;
    for (Event event : m_heap.Events())
    {
        event.timePs -= IsControl(event) ? byPs : 0;
        advanced.push(event);
    }
    m_heap = std::move(advanced);
    FindOthers();
}

size_t
EventQueue::MemoryBytes() const
{
    size_t bytes = m_calendar.MemoryBytes() + m_heap.size() * sizeof(Event);
    for (const auto& lane : m_lanes)
    {
        bytes += lane.MemoryBytes();
    }
    for (const auto& wire : m_wires)
    {
        bytes += wire.MemoryBytes();
    }
    return bytes;
}

} // namespace fabric
} // namespace ns3
