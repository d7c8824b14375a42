// SPDX-License-Identifier: GPL-2.0-only

#include "reps-state.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

uint16_t
RepsState::Next(const Rules& rules, RandomCursor& draws, uint64_t nowPs)
{
    Thaw(rules, nowPs);
    if (m_explore > 0)
    {
        m_explore--;
    }
    else if (m_fresh > 0)
    {
        const auto entries = static_cast<uint32_t>(m_ring.size());
        Entry& oldest = m_ring[(m_head + entries - m_fresh) % entries];
        m_fresh -= --oldest.usesLeft == 0;
        return oldest.entropy;
    }
    else if (IsFrozen() && !m_ring.empty())
    {
        m_cycle = (m_cycle + 1) % static_cast<uint32_t>(m_ring.size());
        return m_ring[m_cycle].entropy;
    }
    return static_cast<uint16_t>(draws.Below(rules.entropies));
}

void
RepsState::Report(const Rules& rules, const PathReport& report, uint64_t nowPs)
{
    using Fate = PathReport::Fate;
    Thaw(rules, nowPs);
    if (report.fate == Fate::TIMED_OUT && !IsFrozen() && m_explore == 0)
    {
        m_frozenUntilPs = nowPs + rules.freezePs;
    }
    // A switch next to the destination trims whatever path was taken.
    const bool good = report.fate == Fate::ARRIVED || report.fate == Fate::TRIMMED_AT_LAST_HOP;
    if (good && report.rttPs > 0)
    {
        Store(rules, report.entropy);
    }
}

void
RepsState::Store(const Rules& rules, uint16_t entropy)
{
    const Entry entry{entropy, static_cast<uint16_t>(rules.lifetimeUses)};
    if (m_ring.size() < rules.ringEntries)
    {
        m_ring.push_back(entry);
    }
    else
    {
        m_ring[m_head] = entry;
    }
    m_head = (m_head + 1) % rules.ringEntries;
    m_fresh = std::min(m_fresh + 1, rules.ringEntries);
}

/// End a freeze whose time is over: forget what was stored, and explore.
void
RepsState::Thaw(const Rules& rules, uint64_t nowPs)
{
    if (IsFrozen() && nowPs >= m_frozenUntilPs)
    {
        *this = {};
        m_explore = rules.explorePackets;
    }
}

} // namespace ns3
