// SPDX-License-Identifier: GPL-2.0-only

#include "event-lane.h"

namespace ns3
{
namespace fabric
{

namespace
{

constexpr size_t LEAST_ROOM = 4;   ///< Of a stretch [event]
constexpr size_t MOST_ROOM = 4096; ///< [event]

} // namespace

EventLane::EventLane(size_t room)
    : m_room(room)
{
    m_used.emplace_front(room);
    m_last = m_used.begin();
    m_head = m_last->events.get();
    m_end = m_last->end;
    m_tail = m_head;
    m_stop = m_end;
}

/// The tail has come to the end of its stretch: it goes on in the one that the head left last.
void
EventLane::FindRoom()
{
    if (m_spare.empty())
    {
        const size_t room = std::clamp(m_room / 2, LEAST_ROOM, MOST_ROOM);
        m_spare.emplace_front(room);
        m_room += room;
    }
    m_used.splice_after(m_last, m_spare, m_spare.before_begin());
    ++m_last;
    m_tail = m_last->events.get();
    m_stop = m_last->end;
}

/// The head has come to the end of its stretch; the tail is in a later one.
/// @return where the head goes on
Event*
EventLane::LeaveStretch()
{
    m_spare.splice_after(m_spare.before_begin(), m_used, m_used.before_begin());
    m_end = m_used.front().end;
    return m_used.front().events.get();
}

size_t
EventLane::MemoryBytes() const
{
    const auto stretches =
        std::distance(m_used.begin(), m_used.end()) + std::distance(m_spare.begin(), m_spare.end());
    return (m_room + stretches * LOOK_AHEAD) * sizeof(Event);
}

} // namespace fabric
} // namespace ns3
