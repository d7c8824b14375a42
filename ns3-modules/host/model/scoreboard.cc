// SPDX-License-Identifier: GPL-2.0-only

#include "scoreboard.h"

namespace ns3
{
namespace fabric
{

Scoreboard::Taken
Scoreboard::TakeLost()
{
    const uint32_t packet = *m_lost.begin();
    m_lost.erase(m_lost.begin());
    return {packet, true};
}

bool
Scoreboard::Arrived(uint32_t packet)
{
    if (!m_arrived.Add(packet))
    {
        return false;
    }
    if (!m_lost.empty())
    {
        m_lost.erase(packet);
    }
    m_next = std::max(m_next, m_arrived.Base()); // it may have arrived before a Rewind
    return true;
}

uint32_t
Scoreboard::ArrivedFurther(uint32_t cumulative)
{
    const uint32_t before = m_arrived.Count();
    m_arrived.AdvanceTo(cumulative);
    m_lost.erase(m_lost.begin(), m_lost.lower_bound(m_arrived.Base()));
    m_next = std::max(m_next, m_arrived.Base());
    return m_arrived.Count() - before;
}

bool
Scoreboard::Lost(uint32_t packet)
{
    return packet < m_next && !m_arrived.Contains(packet) && m_lost.insert(packet).second;
}

void
Scoreboard::Rewind(uint32_t packet)
{
    m_next = std::max(packet, m_arrived.Base());
    m_lost.erase(m_lost.lower_bound(m_next), m_lost.end());
    m_judged = std::min(m_judged, m_next);
}

} // namespace fabric
} // namespace ns3
