// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_DATA_PATH_H
#define FABRIC_DATA_PATH_H

// What happens to a frame at each event. Private to fabric.cc: these functions are a header only
// so that the loop over events and each of its steps can be read on a page of their own.

#include "fabric.h"

#include <algorithm>
#include <bit>

/// Inlined into the loop: together a hop is a few hundred instructions, and calls would be a third.
#define FABRIC_HOT [[gnu::always_inline]] inline

namespace ns3
{
namespace fabric
{

// ---- egress -----------------------------------------------------------------------------------

FABRIC_HOT void
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
    if (m_capture) [[unlikely]]
    {
        m_capture->Sent(portId, frame);
    }
    const RateClass& rate = m_rates[port.rate];
    if (port.cutsThrough && frame.kind != frame_kind::LINK_CONTROL)
    {
        port.currentCutsThrough = true;
        const uint64_t headPs = rate.Ps(
            m_options.framingBytes + std::min<uint64_t>(m_options.cutThroughBytes, frame.bytes));
        m_queue.Push(m_nowPs,
                     {m_nowPs + headPs + m_counters[portId].delayPs + m_options.switchDelayPs,
                      EventTarget(EventType::ARRIVE, port.peer),
                      frameId});
    }
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

FABRIC_HOT FrameId
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

/// Ask the transports of a host in order of priority, round robin among equals, but none that is
/// less urgent than a frame that already waits (`ready`: classes with frames that may go).
FABRIC_HOT FrameId
Fabric::PullFromHost(PortId portId, uint32_t ready)
{
    const uint32_t paused = m_ports[portId].paused;
    const HostState& host = m_hosts[m_ports[portId].host];
    Endpoint* endpoint = m_endpoints.data() + host.firstEndpoint; // may be its end
    const Endpoint* end = endpoint + host.endpoints;
    while (endpoint != end && ready >> endpoint->priority == 0)
    {
        uint32_t equals = 1;
        while (endpoint + equals != end && endpoint[equals].priority == endpoint->priority)
        {
            equals++;
        }
        for (uint32_t i = 0; i < equals; i++)
        {
            const uint32_t turn = equals == 1 ? 0 : endpoint->turn++ % equals;
            const FrameId frame = endpoint[turn].transport->NextFrame(portId, paused);
            if (frame != NO_FRAME)
            {
                return frame;
            }
        }
        endpoint += equals;
    }
    return NO_FRAME;
}

FABRIC_HOT void
Fabric::SelectNext(PortId portId)
{
    Port& port = m_ports[portId];
    const uint32_t ready = port.queued & ~uint32_t{port.paused};
    if (port.isHost)
    {
        const FrameId pulled = PullFromHost(portId, ready);
        if (pulled != NO_FRAME)
        {
            Transmit(portId, pulled);
            return;
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

FABRIC_HOT void
Fabric::EnqueueHot(PortId portId, FrameId frameId)
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

FABRIC_HOT void
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
    if (port.currentCutsThrough)
    {
        port.currentCutsThrough = false; // its arrival was scheduled when it began
    }
    else
    {
        const uint32_t target = EventTarget(EventType::ARRIVE, port.peer);
        if (port.down) // cut while the frame was under way
        {
            m_counters[port.peer].lostFrames++;
            m_frames.Free(frameId);
        }
        else if (port.lane != EventQueue::NO_LANE && !(isLinkControl && m_options.switchDelayPs))
        {
            m_queue.PushLane(port.lane,
                             {m_nowPs + m_queue.LaneDelayPs(port.lane), target, frameId});
        }
        else
        {
            const bool throughSwitch = !isLinkControl && !m_ports[port.peer].isHost;
            const uint64_t delayPs =
                m_counters[portId].delayPs + (throughSwitch ? m_options.switchDelayPs : 0);
            m_queue.Push(m_nowPs, {m_nowPs + delayPs, target, frameId});
        }
    }
    port.current = NO_FRAME;
    SelectNext(portId);
}

// ---- ingress ----------------------------------------------------------------------------------

FABRIC_HOT PortId
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

FABRIC_HOT void
Fabric::Forward(PortId ingressId, PortId egressId, FrameId frameId)
{
    Frame& frame = m_frames[frameId];
    Port& egress = m_ports[egressId];
    NodeState& node = m_nodes[egress.node];
    bool dropped = false;
    if (egress.down)
    {
        m_counters[egressId].droppedDown++;
        m_frames.Free(frameId);
        return;
    }
    if (m_discipline)
    {
        auto verdict = m_discipline->Admit(egressId, frame, egress.Queue(frame.priority).bytes);
        if (verdict == QueueDiscipline::Verdict::TRIM)
        {
            frame.bytes = static_cast<uint16_t>(m_discipline->TrimBytes(frame.priority));
            frame.flags |= frame_flag::TRIMMED;
            frame.priority = m_discipline->TrimPriority(frame.priority);
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
    if (m_control)
    {
        m_forwardingTo = egressId;
        const bool fits = m_control->OnArrival(ingressId, frame);
        m_forwardingTo = NO_PORT;
        if (!fits)
        {
            m_counters[ingressId].droppedHeadroom++;
            m_frames.Free(frameId);
            return;
        }
    }
    node.usedBytes += frame.bytes;
    node.maxUsedBytes = std::max(node.maxUsedBytes, node.usedBytes);
    EnqueueHot(egressId, frameId);
}

FABRIC_HOT void
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

FABRIC_HOT void
Fabric::ArriveAtHost(PortId portId, FrameId frameId)
{
    const Frame& frame = m_frames[frameId];
    if (m_capture) [[unlikely]]
    {
        m_capture->Received(portId, frame);
    }
    Message& message = m_messages[frame.message];
    if (frame.kind == frame_kind::DATA)
    {
        m_dataPackets++;
        if (frame.flags & (frame_flag::ECN_MARKED | frame_flag::TRIMMED))
        {
            message.markedPackets += (frame.flags & frame_flag::ECN_MARKED) != 0;
            message.trimmedPackets += (frame.flags & frame_flag::TRIMMED) != 0;
        }
        if (m_telemetry)
        {
            m_telemetry->DataArrived(frame, m_ports[portId].node);
        }
    }
    const uint32_t endpoint =
        (frame.flags & frame_flag::REVERSE) ? message.srcEndpoint : message.dstEndpoint;
    m_endpoints[endpoint].transport->Receive(frameId, portId);
}

FABRIC_HOT void
Fabric::Arrive(PortId portId, FrameId frameId, PortId egress)
{
    Port& port = m_ports[portId];
    const Frame& frame = m_frames[frameId];
    if (port.lossy && LoseOnWire(portId, frame))
    {
        m_frames.Free(frameId);
        return;
    }
    port.receivedFrames++;
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        m_counters[portId].linkControlReceived++;
        if (m_capture)
        {
            m_capture->Received(portId, frame);
        }
        if (m_telemetry && m_telemetry->LogsPauses())
        {
            m_pauseReason = {m_frames.StampPs(frameId), frame.packet};
        }
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

// ---- memory ahead of time ---------------------------------------------------------------------

/// Ask for the memory of a port well before its event is executed.
FABRIC_HOT void
Fabric::FetchPort(uint64_t key) const
{
    const Port& port = m_ports[static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK];
    __builtin_prefetch(&port);
    __builtin_prefetch(&port.Queue(NUM_PRIORITIES / 2));
}

/// Ask for the next frame of a port and the account of the one that leaves.
FABRIC_HOT void
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
FABRIC_HOT void
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
FABRIC_HOT void
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

} // namespace fabric
} // namespace ns3

#endif // FABRIC_DATA_PATH_H
