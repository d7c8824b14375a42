// SPDX-License-Identifier: GPL-2.0-only

#include "observers.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace fabric
{

void
Observers::Add(Observer& observer)
{
    const std::pair<Observer::Wish, std::vector<Observer*>*> lists[] = {
        {Observer::STARTS, &m_ofStarts},
        {Observer::ARRIVALS, &m_ofArrivals},
        {Observer::PAUSES, &m_ofPauses},
        {Observer::FRAMES, &m_ofFrames},
    };
    m_all.push_back(&observer);
    m_wishes |= observer.Wishes();
    for (const auto& [wish, list] : lists)
    {
        if (observer.Wishes() & wish)
        {
            list->push_back(&observer);
        }
    }
    m_nextLookPs = std::min(m_nextLookPs, observer.NextLookPs());
}

void
Observers::OnStart(uint32_t message)
{
    for (Observer* observer : m_ofStarts)
    {
        observer->OnStart(message);
        m_nextLookPs = std::min(m_nextLookPs, observer->NextLookPs());
    }
}

void
Observers::OnDisturbance()
{
    for (Observer* observer : m_ofStarts)
    {
        observer->OnDisturbance();
        m_nextLookPs = std::min(m_nextLookPs, observer->NextLookPs());
    }
}

void
Observers::OnDataArrived(const Frame& frame, uint32_t node) const
{
    for (Observer* observer : m_ofArrivals)
    {
        observer->OnDataArrived(frame, node);
    }
}

void
Observers::OnPauseChanged(PortId port,
                          uint16_t before,
                          uint16_t after,
                          const PauseReason& why) const
{
    for (Observer* observer : m_ofPauses)
    {
        observer->OnPauseChanged(port, before, after, why);
    }
}

void
Observers::OnSent(PortId port, const Frame& frame) const
{
    for (Observer* observer : m_ofFrames)
    {
        observer->OnSent(port, frame);
    }
}

void
Observers::OnReceived(PortId port, const Frame& frame) const
{
    for (Observer* observer : m_ofFrames)
    {
        observer->OnReceived(port, frame);
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
    m_nextLookPs = EnginePs::Never();
    for (const Observer* observer : m_all) // one of them may have moved the clock
    {
        m_nextLookPs = std::min(m_nextLookPs, observer->NextLookPs());
    }
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
