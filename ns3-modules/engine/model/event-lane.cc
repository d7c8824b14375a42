// SPDX-License-Identifier: GPL-2.0-only

#include "event-lane.h"

namespace ns3
{
namespace fabric
{

void
EventLane::Grow()
{
    const uint64_t mask = 2 * m_mask + 1;
    auto larger = std::make_unique<Event[]>(mask + 1); // PopTime looks ahead past the end
    for (uint64_t i = m_head; i != m_tail; i++)
    {
        larger[i & mask] = m_ring[i & m_mask];
    }
    m_ring.swap(larger);
    m_mask = mask;
}

} // namespace fabric
} // namespace ns3
