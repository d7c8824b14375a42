// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EGRESS_QUEUES_H
#define FABRIC_EGRESS_QUEUES_H

#include "ns3/engine-state.h"

#include <algorithm>

/// Inlined into the loop: together a hop is a few hundred instructions, and calls would be a third.
#define FABRIC_HOT [[gnu::always_inline]] inline

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief The frames that wait at the egress of a port, by class; all of it lies in the state.
 */
struct EgressQueues
{
    /// @return the queue of a class
    static PortQueue& At(EngineState& state, PortId portId, Port& port, uint32_t queueClass);
    /// Put a frame behind those of its class.
    static void Append(EngineState& state,
                       PortId portId,
                       Port& port,
                       uint32_t queueClass,
                       FrameId frameId);
    /// @return the first frame of a class, which waits no longer
    static FrameId Pop(EngineState& state, PortId portId, Port& port, uint32_t queueClass);
};

FABRIC_HOT PortQueue&
EgressQueues::At(EngineState& state, PortId portId, Port& port, uint32_t queueClass)
{
    if (Port::Holds(queueClass)) [[likely]]
    {
        return port.Queue(queueClass);
    }
    return state.otherQueues[size_t{queueClass} * state.network.NumPorts() + portId];
}

FABRIC_HOT void
EgressQueues::Append(EngineState& state,
                     PortId portId,
                     Port& port,
                     uint32_t queueClass,
                     FrameId frameId)
{
    Frame& frame = state.frames[frameId];
    PortQueue& queue = At(state, portId, port, queueClass);
    frame.next = NO_FRAME;
    if ((port.queued >> queueClass) & 1)
    {
        state.frames[queue.tail].next = frameId;
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

FABRIC_HOT FrameId
EgressQueues::Pop(EngineState& state, PortId portId, Port& port, uint32_t queueClass)
{
    PortQueue& queue = At(state, portId, port, queueClass);
    const FrameId frameId = queue.head;
    const Frame& frame = state.frames[frameId];
    queue.head = frame.next;
    queue.bytes -= frame.bytes;
    port.queuedBytes -= frame.bytes;
    if (queue.head == NO_FRAME)
    {
        port.queued &= ~(1U << queueClass);
    }
    else
    {
        __builtin_prefetch(&state.frames[queue.head]);
    }
    return frameId;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EGRESS_QUEUES_H
