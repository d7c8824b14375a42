// SPDX-License-Identifier: GPL-2.0-only

#include "links.h"

#include "ns3/log.h"

#include <algorithm>
#include <bit>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricLinks");

namespace fabric
{

namespace
{

constexpr uint16_t ALL_CLASSES = (1U << MAX_CLASSES) - 1;

} // namespace

Links::Links(EngineState& state, const PluginClasses& classes, const Parts& parts)
    : m_state(state),
      m_ports(state.network.ports.Data()),
      m_classes(classes),
      m_observers(parts.observers),
      m_wires(parts.wires),
      m_nic(parts.nic),
      m_switching(parts.switching)
{
}

/// A link changes, or routes take notice of that.
void
Links::Execute(uint32_t index, uint32_t row, bool isLast)
{
    m_observers.OnDisturbance();
    if (index == CONTROL_LINK)
    {
        ChangeLink(row);
    }
    else
    {
        m_wires.Changes().Notice(row);
        if (isLast)
        {
            Reroute();
        }
    }
    if (isLast)
    {
        m_nic.KickAll();
    }
}

/**
 * A row of link_events comes into force: a cable changes, both its directions if it is cut.
 *
 * What is on the wire of a cut link is lost, however soon it is back; what waits for it at a switch
 * is dropped; hosts see their own link go down at once and send nothing. Switches go on sending to
 * a link that is cut elsewhere, and drop what they send to their own, until the routes follow.
 */
void
Links::ChangeLink(uint32_t row)
{
    const PortId end = m_wires.Changes().EndOf(row);
    const uint64_t rateBps = m_wires.Changes().RateBps(row);
    NS_LOG_LOGIC("link of port " << end << " gets " << rateBps << " bit/s");
    // What one cut sets free may send at once, so no link that is cut in this instant is still up.
    std::vector<PortId> cut;
    const LinkChanges& changes = m_wires.Changes();
    const bool isFirst = row == 0 || changes.TimePs(row - 1) != changes.TimePs(row);
    for (uint32_t other = row; other < m_wires.Changes().Size() && (other == row || isFirst) &&
                               m_wires.Changes().TimePs(other) == m_wires.Changes().TimePs(row);
         other++)
    {
        const PortId one = m_wires.Changes().EndOf(other);
        if (m_wires.Changes().RateBps(other) == 0 && !m_ports[one].down)
        {
            m_wires.Changes().Flipped(other);
            cut.insert(cut.end(), {one, m_ports[one].peer});
            CutPort(one);
            CutPort(m_ports[one].peer);
        }
    }
    std::ranges::for_each(cut, [this](PortId port) { EmptyPort(port); });
    if (rateBps != 0)
    {
        if (m_ports[end].down)
        {
            m_wires.Changes().Flipped(row);
        }
        m_state.network.ChangeRate(end, rateBps);
        m_state.network.ChangeRate(m_ports[end].peer, m_wires.Changes().BackBps(row));
        RestorePort(end);
        RestorePort(m_ports[end].peer);
    }
    m_wires.DecideCutThrough(m_ports[end].node);
    m_wires.DecideCutThrough(m_ports[m_ports[end].peer].node);
}

/// Others of its classes are about to be held back.
void
Links::ShowPause(PortId portId, uint16_t classes, const PauseReason& why)
{
    const uint16_t before = m_ports[portId].paused;
    m_observers.Call(Observer::PAUSES, &Observer::OnPauseChanged, portId, before, classes, why);
}

void
Links::CutPort(PortId portId)
{
    Port& port = m_ports[portId];
    if (m_state.IsOwn(portId))
    {
        m_state.network.counters[portId].pausedPs =
            PausedByClock(m_state.network, portId, m_state.EngineNowPs());
        ShowPause(portId, 0, {});
        port.paused = ALL_CLASSES;
        if (LinkFlowControl* control = m_classes.links[port.linkClass].control)
        {
            control->OnLinkDown(portId);
        }
    }
    port.down = true;
    m_state.reachChanges++;
    m_wires.Changes().Cut(portId);
}

/// What waits for a link that has been cut is dropped, or takes another port of its host.
void
Links::EmptyPort(PortId portId)
{
    Port& port = m_ports[portId];
    const uint32_t queued = m_state.IsOwn(portId) ? port.queued : 0;
    for (uint32_t waiting = queued; waiting != 0; waiting &= waiting - 1)
    {
        const auto queueClass = static_cast<uint32_t>(std::countr_zero(waiting));
        if (!port.isHost || queueClass == LINK_CONTROL_CLASS)
        {
            m_switching.Flush(portId, queueClass);
        }
    }
    if (port.isHost && m_state.IsOwn(portId))
    {
        m_nic.MoveControl(portId);
    }
}

void
Links::RestorePort(PortId portId)
{
    Port& port = m_ports[portId];
    if (!port.down)
    {
        return;
    }
    port.down = false;
    m_state.reachChanges++;
    port.paused = 0;
    if (!m_state.IsOwn(portId))
    {
        return;
    }
    if (LinkFlowControl* control = m_classes.links[port.linkClass].control)
    {
        control->OnLinkUp(portId);
    }
}

void
Links::Reroute()
{
    m_state.routes.Follow();
    m_state.reachDiffers = true;
    m_state.reachChanges++;
    for (const NodeClass& owner : m_classes.nodes)
    {
        if (owner.forwarding)
        {
            owner.forwarding->OnRoutesChanged();
        }
        for (auto* program : owner.onRoute)
        {
            program->OnRoutesChanged();
        }
    }
}

void
Links::SetPaused(PortId portId, uint16_t classes, const LinkMessage& reason)
{
    Port& port = m_ports[portId];
    PortCounters& counters = m_state.network.counters[portId];
    if (port.down)
    {
        return;
    }
    ShowPause(portId, classes, {EnginePs(reason.sentPs), reason.cause});
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
        Select(portId, port);
    }
}

void
Links::SendLinkControl(PortId port, uint32_t word, uint32_t bytes, PortId cause)
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
    if (m_observers.AnyWishes(Observer::PAUSES))
    {
        FrameNote& note = m_state.frames.Note(frameId);
        note.stampPs = m_state.nowPs;
        note.switchWord = cause;
    }
    m_state.network.counters[port].linkControlSent++;
    Enqueue(port, frameId);
}

void
Links::Receive(PortId portId, FrameId frameId)
{
    const Frame& frame = m_state.frames[frameId];
    m_state.network.counters[portId].linkControlReceived++;
    m_observers.Call(Observer::FRAMES, &Observer::OnReceived, portId, frame);
    LinkMessage message{.word = frame.aux};
    if (const FrameNote* note = m_state.frames.FindNote(frameId))
    {
        message.sentPs = note->stampPs;
        message.cause = note->switchWord;
    }
    m_classes.links[m_ports[portId].linkClass].control->OnLinkControl(portId, message);
    m_state.frames.Free(frameId);
}

/// Send a frame of link control, or let it wait.
void
Links::Enqueue(PortId portId, FrameId frameId)
{
    Port& port = m_ports[portId];
    const bool isIdle = port.current == NO_FRAME;
    const bool isScheduled = !port.isHost && m_classes.nodes[port.nodeClass].scheduler;
    if (isIdle && !isScheduled)
    {
        m_wires.Transmit(m_state, portId, port, frameId, 0);
        return;
    }
    EgressQueues::Append(m_state, portId, port, LINK_CONTROL_CLASS, frameId);
    if (isIdle)
    {
        m_switching.Select(portId, port);
    }
}

void
Links::Select(PortId portId, Port& port)
{
    port.isHost ? m_nic.Select(portId, port) : m_switching.Select(portId, port);
}

} // namespace fabric
} // namespace ns3
