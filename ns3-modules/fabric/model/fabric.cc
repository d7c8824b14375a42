// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "fabric-data-path.h"

#include "ns3/abort.h"
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

void
Fabric::RunUntil(uint64_t limitPs, std::chrono::steady_clock::time_point deadline)
{
    m_limitPs = limitPs;
    uint64_t nextCheck = m_events + EVENTS_PER_CLOCK_CHECK;
    while (m_messages.Done() != m_messages.Size())
    {
        const EventQueue::Due due = m_queue.FindNext();
        if (due.timePs > m_limitPs || due.timePs == NEVER_PS)
        {
            return;
        }
        if (due.timePs > m_watchPs)
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
            ExecuteAlone(m_queue.PopAlone(due, [this](const Event& soon) { FetchSoon(soon); }));
            m_events++;
        }
        else
        {
            GatherInstant(due);
            OrderInstant();
            ExecuteInstant();
            m_events += m_transmitted.Size() + m_arrived.Size() + m_others.size();
        }
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

void
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
        [this](const Event& event) { FetchSoon(event); });
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
void
Fabric::OrderInstant()
{
    SortTransmissions();
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
    if (m_transmitted.Size() < SMALL_INSTANT)
    {
        if (m_transmitted.Size() > 1)
        {
            std::sort(m_transmitted.begin(), m_transmitted.end());
        }
        return;
    }
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
        }
        if (i + FETCH_AHEAD < n)
        {
            FetchForTransmissionDone(m_transmitted[i + FETCH_AHEAD]);
        }
        TransmissionDone(IndexOf(m_transmitted[i]));
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
        Arrive(IndexOf(key), static_cast<FrameId>(key), m_egress[i]);
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

void
Fabric::ExecuteTimer(uint32_t index, uint32_t token)
{
    if (index < m_endpoints.size()) [[likely]]
    {
        m_endpoints[index].transport->OnTimer(token);
        return;
    }
    const auto next = std::find_if(m_timerOwners.begin(),
                                   m_timerOwners.end(),
                                   [index](const auto& owner) { return owner.first > index; });
    const TimerOwner& owner = *std::prev(next);
    if (owner.program)
    {
        owner.program->OnTimer(index - owner.first);
    }
    else if (owner.control)
    {
        owner.control->OnTimer(index - owner.first);
    }
    else
    {
        const PortId port = index - owner.first;
        if (m_askAtPs[port] <= m_nowPs)
        {
            m_askAtPs[port] = NEVER_PS;
        }
        if (m_ports[port].current == NO_FRAME)
        {
            SelectNext(port);
        }
    }
}

// ---- what doors lead to -----------------------------------------------------------------------

void
Fabric::StartMessage(uint32_t message)
{
    if (m_messages[message].bytes == 0)
    {
        m_messages.PassPoint(message, m_nowPs);
        return;
    }
    NS_LOG_LOGIC("message " << m_messages[message].id << " starts at " << m_nowPs << " ps");
    m_endpoints[m_messages[message].srcEndpoint].transport->StartMessage(message);
}

void
Fabric::SetTimer(uint32_t index, uint64_t atPs, uint32_t token)
{
    m_queue.Push(m_nowPs, {atPs, EventTarget(EventType::TIMER, index), token});
}

void
Fabric::Enqueue(PortId port, FrameId frame)
{
    EnqueueHot(port, frame);
}

void
Fabric::Kick(uint32_t host)
{
    const HostState& state = m_network.hosts[host];
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        if (m_ports[port].current == NO_FRAME && !m_ports[port].down)
        {
            SelectNext(port);
        }
    }
}

/// Route a frame that a program holds at a switch, or has made there.
void
Fabric::Inject(uint32_t nodeId, FrameId frameId)
{
    NodeState& node = m_network.nodes[nodeId];
    const Frame& frame = m_frames[frameId];
    LetGo(nodeId, frameId);
    const PortId egress = RouteAt(nodeId, frame);
    const PortId ingress =
        frame.ingress == NO_INGRESS ? NO_PORT : node.firstPort + frame.ingress;
    if (egress == NO_PORT)
    {
        m_network.counters[ingress == NO_PORT ? node.firstPort : ingress].droppedNoRoute++;
        m_frames.Free(frameId);
        return;
    }
    Forward(ingress, egress, frameId);
}

PortId
Fabric::RouteAt(uint32_t node, const Frame& frame) const
{
    return Route(m_nodeClasses[m_network.nodes[node].nodeClass], node, frame);
}

void
Fabric::SetPaused(PortId portId, uint16_t classes, const LinkMessage& reason)
{
    Port& port = m_ports[portId];
    PortCounters& counters = m_network.counters[portId];
    if (port.down)
    {
        return;
    }
    if (m_telemetry && m_telemetry->LogsPauses())
    {
        m_telemetry->PauseChanged(portId, port.paused, classes, {reason.sentPs, reason.cause});
    }
    if (port.paused == 0 && classes != 0)
    {
        counters.pausedSincePs = m_nowPs;
    }
    else if (port.paused != 0 && classes == 0)
    {
        counters.pausedPs += m_nowPs - counters.pausedSincePs;
    }
    port.paused = classes;
    if (port.current == NO_FRAME)
    {
        SelectNext(portId);
    }
}

void
Fabric::SendLinkControl(PortId port, uint32_t word, uint32_t bytes, PortId cause)
{
    if (m_ports[port].down)
    {
        return; // nobody would hear it
    }
    const FrameId frameId = m_frames.Allocate();
    Frame& frame = m_frames[frameId];
    frame.kind = frame_kind::LINK_CONTROL;
    frame.bytes = static_cast<uint16_t>(bytes);
    frame.aux = word;
    if (m_telemetry && m_telemetry->LogsPauses())
    {
        FrameNote& note = m_frames.Note(frameId);
        note.stampPs = m_nowPs;
        note.switchWord = cause;
    }
    m_network.counters[port].linkControlSent++;
    Enqueue(port, frameId);
}

} // namespace fabric
} // namespace ns3
