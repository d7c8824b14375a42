// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "fabric-fetch.h"

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

/// Instants with fewer events than this are sorted by comparison.
constexpr size_t SMALL_INSTANT = 24;

/// How often a network with link flow control is searched for a deadlock [ps].
constexpr uint64_t DEADLOCK_CHECK_PS = 1'000'000'000;

/// How many events ahead of the current one their memory is fetched.
constexpr size_t FETCH_AHEAD = 8;

uint64_t
BatchKey(const Event& event)
{
    return (uint64_t{event.target} << 32) | event.payload;
}

uint32_t
IndexOf(uint64_t key)
{
    return static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK;
}

} // namespace

// ---- the loop ---------------------------------------------------------------------------------

uint64_t
Fabric::NextPs() const
{
    return m_messages.Done() == m_messages.Size() || m_deadlocked ? NEVER_PS : m_queue.NextPs();
}

void
Fabric::LimitTo(uint64_t limitPs)
{
    m_limitPs = std::min(m_limitPs, limitPs);
}

void
Fabric::AdvanceTo(uint64_t nowPs)
{
    NS_ASSERT_MSG(nowPs >= m_nowPs && nowPs <= NextPs(), "events would be passed over");
    if (nowPs > m_watchPs)
    {
        Watch(nowPs);
    }
    m_nowPs = nowPs;
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
        m_deadlocked = m_changes.LastCutPs() < nextPs && !FindDeadlock(*this).empty();
    }
    if (m_telemetry && !m_deadlocked && nextPs > m_telemetry->NextSamplePs())
    {
        m_telemetry->SampleBefore(nextPs);
    }
    m_watchPs = std::min(m_deadlockCheckPs, m_telemetry ? m_telemetry->NextSamplePs() : NEVER_PS);
}

void
Fabric::Finish()
{
    CheckIdentities(*this);
    if (m_telemetry)
    {
        m_telemetry->Finish();
    }
}

// ---- one instant ------------------------------------------------------------------------------

/// Execute the only event of an instant; it waited in a lane.
FABRIC_HOT void
Fabric::ExecuteAlone(const Event& event)
{
    const uint32_t index = event.target & EVENT_INDEX_MASK;
    if (event.target >> EVENT_INDEX_BITS == static_cast<uint32_t>(EventType::ARRIVE))
    {
        Arrive(index, event.payload, ROUTE_NOW);
    }
    else
    {
        TransmissionDone(index);
    }
}

template <bool FETCHES>
FABRIC_HOT void
Fabric::GatherInstant(const EventQueue::Due& due)
{
    m_transmitted.Clear();
    m_arrived.Clear();
    m_others.clear();
    uint32_t lanes = 0;
    m_queue.PopInstant(
        due,
        [this, &lanes](const Event& event, uint8_t lane) {
            const auto type = static_cast<EventType>(event.target >> EVENT_INDEX_BITS);
            if (type == EventType::TX_DONE)
            {
                m_transmitted.Push(BatchKey(event));
            }
            else if (type == EventType::ARRIVE)
            {
                lanes |= 1U << (lane & 31);
                m_arrived.Push(BatchKey(event));
            }
            else
            {
                m_others.push_back(BatchKey(event));
            }
        },
        [this](const Event& event) {
            if (FETCHES)
            {
                FetchSoon(event);
            }
        });
    constexpr uint32_t NOT_A_LANE = 1U << (EventQueue::NO_LANE & 31);
    m_arrivedInOrder = (lanes & (lanes - 1)) == 0 && lanes != NOT_A_LANE;
}

/**
 * Put the events of this instant in an order in which those of one node follow (type, port).
 *
 * Ends of transmission are sorted by port. Arrivals from one lane need no sorting: they were
 * pushed at one earlier instant in the order of their sending ports, and the ports of a node lie
 * in the order of their peers.
 */
FABRIC_HOT void
Fabric::OrderInstant()
{
    if (m_transmitted.Size() < SMALL_INSTANT)
    {
        m_transmitted.Sort();
    }
    else
    {
        SortTransmissions();
    }
    if (!m_arrivedInOrder && m_arrived.Size() > 1)
    {
        OrderArrivals();
    }
    if (m_others.size() > 1)
    {
        std::sort(m_others.begin(), m_others.end());
    }
}

/// Sort by port; of two frames at one port, link control comes first: no switch delays it.
void
Fabric::OrderArrivals()
{
    std::sort(m_arrived.begin(), m_arrived.end(), [this](uint64_t a, uint64_t b) {
        if (a >> 32 != b >> 32)
        {
            return a < b;
        }
        return m_frames[static_cast<FrameId>(a)].kind > m_frames[static_cast<FrameId>(b)].kind;
    });
}

/// Sort by port. A port ends one transmission at a time, so a bit per port does it.
void
Fabric::SortTransmissions()
{
    for (const uint64_t key : m_transmitted)
    {
        const uint32_t port = IndexOf(key);
        m_present[port / 64] |= uint64_t{1} << (port % 64);
        m_presentWords[port / 4096] |= uint64_t{1} << (port / 64 % 64);
    }
    uint64_t* out = m_transmitted.begin();
    for (size_t group = 0; group < m_presentWords.size(); group++)
    {
        for (uint64_t words = m_presentWords[group]; words != 0; words &= words - 1)
        {
            const size_t word = group * 64 + std::countr_zero(words);
            for (uint64_t bits = m_present[word]; bits != 0; bits &= bits - 1)
            {
                const auto port = static_cast<uint32_t>(word * 64 + std::countr_zero(bits));
                *out++ = uint64_t{EventTarget(EventType::TX_DONE, port)} << 32;
            }
            m_present[word] = 0;
        }
        m_presentWords[group] = 0;
    }
    NS_ASSERT_MSG(out == m_transmitted.end(), "no port ends two at once");
}

/**
 * Execute the events of this instant, with the memory of the next ones on its way.
 *
 * Events look at their port, then at what lies behind it, then at the transport; each is fetched
 * a few events before. What changes the network (CONTROL) comes before any frame is routed.
 */
template <bool FETCHES>
FABRIC_HOT void
Fabric::ExecuteInstant()
{
    constexpr uint64_t FIRST_TX_DONE = uint64_t{EventTarget(EventType::TX_DONE, 0)} << 32;
    const auto timers = static_cast<size_t>(
        std::lower_bound(m_others.begin(), m_others.end(), FIRST_TX_DONE) - m_others.begin());
    ExecuteOthers(0, timers);

    size_t n = m_transmitted.Size();
    for (size_t i = 0; i < n; i++)
    {
        if (FETCHES && i + 2 * FETCH_AHEAD < n)
        {
            FetchPort(m_transmitted[i + 2 * FETCH_AHEAD]);
        }
        if (FETCHES && i + FETCH_AHEAD < n)
        {
            FetchForTransmissionDone(m_transmitted[i + FETCH_AHEAD]);
        }
        TransmissionDone(IndexOf(m_transmitted[i]));
    }

    n = m_arrived.Size();
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
        if (FETCHES && i + 2 * FETCH_AHEAD < n)
        {
            FetchPort(m_arrived[i + 2 * FETCH_AHEAD]);
        }
        if (FETCHES && i + FETCH_AHEAD < n)
        {
            FetchForArrival(i + FETCH_AHEAD);
            FetchTransport(m_arrived[i + FETCH_AHEAD / 2]);
        }
        const uint64_t key = m_arrived[i];
        Arrive(IndexOf(key), static_cast<FrameId>(key), FETCHES ? m_egress[i] : ROUTE_NOW);
    }

    ExecuteOthers(timers, m_others.size());
}

/// Execute events up to the limit. FETCHES: ask for their memory ahead of time.
template <bool FETCHES>
void
Fabric::RunEvents(std::chrono::steady_clock::time_point deadline)
{
    uint64_t nextCheck = m_events + EVENTS_PER_CLOCK_CHECK;
    while (m_messages.Done() != m_messages.Size())
    {
        const EventQueue::Due due = m_queue.FindNext();
        if (due.timePs > m_limitPs || due.timePs == NEVER_PS)
        {
            return;
        }
        if (due.timePs > m_watchPs) [[unlikely]]
        {
            Watch(due.timePs);
            if (m_deadlocked)
            {
                return;
            }
        }
        m_nowPs = due.timePs;
        if (m_queue.IsAlone(due))
        {
            ExecuteAlone(m_queue.PopAlone(due, [this](const Event& soon) {
                if (FETCHES)
                {
                    FetchSoon(soon);
                }
            }));
            m_events++;
        }
        else
        {
            GatherInstant<FETCHES>(due);
            OrderInstant();
            ExecuteInstant<FETCHES>();
            m_events += m_transmitted.Size() + m_arrived.Size() + m_others.size();
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
    m_limitPs = limitPs;
    if (m_fetches)
    {
        RunEvents<true>(deadline);
    }
    else
    {
        RunEvents<false>(deadline);
    }
}

/// Execute changes of links and routes, starts of messages, and timers.
void
Fabric::ExecuteOthers(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
    {
        const auto target = static_cast<uint32_t>(m_others[i] >> 32);
        const auto payload = static_cast<uint32_t>(m_others[i]);
        const uint32_t index = target & EVENT_INDEX_MASK;
        if (target >> EVENT_INDEX_BITS == static_cast<uint32_t>(EventType::TIMER))
        {
            ExecuteTimer(index, payload);
        }
        else if (index == CONTROL_MESSAGE)
        {
            StartMessage(payload);
        }
        else
        {
            // What follows from changes follows once, from all of this instant together.
            const bool isLast =
                i + 1 == end || static_cast<uint32_t>(m_others[i + 1] >> 32) != target;
            ExecuteChange(index, payload, isLast);
        }
    }
}

} // namespace fabric
} // namespace ns3
