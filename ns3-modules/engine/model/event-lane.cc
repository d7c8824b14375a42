// SPDX-License-Identifier: GPL-2.0-only

#include "event-lane.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

/// The tail has come to the end of the ring, or to where the head was when it last came round.
void
EventLane::FindRoom()
{
    if (m_tail == m_end)
    {
        m_tail = m_ring.get();
    }
    if (m_tail == m_head) // full now
    {
        Grow();
    }
    m_stop = m_head > m_tail ? m_head : m_end;
}

void
EventLane::Grow()
{
    const size_t room = m_end - m_ring.get();
    auto larger = std::make_unique<Event[]>(2 * room + LOOK_AHEAD);
    std::copy(m_ring.get(), m_tail, std::copy(m_head, m_end, larger.get()));
    m_ring.swap(larger);
    m_end = m_ring.get() + 2 * room;
    m_head = m_ring.get();
    m_tail = m_head + room;
}

} // namespace fabric
} // namespace ns3
