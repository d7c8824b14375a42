// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>
#include <bit>

namespace ns3
{
namespace fabric
{

NS_LOG_COMPONENT_DEFINE("Fabric");

namespace
{

constexpr uint64_t EVENTS_PER_CLOCK_CHECK = 1 << 16;

/// Instants with fewer events than this are sorted by comparison.
constexpr size_t SMALL_INSTANT = 24;

/// How many events ahead of the current one their memory is fetched.
constexpr size_t FETCH_AHEAD = 6;

uint64_t
BatchKey(const Event& event)
{
    return (uint64_t{event.target} << 32) | event.payload;
}

} // namespace

uint64_t
Fabric::RateClass::Ps(uint64_t wireBytes) const
{
    if (psPerByte != 0)
    {
        return wireBytes * psPerByte;
    }
    // Rounded up, so that a link never carries more than its rate.
    constexpr uint64_t PS_PER_SECOND_AND_BYTE = 8'000'000'000'000;
    return (wireBytes * PS_PER_SECOND_AND_BYTE + rateBps - 1) / rateBps;
}

// ---- the loop ---------------------------------------------------------------------------------

uint64_t
Fabric::NextPs() const
{
    return m_flowsDone == m_messages.size() ? NEVER_PS : m_queue.NextPs();
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
        m_nowPs = next;
        GatherInstant();
        OrderInstant();
        ExecuteInstant();
        m_events += m_transmitted.size() + m_arrived.size() + m_others.size();
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

void
Fabric::GatherInstant()
{
    m_transmitted.clear();
    m_arrived.clear();
    m_others.clear();
    m_arrivedLane = EventQueue::NO_LANE;
    m_queue.PopInstant(
        m_nowPs,
        [this](const Event& event, uint8_t lane) {
            const auto type = static_cast<EventType>(event.target >> EVENT_INDEX_BITS);
            if (type == EventType::TX_DONE)
            {
                m_transmitted.push_back(BatchKey(event));
            }
            else if (type == EventType::ARRIVE)
            {
                m_arrivedLane = m_arrived.empty() || m_arrivedLane == lane ? lane
                                                                           : EventQueue::NO_LANE;
                m_arrived.push_back(BatchKey(event));
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
    if (m_arrivedLane == EventQueue::NO_LANE)
    {
        std::sort(m_arrived.begin(), m_arrived.end());
    }
    std::sort(m_others.begin(), m_others.end());
}

/// Sort by port. A port ends one transmission at a time, so a bit per port does it.
void
Fabric::SortTransmissions()
{
    if (m_transmitted.size() < SMALL_INSTANT)
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
    uint64_t* out = m_transmitted.data();
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
    NS_ASSERT_MSG(out == m_transmitted.data() + m_transmitted.size(), "no port ends two at once");
}

/// Ask for the memory of a port well before its event is executed.
void
Fabric::FetchPort(uint64_t key) const
{
    const Port& port = m_ports[static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK];
    __builtin_prefetch(&port);
    __builtin_prefetch(&port.Queue(NUM_PRIORITIES / 2));
}

/// Ask for the next frame of a port and the account of the one that leaves.
void
Fabric::FetchForTransmissionDone(uint64_t key) const
{
    const Port& port = m_ports[static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK];
    if (port.queued != 0)
    {
        __builtin_prefetch(&m_frames[port.Queue(std::bit_width(port.queued) - 1).head]);
    }
    if (m_control && !port.isHost)
    {
        m_control->Fetch(m_nodes[port.node].firstPort + port.currentIngress);
    }
}

/// Find the way of a frame at a switch, and ask for what lies there.
void
Fabric::FetchForArrival(size_t i)
{
    const uint64_t key = m_arrived[i];
    const PortId portId = static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK;
    const Port& port = m_ports[portId];
    const Frame& frame = m_frames[static_cast<FrameId>(key)];
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        return;
    }
    if (port.isHost)
    {
        __builtin_prefetch(&m_messages[frame.message]);
        return;
    }
    if (m_control)
    {
        m_control->Fetch(portId);
    }
    if (m_routeEarly)
    {
        m_egress[i] = Route(port.node, frame);
        if (m_egress[i] != NO_PORT)
        {
            const Port& egress = m_ports[m_egress[i]];
            __builtin_prefetch(&egress);
            __builtin_prefetch(&egress.Queue(frame.priority));
        }
    }
}

/// Ask for the transport object that a frame will reach.
void
Fabric::FetchTransport(uint64_t key) const
{
    if (!m_ports[static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK].isHost)
    {
        return;
    }
    const Frame& frame = m_frames[static_cast<FrameId>(key)];
    if (frame.kind != frame_kind::LINK_CONTROL)
    {
        const Message& message = m_messages[frame.message];
        const bool reverse = frame.flags & frame_flag::REVERSE;
        const auto* object = reinterpret_cast<const char*>(
            m_endpoints[reverse ? message.srcEndpoint : message.dstEndpoint].transport);
        for (size_t line = 0; line < 4; line++)
        {
            __builtin_prefetch(object + 64 * line);
        }
    }
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

    size_t n = m_transmitted.size();
    for (size_t i = 0; i < n; i++)
    {
        if (i + 2 * FETCH_AHEAD < n)
        {
            FetchPort(m_transmitted[i + 2 * FETCH_AHEAD]);
            FetchForTransmissionDone(m_transmitted[i + FETCH_AHEAD]);
        }
        TransmissionDone(static_cast<uint32_t>(m_transmitted[i] >> 32) & EVENT_INDEX_MASK);
    }

    n = m_arrived.size();
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

/// Execute starts of messages and timers.
void
Fabric::ExecuteOthers(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
    {
        const auto target = static_cast<uint32_t>(m_others[i] >> 32);
        const auto payload = static_cast<uint32_t>(m_others[i]);
        if (target >> EVENT_INDEX_BITS == static_cast<uint32_t>(EventType::CONTROL))
        {
            StartMessage(payload);
        }
        else
        {
            m_endpoints[target & EVENT_INDEX_MASK].transport->OnTimer(payload);
        }
    }
}

void
Fabric::StartMessage(uint32_t message)
{
    m_endpoints[m_messages[message].srcEndpoint].transport->StartMessage(message);
}

void
Fabric::SetTimer(uint32_t endpoint, uint64_t atPs, uint32_t token)
{
    m_queue.Push(m_nowPs, {atPs, EventTarget(EventType::TIMER, endpoint), token});
}

// ---- egress -----------------------------------------------------------------------------------

void
Fabric::Transmit(PortId portId, FrameId frameId)
{
    Port& port = m_ports[portId];
    Frame& frame = m_frames[frameId];
    port.current = frameId;
    port.currentBytes = frame.bytes;
    port.currentIngress = frame.ingress;
    port.currentPriority = frame.priority;
    port.currentKind = frame.kind;
    port.sentFrames++;
    port.sentBytes += frame.bytes;
    const RateClass& rate = m_rates[port.rate];
    const uint32_t target = EventTarget(EventType::TX_DONE, portId);
    for (uint32_t i = 0; i < rate.lanes; i++)
    {
        if (rate.laneBytes[i] == frame.bytes)
        {
            m_queue.PushLane(rate.lane[i], {m_nowPs + rate.lanePs[i], target, 0});
            return;
        }
    }
    m_queue.Push(m_nowPs,
                 {m_nowPs + rate.Ps(frame.bytes + m_options.framingBytes), target, 0});
}

void
Fabric::TransmissionDone(PortId portId)
{
    Port& port = m_ports[portId];
    const FrameId frameId = port.current;
    const bool isLinkControl = port.currentKind == frame_kind::LINK_CONTROL;
    if (port.currentKind != frame_kind::DATA)
    {
        m_counters[portId].sentControl++;
    }
    if (!port.isHost && !isLinkControl)
    {
        NodeState& node = m_nodes[port.node];
        node.usedBytes -= port.currentBytes;
        if (m_control)
        {
            m_control->OnDeparture(node.firstPort + port.currentIngress,
                                   port.currentPriority,
                                   port.currentBytes);
        }
    }
    const uint32_t target = EventTarget(EventType::ARRIVE, port.peer);
    const bool throughSwitch =
        m_options.switchDelayPs != 0 && !isLinkControl && !m_ports[port.peer].isHost;
    if (port.lane != EventQueue::NO_LANE && !throughSwitch)
    {
        m_queue.PushLane(port.lane, {m_nowPs + m_queue.LaneDelayPs(port.lane), target, frameId});
    }
    else
    {
        const uint64_t delayPs =
            m_counters[portId].delayPs + (throughSwitch ? m_options.switchDelayPs : 0);
        m_queue.Push(m_nowPs, {m_nowPs + delayPs, target, frameId});
    }
    port.current = NO_FRAME;
    SelectNext(portId);
}

FrameId
Fabric::PopQueue(Port& port, uint32_t queueClass)
{
    PortQueue& queue = port.Queue(queueClass);
    const FrameId frameId = queue.head;
    const Frame& frame = m_frames[frameId];
    queue.head = frame.next;
    queue.bytes -= frame.bytes;
    port.queuedBytes -= frame.bytes;
    if (queue.head == NO_FRAME)
    {
        port.queued &= ~(1U << queueClass);
    }
    else
    {
        __builtin_prefetch(&m_frames[queue.head]);
    }
    return frameId;
}

void
Fabric::SelectNext(PortId portId)
{
    Port& port = m_ports[portId];
    const uint32_t ready = port.queued & ~uint32_t{port.paused};
    if (port.isHost)
    {
        const HostState& host = m_hosts[port.host];
        const uint32_t dataPriority =
            host.endpoints > 0 ? m_endpoints[host.firstEndpoint].priority : 0;
        if (ready >> dataPriority == 0) // nothing that waits is as urgent as data
        {
            const FrameId pulled = PullFromHost(portId);
            if (pulled != NO_FRAME)
            {
                Transmit(portId, pulled);
                return;
            }
        }
    }
    if (ready == 0)
    {
        return;
    }
    const uint32_t queueClass = std::bit_width(ready) - 1;
    const FrameId frameId = PopQueue(port, queueClass);
    if (m_discipline && !port.isHost && queueClass != LINK_CONTROL_CLASS)
    {
        m_discipline->Depart(portId, m_frames[frameId], port.Queue(queueClass).bytes);
    }
    Transmit(portId, frameId);
}

FrameId
Fabric::PullFromHost(PortId portId)
{
    const uint32_t paused = m_ports[portId].paused;
    HostState& host = m_hosts[m_ports[portId].host];
    for (uint32_t i = 0; i < host.endpoints; i++)
    {
        const uint32_t turn = host.turn;
        host.turn = turn + 1 == host.endpoints ? 0 : turn + 1;
        const FrameId frame =
            m_endpoints[host.firstEndpoint + turn].transport->NextFrame(portId, paused);
        if (frame != NO_FRAME)
        {
            return frame;
        }
    }
    return NO_FRAME;
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
Fabric::Enqueue(PortId portId, FrameId frameId)
{
    Port& port = m_ports[portId];
    Frame& frame = m_frames[frameId];
    const uint32_t queueClass =
        frame.kind == frame_kind::LINK_CONTROL ? LINK_CONTROL_CLASS : frame.priority;
    if (port.current == NO_FRAME && !((port.paused >> queueClass) & 1))
    {
        // An idle port has nothing else that may go.
        if (m_discipline && !port.isHost && queueClass != LINK_CONTROL_CLASS)
        {
            m_discipline->Depart(portId, frame, 0);
        }
        Transmit(portId, frameId);
        return;
    }
    PortQueue& queue = port.Queue(queueClass);
    frame.next = NO_FRAME;
    if ((port.queued >> queueClass) & 1)
    {
        m_frames[queue.tail].next = frameId;
    }
    else
    {
        queue.head = frameId;
        port.queued |= 1U << queueClass;
    }
    queue.tail = frameId;
    queue.bytes += frame.bytes;
    port.queuedBytes += frame.bytes;
    port.maxQueuedBytes = std::max(port.maxQueuedBytes, port.queuedBytes);
}

void
Fabric::SetPaused(PortId portId, uint16_t mask)
{
    Port& port = m_ports[portId];
    PortCounters& counters = m_counters[portId];
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
    m_counters[port].linkControlSent++;
    Enqueue(port, frameId);
}

// ---- ingress ----------------------------------------------------------------------------------

void
Fabric::Arrive(PortId portId, FrameId frameId, PortId egress)
{
    Port& port = m_ports[portId];
    const Frame& frame = m_frames[frameId];
    if (port.lossy && IsLost(portId, frame))
    {
        m_counters[portId].lostFrames++;
        m_frames.Free(frameId);
        return;
    }
    port.receivedFrames++;
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        m_counters[portId].linkControlReceived++;
        m_control->OnLinkControl(portId, frame);
        m_frames.Free(frameId);
    }
    else if (port.isHost)
    {
        ArriveAtHost(portId, frameId);
    }
    else
    {
        ArriveAtSwitch(portId, frameId, egress);
    }
}

bool
Fabric::IsLost(PortId portId, const Frame& frame)
{
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
            return true;
        }
    }
    const auto ratio = m_lossRatio.find(portId);
    return ratio != m_lossRatio.end() && PortReal(portId, RandomUse::FRAME_LOSS) < ratio->second;
}

void
Fabric::ArriveAtHost(PortId portId, FrameId frameId)
{
    const Frame& frame = m_frames[frameId];
    Message& message = m_messages[frame.message];
    if (frame.kind == frame_kind::DATA)
    {
        m_dataPackets++;
        if (frame.flags & (frame_flag::ECN_MARKED | frame_flag::TRIMMED))
        {
            message.markedPackets += (frame.flags & frame_flag::ECN_MARKED) != 0;
            message.trimmedPackets += (frame.flags & frame_flag::TRIMMED) != 0;
        }
        if (m_options.traceArrivals)
        {
            m_arrivals.push_back({m_nowPs, frame.message, frame.packet, m_ports[portId].node});
        }
    }
    const uint32_t endpoint =
        (frame.flags & frame_flag::REVERSE) ? message.srcEndpoint : message.dstEndpoint;
    m_endpoints[endpoint].transport->Receive(frameId, portId);
}

PortId
Fabric::Route(uint32_t node, const Frame& frame)
{
    const uint32_t groupIndex = m_routing->GroupTo(node, frame.dst);
    if (groupIndex == Routing::NO_GROUP)
    {
        return NO_PORT;
    }
    const Routing::Group group = m_routing->GetGroup(groupIndex);
    const PortId* members = m_routing->Members(group);
    return group.size == 1
               ? members[0]
               : members[m_forwarding->Select(node, groupIndex, frame, members, group.size)];
}

void
Fabric::ArriveAtSwitch(PortId portId, FrameId frameId, PortId egress)
{
    Frame& frame = m_frames[frameId];
    const uint32_t node = m_ports[portId].node;
    frame.ingress = static_cast<uint16_t>(portId - m_nodes[node].firstPort);
    frame.hops++;
    if (!m_routeEarly)
    {
        egress = Route(node, frame);
    }
    if (egress == NO_PORT)
    {
        m_counters[portId].droppedNoRoute++;
        m_frames.Free(frameId);
        return;
    }
    Forward(portId, egress, frameId);
}

void
Fabric::Forward(PortId ingressId, PortId egressId, FrameId frameId)
{
    Frame& frame = m_frames[frameId];
    Port& egress = m_ports[egressId];
    NodeState& node = m_nodes[egress.node];
    bool dropped = false;
    if (m_discipline)
    {
        auto verdict = m_discipline->Admit(egressId, frame, egress.Queue(frame.priority).bytes);
        if (verdict == QueueDiscipline::Verdict::TRIM)
        {
            frame.bytes = static_cast<uint16_t>(m_discipline->TrimBytes());
            frame.flags |= frame_flag::TRIMMED;
            frame.priority = m_discipline->TrimPriority();
            m_counters[egressId].trimmed++;
            verdict = m_discipline->Admit(egressId, frame, egress.Queue(frame.priority).bytes);
        }
        // A lossless class is bounded where it comes in, not where it goes out.
        dropped = verdict == QueueDiscipline::Verdict::DROP &&
                  !((m_losslessMask >> frame.priority) & 1);
    }
    if (dropped ||
        (m_options.bufferBytes && node.usedBytes + frame.bytes > m_options.bufferBytes))
    {
        m_counters[ingressId].droppedBuffer++;
        m_frames.Free(frameId);
        return;
    }
    if (m_control && !m_control->OnArrival(ingressId, frame))
    {
        m_counters[ingressId].droppedHeadroom++;
        m_frames.Free(frameId);
        return;
    }
    node.usedBytes += frame.bytes;
    node.maxUsedBytes = std::max(node.maxUsedBytes, node.usedBytes);
    Enqueue(egressId, frameId);
}

// ---- bookkeeping ------------------------------------------------------------------------------

double
Fabric::PortReal(PortId port, RandomUse use)
{
    const auto [peer, parallel] = PeerOf(port);
    const uint64_t key = Mix64(m_nodes[m_ports[port].node].id) ^ Mix64(Mix64(peer) + parallel);
    return Stream(use, key).Real(m_counters[port].draws++);
}

void
Fabric::CountMark(PortId port)
{
    m_counters[port].marked++;
}

void
Fabric::MessageDelivered(uint32_t message)
{
    m_messages[message].receiverEndPs = static_cast<int64_t>(m_nowPs);
}

void
Fabric::MessageAcknowledged(uint32_t message)
{
    NS_ASSERT_MSG(m_messages[message].receiverEndPs >= 0,
                  "a message is acknowledged only after it is delivered");
    m_messages[message].senderEndPs = static_cast<int64_t>(m_nowPs);
    m_flowsDone++;
}

uint64_t
Fabric::SerialisationPs(PortId port, uint32_t frameBytes) const
{
    return m_rates[m_ports[port].rate].Ps(frameBytes + m_options.framingBytes);
}

uint64_t
Fabric::RateBps(PortId port) const
{
    return m_rates[m_ports[port].rate].rateBps;
}

uint64_t
Fabric::DelayPs(PortId port) const
{
    return m_counters[port].delayPs;
}

PortId
Fabric::PortOfMessage(uint32_t message) const
{
    const auto [first, n] = PortsOfHost(m_messages[message].src);
    return first + static_cast<PortId>((uint64_t{m_messages[message].tuple} * n) >> 32);
}

uint32_t
Fabric::PathsOfMessage(uint32_t message) const
{
    const uint32_t node = m_ports[m_ports[PortOfMessage(message)].peer].node;
    const uint32_t group = m_routing->GroupTo(node, m_messages[message].dst);
    return group == Routing::NO_GROUP ? 1 : m_routing->GetGroup(group).size;
}

uint64_t
Fabric::BaseRttPs(uint32_t message, uint32_t dataBytes, uint32_t ackBytes)
{
    uint64_t rttPs = 0;
    PortId port = PortOfMessage(message);
    while (true)
    {
        rttPs += SerialisationPs(port, dataBytes) + SerialisationPs(port, ackBytes) +
                 2 * m_counters[port].delayPs;
        const Port& peer = m_ports[m_ports[port].peer];
        if (peer.isHost)
        {
            return rttPs;
        }
        rttPs += 2 * m_options.switchDelayPs;
        const uint32_t group = m_routing->GroupTo(peer.node, m_messages[message].dst);
        NS_ABORT_MSG_IF(group == Routing::NO_GROUP,
                        "flows: flow " << m_messages[message].id << " has no path");
        port = m_routing->Members(m_routing->GetGroup(group))[0];
    }
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

uint64_t
Fabric::PausedPs(PortId port) const
{
    const PortCounters& counters = m_counters[port];
    return counters.pausedPs + (m_ports[port].paused ? m_nowPs - counters.pausedSincePs : 0);
}

uint32_t
Fabric::IngressPeakBytes(PortId port) const
{
    return m_control ? m_control->PeakBytes(port) : 0;
}

uint64_t
Fabric::MemoryBytes() const
{
    return m_ports.size() * (sizeof(Port) + sizeof(PortCounters)) +
           m_nodes.size() * sizeof(NodeState) + m_messages.size() * sizeof(Message) +
           m_routing->MemoryBytes() + uint64_t{m_frames.Peak()} * sizeof(Frame) +
           m_queue.MemoryBytes();
}

} // namespace fabric
} // namespace ns3
