// SPDX-License-Identifier: GPL-2.0-only

// SteadySkip: what repeats to the picosecond.

#include "steady-skip.h"

#include "ns3/queue-discipline.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

/// @return whether the state of the network may be one that repeats
bool
SteadySkip::MayRepeat() const
{
    const auto draws = [](const Ptr<Object>& plugin) {
        const auto discipline = DynamicCast<QueueDiscipline>(plugin);
        return discipline && !discipline->GetTraits(0).mayRepeat;
    };
    return !m_active.empty() && std::ranges::none_of(m_run.Plugins(), draws) &&
           std::ranges::all_of(m_active, [this](const Active& active) {
               return m_run.SourceOf(active.message).MayRepeat(active.message);
           });
}

void
SteadySkip::OnInstant(const Instant& instant)
{
    m_search.Trace(instant);
}

void
SteadySkip::CheckPeriod(EnginePs nextPs)
{
    if (m_span)
    {
        if (const auto isOpenEnded = m_search.GoesOn())
        {
            *isOpenEnded && !FindControls().move ? SkipPeriods(nextPs) : OnDisturbance();
        }
        return;
    }
    m_span = m_search.Look([this](EnginePs atPs) { return Take(atPs); });
    if (m_span && FindControls().move)
    {
        OnDisturbance();
    }
    else if (m_span)
    {
        SkipPeriods(nextPs);
    }
}

/// Skip as many periods as there are until a message is at its last packets, or until something
/// happens that no state decides: then those after it, too, if it leaves the state as it is.
void
SteadySkip::SkipPeriods(EnginePs nextPs)
{
    SteadyState::Jump jump{0, 0, &m_span->from, &m_span->to, {}, {}};
    const uint64_t nearest = MostPs(nextPs) / jump.OverPs();
    uint64_t last = NEVER_PS;
    for (size_t i = 0; i < m_active.size(); i++)
    {
        const MessageProgress now = ProgressOf(m_active[i].message);
        const uint64_t packets = m_span->to.flows[i].sent - m_span->from.flows[i].sent;
        const uint64_t unsent = uint64_t{now.packets} - now.sent;
        last = std::min(last, unsent > 0 ? (unsent - 1) / packets : 0);
        jump.packets.push_back(static_cast<double>(packets));
    }
    const bool wasSkipped = m_nextCheckPs == EnginePs::Never();
    if (const uint64_t periods = std::min(nearest, last); periods > 0)
    {
        jump.byPs = jump.sincePs = periods * jump.OverPs();
        jump.errorPackets.assign(m_active.size(), 0);
        Rebase();
        Skip(jump, m_search.CutPs(), nextPs, true);
        m_nextCheckPs = EnginePs::Never(); // the rest is executed: what is exact stays so
    }
    else if (!wasSkipped)
    {
        m_span.reset(); // rates may serve
        return;
    }
    if (last > nearest)
    {
        m_search.SetOpenEnded();
    }
    else
    {
        m_search.Stop();
    }
}

} // namespace fabric
} // namespace ns3
