// SPDX-License-Identifier: GPL-2.0-only

// What only few frames go through: verdicts of queues, schedulers, programs, losses, long wires.

#include "fabric.h"

#include "fabric-egress.h"

#include <algorithm>
#include <bit>

namespace ns3
{
namespace fabric
{

// ---- for those who watch ----------------------------------------------------------------------

/// A frame begins to leave a port that is watched, or by which it cuts through.
void
Fabric::ShowTransmission(PortId portId, FrameId frameId)
{
    const Port& port = m_ports[portId];
    const Frame& frame = m_state.frames[frameId];
    for (Observer* observer : m_ofFrames)
    {
        observer->OnSent(portId, frame);
    }
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        return;
    }
    const LinkClass& link = m_linkClasses[port.linkClass];
    if (link.watchesSenders)
    {
        link.control->OnTransmit(portId, frame);
    }
    if (port.cutsThrough)
    {
        BeginCutThrough(portId, frameId);
    }
}

/// A frame has come to a host by a port that is watched.
void
Fabric::ShowArrival(PortId portId, const Frame& frame)
{
    for (Observer* observer : m_ofFrames)
    {
        observer->OnReceived(portId, frame);
    }
    const LinkClass& link = m_linkClasses[m_ports[portId].linkClass];
    if (link.watchesSenders && ((link.countedMask >> frame.priority) & 1) &&
        link.control->OnArrival(portId, NO_PORT, frame))
    {
        link.control->OnDeparture(portId, frame.priority, frame.bytes); // hosts take all at once
    }
}

/// A data packet has come to its destination.
void
Fabric::ShowDataArrival(const Frame& frame, uint32_t node)
{
    for (Observer* observer : m_ofArrivals)
    {
        observer->OnDataArrived(frame, node);
    }
}

/// Other classes of an egress are about to be held back.
void
Fabric::ShowPause(PortId portId, uint16_t classes, const LinkMessage& reason)
{
    for (Observer* observer : m_ofPauses)
    {
        observer->OnPauseChanged(portId,
                                 m_ports[portId].paused,
                                 classes,
                                 {reason.sentPs, reason.cause});
    }
}

// ---- admission --------------------------------------------------------------------------------

bool
Fabric::IsLossless(PortId egressId, uint32_t priority) const
{
    return (m_linkClasses[m_ports[egressId].linkClass].losslessMask >> priority) & 1;
}

bool
Fabric::MayTrim(PortId egressId, const Frame& frame) const
{
    const auto* discipline = m_nodeClasses[m_ports[egressId].nodeClass].discipline;
    return frame.kind == frame_kind::DATA && (frame.flags & frame_flag::TRIMMABLE) &&
           !IsLossless(egressId, frame.priority) &&
           frame.bytes > discipline->TrimBytes(frame.priority);
}

PortId
Fabric::Drop(PortId egressId, FrameId frameId)
{
    m_state.network.counters[egressId].droppedBuffer++;
    m_state.frames.Free(frameId);
    return NO_PORT;
}

/// A discipline has looked at a frame of these flags and may have marked it.
void
Fabric::CountMark(PortId egressId, uint16_t before, const Frame& frame)
{
    if ((frame.flags & ~before) & frame_flag::ECN_MARKED)
    {
        m_state.network.counters[egressId].marked++;
    }
}

/**
 * Ask the discipline of an egress about a frame, and carry out its verdict.
 * @return egress to go on with, NO_PORT if the frame is gone
 */
PortId
Fabric::Admit(PortId egressId, FrameId frameId)
{
    using Verdict = QueueDiscipline::Verdict;
    Frame& frame = m_state.frames[frameId];
    auto* discipline = m_nodeClasses[m_ports[egressId].nodeClass].discipline;
    const uint16_t before = frame.flags;
    Verdict verdict =
        discipline->Admit(egressId, frame, m_state.QueueOf(egressId, frame.priority).bytes);
    CountMark(egressId, before, frame);
    if (verdict == Verdict::ADMIT || IsLossless(egressId, frame.priority))
    {
        return egressId;
    }
    if (verdict == Verdict::DROP || !MayTrim(egressId, frame))
    {
        return Drop(egressId, frameId);
    }
    switch (verdict)
    {
    case Verdict::TRIM_TAIL:
        return TrimTail(egressId, frameId);
    case Verdict::BOUNCE:
        return Bounce(egressId, frameId);
    default:
        return TrimAndAsk(egressId, frameId);
    }
}

/// Cut a frame to its headers, of an egress that has no room for its payload.
void
Fabric::CutPayload(PortId egressId, Frame& frame)
{
    const auto* discipline = m_nodeClasses[m_ports[egressId].nodeClass].discipline;
    const uint8_t priority = frame.priority;
    frame.bytes = static_cast<uint16_t>(discipline->TrimBytes(priority));
    frame.priority = discipline->TrimPriority(priority);
    frame.flags |= frame_flag::TRIMMED;
    if (m_ports[m_ports[egressId].peer].isHost)
    {
        frame.flags |= frame_flag::TRIMMED_LAST_HOP;
    }
    m_state.network.counters[egressId].trimmed++;
}

PortId
Fabric::TrimAndAsk(PortId egressId, FrameId frameId)
{
    using Verdict = QueueDiscipline::Verdict;
    Frame& frame = m_state.frames[frameId];
    CutPayload(egressId, frame);
    auto* discipline = m_nodeClasses[m_ports[egressId].nodeClass].discipline;
    const Verdict verdict =
        discipline->Admit(egressId, frame, m_state.QueueOf(egressId, frame.priority).bytes);
    if (verdict == Verdict::ADMIT || IsLossless(egressId, frame.priority))
    {
        return egressId;
    }
    if (verdict == Verdict::BOUNCE && !(frame.flags & frame_flag::BOUNCED))
    {
        return Bounce(egressId, frameId);
    }
    return Drop(egressId, frameId);
}

/// The last frame of the queue is trimmed and this one takes its place: they swap what they are.
PortId
Fabric::TrimTail(PortId egressId, FrameId frameId)
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
Fabric::Bounce(PortId egressId, FrameId frameId)
{
    Frame& frame = m_state.frames[frameId];
    if (!(frame.flags & frame_flag::TRIMMED))
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
    auto* discipline = m_nodeClasses[m_ports[egressId].nodeClass].discipline;
    const auto verdict =
        discipline->Admit(back, frame, m_state.QueueOf(back, frame.priority).bytes);
    return verdict == QueueDiscipline::Verdict::ADMIT ? back : Drop(back, frameId);
}

// ---- departure --------------------------------------------------------------------------------

/// A frame begins to leave a switch: its discipline may mark it, programs may write into it.
void
Fabric::Depart(PortId portId, FrameId frameId, uint64_t queuedBytes)
{
    Frame& frame = m_state.frames[frameId];
    const NodeClass& owner = m_nodeClasses[m_ports[portId].nodeClass];
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
Fabric::AskScheduler(PortId portId, uint32_t ready)
{
    const auto choice = m_nodeClasses[m_ports[portId].nodeClass].scheduler->Next(portId, ready);
    if (choice.queueClass == EgressScheduler::NONE && choice.notBeforePs < m_askAtPs[portId])
    {
        m_askAtPs[portId] = choice.notBeforePs;
        m_state.SetTimer(m_firstAskTimer + portId, choice.notBeforePs, 0);
    }
    return choice.queueClass;
}

// ---- wires ------------------------------------------------------------------------------------

/// A frame is whole on a wire that no lane serves, or is of link control, or the link is cut.
void
Fabric::PutOnWire(PortId portId, FrameId frameId)
{
    const Port& port = m_ports[portId];
    if (port.down) // cut while the frame was under way
    {
        CountLost(portId);
        m_state.frames.Free(frameId);
        return;
    }
    const bool isLinkControl = port.currentKind == frame_kind::LINK_CONTROL;
    const uint64_t latencyPs = m_state.LatencyPs(m_ports[port.peer]);
    const uint64_t delayPs = port.delayPs;
    if (port.crosses)
    {
        latencyPs == 0 ? HandOver(portId, frameId)
                       : HandOverAt(portId, m_state.nowPs + delayPs, frameId);
        return;
    }
    if (isLinkControl && latencyPs != 0) // it overtakes what waits for the switch
    {
        m_state.queue.Push(m_state.nowPs,
                     {m_state.nowPs + delayPs, EventTarget(EventType::ARRIVE, port.peer), frameId});
        return;
    }
    if (port.lane < EventQueue::ON_WIRE)
    {
        m_state.queue.PushLane(port.lane,
                         {m_state.nowPs + delayPs + latencyPs,
                          EventTarget(EventType::ARRIVE, port.peer),
                          frameId});
        return;
    }
    PushArrival(portId, m_state.nowPs + delayPs + latencyPs, frameId);
}

/// Frames of one port arrive in the order in which they left it, so they may wait on its wire.
void
Fabric::PushArrival(PortId portId, uint64_t timePs, FrameId frameId)
{
    if (m_ports[portId].crosses)
    {
        HandOverAt(portId, timePs, frameId);
        return;
    }
    const Event event{timePs, EventTarget(EventType::ARRIVE, m_ports[portId].peer), frameId};
    if (m_state.queue.HasWires())
    {
        m_state.queue.PushWire(m_state.nowPs, portId, event);
    }
    else
    {
        m_state.queue.Push(m_state.nowPs, event);
    }
}

/// The peer forwards a frame as soon as its first bytes are in: schedule that.
void
Fabric::BeginCutThrough(PortId portId, FrameId frameId)
{
    Port& port = m_ports[portId];
    const NodeClass& peer = m_nodeClasses[m_ports[port.peer].nodeClass];
    const uint64_t headBytes = std::min<uint64_t>(peer.cutThroughBytes, port.currentBytes);
    const uint64_t headPs = m_state.network.rates[port.rate].Ps(m_state.framingBytes + headBytes);
    port.currentCutsThrough = true;
    PushArrival(portId,
                m_state.nowPs + headPs + port.delayPs + peer.latencyPs,
                frameId);
}

/// Decide whether a frame does not come in by this port, and count it by its reason.
bool
Fabric::IsLost(PortId portId, const Frame& frame)
{
    if (m_changes.LostByCut(portId, m_losses.CanLose(portId)))
    {
        return true;
    }
    // See docs/limitations.md: PAUSE frames do not expire, so they are not lost.
    return frame.kind != frame_kind::LINK_CONTROL && m_losses.Loses(portId, frame);
}

void
Fabric::ReceiveLinkControl(PortId portId, FrameId frameId)
{
    const Frame& frame = m_state.frames[frameId];
    m_state.network.counters[portId].linkControlReceived++;
    for (Observer* observer : m_ofFrames)
    {
        observer->OnReceived(portId, frame);
    }
    LinkMessage message{.word = frame.aux};
    if (const FrameNote* note = m_state.frames.FindNote(frameId))
    {
        message.sentPs = note->stampPs;
        message.cause = note->switchWord;
    }
    m_linkClasses[m_ports[portId].linkClass].control->OnLinkControl(portId, message);
    m_state.frames.Free(frameId);
}

} // namespace fabric
} // namespace ns3
