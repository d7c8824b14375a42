// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SWITCHING_H
#define FABRIC_SWITCHING_H

#include "egress-queues.h"
#include "plugin-classes.h"
#include "wires.h"

#include <bit>
#include <vector>

namespace ns3
{
namespace fabric
{

/// In place of an egress: it is chosen when the frame is forwarded.
constexpr PortId ROUTE_NOW = NO_PORT - 1;

/**
 * @ingroup fabric
 * @brief What switches do with frames: routes, admission, buffers, queues and schedulers.
 */
class Switching
{
  public:
    /**
     * @param state of the engine
     * @param classes of switches and links, and their plug-ins
     * @param wires take what switches send
     */
    Switching(EngineState& state, const PluginClasses& classes, Wires& wires);

    /// A frame has come in; `egress` may be known already.
    void Receive(const NodeClass& owner,
                 PortId portId,
                 const Port& port,
                 FrameId id,
                 PortId egress);
    void Select(PortId portId, Port& port); ///< Send what waits at an egress, if it may go
    void LeaveBuffer(const Port& port);     ///< The frame that was sent leaves the buffer
    /**
     * Put a frame into the queue of an egress.
     * @param owner class of the switch
     * @param ingressId whose link accounts for it, NO_PORT: none, or it has done so
     * @param egressId where it is to leave
     * @param frameId the frame
     * @return whether it, or what is left of it, is queued; else it is gone
     */
    bool Forward(const NodeClass& owner, PortId ingressId, PortId egressId, FrameId frameId);

    PortId Route(const NodeClass& owner, uint32_t node, const Frame& frame) const;
    PortId RouteAt(uint32_t node, const Frame& frame) const;
    /// @return egress ports of the links that a single-path message crosses; empty if sprayed
    std::vector<PortId> PathOf(uint32_t message, std::optional<uint32_t> entropy) const;

    void AskAgain(PortId portId);                   ///< The scheduler of an egress
    void UseAskTimers(uint32_t first);              ///< From this index on, by port
    void Flush(PortId portId, uint32_t queueClass); ///< Drop what waits for a link that is cut
    bool IsLossless(PortId egressId, uint32_t priority) const;
    /// @return flow control of the link that a frame came in by, if it counts frames of its class
    LinkFlowControl* ControlAt(PortId ingress, uint8_t priority) const;

  private:
    void Enqueue(const NodeClass& owner, PortId portId, FrameId frameId);
    PortId OwnRoute(const NodeClass& owner, uint32_t node, const Frame& frame) const;
    PortId Admit(PortId egressId, FrameId frameId);
    PortId TrimAndAsk(PortId egressId, FrameId frameId);
    PortId TrimTail(PortId egressId, FrameId frameId);
    PortId Bounce(PortId egressId, FrameId frameId);
    PortId Drop(PortId egressId, FrameId frameId);
    PortId Refuse(PortId egressId, FrameId frameId);
    void CountMark(PortId egressId, uint16_t before, const Frame& frame);
    void CutPayload(PortId egressId, Frame& frame);
    bool MayTrim(PortId egressId, const Frame& frame) const;
    void Depart(PortId portId, FrameId frameId, uint64_t queuedBytes);
    uint32_t AskScheduler(PortId portId, uint32_t ready);

    EngineState& m_state;
    Port* m_ports; ///< Of the network
    const PluginClasses& m_classes;
    Wires& m_wires;
    std::vector<uint64_t> m_askAtPs; ///< Per port with a scheduler: when it is asked again [ps]
    uint32_t m_firstAskTimer{0};     ///< Timer of port 0 to ask again
};

FABRIC_HOT LinkFlowControl*
Switching::ControlAt(PortId ingress, uint8_t priority) const
{
    const LinkClass& link = m_classes.LinkOf(m_ports[ingress]);
    return ((link.countedMask >> priority) & 1) ? link.control : nullptr;
}

FABRIC_HOT void
Switching::Select(PortId portId, Port& port)
{
    const uint32_t ready = port.queued & ~uint32_t{port.paused};
    if (ready == 0)
    {
        return;
    }
    uint32_t queueClass = std::bit_width(ready) - 1;
    if (queueClass == LINK_CONTROL_CLASS)
    {
        const FrameId control = EgressQueues::Pop(m_state, portId, port, queueClass);
        m_wires.Transmit(m_state, portId, port, control, 0);
        return;
    }
    const NodeClass& owner = m_classes.nodes[port.nodeClass];
    if (owner.scheduler) [[unlikely]]
    {
        queueClass = AskScheduler(portId, ready);
        if (queueClass == EgressScheduler::NONE)
        {
            return;
        }
    }
    const FrameId frameId = EgressQueues::Pop(m_state, portId, port, queueClass);
    const uint64_t leftBytes = EgressQueues::At(m_state, portId, port, queueClass).bytes;
    const uint16_t heldBytes = m_state.frames[frameId].bytes;
    if (leftBytes >= owner.callDepartAt[queueClass])
    {
        Depart(portId, frameId, leftBytes);
    }
    m_wires.Transmit(m_state, portId, port, frameId, heldBytes);
}

/// Send a frame that has come to a switch, or let it wait.
FABRIC_HOT void
Switching::Enqueue(const NodeClass& owner, PortId portId, FrameId frameId)
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
        m_wires.Transmit(m_state, portId, port, frameId, heldBytes);
        return;
    }
    EgressQueues::Append(m_state, portId, port, queueClass, frameId);
    if (isIdle && owner.scheduler) [[unlikely]]
    {
        Select(portId, port);
    }
}

FABRIC_HOT void
Switching::LeaveBuffer(const Port& port)
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

FABRIC_HOT PortId
Switching::Route(const NodeClass& owner, uint32_t node, const Frame& frame) const
{
    if (owner.hasOwnRoutes) [[unlikely]]
    {
        if (const PortId port = OwnRoute(owner, node, frame); port != NO_PORT)
        {
            return port;
        }
    }
    const uint32_t nextHop = m_state.routes.InForce().NextHopTo(node, frame.dst);
    if (nextHop & Routing::DIRECT)
    {
        return nextHop == Routing::NO_GROUP ? NO_PORT : nextHop & ~Routing::DIRECT;
    }
    const Routing::Group group = m_state.routes.InForce().GetGroup(nextHop);
    const PortId* members = m_state.routes.InForce().Members(group);
    return members[owner.forwarding->Select({node, nextHop, members, group.size}, frame)];
}

FABRIC_HOT bool
Switching::Forward(const NodeClass& owner, PortId ingressId, PortId egressId, FrameId frameId)
{
    Frame& frame = m_state.frames[frameId];
    Port& egress = m_ports[egressId];
    NodeState& node = m_state.network.nodes[egress.node];
    if (egress.down) [[unlikely]]
    {
        m_state.network.counters[egressId].droppedDown++;
        m_state.frames.Free(frameId);
        return false;
    }
    const bool isEmpty = !((egress.queued >> frame.priority) & 1); // often: nothing to look at
    const uint64_t queuedBytes =
        isEmpty ? 0 : EgressQueues::At(m_state, egressId, egress, frame.priority).bytes;
    if (queuedBytes + frame.bytes >= owner.callAdmitAt[frame.priority])
    {
        egressId = Admit(egressId, frameId); // another one if the frame is sent back
        if (egressId == NO_PORT)
        {
            return false;
        }
    }
    if (owner.bufferBytes && node.usedBytes + frame.bytes > owner.bufferBytes) [[unlikely]]
    {
        m_state.network.counters[egressId].droppedBuffer++;
        m_state.frames.Free(frameId);
        return false;
    }
    if (ingressId != NO_PORT)
    {
        LinkFlowControl* control = ControlAt(ingressId, frame.priority);
        if (control && !control->OnArrival(ingressId, egressId, frame)) [[unlikely]]
        {
            m_state.network.counters[ingressId].droppedHeadroom++;
            m_state.frames.Free(frameId);
            return false;
        }
    }
    node.usedBytes += frame.bytes;
    node.maxUsedBytes = std::max(node.maxUsedBytes, node.usedBytes);
    Enqueue(owner, egressId, frameId);
    return true;
}

FABRIC_HOT void
Switching::Receive(const NodeClass& owner,
                   PortId portId,
                   const Port& port,
                   FrameId id,
                   PortId egress)
{
    if (egress == ROUTE_NOW)
    {
        egress = Route(owner, port.node, m_state.frames[id]);
    }
    if (egress == NO_PORT) [[unlikely]]
    {
        m_state.network.counters[portId].droppedNoRoute++;
        m_state.frames.Free(id);
        return;
    }
    Forward(owner, portId, egress, id);
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_SWITCHING_H
