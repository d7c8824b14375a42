// SPDX-License-Identifier: GPL-2.0-only

// What is decided between the windows of a run of several domains.

#include "parallel-run.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

namespace
{

WorldPs
After(WorldPs timePs)
{
    return timePs == WorldPs::Never() ? timePs : timePs + 1;
}

} // namespace

bool
ParallelRun::AllDone() const
{
    return std::ranges::all_of(m_view.All(), [](auto* part) { return part->Messages().AllDone(); });
}

/// @return whether all may be done in a window that begins now: no acknowledgement is faster
bool
ParallelRun::MayFinish() const
{
    return m_view.Sum([](const RunView& part) { return part.DeliveredHere(); }) >= m_toDeliver;
}

/// @return end of a window that begins with an event at `nextPs` [ps]
WorldPs
ParallelRun::EndOfWindow(WorldPs nextPs)
{
    const WorldPs endPs =
        std::min({nextPs + m_lookaheadPs, After(m_limitPs), After(m_deadlockCheckPs)});
    const LinkChanges& changes = m_view.First().Changes();
    for (; m_nextChange < changes.Size() && changes.TimePs(m_nextChange) <= nextPs; m_nextChange++)
    {
        ExchangeSent(m_nextChange);
    }
    return m_nextChange < changes.Size() ? std::min(endPs, changes.TimePs(m_nextChange)) : endPs;
}

/// Everybody has come to the end of a window: decide on the next one, or none.
void
ParallelRun::Plan()
{
    try
    {
        PlanNext();
    }
    catch (...)
    {
        m_reports[0].error = std::current_exception();
        m_pauses = true;
    }
}

/// @return whether domains have stopped within a window; then all go on to one time
bool
ParallelRun::PlanRest()
{
    if (m_phase != Phase::DONE ||
        std::ranges::none_of(m_view.All(), [](auto* part) { return part->Messages().AllDone(); }))
    {
        return false;
    }
    m_endPs = AllDone() ? m_nowPs + 1 : m_endPs;
    m_phase = Phase::REST;
    return true;
}

void
ParallelRun::PlanNext()
{
    for (const auto& part : m_parts)
    {
        m_nowPs = std::max(m_nowPs, part->NowPs());
    }
    const bool failed =
        std::ranges::any_of(m_reports, [](auto& report) { return report.error != nullptr; });
    if (!failed && PlanRest())
    {
        return;
    }
    const WorldPs nextPs = NextPs();
    using Clock = std::chrono::steady_clock;
    m_pauses = failed || nextPs == WorldPs::Never() || nextPs > m_limitPs ||
               (m_deadline != Clock::time_point::max() && Clock::now() >= m_deadline);
    if (!m_pauses && nextPs > m_deadlockCheckPs)
    {
        m_deadlockCheckPs = NextDeadlockCheck(nextPs);
        m_deadlocked =
            m_view.First().Changes().LastCutPs() < nextPs && !FindDeadlock(m_view).empty();
        m_pauses = m_deadlocked;
    }
    if (m_pauses)
    {
        return;
    }
    m_endPs = EndOfWindow(nextPs);
    m_phase = MayFinish() ? Phase::DONE : Phase::WHOLE;
    m_parity ^= 1;
    m_windows++;
}

// ---- links that change ------------------------------------------------------------------------

/// A link that crosses is about to change: what was sent until now is known at both ends.
void
ParallelRun::ExchangeSent(uint32_t row)
{
    const PortId end = m_view.First().Changes().EndOf(row);
    for (const PortId port : {end, m_view.GetPort(end).peer})
    {
        if (m_view.GetPort(port).crosses)
        {
            const uint32_t other = m_view.EngineOf(m_view.GetPort(port).peer);
            m_boundaries[other]->LearnSent(port, m_view.GetPort(port).sentFrames);
        }
    }
}

} // namespace fabric
} // namespace ns3
