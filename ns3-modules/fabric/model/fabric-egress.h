// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EGRESS_H
#define FABRIC_EGRESS_H

// What happens to a frame that leaves a port. These functions are a header only so that they are
// inlined into the loop over events, and each step can be read on a page of its own.

#include "fabric.h"

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

/// @return the queue of a class
FABRIC_HOT PortQueue&
Fabric::Queue(PortId portId, Port& port, uint32_t queueClass)
{
    if (Port::Holds(queueClass)) [[likely]]
    {
        return port.Queue(queueClass);
    }
    return m_state.otherQueues[size_t{queueClass} * m_state.network.NumPorts() + portId];
}

/// Begin to send a frame that holds `heldBytes` of the buffer; it may have grown since.
FABRIC_HOT void
Fabric::Transmit(PortId portId, Port& port, FrameId frameId, uint16_t heldBytes)
{
    const Frame& frame = m_state.frames[frameId];
    port.current = frameId;
    port.currentBytes = frame.bytes; // and so on: in the order in which they lie in a frame
    port.currentIngress = frame.ingress;
    port.currentKind = frame.kind;
    port.currentPriority = frame.priority;
    port.currentHeldBytes = heldBytes;
    port.sentFrames++;
    port.sentBytes += frame.bytes;
    if (port.isWatched || port.cutsThrough) [[unlikely]]
    {
        ShowTransmission(portId, frameId);
    }
    const RateClass& rate = m_state.network.rates[port.rate];
    const uint32_t target = EventTarget(EventType::TX_DONE, portId);
    const uint32_t size = rate.LaneOf(frame.bytes, frame.kind != frame_kind::DATA);
    if (size < RateClass::LANES) [[likely]]
    {
        m_state.queue.PushLane(rate.lane[size], {m_state.nowPs + rate.lanePs[size], target, 0});
        return;
    }
    m_state.queue.Push(m_state.nowPs,
                 {m_state.nowPs + rate.Ps(frame.bytes + m_state.framingBytes), target, 0});
}

FABRIC_HOT FrameId
Fabric::PopQueue(PortId portId, Port& port, uint32_t queueClass)
{
    PortQueue& queue = Queue(portId, port, queueClass);
    const FrameId frameId = queue.head;
    const Frame& frame = m_state.frames[frameId];
    queue.head = frame.next;
    queue.bytes -= frame.bytes;
    port.queuedBytes -= frame.bytes;
    if (queue.head == NO_FRAME)
    {
        port.queued &= ~(1U << queueClass);
    }
    else
    {
        __builtin_prefetch(&m_state.frames[queue.head]);
    }
    return frameId;
}

/// Ask the transports of a host in order of priority, round robin among equals, but none that is
/// less urgent than a frame that already waits (`ready`: classes with frames that may go).
FABRIC_HOT FrameId
Fabric::PullFromHost(PortId portId, const Port& port, uint32_t ready)
{
    const HostState& host = m_state.network.hosts[port.host];
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
    const Frame& frame = m_state.frames[frameId];
    m_state.heldByHosts--;
    if (frame.kind == frame_kind::DATA)
    {
        Message& message = m_state.messages[frame.message];
        message.sentPackets++;
        if (frame.flags & frame_flag::RETRANSMITTED) [[unlikely]]
        {
            message.retransmittedPackets++;
        }
    }
    return frameId;
}

FABRIC_HOT void
Fabric::SelectNext(PortId portId, Port& port)
{
    const uint32_t ready = port.queued & ~uint32_t{port.paused};
    if (port.isHost)
    {
        const FrameId pulled = PullFromHost(portId, port, ready);
        if (pulled != NO_FRAME)
        {
            Transmit(portId, port, pulled, 0);
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
        Transmit(portId, port, PopQueue(portId, port, queueClass), 0);
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
    const uint16_t heldBytes = m_state.frames[frameId].bytes;
    if (leftBytes >= owner.callDepartAt[queueClass])
    {
        Depart(portId, frameId, leftBytes);
    }
    Transmit(portId, port, frameId, heldBytes);
}

/// Put a frame behind those of its class.
FABRIC_HOT void
Fabric::Append(PortId portId, Port& port, uint32_t queueClass, FrameId frameId)
{
    Frame& frame = m_state.frames[frameId];
    PortQueue& queue = Queue(portId, port, queueClass);
    frame.next = NO_FRAME;
    if ((port.queued >> queueClass) & 1)
    {
        m_state.frames[queue.tail].next = frameId;
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

/// Send a frame that has come to a switch, or let it wait.
FABRIC_HOT void
Fabric::EnqueueAtSwitch(const NodeClass& owner, PortId portId, FrameId frameId)
{
    Port& port = m_ports[portId];
    const uint32_t queueClass = m_state.frames[frameId].priority;
    const bool isIdle = port.current == NO_FRAME;
    if (isIdle && !((port.paused >> queueClass) & 1) && !owner.scheduler)
    {
        const uint16_t heldBytes = m_state.frames[frameId].bytes;
        if (owner.callDepartAt[queueClass] == 0)
        {
            Depart(portId, frameId, 0);
        }
        Transmit(portId, port, frameId, heldBytes);
        return;
    }
    Append(portId, port, queueClass, frameId);
    if (isIdle && owner.scheduler) [[unlikely]]
    {
        SelectNext(portId, port);
    }
}

/// @return flow control of the link that a frame came in by, if it counts frames of its class
FABRIC_HOT LinkFlowControl*
Fabric::ControlAt(PortId ingress, uint8_t priority) const
{
    const LinkClass& link = m_linkClasses[m_linksDiffer ? m_ports[ingress].linkClass : 0];
    return ((link.countedMask >> priority) & 1) ? link.control : nullptr;
}

/// The frame that a switch has sent leaves its buffer.
FABRIC_HOT void
Fabric::LeaveBuffer(const Port& port)
{
    NodeState& node = m_state.network.nodes[port.node];
    node.usedBytes -= port.currentHeldBytes;
    if (port.currentIngress == NO_INGRESS) [[unlikely]]
    {
        return;
    }
    const PortId ingress = node.firstPort + port.currentIngress;
    if (LinkFlowControl* control = ControlAt(ingress, port.currentPriority))
    {
        control->OnDeparture(ingress, port.currentPriority, port.currentHeldBytes);
    }
}

FABRIC_HOT void
Fabric::TransmissionDone(PortId portId)
{
    Port& port = m_ports[portId];
    const FrameId frameId = port.current;
    const bool isLinkControl = port.currentKind == frame_kind::LINK_CONTROL;
    if (port.currentKind != frame_kind::DATA)
    {
        port.sentControl++;
    }
    if (!port.isHost && !isLinkControl)
    {
        LeaveBuffer(port);
    }
    const bool isRare = port.down || port.currentCutsThrough || isLinkControl;
    if (port.lane < EventQueue::ON_WIRE && !isRare) [[likely]]
    {
        m_state.queue.PushLane(port.lane,
                         {m_state.nowPs + m_state.queue.LaneDelayPs(port.lane),
                          EventTarget(EventType::ARRIVE, port.peer),
                          frameId});
    }
    else if (port.lane == EventQueue::ON_WIRE && !isRare)
    {
        m_state.queue.PushWire(m_state.nowPs,
                         portId,
                         {m_state.nowPs + m_state.queue.WireDelayPs(portId),
                          EventTarget(EventType::ARRIVE, port.peer),
                          frameId});
    }
    else if (port.crosses && !isRare)
    {
        HandOver(portId, frameId);
    }
    else if (port.currentCutsThrough)
    {
        port.currentCutsThrough = false; // its arrival was scheduled when it began
    }
    else
    {
        PutOnWire(portId, frameId);
    }
    port.current = NO_FRAME;
    SelectNext(portId, port);
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EGRESS_H
