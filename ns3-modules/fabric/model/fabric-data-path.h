// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_DATA_PATH_H
#define FABRIC_DATA_PATH_H

// What happens to a frame at each event. Private to fabric.cc: these functions are a header only
// so that the loop over events and each of its steps can be read on a page of their own.

#include "fabric.h"

#include "ns3/packet-capture.h"

#include <algorithm>
#include <bit>

/// Inlined into the loop: together a hop is a few hundred instructions, and calls would be a third.
#define FABRIC_HOT [[gnu::always_inline]] inline

namespace ns3
{
namespace fabric
{

/// In place of an egress: it is chosen when the frame is forwarded.
constexpr PortId ROUTE_NOW = NO_PORT - 1;

// ---- egress -----------------------------------------------------------------------------------

/// @return the queue of a class; few links have more than NUM_PRIORITIES
FABRIC_HOT PortQueue&
Fabric::Queue(PortId portId, Port& port, uint32_t queueClass)
{
    if (queueClass & NUM_PRIORITIES) [[unlikely]]
    {
        return m_laneQueues[portId * NUM_PRIORITIES + (queueClass & (NUM_PRIORITIES - 1))];
    }
    return port.Queue(queueClass);
}

/// Begin to send a frame that holds `heldBytes` of the buffer; it may have grown since.
FABRIC_HOT void
Fabric::Transmit(PortId portId, FrameId frameId, uint16_t heldBytes)
{
    Port& port = m_ports[portId];
    const Frame& frame = m_frames[frameId];
    port.current = frameId;
    port.currentBytes = frame.bytes;
    port.currentHeldBytes = heldBytes;
    port.currentIngress = frame.ingress;
    port.currentPriority = frame.priority;
    port.currentKind = frame.kind;
    port.sentFrames++;
    port.sentBytes += frame.bytes;
    if (m_capture) [[unlikely]]
    {
        m_capture->Sent(portId, frame);
    }
    const LinkClass& link = m_linkClasses[port.linkClass];
    if (link.watchesSenders && frame.kind != frame_kind::LINK_CONTROL) [[unlikely]]
    {
        link.control->OnTransmit(portId, frame);
    }
    const RateClass& rate = m_network.rates[port.rate];
    if (port.cutsThrough && frame.kind != frame_kind::LINK_CONTROL) [[unlikely]]
    {
        BeginCutThrough(portId, frameId);
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
Fabric::PopQueue(PortId portId, Port& port, uint32_t queueClass)
{
    PortQueue& queue = Queue(portId, port, queueClass);
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
    const Port& port = m_ports[portId];
    const HostState& host = m_network.hosts[port.host];
    const NicState nic{port.paused, static_cast<uint32_t>(std::bit_width(ready))};
    if (host.variesUrgency) [[unlikely]]
    {
        return PullUrgent(portId, nic);
    }
    Endpoint* endpoint = m_endpoints.data() + host.firstEndpoint; // may be its end
    const Endpoint* end = endpoint + host.endpoints;
    while (endpoint != end && endpoint->priority >= nic.leastPriority)
    {
        uint32_t equals = 1;
        while (endpoint + equals != end && endpoint[equals].priority == endpoint->priority)
        {
            equals++;
        }
        for (uint32_t i = 0; i < equals; i++)
        {
            const uint32_t turn = equals == 1 ? 0 : endpoint->turn++ % equals;
            const FrameId frame = endpoint[turn].transport->NextFrame(portId, nic);
            if (frame != NO_FRAME)
            {
                return CountPulled(frame);
            }
        }
        endpoint += equals;
    }
    return NO_FRAME;
}

/// A transport has handed over a frame to send.
FABRIC_HOT FrameId
Fabric::CountPulled(FrameId frameId)
{
    const Frame& frame = m_frames[frameId];
    m_heldByHosts--;
    if (frame.kind == frame_kind::DATA)
    {
        Message& message = m_messages[frame.message];
        message.sentPackets++;
        message.retransmittedPackets += (frame.flags & frame_flag::RETRANSMITTED) != 0;
    }
    return frameId;
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
            Transmit(portId, pulled, 0);
            return;
        }
    }
    if (ready == 0)
    {
        return;
    }
    uint32_t queueClass = std::bit_width(ready) - 1;
    if (port.isHost || queueClass == LINK_CONTROL_CLASS)
    {
        Transmit(portId, PopQueue(portId, port, queueClass), 0);
        return;
    }
    const NodeClass& owner = m_nodeClasses[port.nodeClass];
    if (owner.scheduler) [[unlikely]]
    {
        queueClass = AskScheduler(portId, ready);
        if (queueClass == EgressScheduler::NONE)
        {
            return;
        }
    }
    const FrameId frameId = PopQueue(portId, port, queueClass);
    const uint64_t leftBytes = Queue(portId, port, queueClass).bytes;
    const uint16_t heldBytes = m_frames[frameId].bytes;
    if (leftBytes >= owner.callDepartAt[queueClass])
    {
        Depart(portId, frameId, leftBytes);
    }
    Transmit(portId, frameId, heldBytes);
}

FABRIC_HOT void
Fabric::EnqueueHot(PortId portId, FrameId frameId)
{
    Port& port = m_ports[portId];
    Frame& frame = m_frames[frameId];
    const uint32_t queueClass =
        frame.kind == frame_kind::LINK_CONTROL ? LINK_CONTROL_CLASS : frame.priority;
    const bool isIdle = port.current == NO_FRAME;
    const NodeClass& owner = m_nodeClasses[port.nodeClass];
    const bool isScheduled = owner.scheduler && !port.isHost;
    if (isIdle && !((port.paused >> queueClass) & 1) && !isScheduled)
    {
        // An idle port has nothing else that may go.
        const uint16_t heldBytes = frame.bytes;
        if (!port.isHost && queueClass != LINK_CONTROL_CLASS && owner.callDepartAt[queueClass] == 0)
        {
            Depart(portId, frameId, 0);
        }
        Transmit(portId, frameId, heldBytes);
        return;
    }
    PortQueue& queue = Queue(portId, port, queueClass);
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
    if (isScheduled && isIdle) [[unlikely]]
    {
        SelectNext(portId);
    }
}

/// @return flow control of the link that a frame came in by
FABRIC_HOT LinkFlowControl*
Fabric::ControlAt(PortId ingress) const
{
    return m_linkClasses.size() == 1 ? m_linkClasses[0].control
                                     : m_linkClasses[m_ports[ingress].linkClass].control;
}

FABRIC_HOT void
Fabric::TransmissionDone(PortId portId)
{
    Port& port = m_ports[portId];
    const FrameId frameId = port.current;
    const bool isLinkControl = port.currentKind == frame_kind::LINK_CONTROL;
    port.sentControl += port.currentKind != frame_kind::DATA;
    if (!port.isHost && !isLinkControl)
    {
        NodeState& node = m_network.nodes[port.node];
        node.usedBytes -= port.currentHeldBytes;
        if (port.currentIngress != NO_INGRESS)
        {
            const PortId ingress = node.firstPort + port.currentIngress;
            if (LinkFlowControl* control = ControlAt(ingress))
            {
                control->OnDeparture(ingress, port.currentPriority, port.currentHeldBytes);
            }
        }
    }
    if (port.currentCutsThrough) [[unlikely]]
    {
        port.currentCutsThrough = false; // its arrival was scheduled when it began
    }
    else if (port.lane != EventQueue::NO_LANE && !port.down && !isLinkControl)
    {
        m_queue.PushLane(port.lane,
                         {m_nowPs + m_queue.LaneDelayPs(port.lane),
                          EventTarget(EventType::ARRIVE, port.peer),
                          frameId});
    }
    else
    {
        PutOnWire(portId, frameId);
    }
    port.current = NO_FRAME;
    SelectNext(portId);
}

// ---- ingress ----------------------------------------------------------------------------------

FABRIC_HOT PortId
Fabric::Route(const NodeClass& owner, uint32_t node, const Frame& frame) const
{
    if (owner.hasOwnRoutes) [[unlikely]]
    {
        if (const PortId port = owner.forwarding->Route(node, frame); port != NO_PORT)
        {
            return port;
        }
    }
    const uint32_t way = m_routing->WayTo(node, frame.dst);
    if (way & Routing::DIRECT)
    {
        return way == Routing::NO_GROUP ? NO_PORT : way & ~Routing::DIRECT;
    }
    const Routing::Group group = m_routing->GetGroup(way);
    const PortId* members = m_routing->Members(group);
    return members[owner.forwarding->Select({node, way, members, group.size}, frame)];
}

FABRIC_HOT void
Fabric::Forward(PortId ingressId, PortId egressId, FrameId frameId)
{
    Frame& frame = m_frames[frameId];
    const Port& egress = m_ports[egressId];
    NodeState& node = m_network.nodes[egress.node];
    const NodeClass& owner = m_nodeClasses[egress.nodeClass];
    if (egress.down) [[unlikely]]
    {
        m_network.counters[egressId].droppedDown++;
        m_frames.Free(frameId);
        return;
    }
    if (QueueOf(egressId, frame.priority).bytes + frame.bytes >= owner.callAdmitAt[frame.priority])
    {
        egressId = Admit(egressId, frameId); // another one if the frame is sent back
        if (egressId == NO_PORT)
        {
            return;
        }
    }
    if (owner.bufferBytes && node.usedBytes + frame.bytes > owner.bufferBytes) [[unlikely]]
    {
        m_network.counters[egressId].droppedBuffer++;
        m_frames.Free(frameId);
        return;
    }
    if (ingressId != NO_PORT)
    {
        LinkFlowControl* control = ControlAt(ingressId);
        if (control && !control->OnArrival(ingressId, egressId, frame)) [[unlikely]]
        {
            m_network.counters[ingressId].droppedHeadroom++;
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
    const Port& port = m_ports[portId];
    const uint32_t node = port.node;
    const NodeClass& owner = m_nodeClasses[port.nodeClass];
    frame.ingress = static_cast<uint16_t>(portId - m_network.nodes[node].firstPort);
    frame.hops++;
    if (!owner.onArrival.empty() && TakenByProgram(portId, frameId)) [[unlikely]]
    {
        return;
    }
    if (egress == ROUTE_NOW)
    {
        egress = Route(owner, node, frame);
    }
    if (egress == NO_PORT) [[unlikely]]
    {
        m_network.counters[portId].droppedNoRoute++;
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
    const LinkClass& link = m_linkClasses[m_ports[portId].linkClass];
    if (link.watchesSenders && link.control->OnArrival(portId, NO_PORT, frame)) [[unlikely]]
    {
        link.control->OnDeparture(portId, frame.priority, frame.bytes); // hosts take all at once
    }
    Message& message = m_messages[frame.message];
    if (frame.kind == frame_kind::DATA && !(frame.flags & frame_flag::BOUNCED))
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
    m_heldByHosts++;
    m_endpoints[endpoint].transport->Receive(frameId, portId);
}

FABRIC_HOT void
Fabric::Arrive(PortId portId, FrameId frameId, PortId egress)
{
    Port& port = m_ports[portId];
    const Frame& frame = m_frames[frameId];
    if (port.lossy && IsLost(portId, frame)) [[unlikely]]
    {
        m_frames.Free(frameId);
        return;
    }
    port.receivedFrames++;
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        ReceiveLinkControl(portId, frameId);
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

/// Ask for the memory of an event that is still some instants away.
FABRIC_HOT void
Fabric::FetchSoon(const Event& event) const
{
    __builtin_prefetch(&m_ports[event.target & EVENT_INDEX_MASK]); // a hint, whatever it is
    if (event.target >> EVENT_INDEX_BITS == static_cast<uint32_t>(EventType::ARRIVE))
    {
        __builtin_prefetch(&m_frames[event.payload]);
    }
}

/// Ask for the memory of a port well before its event is executed.
FABRIC_HOT void
Fabric::FetchPort(uint64_t key) const
{
    const Port& port = m_ports[static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK];
    __builtin_prefetch(&port);
    __builtin_prefetch(&port.queuedBytes);
}

/// Ask for the next frame of a port and the account of the one that leaves, or for the transport.
FABRIC_HOT void
Fabric::FetchForTransmissionDone(uint64_t key) const
{
    const Port& port = m_ports[static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK];
    if (port.queued != 0)
    {
        const uint32_t queueClass = std::bit_width(port.queued) - 1;
        __builtin_prefetch(&m_frames[QueueOf(&port - m_ports, queueClass).head]);
    }
    if (port.isHost)
    {
        const HostState& host = m_network.hosts[port.host];
        if (host.endpoints != 0)
        {
            FetchObject(m_endpoints[host.firstEndpoint].transport);
        }
    }
    else if (const LinkFlowControl* control = m_linkClasses[0].control)
    {
        control->Fetch(m_network.nodes[port.node].firstPort + port.currentIngress);
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
    m_egress[i] = ROUTE_NOW;
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        return;
    }
    if (port.isHost)
    {
        __builtin_prefetch(&m_messages[frame.message]);
        return;
    }
    if (const LinkFlowControl* control = m_linkClasses[0].control)
    {
        control->Fetch(portId);
    }
    const NodeClass& owner = m_nodeClasses[port.nodeClass];
    if (owner.routesEarly)
    {
        m_egress[i] = Route(owner, port.node, frame);
        if (m_egress[i] != NO_PORT)
        {
            const Port& egress = m_ports[m_egress[i]];
            __builtin_prefetch(&egress);
            __builtin_prefetch(&egress.queuedBytes);
        }
    }
}

/// Ask for the first lines of a transport object.
FABRIC_HOT void
Fabric::FetchObject(const Transport* transport)
{
    const auto* object = reinterpret_cast<const char*>(transport);
    for (size_t line = 0; line < 4; line++)
    {
        __builtin_prefetch(object + 64 * line);
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
        FetchObject(m_endpoints[reverse ? message.srcEndpoint : message.dstEndpoint].transport);
    }
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_DATA_PATH_H
