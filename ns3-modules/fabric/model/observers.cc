// SPDX-License-Identifier: GPL-2.0-only

#include "observers.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

void
Observers::Add(Observer& observer)
{
    m_all.push_back(&observer);
    m_wishes |= observer.Wishes();
    FindNextLook();
}

void
Observers::FindNextLook()
{
    m_nextLookPs = EnginePs::Never();
    for (const Observer* observer : m_all)
    {
        m_nextLookPs = std::min(m_nextLookPs, observer->NextLookPs());
    }
}

void
Observers::OnStart(uint32_t message)
{
    if (AnyWishes(Observer::STARTS))
    {
        Call(Observer::STARTS, &Observer::OnStart, message);
        FindNextLook();
    }
}

void
Observers::OnDisturbance()
{
    if (AnyWishes(Observer::STARTS))
    {
        Call(Observer::STARTS, &Observer::OnDisturbance);
        FindNextLook();
    }
}

void
Observers::OnSkip(const SkippedTime& piece) const
{
    for (Observer* observer : m_all)
    {
        observer->OnSkip(piece);
    }
}

/// Not an event: it changes nothing, and a run in which nothing else is left must end.
void
Observers::Look(EnginePs nextPs)
{
    m_seeInstants = false;
    for (Observer* observer : m_all)
    {
        if (nextPs > observer->NextLookPs() && !m_endRun)
        {
            observer->Look(nextPs);
        }
        m_seeInstants |= observer->SeesInstants();
        m_endRun |= observer->EndsRun();
    }
    FindNextLook(); // one of them may have moved the clock
}

void
Observers::OnInstant(const Instant& instant) const
{
    for (Observer* observer : m_all)
    {
        observer->OnInstant(instant);
    }
}

void
Observers::Finish() const
{
    for (Observer* observer : m_all)
    {
        observer->Finish();
    }
}

uint64_t
Observers::MemoryBytes() const
{
    uint64_t bytes = 0;
    for (const Observer* observer : m_all)
    {
        bytes += observer->MemoryBytes();
    }
    return bytes;
}

} // namespace fabric
} // namespace ns3
