// SPDX-License-Identifier: GPL-2.0-only

// What the doors of programs and hosts lead to, and what they and the results ask.

#include "fabric.h"

#include "fabric-egress.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

// ---- programs ---------------------------------------------------------------------------------

/// Show a frame that has come in to the programs of a switch. @return whether one of them has it
bool
Fabric::TakenByProgram(PortId portId, FrameId frameId)
{
    const Port& port = m_ports[portId];
    for (auto* program : m_nodeClasses[port.nodeClass].onArrival)
    {
        const auto action = program->OnArrival(port.node, portId, frameId);
        if (action == SwitchProgram::Action::FORWARD)
        {
            continue;
        }
        Hold(port.node, frameId);
        if (action == SwitchProgram::Action::DROP)
        {
            DiscardAt(port.node, frameId);
            return true;
        }
        Account(portId, frameId);
        return true;
    }
    return false;
}

/// A program holds a frame in the buffer of its switch.
void
Fabric::Hold(uint32_t nodeId, FrameId frameId)
{
    NodeState& node = m_state.network.nodes[nodeId];
    node.heldFrames++;
    node.heldBytes += m_state.frames[frameId].bytes;
    node.usedBytes += m_state.frames[frameId].bytes;
    node.maxUsedBytes = std::max(node.maxUsedBytes, node.usedBytes);
}

/// A link accounts for a frame that a program has taken, as for one that waits in a queue.
void
Fabric::Account(PortId ingress, FrameId frameId)
{
    const Frame& frame = m_state.frames[frameId];
    if (LinkFlowControl* control = ControlAt(ingress, frame.priority))
    {
        const bool fits = control->OnArrival(ingress, NO_PORT, frame);
        m_taken.emplace(frameId, fits);
        m_state.network.nodes[m_ports[ingress].node].accountedBytes += fits ? frame.bytes : 0;
    }
}

/// A frame that a link accounts for is gone.
void
Fabric::Release(PortId ingress, uint8_t priority, uint32_t bytes)
{
    ControlAt(ingress, priority)->OnDeparture(ingress, priority, bytes);
}

/// A program gives up a frame that it holds.
void
Fabric::LetGo(uint32_t nodeId, FrameId frameId)
{
    NodeState& node = m_state.network.nodes[nodeId];
    NS_ABORT_MSG_IF(node.heldFrames == 0,
                    "a switch program gives up a frame at switch "
                        << node.id << ", which holds none for it");
    node.heldFrames--;
    node.heldBytes -= m_state.frames[frameId].bytes;
    node.usedBytes -= m_state.frames[frameId].bytes;
}

FrameId
Fabric::CopyAt(uint32_t node, FrameId frameId)
{
    const FrameId copy = m_state.frames.Allocate();
    m_state.frames[copy] = m_state.frames[frameId];
    m_state.frames[copy].next = NO_FRAME;
    m_state.frames[copy].noted = false;
    m_state.frames[copy].ingress = NO_INGRESS;
    if (const FrameNote* note = m_state.frames.FindNote(frameId))
    {
        FrameNote& own = m_state.frames.Note(copy);
        own = *note;
        own.firstHop = NO_HOP;
        own.cargo = note->cargo ? note->cargo->Copy().release() : nullptr;
        const auto written = m_state.frames.Hops(frameId);
        const std::vector<IntHop> hops(written.begin(), written.end()); // AddHop may move them
        for (const IntHop& hop : hops)
        {
            m_state.frames.AddHop(copy, hop);
        }
    }
    m_state.network.nodes[node].madeFrames++;
    Hold(node, copy);
    return copy;
}

FrameId
Fabric::AnswerAt(uint32_t node, FrameId frameId, uint8_t priority, uint16_t bytes)
{
    const FrameId answerId = m_state.frames.Allocate();
    const Frame& frame = m_state.frames[frameId];
    Frame& answer = m_state.frames[answerId];
    answer.kind = frame_kind::CONTROL;
    answer.message = frame.message;
    answer.packet = frame.packet;
    answer.entropy = frame.entropy;
    answer.flags = (frame.flags ^ frame_flag::REVERSE) & frame_flag::REVERSE;
    answer.dst = m_view.SourceOf(frame);
    answer.priority = priority;
    answer.bytes = bytes;
    answer.ingress = NO_INGRESS;
    m_state.network.nodes[node].madeFrames++;
    Hold(node, answerId);
    return answerId;
}

void
Fabric::DiscardAt(uint32_t node, FrameId frameId)
{
    NodeState& state = m_state.network.nodes[node];
    const Frame& frame = m_state.frames[frameId];
    LetGo(node, frameId);
    if (const auto taken = m_taken.extract(frameId); taken && taken.mapped())
    {
        state.accountedBytes -= frame.bytes;
        Release(state.firstPort + frame.ingress, frame.priority, frame.bytes);
    }
    state.discardedFrames++;
    m_state.frames.Free(frameId);
}

// ---- messages ---------------------------------------------------------------------------------

uint32_t
Fabric::CreateMessage(uint32_t endpoint, uint32_t dst, uint64_t bytes, uint64_t startPs)
{
    NS_ABORT_MSG_IF(m_mail.size() > 1,
                    "messages are made at run time, and others would have to learn of them: run "
                    "it in one domain");
    const uint32_t src = m_hostOfEndpoint[endpoint];
    NS_ABORT_MSG_IF(bytes == 0 || src == dst,
                    "a message made at run time needs at least a byte and another host");
    const uint32_t transport = m_transportOfEndpoint[endpoint];
    const uint32_t index =
        m_state.messages.Create(src, dst, bytes, std::max(startPs, m_state.nowPs), m_state.nowPs);
    Message& message = m_state.messages[index];
    message.transport = transport;
    message.srcEndpoint = endpoint;
    message.dstEndpoint = EndpointOf(dst, transport);
    NS_ABORT_MSG_IF(message.dstEndpoint == NO_ENDPOINT,
                    "host " << m_state.network.nodes[m_state.network.hosts[dst].node].id
                            << " has no end of this transport: no flow of the tables uses it "
                            << "there");
    return index;
}

uint32_t
Fabric::OpenConversation(uint32_t endpoint, uint32_t dst)
{
    const uint32_t transport = m_transportOfEndpoint[endpoint];
    const uint32_t index = m_state.messages.AddDone(m_hostOfEndpoint[endpoint], dst, m_state.nowPs);
    Message& message = m_state.messages[index];
    message.transport = transport;
    message.srcEndpoint = endpoint;
    message.dstEndpoint = EndpointOf(dst, transport);
    NS_ABORT_MSG_IF(message.dstEndpoint == NO_ENDPOINT,
                    "a conversation beside the messages of the tables needs a transport that "
                    "IsOpen, so that its other host has an end of it");
    return index;
}

// ---- results ----------------------------------------------------------------------------------

Transport*
Fabric::TransportAt(int64_t id, uint32_t transport) const
{
    for (uint32_t host = 0; host < m_state.network.hosts.size(); host++)
    {
        if (m_state.network.nodes[m_state.network.hosts[host].node].id == id)
        {
            const uint32_t endpoint = EndpointOf(host, transport);
            return endpoint == NO_ENDPOINT ? nullptr : m_endpoints[endpoint].transport;
        }
    }
    return nullptr;
}

std::vector<PortId>
Fabric::PathOf(uint32_t index) const
{
    std::vector<PortId> path;
    const Message& message = m_state.messages[index];
    if (message.bytes == 0)
    {
        return path;
    }
    const auto entropy =
        m_endpoints[message.srcEndpoint].transport->SinglePathEntropy(index);
    const bool keeps = std::all_of(m_nodeClasses.begin(), m_nodeClasses.end(), [](auto& owner) {
        return owner.onRoute.empty() &&
               (!owner.forwarding || owner.forwarding->KeepsFlowOnOnePath());
    });
    if (!entropy || !keeps)
    {
        return path;
    }
    Frame frame{};
    frame.message = index;
    frame.dst = message.dst;
    frame.entropy = *entropy;
    PortId port = m_state.PortOfMessage(index);
    while (port != NO_PORT && path.size() <= m_state.network.nodes.size())
    {
        path.push_back(port);
        const Port& peer = m_ports[m_ports[port].peer];
        port = peer.isHost ? NO_PORT : RouteAt(peer.node, frame);
    }
    return path;
}

Datagram
Fabric::DescribeFrame(const Frame& frame) const
{
    const Message& message = m_state.messages[frame.message];
    const bool reverse = frame.flags & frame_flag::REVERSE;
    const uint32_t sender = reverse ? message.dstEndpoint : message.srcEndpoint;
    const uint32_t receiver = reverse ? message.srcEndpoint : message.dstEndpoint;
    // The sender may be in another domain; what a frame holds is the same for both, and, if a
    // third one sends it in their name, for all.
    uint32_t end = sender == NO_ENDPOINT ? receiver : sender;
    if (end == NO_ENDPOINT)
    {
        const auto its = std::ranges::find(m_transportOfEndpoint, message.transport);
        end = static_cast<uint32_t>(its - m_transportOfEndpoint.begin());
    }
    return m_endpoints[end].transport->Describe(frame);
}

WireBytes
Fabric::MacControlOf(PortId from, const Frame& frame) const
{
    return ControlOf(from)->MacControl(frame.aux);
}

uint64_t
Fabric::RuleChanges() const
{
    uint64_t changes = 0;
    for (const SwitchProgram* program : m_programs)
    {
        changes += program->RuleChanges();
    }
    return changes;
}

uint64_t
Fabric::MemoryBytes() const
{
    uint64_t bytes = m_state.network.MemoryBytes() + m_state.messages.MemoryBytes() +
                     m_state.routes.MemoryBytes() +
                     uint64_t{m_state.frames.Peak()} * sizeof(Frame) + m_state.queue.MemoryBytes();
    for (const Observer* observer : m_observers)
    {
        bytes += observer->MemoryBytes();
    }
    return bytes;
}

} // namespace fabric
} // namespace ns3
