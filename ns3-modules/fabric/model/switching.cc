// SPDX-License-Identifier: GPL-2.0-only

#include "switching.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

Switching::Switching(EngineState& state, const PluginClasses& classes, Wires& wires)
    : m_state(state),
      m_ports(state.network.ports.Data()),
      m_classes(classes),
      m_wires(wires)
{
}

bool
Switching::IsLossless(PortId egressId, uint32_t priority) const
{
    return (m_classes.links[m_ports[egressId].linkClass].losslessMask >> priority) & 1;
}

bool
Switching::MayTrim(PortId egressId, const Frame& frame) const
{
    const NodeClass& owner = m_classes.nodes[m_ports[egressId].nodeClass];
    return !IsLossless(egressId, frame.priority) &&
           QueueDiscipline::MayTrim(frame, owner.queueTraits[frame.priority].trimBytes);
}

PortId
Switching::Drop(PortId egressId, FrameId frameId)
{
    m_state.network.counters[egressId].droppedBuffer++;
    m_state.frames.Free(frameId);
    return NO_PORT;
}

/// Drop a frame because of a verdict that cannot be carried out.
PortId
Switching::Refuse(PortId egressId, FrameId frameId)
{
    m_state.network.counters[egressId].refusedVerdicts++;
    return Drop(egressId, frameId);
}

/// A discipline has looked at a frame of these flags and may have marked it.
void
Switching::CountMark(PortId egressId, uint16_t before, const Frame& frame)
{
    if ((frame.flags & ~before) & frame_flag::ECN_MARKED)
    {
        m_state.network.counters[egressId].marked += frame.kind == frame_kind::DATA;
    }
}

/**
 * Ask the discipline of an egress about a frame, and carry out its verdict.
 * @return egress to go on with, NO_PORT if the frame is gone
 */
PortId
Switching::Admit(PortId egressId, FrameId frameId)
{
    using Verdict = QueueDiscipline::Verdict;
    Frame& frame = m_state.frames[frameId];
    auto* discipline = m_classes.nodes[m_ports[egressId].nodeClass].discipline;
    const uint16_t before = frame.flags;
    const Verdict verdict =
        discipline->Admit(egressId, frame, m_state.QueueOf(egressId, frame.priority).bytes);
    CountMark(egressId, before, frame);
    if (verdict == Verdict::ADMIT || IsLossless(egressId, frame.priority))
    {
        return egressId;
    }
    switch (verdict)
    {
    case Verdict::DROP:
        return Drop(egressId, frameId);
    case Verdict::BOUNCE:
        return Bounce(egressId, frameId);
    default:
        break;
    }
    if (!MayTrim(egressId, frame))
    {
        return Refuse(egressId, frameId);
    }
    return verdict == Verdict::TRIM_TAIL ? TrimTail(egressId, frameId)
                                         : TrimAndAsk(egressId, frameId);
}

/// Cut a frame to its headers, of an egress that has no room for its payload.
void
Switching::CutPayload(PortId egressId, Frame& frame)
{
    const NodeClass& owner = m_classes.nodes[m_ports[egressId].nodeClass];
    const QueueDiscipline::Traits& traits = owner.queueTraits[frame.priority];
    frame.bytes = static_cast<uint16_t>(traits.trimBytes);
    frame.priority = traits.trimPriority;
    frame.flags |= frame_flag::TRIMMED;
    if (m_ports[m_ports[egressId].peer].isHost)
    {
        frame.flags |= frame_flag::TRIMMED_LAST_HOP;
    }
    m_state.network.counters[egressId].trimmed++;
}

PortId
Switching::TrimAndAsk(PortId egressId, FrameId frameId)
{
    using Verdict = QueueDiscipline::Verdict;
    Frame& frame = m_state.frames[frameId];
    CutPayload(egressId, frame);
    auto* discipline = m_classes.nodes[m_ports[egressId].nodeClass].discipline;
    const Verdict verdict =
        discipline->Admit(egressId, frame, m_state.QueueOf(egressId, frame.priority).bytes);
    if (verdict == Verdict::ADMIT || IsLossless(egressId, frame.priority))
    {
        return egressId;
    }
    if (verdict == Verdict::BOUNCE)
    {
        return Bounce(egressId, frameId);
    }
    return verdict == Verdict::DROP ? Drop(egressId, frameId) : Refuse(egressId, frameId);
}

/// The last frame of the queue is trimmed and this one takes its place: they swap what they are.
PortId
Switching::TrimTail(PortId egressId, FrameId frameId)
{
    Port& port = m_ports[egressId];
    const uint32_t queueClass = m_state.frames[frameId].priority;
    PortQueue& queue = m_state.QueueOf(egressId, queueClass);
    if (!((port.queued >> queueClass) & 1) || !MayTrim(egressId, m_state.frames[queue.tail]))
    {
        return TrimAndAsk(egressId, frameId);
    }
    // Both are of this switch, and accounted or not by where they came in.
    NodeState& node = m_state.network.nodes[port.node];
    const Frame& tail = m_state.frames[queue.tail];
    const Frame& arrival = m_state.frames[frameId];
    const PortId from = node.firstPort + tail.ingress;
    const PortId ingress = node.firstPort + arrival.ingress;
    const uint64_t growth = uint64_t{arrival.bytes} - tail.bytes; // may wrap, and back again
    auto* before = ControlAt(from, tail.priority);
    if (before)
    {
        before->OnDeparture(from, tail.priority, tail.bytes);
    }
    auto* control = ControlAt(ingress, arrival.priority);
    if (control && !control->OnArrival(ingress, egressId, arrival))
    {
        m_state.network.counters[ingress].droppedHeadroom++;
        if (before)
        {
            before->OnArrival(from, egressId, tail); // as it was a moment ago
        }
        m_state.frames.Free(frameId);
        return NO_PORT;
    }
    node.usedBytes += growth;
    node.maxUsedBytes = std::max(node.maxUsedBytes, node.usedBytes);
    queue.bytes += growth;
    port.queuedBytes += growth;
    port.maxQueuedBytes = std::max(port.maxQueuedBytes, port.queuedBytes);
    m_state.frames.SwapContents(queue.tail, frameId);
    return TrimAndAsk(egressId, frameId);
}

/// Send the headers of a frame back to its source (NDP section 3.2.4, return to sender).
PortId
Switching::Bounce(PortId egressId, FrameId frameId)
{
    Frame& frame = m_state.frames[frameId];
    const NodeClass& owner = m_classes.nodes[m_ports[egressId].nodeClass];
    if (!QueueDiscipline::MayBounce(frame, owner.queueTraits[frame.priority].trimBytes))
    {
        return Refuse(egressId, frameId);
    }
    if (!(frame.flags & frame_flag::TRIMMED)) // here or at an earlier switch
    {
        CutPayload(egressId, frame);
    }
    m_state.network.counters[egressId].bounced++;
    frame.flags |= frame_flag::BOUNCED;
    frame.flags ^= frame_flag::REVERSE;
    const Message& message = m_state.messages[frame.message];
    frame.dst = (frame.flags & frame_flag::REVERSE) ? message.src : message.dst;
    const uint32_t node = m_ports[egressId].node;
    const PortId back = RouteAt(node, frame);
    if (back == NO_PORT || m_ports[back].down)
    {
        return Drop(egressId, frameId);
    }
    const auto verdict =
        owner.discipline->Admit(back, frame, m_state.QueueOf(back, frame.priority).bytes);
    return verdict == QueueDiscipline::Verdict::ADMIT  ? back
           : verdict == QueueDiscipline::Verdict::DROP ? Drop(back, frameId)
                                                       : Refuse(back, frameId);
}

/// A frame begins to leave a switch: its discipline may mark it, programs may write into it.
void
Switching::Depart(PortId portId, FrameId frameId, uint64_t queuedBytes)
{
    Frame& frame = m_state.frames[frameId];
    const NodeClass& owner = m_classes.nodes[m_ports[portId].nodeClass];
    if (owner.discipline)
    {
        const uint16_t before = frame.flags;
        owner.discipline->Depart(portId, frame, queuedBytes);
        CountMark(portId, before, frame);
    }
    for (auto* program : owner.onDeparture)
    {
        program->OnDeparture(portId, frameId, queuedBytes);
    }
    if (owner.scheduler)
    {
        owner.scheduler->Sent(portId, frame.priority, frame.bytes + m_state.framingBytes);
    }
}

/// @return class to serve now; NONE: a timer will ask again, or a frame that comes
uint32_t
Switching::AskScheduler(PortId portId, uint32_t ready)
{
    const auto choice = m_classes.nodes[m_ports[portId].nodeClass].scheduler->Next(portId, ready);
    if (choice.queueClass == EgressScheduler::NONE && choice.notBeforePs < m_askAtPs[portId])
    {
        m_askAtPs[portId] = choice.notBeforePs;
        m_state.SetTimer(m_firstAskTimer + portId, choice.notBeforePs, 0);
    }
    return choice.queueClass;
}

/// @return egress that a program or the forwarding policy has for a frame, NO_PORT if none has
PortId
Switching::OwnRoute(const NodeClass& owner, uint32_t node, const Frame& frame) const
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
Switching::RouteAt(uint32_t node, const Frame& frame) const
{
    return Route(m_classes.nodes[m_state.network.nodes[node].nodeClass], node, frame);
}

void
Switching::Flush(PortId portId, uint32_t queueClass)
{
    Port& port = m_ports[portId];
    NodeState& node = m_state.network.nodes[port.node];
    PortQueue& queue = m_state.QueueOf(portId, queueClass);
    while (queue.head != NO_FRAME)
    {
        const FrameId frameId = queue.head;
        const Frame& frame = m_state.frames[frameId];
        queue.head = frame.next;
        port.queuedBytes -= frame.bytes;
        if (queueClass == LINK_CONTROL_CLASS)
        {
            m_state.network.counters[portId].linkControlSent--; // it never was
        }
        else
        {
            node.usedBytes -= frame.bytes;
            m_state.network.counters[portId].droppedDown++;
            const PortId ingress = node.firstPort + frame.ingress;
            LinkFlowControl* control =
                frame.ingress == NO_INGRESS ? nullptr : ControlAt(ingress, frame.priority);
            if (control)
            {
                control->OnDeparture(ingress, frame.priority, frame.bytes);
            }
        }
        m_state.frames.Free(frameId);
    }
    queue = PortQueue{};
    port.queued &= ~(1U << queueClass);
}

void
Switching::UseAskTimers(uint32_t first)
{
    m_askAtPs.assign(m_state.network.NumPorts(), NEVER_PS);
    m_firstAskTimer = first;
}

void
Switching::AskAgain(PortId portId)
{
    if (m_askAtPs[portId] <= m_state.nowPs)
    {
        m_askAtPs[portId] = NEVER_PS;
    }
    if (m_ports[portId].current == NO_FRAME)
    {
        Select(portId, m_ports[portId]);
    }
}

std::vector<PortId>
Switching::PathOf(uint32_t index, std::optional<uint32_t> entropy) const
{
    std::vector<PortId> path;
    const Message& message = m_state.messages[index];
    const bool keeps = std::ranges::all_of(m_classes.nodes, [](const NodeClass& owner) {
        return owner.onRoute.empty() && (!owner.forwarding || owner.keepsFlowOnOnePath);
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

} // namespace fabric
} // namespace ns3
