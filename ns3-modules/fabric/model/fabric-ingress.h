// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_INGRESS_H
#define FABRIC_INGRESS_H

// What happens to a frame that comes in by a port (see fabric-egress.h).

#include "fabric-egress.h"

namespace ns3
{
namespace fabric
{

FABRIC_HOT PortId
Fabric::Route(const NodeClass& owner, uint32_t node, const Frame& frame) const
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

/**
 * Put a frame into the queue of an egress.
 * @param owner class of the switch
 * @param ingressId whose link accounts for it, NO_PORT: none, or it has done so
 * @param egressId where it is to leave
 * @param frameId the frame
 * @return whether it, or what is left of it, is queued; else it is gone
 */
FABRIC_HOT bool
Fabric::Forward(const NodeClass& owner, PortId ingressId, PortId egressId, FrameId frameId)
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
        isEmpty ? 0 : Queue(egressId, egress, frame.priority).bytes;
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
    EnqueueAtSwitch(owner, egressId, frameId);
    return true;
}

FABRIC_HOT void
Fabric::ArriveAtSwitch(PortId portId, const Port& port, FrameId frameId, PortId egress)
{
    Frame& frame = m_state.frames[frameId];
    const uint32_t node = port.node;
    const NodeClass& owner = m_nodeClasses[port.nodeClass];
    frame.ingress = static_cast<uint16_t>(portId - m_state.network.nodes[node].firstPort);
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
        m_state.network.counters[portId].droppedNoRoute++;
        m_state.frames.Free(frameId);
        return;
    }
    Forward(owner, portId, egress, frameId);
}

FABRIC_HOT void
Fabric::ArriveAtHost(PortId portId, const Port& port, FrameId frameId)
{
    const Frame& frame = m_state.frames[frameId];
    if (port.isWatched) [[unlikely]]
    {
        ShowArrival(portId, frame);
    }
    Message& message = m_state.messages[frame.message];
    if (frame.kind == frame_kind::DATA && !(frame.flags & frame_flag::BOUNCED))
    {
        m_dataPackets++;
        if (frame.flags & (frame_flag::ECN_MARKED | frame_flag::TRIMMED))
        {
            message.markedPackets += (frame.flags & frame_flag::ECN_MARKED) != 0;
            message.trimmedPackets += (frame.flags & frame_flag::TRIMMED) != 0;
        }
        if (!m_ofArrivals.empty()) [[unlikely]]
        {
            ShowDataArrival(frame, port.node);
        }
    }
    const uint32_t endpoint =
        (frame.flags & frame_flag::REVERSE) ? message.srcEndpoint : message.dstEndpoint;
    m_state.heldByHosts++;
    m_endpoints[endpoint].transport->Receive(frameId, portId);
}

FABRIC_HOT void
Fabric::Arrive(PortId portId, FrameId frameId, PortId egress)
{
    Port& port = m_ports[portId];
    const Frame& frame = m_state.frames[frameId];
    if (port.lossy && IsLost(portId, frame)) [[unlikely]]
    {
        m_state.frames.Free(frameId);
        return;
    }
    port.receivedFrames++;
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        ReceiveLinkControl(portId, frameId);
    }
    else if (port.isHost)
    {
        ArriveAtHost(portId, port, frameId);
    }
    else
    {
        ArriveAtSwitch(portId, port, frameId, egress);
    }
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_INGRESS_H
