// SPDX-License-Identifier: GPL-2.0-only

// What the doors of programs and hosts lead to, and what they and the results ask.

#include "fabric.h"

#include "fabric-egress.h"
#include "steady-skip.h"

#include "ns3/abort.h"
#include "ns3/packet-capture.h"

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
    NodeState& node = m_network.nodes[nodeId];
    node.heldFrames++;
    node.heldBytes += m_frames[frameId].bytes;
    node.usedBytes += m_frames[frameId].bytes;
    node.maxUsedBytes = std::max(node.maxUsedBytes, node.usedBytes);
}

/// A link accounts for a frame that a program has taken, as for one that waits in a queue.
void
Fabric::Account(PortId ingress, FrameId frameId)
{
    const Frame& frame = m_frames[frameId];
    if (LinkFlowControl* control = ControlAt(ingress, frame.priority))
    {
        const bool fits = control->OnArrival(ingress, NO_PORT, frame);
        m_taken.emplace(frameId, fits);
        m_network.nodes[m_ports[ingress].node].accountedBytes += fits ? frame.bytes : 0;
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
    NodeState& node = m_network.nodes[nodeId];
    NS_ABORT_MSG_IF(node.heldFrames == 0,
                    "a switch program gives up a frame at switch "
                        << node.id << ", which holds none for it");
    node.heldFrames--;
    node.heldBytes -= m_frames[frameId].bytes;
    node.usedBytes -= m_frames[frameId].bytes;
}

FrameId
Fabric::CopyAt(uint32_t node, FrameId frameId)
{
    const FrameId copy = m_frames.Allocate();
    m_frames[copy] = m_frames[frameId];
    m_frames[copy].next = NO_FRAME;
    m_frames[copy].noted = false;
    m_frames[copy].ingress = NO_INGRESS;
    if (const FrameNote* note = m_frames.FindNote(frameId))
    {
        FrameNote& own = m_frames.Note(copy);
        own = *note;
        own.firstHop = NO_HOP;
        own.cargo = note->cargo ? note->cargo->Copy().release() : nullptr;
        const auto written = m_frames.Hops(frameId);
        const std::vector<IntHop> hops(written.begin(), written.end()); // AddHop may move them
        for (const IntHop& hop : hops)
        {
            m_frames.AddHop(copy, hop);
        }
    }
    m_network.nodes[node].madeFrames++;
    Hold(node, copy);
    return copy;
}

FrameId
Fabric::AnswerAt(uint32_t node, FrameId frameId, uint8_t priority, uint16_t bytes)
{
    const FrameId answerId = m_frames.Allocate();
    const Frame& frame = m_frames[frameId];
    Frame& answer = m_frames[answerId];
    answer.kind = frame_kind::CONTROL;
    answer.message = frame.message;
    answer.packet = frame.packet;
    answer.entropy = frame.entropy;
    answer.flags = (frame.flags ^ frame_flag::REVERSE) & frame_flag::REVERSE;
    answer.dst = m_view.SourceOf(frame);
    answer.priority = priority;
    answer.bytes = bytes;
    answer.ingress = NO_INGRESS;
    m_network.nodes[node].madeFrames++;
    Hold(node, answerId);
    return answerId;
}

void
Fabric::DiscardAt(uint32_t node, FrameId frameId)
{
    NodeState& state = m_network.nodes[node];
    const Frame& frame = m_frames[frameId];
    LetGo(node, frameId);
    if (const auto taken = m_taken.extract(frameId); taken && taken.mapped())
    {
        state.accountedBytes -= frame.bytes;
        Release(state.firstPort + frame.ingress, frame.priority, frame.bytes);
    }
    state.discardedFrames++;
    m_frames.Free(frameId);
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
        m_messages.Create(src, dst, bytes, std::max(startPs, m_nowPs), m_nowPs);
    Message& message = m_messages[index];
    message.transport = transport;
    message.srcEndpoint = endpoint;
    message.dstEndpoint = EndpointOf(dst, transport);
    NS_ABORT_MSG_IF(message.dstEndpoint == NO_ENDPOINT,
                    "host " << m_network.nodes[m_network.hosts[dst].node].id
                            << " has no end of this transport: no flow of the tables uses it "
                            << "there");
    return index;
}

uint32_t
Fabric::OpenConversation(uint32_t endpoint, uint32_t dst)
{
    const uint32_t transport = m_transportOfEndpoint[endpoint];
    const uint32_t index = m_messages.AddDone(m_hostOfEndpoint[endpoint], dst, m_nowPs);
    Message& message = m_messages[index];
    message.transport = transport;
    message.srcEndpoint = endpoint;
    message.dstEndpoint = EndpointOf(dst, transport);
    NS_ABORT_MSG_IF(message.dstEndpoint == NO_ENDPOINT,
                    "a conversation beside the messages of the tables needs a transport that "
                    "IsOpen, so that its other host has an end of it");
    return index;
}

/// @return port of the source host by which a message leaves if it keeps to one path
PortId
Fabric::PortOfMessage(uint32_t index) const
{
    const Message& message = m_messages[index];
    const HostState& host = m_network.hosts[message.src];
    const auto pick = [&message](size_t n) { return (uint64_t{message.tuple} * n) >> 32; };
    if (!m_reachDiffers)
    {
        return host.firstPort + static_cast<PortId>(pick(host.ports));
    }
    const auto nearest = m_routes.NearestPorts(message.src, message.dst);
    return nearest[pick(nearest.size())];
}

/// @return egress ports on the first of the shortest paths from a port of the source, itself first
std::vector<PortId>
Fabric::NominalPath(uint32_t message, PortId port) const
{
    std::vector<PortId> path{port};
    const Routing& routing = m_routes.Nominal();
    while (!m_ports[m_ports[path.back()].peer].isHost)
    {
        const uint32_t node = m_ports[m_ports[path.back()].peer].node;
        const uint32_t nextHop = routing.NextHopTo(node, m_messages[message].dst);
        NS_ABORT_MSG_IF(nextHop == Routing::NO_GROUP,
                        "flows: flow " << m_messages[message].id << " has no path by every port "
                                       << "of its host");
        path.push_back(routing.Members(routing.GroupOf(nextHop))[0]);
    }
    return path;
}

/// @return unloaded round trip of a data frame and its acknowledgement from a port [ps]
uint64_t
Fabric::BaseRttPs(uint32_t message, PortId port, uint32_t dataBytes, uint32_t ackBytes) const
{
    // Up to a link's end: the whole frame, or what its switch needs to forward it.
    const auto linkPs = [this](PortId egress, uint32_t bytes) {
        const Port& port = m_ports[egress];
        const NodeClass& next = m_nodeClasses[m_ports[port.peer].nodeClass];
        const uint64_t headBytes =
            port.cutsThrough ? std::min<uint64_t>(next.cutThroughBytes, bytes) : bytes;
        return m_network.rates[port.rate].Ps(m_options.framingBytes + headBytes);
    };
    uint64_t rttPs = 0;
    for (const PortId link : NominalPath(message, port))
    {
        const Port& peer = m_ports[m_ports[link].peer];
        rttPs += linkPs(link, dataBytes) + linkPs(m_ports[link].peer, ackBytes) +
                 2 * m_ports[link].delayPs +
                 (peer.isHost ? 0 : 2 * m_nodeClasses[peer.nodeClass].latencyPs);
    }
    return rttPs;
}

// ---- results ----------------------------------------------------------------------------------

Transport*
Fabric::TransportAt(int64_t id, uint32_t transport) const
{
    for (uint32_t host = 0; host < m_network.hosts.size(); host++)
    {
        if (m_network.nodes[m_network.hosts[host].node].id == id)
        {
            const uint32_t endpoint = EndpointOf(host, transport);
            return endpoint == NO_ENDPOINT ? nullptr : m_endpoints[endpoint].transport;
        }
    }
    return nullptr;
}

const PortQueue&
Fabric::QueueOf(PortId port, uint32_t queueClass) const
{
    return Port::Holds(queueClass)
               ? m_ports[port].Queue(queueClass)
               : m_otherQueues[size_t{queueClass} * m_network.NumPorts() + port];
}

std::vector<PortId>
Fabric::PathOf(uint32_t index) const
{
    std::vector<PortId> path;
    const Message& message = m_messages[index];
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
    PortId port = PortOfMessage(index);
    while (port != NO_PORT && path.size() <= m_network.nodes.size())
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
    const Message& message = m_messages[frame.message];
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

void
Fabric::CompleteCaptures()
{
    if (m_capture)
    {
        m_capture->Complete();
        m_capture.reset();
    }
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
Fabric::PausedPs(PortId port, uint64_t atPs) const
{
    return PausedByClock(port, atPs - m_messages.SkippedPs()) +
           (m_skip ? m_skip->OfPort(port)[PAUSED_PS] : 0);
}

/// The same of what was executed, until a time of the engine's clock.
uint64_t
Fabric::PausedByClock(PortId port, uint64_t atPs) const
{
    const PortCounters& counters = m_network.counters[port];
    const bool isPaused = m_ports[port].paused != 0 && !m_ports[port].down;
    return counters.pausedPs + (isPaused ? atPs - counters.pausedSincePs : 0);
}

uint64_t
Fabric::MemoryBytes() const
{
    return m_network.MemoryBytes() + m_messages.MemoryBytes() + m_routes.MemoryBytes() +
           uint64_t{m_frames.Peak()} * sizeof(Frame) + m_queue.MemoryBytes() +
           (m_telemetry ? m_telemetry->MemoryBytes() : 0);
}

} // namespace fabric
} // namespace ns3
