// SPDX-License-Identifier: GPL-2.0-only

#include "event-queue.h"

namespace ns3
{
namespace fabric
{

namespace
{

constexpr uint64_t WIRE_LENGTH = 16; ///< Events for which a wire has room at first

} // namespace

uint8_t
EventQueue::LaneFor(EventType type, uint64_t delayPs)
{
    for (uint8_t lane = 0; lane < m_numLanes; lane++)
    {
        if (m_laneType[lane] == type && m_laneDelayPs[lane] == delayPs)
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
    return m_numLanes++;
}

void
EventQueue::SetWires(uint32_t wires)
{
    m_wires.clear();
    m_wires.reserve(wires);
    m_wireWheel = wires ? std::make_unique<EventWheel>() : nullptr;
    for (uint32_t wire = 0; wire < wires; wire++)
    {
        m_wires.emplace_back(WIRE_LENGTH);
    }
}

size_t
EventQueue::MemoryBytes() const
{
    size_t bytes = EventWheel::BUCKETS * sizeof(uint32_t) + m_heap.size() * sizeof(Event) +
                   m_farWires.size() * sizeof(Event);
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
