// SPDX-License-Identifier: GPL-2.0-only

#include "penalised-entropies.h"

#include <algorithm>
#include <bit>

namespace ns3
{

using namespace fabric;

PenalisedEntropies::PenalisedEntropies(uint32_t n, RandomCursor& draws)
    : m_penalties(n),
      m_span(std::bit_ceil(n)),
      m_mask(draws.Below(m_span))
{
    if (Here() >= n)
    {
        Advance(draws);
    }
}

uint16_t
PenalisedEntropies::Next(RandomCursor& draws)
{
    if (m_penalised > 0 && m_penalties[Here()] > 0)
    {
        m_penalised -= --m_penalties[Here()] == 0;
        for (size_t passed = 0; passed < m_penalties.size(); passed++)
        {
            Advance(draws);
            if (m_penalties[Here()] == 0)
            {
                break;
            }
        }
    }
    const auto entropy = static_cast<uint16_t>(Here());
    Advance(draws);
    return entropy;
}

void
PenalisedEntropies::Advance(RandomCursor& draws)
{
    do
    {
        if (++m_index == m_span)
        {
            m_index = 0;
            m_mask = draws.Below(m_span);
        }
    } while (Here() >= m_penalties.size());
}

void
PenalisedEntropies::Report(uint16_t entropy, PathReport::Fate fate)
{
    using Fate = PathReport::Fate;
    uint32_t penalty = 0;
    switch (fate)
    {
    case Fate::ARRIVED:
    case Fate::TRIMMED_AT_LAST_HOP: // whatever path was taken
        return;
    case Fate::MARKED:
        penalty = MARKED;
        break;
    case Fate::TRIMMED:
    case Fate::OVERTAKEN:
        penalty = LOST;
        break;
    case Fate::TIMED_OUT:
        penalty = MOST;
        break;
    }
    uint8_t& held = m_penalties[entropy];
    m_penalised += held == 0;
    held = static_cast<uint8_t>(std::min<uint32_t>(held + penalty, MOST));
}

} // namespace ns3
