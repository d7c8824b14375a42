// SPDX-License-Identifier: GPL-2.0-only

#include "held-frames.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

HeldFrames::HeldFrames(EngineState& state, const PluginClasses& classes, Switching& switching)
    : m_state(state),
      m_ports(state.network.ports.Data()),
      m_classes(classes),
      m_switching(switching)
{
}

/// Show a frame that has come in to the programs of a switch. @return whether one of them has it
bool
HeldFrames::Takes(PortId portId, FrameId frameId)
{
    const Port& port = m_ports[portId];
    for (auto* program : m_classes.nodes[port.nodeClass].onArrival)
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
        Account(portId, frameId, program->GetTraits().holdsApart);
        return true;
    }
    return false;
}

/// A program holds a frame in the buffer of its switch.
void
HeldFrames::Hold(uint32_t nodeId, FrameId frameId)
{
    NodeState& node = m_state.network.nodes[nodeId];
    node.heldFrames++;
    node.heldBytes += m_state.frames[frameId].bytes;
    node.usedBytes += m_state.frames[frameId].bytes;
    node.maxUsedBytes = std::max(node.maxUsedBytes, node.usedBytes);
}

/**
 * A link accounts for a frame that a program has taken, as for one that waits in a queue.
 * @param ingress by which it came
 * @param frameId the frame
 * @param isApart it leaves the account at once, if it was let in
 */
void
HeldFrames::Account(PortId ingress, FrameId frameId, bool isApart)
{
    Frame& frame = m_state.frames[frameId];
    if (LinkFlowControl* control = m_switching.ControlAt(ingress, frame.priority))
    {
        const bool fits = control->OnArrival(ingress, NO_PORT, frame);
        if (fits && isApart)
        {
            control->OnDeparture(ingress, frame.priority, frame.bytes);
            frame.ingress = NO_INGRESS;
            m_state.network.nodes[m_ports[ingress].node].apartFrames++;
            return;
        }
        m_taken.emplace(frameId, fits);
        m_state.network.nodes[m_ports[ingress].node].accountedBytes += fits ? frame.bytes : 0;
    }
}

/// A frame that a link accounts for is gone.
void
HeldFrames::Release(PortId ingress, uint8_t priority, uint32_t bytes)
{
    m_switching.ControlAt(ingress, priority)->OnDeparture(ingress, priority, bytes);
}

/// A program gives up a frame that it holds.
void
HeldFrames::LetGo(uint32_t nodeId, FrameId frameId)
{
    NodeState& node = m_state.network.nodes[nodeId];
    NS_ABORT_MSG_IF(node.heldFrames == 0,
                    "a switch program gives up a frame at switch " << node.id
                                                                   << ", which holds none for it");
    node.heldFrames--;
    node.heldBytes -= m_state.frames[frameId].bytes;
    node.usedBytes -= m_state.frames[frameId].bytes;
}

FrameId
HeldFrames::CopyAt(uint32_t node, FrameId frameId)
{
    const FrameId copy = m_state.frames.Allocate();
    m_state.frames[copy] = m_state.frames[frameId];
    m_state.frames[copy].next = NO_FRAME;
    m_state.frames[copy].noted = false;
    m_state.frames[copy].numHops = 0;
    m_state.frames[copy].ingress = NO_INGRESS;
    if (const FrameNote* note = m_state.frames.FindNote(frameId))
    {
        FrameNote& own = m_state.frames.Note(copy);
        own = *note;
        own.cargo = note->cargo ? note->cargo->Copy().release() : nullptr;
    }
    for (const IntHop& hop : m_state.frames.Hops(frameId))
    {
        m_state.frames.AddHop(copy, hop);
    }
    m_state.network.nodes[node].madeFrames++;
    Hold(node, copy);
    return copy;
}

FrameId
HeldFrames::AnswerAt(uint32_t node, FrameId frameId, uint8_t priority, uint16_t bytes)
{
    const FrameId answerId = m_state.frames.Allocate();
    const Frame& frame = m_state.frames[frameId];
    Frame& answer = m_state.frames[answerId];
    answer.kind = frame_kind::CONTROL;
    answer.message = frame.message;
    answer.packet = frame.packet;
    answer.entropy = frame.entropy;
    answer.flags = (frame.flags ^ frame_flag::REVERSE) & frame_flag::REVERSE;
    answer.dst = m_classes.context.SourceOf(frame);
    answer.priority = priority;
    answer.bytes = bytes;
    answer.ingress = NO_INGRESS;
    m_state.network.nodes[node].madeFrames++;
    Hold(node, answerId);
    return answerId;
}

void
HeldFrames::DiscardAt(uint32_t node, FrameId frameId)
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

/// Route a frame that a program holds at a switch, or has made there.
void
HeldFrames::Inject(uint32_t nodeId, FrameId frameId)
{
    NodeState& node = m_state.network.nodes[nodeId];
    const Frame& frame = m_state.frames[frameId];
    const uint8_t priority = frame.priority;
    const uint16_t bytes = frame.bytes;
    const PortId ingress = frame.ingress == NO_INGRESS ? NO_PORT : node.firstPort + frame.ingress;
    LetGo(nodeId, frameId);
    const auto taken = m_taken.extract(frameId);
    if (taken && !taken.mapped()) // its link had no room when it came
    {
        m_state.network.counters[ingress].droppedHeadroom++;
        m_state.frames.Free(frameId);
        return;
    }
    const PortId egress = m_switching.RouteAt(nodeId, frame);
    // What may yet be trimmed asks its link anew, with the size that it then has.
    const bool stays = taken && egress != NO_PORT && m_switching.IsLossless(egress, priority);
    if (taken && !stays)
    {
        Release(ingress, priority, bytes);
    }
    if (egress == NO_PORT)
    {
        m_state.network.counters[ingress == NO_PORT ? node.firstPort : ingress].droppedNoRoute++;
        m_state.frames.Free(frameId);
    }
    else
    {
        const NodeClass& owner = m_classes.nodes[node.nodeClass];
        const PortId accounts = stays ? NO_PORT : ingress;
        if (!m_switching.Forward(owner, accounts, egress, frameId) && stays)
        {
            Release(ingress, priority, bytes);
        }
    }
    node.accountedBytes -= taken ? bytes : 0;
}

} // namespace fabric
} // namespace ns3
