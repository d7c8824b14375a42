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
        const size_t n = m_batch.size();
        for (size_t i = 0; i < n; i++)
        {
            if (i + FETCH_AHEAD < n)
            {
                const uint64_t soon = m_batch[i + FETCH_AHEAD];
                const auto index = static_cast<uint32_t>(soon >> 32) & EVENT_INDEX_MASK;
                if (index < m_ports.size())
                {
                    __builtin_prefetch(&m_ports[index]);
                    __builtin_prefetch(&m_ports[index].queue[3]);
                }
            }
            Execute(m_batch[i]);
        }
        m_events += n;
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
    m_batch.clear();
    m_queue.PopInstant(
        m_nowPs,
        [this](const Event& event) { m_batch.push_back(BatchKey(event)); },
        [this](const Event& event) {
            if (event.target >> EVENT_INDEX_BITS == static_cast<uint32_t>(EventType::ARRIVE))
            {
                __builtin_prefetch(&m_frames[event.payload]);
            }
        });
}

/**
 * Put the events of this instant in the order (type, index, payload).
 *
 * At most one transmission ends and one frame arrives per port and instant, so a bit per port
 * sorts a large instant in linear time; everything else is rare and sorted by comparison.
 */
void
Fabric::OrderInstant()
{
    const size_t n = m_batch.size();
    if (n < SMALL_INSTANT)
    {
        for (size_t i = 1; i < n; i++)
        {
            const uint64_t key = m_batch[i];
            size_t j = i;
            for (; j > 0 && m_batch[j - 1] > key; j--)
            {
                m_batch[j] = m_batch[j - 1];
            }
            m_batch[j] = key;
        }
        return;
    }
    constexpr auto TX_DONE = static_cast<uint32_t>(EventType::TX_DONE);
    constexpr auto ARRIVE = static_cast<uint32_t>(EventType::ARRIVE);
    const auto ports = static_cast<uint32_t>(m_ports.size());
    m_scratch.clear();
    bool repeated = false;
    for (const uint64_t key : m_batch)
    {
        const auto target = static_cast<uint32_t>(key >> 32);
        const uint32_t type = target >> EVENT_INDEX_BITS;
        if (type != TX_DONE && type != ARRIVE)
        {
            m_scratch.push_back(key);
            continue;
        }
        const uint32_t port = target & EVENT_INDEX_MASK;
        const uint32_t bit = type == ARRIVE ? ports + port : port;
        if (type == ARRIVE)
        {
            m_arriving[port] = static_cast<FrameId>(key);
        }
        uint64_t& word = m_present[bit / 64];
        repeated |= (word >> (bit % 64)) & 1;
        word |= uint64_t{1} << (bit % 64);
        m_presentWords[bit / 4096] |= uint64_t{1} << (bit / 64 % 64);
    }
    if (repeated) // two frames on one wire at once, as after a link has become shorter
    {
        std::fill(m_present.begin(), m_present.end(), 0);
        std::fill(m_presentWords.begin(), m_presentWords.end(), 0);
        std::sort(m_batch.begin(), m_batch.end());
        return;
    }
    std::sort(m_scratch.begin(), m_scratch.end());
    size_t out = 0;
    size_t rest = 0;
    constexpr uint64_t FIRST_TX_DONE = uint64_t{EventTarget(EventType::TX_DONE, 0)} << 32;
    for (; rest < m_scratch.size() && m_scratch[rest] < FIRST_TX_DONE; rest++)
    {
        m_batch[out++] = m_scratch[rest];
    }
    for (size_t group = 0; group < m_presentWords.size(); group++)
    {
        for (uint64_t words = m_presentWords[group]; words != 0; words &= words - 1)
        {
            const size_t wordIndex = group * 64 + std::countr_zero(words);
            for (uint64_t bits = m_present[wordIndex]; bits != 0; bits &= bits - 1)
            {
                const auto bit = static_cast<uint32_t>(wordIndex * 64 + std::countr_zero(bits));
                if (bit < ports)
                {
                    m_batch[out++] = uint64_t{EventTarget(EventType::TX_DONE, bit)} << 32;
                }
                else
                {
                    const uint32_t port = bit - ports;
                    m_batch[out++] = (uint64_t{EventTarget(EventType::ARRIVE, port)} << 32) |
                                     m_arriving[port];
                }
            }
            m_present[wordIndex] = 0;
        }
        m_presentWords[group] = 0;
    }
    for (; rest < m_scratch.size(); rest++)
    {
        m_batch[out++] = m_scratch[rest];
    }
    NS_ASSERT_MSG(out == n, "ordering loses no event");
}

void
Fabric::Execute(uint64_t key)
{
    const auto target = static_cast<uint32_t>(key >> 32);
    const auto payload = static_cast<uint32_t>(key);
    const uint32_t index = target & EVENT_INDEX_MASK;
    switch (static_cast<EventType>(target >> EVENT_INDEX_BITS))
    {
    case EventType::CONTROL:
        StartMessage(payload);
        break;
    case EventType::TX_DONE:
        TransmissionDone(index);
        break;
    case EventType::ARRIVE:
        Arrive(index, payload);
        break;
    case EventType::TIMER:
        m_endpoints[index].transport->OnTimer(payload);
        break;
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
    const Frame& frame = m_frames[frameId];
    if (frame.kind == frame_kind::DATA)
    {
        port.sentData++;
    }
    if (!port.isHost && frame.kind != frame_kind::LINK_CONTROL)
    {
        NodeState& node = m_nodes[port.node];
        node.usedBytes -= frame.bytes;
        if (m_control)
        {
            m_control->OnDeparture(node.firstPort + frame.ingress, frame);
        }
    }
    const uint32_t target = EventTarget(EventType::ARRIVE, port.peer);
    const bool throughSwitch =
        m_options.switchDelayPs != 0 && !m_ports[port.peer].isHost &&
        frame.kind != frame_kind::LINK_CONTROL;
    if (port.lane != EventQueue::NO_LANE && !throughSwitch)
    {
        m_queue.PushLane(port.lane, {m_nowPs + port.delayPs, target, frameId});
    }
    else
    {
        const uint64_t delayPs =
            port.delayPs + (throughSwitch ? m_options.switchDelayPs : 0);
        m_queue.Push(m_nowPs, {m_nowPs + delayPs, target, frameId});
    }
    port.current = NO_FRAME;
    SelectNext(portId);
}

FrameId
Fabric::PopQueue(Port& port, uint32_t queueClass)
{
    PortQueue& queue = port.queue[queueClass];
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
        m_discipline->Depart(portId, m_frames[frameId], port.queue[queueClass].bytes);
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
    PortQueue& queue = port.queue[queueClass];
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
Fabric::Arrive(PortId portId, FrameId frameId)
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
        ArriveAtSwitch(portId, frameId);
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
Fabric::ArriveAtSwitch(PortId portId, FrameId frameId)
{
    Frame& frame = m_frames[frameId];
    const uint32_t node = m_ports[portId].node;
    frame.ingress = static_cast<uint16_t>(portId - m_nodes[node].firstPort);
    frame.hops++;
    const PortId egress = Route(node, frame);
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
        auto verdict = m_discipline->Admit(egressId, frame, egress.queue[frame.priority].bytes);
        if (verdict == QueueDiscipline::Verdict::TRIM)
        {
            frame.bytes = static_cast<uint16_t>(m_discipline->TrimBytes());
            frame.flags |= frame_flag::TRIMMED;
            frame.priority = m_discipline->TrimPriority();
            m_counters[egressId].trimmed++;
            verdict = m_discipline->Admit(egressId, frame, egress.queue[frame.priority].bytes);
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
    return m_ports[port].delayPs;
}

std::pair<PortId, uint32_t>
Fabric::PortsOfHost(uint32_t host) const
{
    const NodeState& node = m_nodes[m_hosts[host].node];
    return {node.firstPort, node.ports};
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
                 2 * m_ports[port].delayPs;
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
