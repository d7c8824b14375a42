// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "fabric-data-path.h"

#include "ns3/assert.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace ns3
{
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
constexpr size_t FETCH_AHEAD = 6;

uint64_t
BatchKey(const Event& event)
{
    return (uint64_t{event.target} << 32) | event.payload;
}

} // namespace

// ---- the loop ---------------------------------------------------------------------------------

uint64_t
Fabric::NextPs() const
{
    return m_flowsDone == m_messages.size() || m_deadlocked ? NEVER_PS : m_queue.NextPs();
}

void
Fabric::LimitTo(uint64_t limitPs)
{
    m_limitPs = std::min(m_limitPs, limitPs);
}

void
Fabric::RunUntil(uint64_t limitPs, std::chrono::steady_clock::time_point deadline)
{
    m_limitPs = limitPs;
    uint64_t nextCheck = m_events + EVENTS_PER_CLOCK_CHECK;
    for (uint64_t next = NextPs(); next <= m_limitPs && next != NEVER_PS; next = NextPs())
    {
        if (next > m_watchPs)
        {
            Watch(next);
            if (m_deadlocked)
            {
                return;
            }
        }
        m_nowPs = next;
        GatherInstant();
        OrderInstant();
        ExecuteInstant();
        m_events += m_transmitted.Size() + m_arrived.Size() + m_others.size();
        if (m_events >= nextCheck)
        {
            if (std::chrono::steady_clock::now() >= deadline)
            {
                return;
            }
            nextCheck = m_events + EVENTS_PER_CLOCK_CHECK;
        }
    }
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
        m_deadlocked = m_lastCutPs < nextPs && !DeadlockCycle().empty();
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
    CheckIdentities();
    if (m_telemetry)
    {
        m_telemetry->Finish();
    }
}

void
Fabric::GatherInstant()
{
    m_transmitted.Clear();
    m_arrived.Clear();
    m_others.clear();
    uint32_t lanes = 0;
    m_queue.PopInstant(
        m_nowPs,
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
            if (event.target >> EVENT_INDEX_BITS == static_cast<uint32_t>(EventType::ARRIVE))
            {
                __builtin_prefetch(&m_frames[event.payload]);
            }
        });
    constexpr uint32_t NOT_A_LANE = 1U << (EventQueue::NO_LANE & 31);
    m_arrivedInOrder = std::popcount(lanes) <= 1 && lanes != NOT_A_LANE;
}

/**
 * Put the events of this instant in an order in which those of one node follow (type, port).
 *
 * Ends of transmission are sorted by port. Arrivals from one lane need no sorting: they were
 * pushed at one earlier instant in the order of their sending ports, and the ports of a node lie
 * in the order of their peers.
 */
void
Fabric::OrderInstant()
{
    SortTransmissions();
    if (!m_arrivedInOrder)
    {
        std::sort(m_arrived.begin(), m_arrived.end());
    }
    std::sort(m_others.begin(), m_others.end());
}

/// Sort by port. A port ends one transmission at a time, so a bit per port does it.
void
Fabric::SortTransmissions()
{
    if (m_transmitted.Size() < SMALL_INSTANT)
    {
        std::sort(m_transmitted.begin(), m_transmitted.end());
        return;
    }
    for (const uint64_t key : m_transmitted)
    {
        const auto port = static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK;
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
void
Fabric::ExecuteInstant()
{
    constexpr uint64_t FIRST_TX_DONE = uint64_t{EventTarget(EventType::TX_DONE, 0)} << 32;
    const auto timers = static_cast<size_t>(
        std::lower_bound(m_others.begin(), m_others.end(), FIRST_TX_DONE) - m_others.begin());
    ExecuteOthers(0, timers);

    size_t n = m_transmitted.Size();
    for (size_t i = 0; i < n; i++)
    {
        if (i + 2 * FETCH_AHEAD < n)
        {
            FetchPort(m_transmitted[i + 2 * FETCH_AHEAD]);
            FetchForTransmissionDone(m_transmitted[i + FETCH_AHEAD]);
        }
        TransmissionDone(static_cast<uint32_t>(m_transmitted[i] >> 32) & EVENT_INDEX_MASK);
    }

    n = m_arrived.Size();
    m_egress.resize(std::max(m_egress.size(), n));
    for (size_t i = 0; i < std::min(n, FETCH_AHEAD); i++)
    {
        FetchForArrival(i);
    }
    for (size_t i = 0; i < n; i++)
    {
        if (i + 2 * FETCH_AHEAD < n)
        {
            FetchPort(m_arrived[i + 2 * FETCH_AHEAD]);
        }
        if (i + FETCH_AHEAD < n)
        {
            FetchForArrival(i + FETCH_AHEAD);
            FetchTransport(m_arrived[i + FETCH_AHEAD / 2]);
        }
        const uint64_t key = m_arrived[i];
        Arrive(static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK,
               static_cast<FrameId>(key),
               m_egress[i]);
    }

    ExecuteOthers(timers, m_others.size());
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
            m_endpoints[index].transport->OnTimer(payload);
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

/// A link changes, or routes take notice of that.
void
Fabric::ExecuteChange(uint32_t index, uint32_t event, bool isLast)
{
    if (index == CONTROL_LINK)
    {
        ChangeLink(event);
    }
    else
    {
        NoticeLink(event);
        if (isLast)
        {
            Reroute();
        }
    }
    for (uint32_t host = 0; isLast && host < m_hosts.size(); host++)
    {
        Kick(host); // a port may be back, or lead somewhere again
    }
}

void
Fabric::SetTimer(uint32_t endpoint, uint64_t atPs, uint32_t token)
{
    m_queue.Push(m_nowPs, {atPs, EventTarget(EventType::TIMER, endpoint), token});
}

// ---- what transports and flow control call ----------------------------------------------------

void
Fabric::Enqueue(PortId portId, FrameId frameId)
{
    EnqueueHot(portId, frameId);
}

void
Fabric::Kick(uint32_t host)
{
    const auto [first, n] = PortsOfHost(host);
    for (PortId port = first; port < first + n; port++)
    {
        if (m_ports[port].current == NO_FRAME)
        {
            SelectNext(port);
        }
    }
}

void
Fabric::SetPaused(PortId portId, uint16_t mask)
{
    Port& port = m_ports[portId];
    PortCounters& counters = m_counters[portId];
    if (port.down)
    {
        return;
    }
    if (m_telemetry && m_telemetry->LogsPauses())
    {
        m_telemetry->PauseChanged(portId, port.paused, mask, m_pauseReason);
    }
    if (port.paused == 0 && mask != 0)
    {
        counters.pausedSincePs = m_nowPs;
    }
    else if (port.paused != 0 && mask == 0)
    {
        counters.pausedPs += m_nowPs - counters.pausedSincePs;
    }
    port.paused = mask;
    if (port.current == NO_FRAME)
    {
        SelectNext(portId);
    }
}

void
Fabric::SendLinkControl(PortId port, uint32_t aux, uint32_t bytes)
{
    const FrameId frameId = m_frames.Allocate();
    Frame& frame = m_frames[frameId];
    frame.kind = frame_kind::LINK_CONTROL;
    frame.bytes = static_cast<uint16_t>(bytes);
    frame.aux = aux;
    frame.packet = m_forwardingTo;
    if (m_telemetry && m_telemetry->LogsPauses())
    {
        m_frames.StampPs(frameId) = m_nowPs;
    }
    m_counters[port].linkControlSent++;
    Enqueue(port, frameId);
}

/// Decide whether a frame does not come in by this port, and count it by its reason.
bool
Fabric::LoseOnWire(PortId portId, const Frame& frame)
{
    PortCounters& counters = m_counters[portId];
    if (LostByCut(portId))
    {
        counters.lostFrames++;
        return true;
    }
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        return false; // see docs/limitations.md: PAUSE frames do not expire, so they are not lost
    }
    if (const auto script = m_drops.find(portId);
        script != m_drops.end() && frame.kind == frame_kind::DATA)
    {
        script->second.seen++;
        const auto& ordinals = script->second.ordinals;
        if (std::binary_search(ordinals.begin(), ordinals.end(), script->second.seen))
        {
            counters.lostFrames++;
            return true;
        }
    }
    const auto loss = m_lossRatio.find(portId);
    if (loss != m_lossRatio.end() && PortReal(portId, RandomUse::FRAME_LOSS) < loss->second)
    {
        counters.lostFrames++;
        return true;
    }
    if (const auto errors = m_bitErrorRatio.find(portId); errors != m_bitErrorRatio.end())
    {
        // 1 - (1 - ratio)^bits, without losing the digits of a small ratio
        const double corrupt = -std::expm1(8.0 * frame.bytes * std::log1p(-errors->second));
        if (PortReal(portId, RandomUse::BIT_ERROR) < corrupt)
        {
            counters.corruptFrames++;
            return true;
        }
    }
    return false;
}

std::vector<PortId>
Fabric::PathOf(uint32_t message)
{
    std::vector<PortId> path;
    const int32_t entropy =
        m_endpoints[m_messages[message].srcEndpoint].transport->SinglePathEntropy(message);
    if (entropy < 0 || (m_forwarding && !m_forwarding->KeepsFlowOnOnePath()))
    {
        return path;
    }
    Frame frame{};
    frame.message = message;
    frame.dst = m_messages[message].dst;
    frame.entropy = static_cast<uint16_t>(entropy);
    PortId port = PortOfMessage(message);
    while (port != NO_PORT)
    {
        path.push_back(port);
        const Port& peer = m_ports[m_ports[port].peer];
        port = peer.isHost ? NO_PORT : Route(peer.node, frame);
    }
    return path;
}

} // namespace fabric
} // namespace ns3
