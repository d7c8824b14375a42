// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "fabric-fetch.h"
#include "fabric-parts.h"

#include "ns3/assert.h"
#include "ns3/log.h"

#include <algorithm>
#include <bit>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("Fabric");

namespace fabric
{

namespace
{

constexpr uint64_t EVENTS_PER_CLOCK_CHECK = 1 << 16;

/// How many events ahead of the current one their memory is fetched.
constexpr size_t FETCH_AHEAD = 8;

} // namespace

// ---- the loop ---------------------------------------------------------------------------------

void
Fabric::Begin()
{
    m_state.messages.Begin();
}

uint64_t
Fabric::NextPs() const
{
    const bool isDone = m_state.messages.AllDone() && !m_goesOn;
    const uint64_t nextPs = isDone || m_deadlocked ? NEVER_PS : m_state.queue.NextPs();
    return nextPs == NEVER_PS ? NEVER_PS : nextPs + m_state.messages.SkippedPs();
}

bool
Fabric::IsOver() const
{
    return !m_goesOn && m_state.messages.Size() > 0 && m_state.messages.AllDone();
}

void
Fabric::LimitTo(uint64_t limitPs)
{
    m_limitPs = std::min(m_limitPs, limitPs - m_state.messages.SkippedPs());
}

void
Fabric::AdvanceTo(uint64_t nowPs)
{
    NS_ASSERT_MSG(nowPs >= NowPs() && nowPs <= NextPs(), "events would be passed over");
    const uint64_t clockPs = nowPs - m_state.messages.SkippedPs();
    if (clockPs > m_watchPs)
    {
        Watch(clockPs);
    }
    m_state.nowPs = clockPs;
}

/**
 * Look at the network before the next event: find a deadlock, and let observers look.
 *
 * Not an event: it changes nothing, and a run in which nothing else is left must end.
 */
void
Fabric::Watch(uint64_t nextPs)
{
    if (nextPs > m_deadlockCheckPs)
    {
        m_deadlockCheckPs = nextPs / DEADLOCK_CHECK_PS * DEADLOCK_CHECK_PS + DEADLOCK_CHECK_PS;
        // A link that is cut empties queues; before the last cut nothing is dead for ever.
        m_deadlocked = m_changes.LastCutPs() < nextPs + m_state.messages.SkippedPs() &&
                       !FindDeadlock(FabricParts({this})).empty();
    }
    m_watchPs = m_deadlockCheckPs;
    m_showsInstants = false;
    for (Observer* observer : m_observers)
    {
        if (nextPs > observer->NextLookPs() && !m_deadlocked)
        {
            observer->Look(nextPs);
        }
        m_showsInstants |= observer->SeesInstants();
    }
    for (const Observer* observer : m_observers) // one of them may have moved the clock
    {
        m_watchPs = std::min(m_watchPs, observer->NextLookPs());
    }
}

void
Fabric::Attach(Observer& observer)
{
    const std::pair<Observer::Wish, std::vector<Observer*>*> lists[] = {
        {Observer::STARTS, &m_ofStarts},
        {Observer::ARRIVALS, &m_ofArrivals},
        {Observer::PAUSES, &m_ofPauses},
        {Observer::FRAMES, &m_ofFrames},
    };
    m_observers.push_back(&observer);
    for (const auto& [wish, list] : lists)
    {
        if (observer.Wishes() & wish)
        {
            list->push_back(&observer);
        }
    }
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        m_ports[port].isWatched = m_ports[port].isWatched || !m_ofFrames.empty();
    }
    m_watchPs = std::min(m_watchPs, observer.NextLookPs());
}

/// What observers have seen of the state at hand is over.
void
Fabric::Disturb()
{
    for (Observer* observer : m_ofStarts)
    {
        observer->OnDisturbance();
        m_watchPs = std::min(m_watchPs, observer->NextLookPs());
    }
}

void
Fabric::Skip(const SkippedTime& skipped)
{
    for (Observer* observer : m_observers)
    {
        observer->OnSkip(skipped);
    }
    for (const auto& [index, packets, frameBytes] : skipped.sent)
    {
        Message& message = m_state.messages[index];
        message.bytes -= packets * m_wires[message.transport].mtuBytes;
        for (const uint32_t end : {message.srcEndpoint, message.dstEndpoint})
        {
            m_endpoints[end].transport->Shorten(index, static_cast<uint32_t>(packets));
        }
        m_dataPackets += packets;
    }
    m_state.messages.Skip(skipped.byPs);
    m_limitPs -= skipped.byPs;
}

void
Fabric::Finish()
{
    for (Observer* observer : m_observers)
    {
        observer->Finish();
    }
    m_state.frames.GiveBack(); // results are about to take memory
}

// ---- one instant ------------------------------------------------------------------------------

/// Execute the only event of an instant; it waited in a lane or on a wire.
FABRIC_HOT void
Fabric::ExecuteAlone(const Event& event)
{
    const uint32_t index = event.target & EVENT_INDEX_MASK;
    if (event.Type() == EventType::ARRIVE)
    {
        Arrive(index, event.payload, ROUTE_NOW);
    }
    else
    {
        TransmissionDone(index);
    }
}

/**
 * Execute the events of this instant, with the memory of the next ones on its way.
 *
 * Events look at their port, which was asked for when they were still in their lane, then at what
 * lies behind it, then at the transport; each is fetched a few events before. What changes the
 * network (CONTROL) comes before any frame is routed.
 */
template <bool FETCHES>
FABRIC_HOT void
Fabric::ExecuteInstant()
{
    constexpr uint64_t FIRST_TX_DONE = uint64_t{EventTarget(EventType::TX_DONE, 0)} << 32;
    KeyList& others = m_instant.others;
    const auto timers = static_cast<size_t>(
        std::lower_bound(others.begin(), others.end(), FIRST_TX_DONE) - others.begin());
    if (timers != 0)
    {
        ExecuteOthers(0, timers);
    }

    KeyList& transmitted = m_instant.transmitted;
    size_t n = transmitted.Size();
    for (size_t i = 0; i < n; i++)
    {
        if (FETCHES && i + FETCH_AHEAD < n)
        {
            FetchForTransmissionDone(transmitted[i + FETCH_AHEAD]);
        }
        TransmissionDone(IndexOf(transmitted[i]));
    }

    KeyList& arrived = m_instant.arrived;
    n = arrived.Size();
    if (FETCHES && m_egress.size() < n)
    {
        m_egress.resize(n);
    }
    for (size_t i = 0; FETCHES && i < std::min(n, FETCH_AHEAD); i++)
    {
        FetchForArrival(i);
    }
    for (size_t i = 0; i < n; i++)
    {
        if (FETCHES && i + FETCH_AHEAD < n)
        {
            FetchForArrival(i + FETCH_AHEAD);
            FetchTransport(arrived[i + FETCH_AHEAD / 2]);
        }
        const uint64_t key = arrived[i];
        Arrive(IndexOf(key), static_cast<FrameId>(key), FETCHES ? m_egress[i] : ROUTE_NOW);
    }

    if (timers != others.Size())
    {
        ExecuteOthers(timers, others.Size());
    }
}

/// Execute events up to the limit. FETCHES: ask for their memory ahead of time.
template <bool FETCHES>
void
Fabric::RunEvents(std::chrono::steady_clock::time_point deadline)
{
    const auto soon = [this](const Event& event) {
        if (FETCHES)
        {
            FetchSoon(event);
        }
    };
    uint64_t nextCheck = m_events + EVENTS_PER_CLOCK_CHECK;
    while (!m_state.messages.AllDone() || m_goesOn)
    {
        const EventQueue::Due due = m_state.queue.FindNext();
        if (due.timePs > m_limitPs || due.timePs == NEVER_PS)
        {
            return;
        }
        bool isShown = false;
        if (due.timePs > m_watchPs) [[unlikely]]
        {
            Watch(due.timePs);
            if (m_deadlocked)
            {
                return;
            }
            isShown = m_showsInstants;
        }
        m_state.nowPs = due.timePs;
        if (!isShown && m_state.queue.IsAlone(due))
        {
            ExecuteAlone(m_state.queue.PopAlone(due, soon));
            m_events++;
        }
        else
        {
            m_state.queue.PopInstant(due, m_instant, soon);
            m_instant.Order(m_state.frames);
            for (size_t i = 0; isShown && i < m_observers.size(); i++)
            {
                m_observers[i]->OnInstant(m_instant);
            }
            ExecuteInstant<FETCHES>();
            m_events += m_instant.Size();
        }
        if (m_events >= nextCheck) [[unlikely]]
        {
            if (std::chrono::steady_clock::now() >= deadline)
            {
                return;
            }
            nextCheck = m_events + EVENTS_PER_CLOCK_CHECK;
        }
    }
}

void
Fabric::RunUntil(uint64_t limitPs, std::chrono::steady_clock::time_point deadline)
{
    m_limitPs = limitPs - m_state.messages.SkippedPs();
    if (m_fetches)
    {
        RunEvents<true>(deadline);
    }
    else
    {
        RunEvents<false>(deadline);
    }
}

/// Execute changes of links and routes, starts of messages, ends of tasks, and timers.
void
Fabric::ExecuteOthers(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
    {
        const auto target = static_cast<uint32_t>(m_instant.others[i] >> 32);
        const auto payload = static_cast<uint32_t>(m_instant.others[i]);
        const uint32_t index = target & EVENT_INDEX_MASK;
        if (target >> EVENT_INDEX_BITS == static_cast<uint32_t>(EventType::TIMER))
        {
            ExecuteTimer(index, payload);
        }
        else if (index == CONTROL_MESSAGE)
        {
            StartMessage(payload);
        }
        else if (index == CONTROL_TASK)
        {
            m_state.messages.EndTask(payload, m_state.nowPs);
        }
        else if (index == CONTROL_ROUTE)
        {
            m_events -= m_state.domain != 0; // each domain executes it, and it is one
            m_state.routes.Take(payload);
        }
        else if (index == CONTROL_RATE)
        {
            Readmit(m_state.messages.ChangeRate(payload));
        }
        else
        {
            // What follows from changes follows once, from all of this instant together.
            const bool isLast =
                i + 1 == end || static_cast<uint32_t>(m_instant.others[i + 1] >> 32) != target;
            ExecuteChange(index, payload, isLast);
        }
    }
}

} // namespace fabric
} // namespace ns3
