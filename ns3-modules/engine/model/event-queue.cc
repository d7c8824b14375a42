// SPDX-License-Identifier: GPL-2.0-only

#include "event-queue.h"

#include <functional>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr uint64_t WIRE_LENGTH = 16; ///< Events for which a wire has room at first

} // namespace

uint8_t
EventQueue::LaneFor(uint64_t delayPs)
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

void
EventQueue::SetWires(uint32_t wires)
{
    m_wires.clear();
    m_wires.reserve(wires);
    for (uint32_t wire = 0; wire < wires; wire++)
    {
        m_wires.emplace_back(WIRE_LENGTH);
    }
}

void
EventQueue::PushWire(uint32_t wire, const Event& event)
{
    if (m_wires[wire].IsEmpty())
    {
        m_wireHeads.push_back({event.timePs, wire});
        std::push_heap(m_wireHeads.begin(), m_wireHeads.end(), std::greater<>{});
        m_nextPs[WIRES] = m_wireHeads.front().timePs;
    }
    m_wires[wire].Push(event);
}

/// Sift the new head of the first wire down to its place; most wires move only a little.
void
EventQueue::ReplaceFirstWire(uint64_t nextPs, uint32_t wire)
{
    if (nextPs == NEVER_PS)
    {
        std::pop_heap(m_wireHeads.begin(), m_wireHeads.end(), std::greater<>{});
        m_wireHeads.pop_back();
        return;
    }
    const size_t n = m_wireHeads.size();
    size_t hole = 0;
    for (size_t child = 1; child < n; child = 2 * hole + 1)
    {
        child += child + 1 < n && m_wireHeads[child] > m_wireHeads[child + 1];
        if (m_wireHeads[child].timePs >= nextPs)
        {
            break;
        }
        m_wireHeads[hole] = m_wireHeads[child];
        hole = child;
    }
    m_wireHeads[hole] = {nextPs, wire};
}

size_t
EventQueue::MemoryBytes() const
{
    size_t bytes = EventWheel::BUCKETS * sizeof(uint32_t) + m_heap.size() * sizeof(Event) +
                   m_wireHeads.capacity() * sizeof(WireHead);
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
