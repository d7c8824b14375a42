// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "episode-memory.h"
#include "fabric-fetch.h"
#include "fabric-parts.h"
#include "steady-skip.h"

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

uint64_t
Fabric::NextPs() const
{
    const bool isDone = m_messages.AllDone() && !m_goesOn;
    const uint64_t nextPs = isDone || m_deadlocked ? NEVER_PS : m_queue.NextPs();
    return nextPs == NEVER_PS ? NEVER_PS : nextPs + m_messages.SkippedPs();
}

bool
Fabric::IsOver() const
{
    return !m_goesOn && m_messages.Size() > 0 && m_messages.AllDone();
}

void
Fabric::LimitTo(uint64_t limitPs)
{
    m_limitPs = std::min(m_limitPs, limitPs - m_messages.SkippedPs());
}

void
Fabric::AdvanceTo(uint64_t nowPs)
{
    NS_ASSERT_MSG(nowPs >= NowPs() && nowPs <= NextPs(), "events would be passed over");
    const uint64_t clockPs = nowPs - m_messages.SkippedPs();
    if (clockPs > m_watchPs)
    {
        Watch(clockPs);
    }
    m_nowPs = clockPs;
}

/**
 * Look at the network before the next event: find a deadlock, and take samples.
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
        m_deadlocked = m_changes.LastCutPs() < nextPs + m_messages.SkippedPs() &&
                       !FindDeadlock(FabricParts({this})).empty();
    }
    const uint64_t worldPs = nextPs + m_messages.SkippedPs();
    if (m_telemetry && !m_deadlocked && worldPs > m_telemetry->NextSamplePs())
    {
        m_telemetry->SampleBefore(worldPs);
    }
    m_watchPs = m_deadlockCheckPs;
    if (m_skip)
    {
        if (nextPs > m_skip->NextCheckPs() && !m_deadlocked)
        {
            m_skip->Check(nextPs);
        }
        m_skip->CheckPeriod(nextPs);
        m_watchPs = m_skip->Traces() ? 0 : std::min(m_watchPs, m_skip->NextCheckPs());
    }
    if (m_telemetry)
    {
        m_watchPs = std::min(m_watchPs, m_telemetry->NextSamplePs() - m_messages.SkippedPs());
    }
}

void
Fabric::Finish()
{
    if (m_telemetry)
    {
        m_telemetry->Finish();
    }
    if (m_memory)
    {
        m_memory->Finish();
    }
    m_frames.GiveBack(); // results are about to take memory
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
    while (!m_messages.AllDone() || m_goesOn)
    {
        const EventQueue::Due due = m_queue.FindNext();
        if (due.timePs > m_limitPs || due.timePs == NEVER_PS)
        {
            return;
        }
        bool isTraced = false;
        if (due.timePs > m_watchPs) [[unlikely]]
        {
            Watch(due.timePs);
            if (m_deadlocked)
            {
                return;
            }
            isTraced = m_skip && m_skip->Traces();
        }
        m_nowPs = due.timePs;
        if (isTraced) [[unlikely]]
        {
            m_queue.PopInstant(due, m_instant, soon);
            m_instant.Order(m_frames);
            m_skip->Trace(m_instant);
            ExecuteInstant<FETCHES>();
            m_events += m_instant.Size();
        }
        else if (m_queue.IsAlone(due))
        {
            ExecuteAlone(m_queue.PopAlone(due, soon));
            m_events++;
        }
        else
        {
            m_queue.PopInstant(due, m_instant, soon);
            m_instant.Order(m_frames);
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
    m_limitPs = limitPs - m_messages.SkippedPs();
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
            m_messages.EndTask(payload, m_nowPs);
        }
        else if (index == CONTROL_ROUTE)
        {
            m_events -= m_domain != 0; // each domain executes it, and it is one
            m_routes.Take(payload);
        }
        else if (index == CONTROL_RATE)
        {
            Readmit(m_messages.ChangeRate(payload));
        }
        else if (index == CONTROL_DELIVERED)
        {
            m_memory->Deliver(payload);
        }
        else if (index == CONTROL_ACKNOWLEDGED)
        {
            m_memory->Acknowledge(payload);
        }
        else
        {
            // What follows from changes follows once, from all of this instant together.
            const bool isLast =
                i + 1 == end || static_cast<uint32_t>(m_instant.others[i + 1] >> 32) != target;
            ExecuteChange(index, payload, isLast);
        }
    }
    if (m_memory) [[unlikely]]
    {
        m_memory->Decide();
    }
}

} // namespace fabric
} // namespace ns3
