// SPDX-License-Identifier: GPL-2.0-only

// Where transports, flow control, schedulers and programs enter the data path.

#include "fabric.h"

#include "fabric-ingress.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricEntries");

namespace fabric
{

// ---- timers -----------------------------------------------------------------------------------

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
        if (m_askAtPs[port] <= m_state.nowPs)
        {
            m_askAtPs[port] = NEVER_PS;
        }
        if (m_ports[port].current == NO_FRAME)
        {
            SelectNext(port, m_ports[port]);
        }
    }
}

// ---- hosts ------------------------------------------------------------------------------------

void
Fabric::StartMessage(uint32_t message)
{
    if (m_state.messages[message].bytes == 0)
    {
        m_state.messages.PassPoint(message, m_state.nowPs);
        return;
    }
    NS_LOG_LOGIC("message " << m_state.messages[message].id << " starts at " << m_state.nowPs
                            << " ps");
    m_endpoints[m_state.messages[message].srcEndpoint].transport->StartMessage(message);
    for (Observer* observer : m_ofStarts)
    {
        observer->OnStart(message);
        m_watchPs = std::min(m_watchPs, observer->NextLookPs());
    }
}

void
Fabric::Readmit(uint32_t message)
{
    m_endpoints[m_state.messages[message].srcEndpoint].transport->Readmit(message);
    Disturb();
}

void
Fabric::Delivered(uint32_t message)
{
    m_state.messages.Delivered(message, m_state.nowPs);
    m_delivered++;
    Disturb();
    if (!m_endpoints[m_state.messages[message].dstEndpoint].transport->IsAcknowledged())
    {
        Acknowledged(message);
    }
}

void
Fabric::Acknowledged(uint32_t message)
{
    m_state.messages.Acknowledged(message, m_state.nowPs);
}

/// Send a frame of a host, or of link control, or let it wait.
void
Fabric::Enqueue(PortId portId, FrameId frameId)
{
    Port& port = m_ports[portId];
    const Frame& frame = m_state.frames[frameId];
    const uint32_t queueClass =
        frame.kind == frame_kind::LINK_CONTROL ? LINK_CONTROL_CLASS : frame.priority;
    const bool isIdle = port.current == NO_FRAME;
    const bool isScheduled = !port.isHost && m_nodeClasses[port.nodeClass].scheduler;
    if (isIdle && !((port.paused >> queueClass) & 1) && !isScheduled)
    {
        Transmit(portId, port, frameId, frame.bytes); // an idle port has nothing else that may go
        return;
    }
    Append(portId, port, queueClass, frameId);
    if (isScheduled && isIdle) [[unlikely]]
    {
        SelectNext(portId, port);
    }
}

void
Fabric::Kick(uint32_t host)
{
    const HostState& state = m_state.network.hosts[host];
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        if (m_ports[port].current == NO_FRAME && !m_ports[port].down)
        {
            SelectNext(port, m_ports[port]);
        }
    }
}

/**
 * Ask the transports of a host in order of what is most urgent now, in turn among equals (see
 * PullFromHost); who names an urgency may still have nothing.
 */
FrameId
Fabric::PullUrgent(PortId portId, const NicState& nic)
{
    const HostState& host = m_state.network.hosts[m_ports[portId].host];
    Endpoint* first = m_endpoints.data() + host.firstEndpoint;
    std::vector<std::pair<uint8_t, uint32_t>> order;
    for (uint32_t i = 0; i < host.endpoints; i++)
    {
        const uint32_t turn = (first->turn + i) % host.endpoints;
        const auto urgency = first[turn].transport->Urgency(portId);
        if (urgency && *urgency >= nic.leastPriority)
        {
            order.emplace_back(*urgency, turn);
        }
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return a.first > b.first;
    });
    for (const auto& [urgency, turn] : order)
    {
        const FrameId frame = first[turn].transport->NextFrame(portId, nic);
        if (frame != NO_FRAME)
        {
            first->turn = (turn + 1) % host.endpoints;
            return CountPulled(frame);
        }
    }
    return NO_FRAME;
}

// ---- switches and links -----------------------------------------------------------------------

/// Route a frame that a program holds at a switch, or has made there.
void
Fabric::Inject(uint32_t nodeId, FrameId frameId)
{
    NodeState& node = m_state.network.nodes[nodeId];
    const Frame& frame = m_state.frames[frameId];
    const uint8_t priority = frame.priority;
    const uint16_t bytes = frame.bytes;
    const PortId ingress =
        frame.ingress == NO_INGRESS ? NO_PORT : node.firstPort + frame.ingress;
    LetGo(nodeId, frameId);
    const auto taken = m_taken.extract(frameId);
    if (taken && !taken.mapped()) // its link had no room when it came
    {
        m_state.network.counters[ingress].droppedHeadroom++;
        m_state.frames.Free(frameId);
        return;
    }
    const PortId egress = RouteAt(nodeId, frame);
    // What may yet be trimmed asks its link anew, with the size that it then has.
    const bool stays = taken && egress != NO_PORT && IsLossless(egress, priority);
    if (taken && !stays)
    {
        Release(ingress, priority, bytes);
    }
    if (egress == NO_PORT)
    {
        m_state.network.counters[ingress == NO_PORT ? node.firstPort : ingress].droppedNoRoute++;
        m_state.frames.Free(frameId);
    }
    else if (!Forward(m_nodeClasses[node.nodeClass], stays ? NO_PORT : ingress, egress, frameId) &&
             stays)
    {
        Release(ingress, priority, bytes);
    }
    node.accountedBytes -= taken ? bytes : 0;
}

/// @return egress that a program or the forwarding policy has for a frame, NO_PORT if none has
PortId
Fabric::OwnRoute(const NodeClass& owner, uint32_t node, const Frame& frame) const
{
    for (auto* program : owner.onRoute)
    {
        if (const PortId port = program->Route(node, frame); port != NO_PORT)
        {
            return port;
        }
    }
    return owner.forwarding ? owner.forwarding->Route(node, frame) : NO_PORT;
}

PortId
Fabric::RouteAt(uint32_t node, const Frame& frame) const
{
    return Route(m_nodeClasses[m_state.network.nodes[node].nodeClass], node, frame);
}

void
Fabric::SetPaused(PortId portId, uint16_t classes, const LinkMessage& reason)
{
    Port& port = m_ports[portId];
    PortCounters& counters = m_state.network.counters[portId];
    if (port.down)
    {
        return;
    }
    ShowPause(portId, classes, reason);
    if (port.paused == 0 && classes != 0)
    {
        counters.pausedSincePs = m_state.nowPs;
    }
    else if (port.paused != 0 && classes == 0)
    {
        counters.pausedPs += m_state.nowPs - counters.pausedSincePs;
    }
    port.paused = classes;
    if (port.current == NO_FRAME)
    {
        SelectNext(portId, port);
    }
}

void
Fabric::SendLinkControl(PortId port, uint32_t word, uint32_t bytes, PortId cause)
{
    if (m_ports[port].down)
    {
        return; // nobody would hear it
    }
    const FrameId frameId = m_state.frames.Allocate();
    Frame& frame = m_state.frames[frameId];
    frame.kind = frame_kind::LINK_CONTROL;
    frame.bytes = static_cast<uint16_t>(bytes);
    frame.aux = word;
    if (!m_ofPauses.empty())
    {
        FrameNote& note = m_state.frames.Note(frameId);
        note.stampPs = m_state.nowPs;
        note.switchWord = cause;
    }
    m_state.network.counters[port].linkControlSent++;
    Enqueue(port, frameId);
}

// ---- for those who look at a run ---------------------------------------------------------------

uint64_t
Fabric::FramesHeldByHosts() const
{
    return m_state.heldByHosts;
}

} // namespace fabric
} // namespace ns3
