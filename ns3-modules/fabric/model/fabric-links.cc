// SPDX-License-Identifier: GPL-2.0-only

// Links that are cut, come back, or change their rate.

#include "fabric.h"

#include "fabric-egress.h"

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

/// A link changes, or routes take notice of that.
void
Fabric::ExecuteChange(uint32_t index, uint32_t row, bool isLast)
{
    m_events -= m_state.domain != 0; // each domain executes it, and it is one
    Disturb();
    if (index == CONTROL_LINK)
    {
        ChangeLink(row);
    }
    else
    {
        m_changes.Notice(row);
        if (isLast)
        {
            Reroute();
        }
    }
    for (uint32_t host = 0; isLast && host < m_state.network.hosts.size(); host++)
    {
        Kick(host); // a port may be back, or lead somewhere again
    }
}

/**
 * A row of link_events comes into force: both directions of a cable change.
 *
 * What is on the wire of a cut link is lost, however soon it is back; what waits for it at a switch
 * is dropped; hosts see their own link go down at once and send nothing. Switches go on sending to
 * a link that is cut elsewhere, and drop what they send to their own, until the routes follow.
 */
void
Fabric::ChangeLink(uint32_t row)
{
    const PortId end = m_changes.EndOf(row);
    const uint64_t rateBps = m_changes.RateBps(row);
    NS_LOG_LOGIC("link of port " << end << " gets " << rateBps << " bit/s");
    // What one cut sets free may send at once, so no link that is cut in this instant is still up.
    std::vector<PortId> cut;
    const bool isFirst = row == 0 || m_changes.TimePs(row - 1) != m_changes.TimePs(row);
    for (uint32_t other = row; other < m_changes.Size() && (other == row || isFirst) &&
                               m_changes.TimePs(other) == m_changes.TimePs(row);
         other++)
    {
        const PortId one = m_changes.EndOf(other);
        if (m_changes.RateBps(other) == 0 && !m_ports[one].down)
        {
            m_changes.Flipped(other);
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
            m_changes.Flipped(row);
        }
        for (const PortId port : {end, m_ports[end].peer})
        {
            m_ports[port].rate = m_state.network.RateIndex(rateBps);
            RestorePort(port);
        }
    }
    DecideCutThrough(m_ports[end].node);
    DecideCutThrough(m_ports[m_ports[end].peer].node);
}

void
Fabric::CutPort(PortId portId)
{
    Port& port = m_ports[portId];
    if (IsOwn(portId))
    {
        m_state.network.counters[portId].pausedPs =
            PausedByClock(m_state.network, portId, m_state.nowPs);
        ShowPause(portId, 0, {});
        port.paused = ALL_CLASSES;
        if (LinkFlowControl* control = m_linkClasses[port.linkClass].control)
        {
            control->OnLinkDown(portId);
        }
    }
    port.down = true;
    m_changes.Cut(portId);
}

/// What waits for a link that has been cut is dropped, or takes another port of its host.
void
Fabric::EmptyPort(PortId portId)
{
    Port& port = m_ports[portId];
    for (uint32_t waiting = IsOwn(portId) ? port.queued : 0; waiting != 0; waiting &= waiting - 1)
    {
        const auto queueClass = static_cast<uint32_t>(std::countr_zero(waiting));
        if (!port.isHost || queueClass == LINK_CONTROL_CLASS)
        {
            FlushQueue(portId, queueClass);
        }
    }
    if (port.isHost && IsOwn(portId))
    {
        MoveControl(portId);
    }
}

void
Fabric::FlushQueue(PortId portId, uint32_t queueClass)
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
            LinkFlowControl* control = frame.ingress == NO_INGRESS
                                           ? nullptr
                                           : ControlAt(ingress, frame.priority);
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

/// What a host has to say goes out by another port that leads there; else it waits for this one.
void
Fabric::MoveControl(PortId portId)
{
    Port& port = m_ports[portId];
    const HostState& host = m_state.network.hosts[port.host];
    for (uint32_t waiting = port.queued; waiting != 0; waiting &= waiting - 1)
    {
        const auto queueClass = static_cast<uint32_t>(std::countr_zero(waiting));
        PortQueue& queue = m_state.QueueOf(portId, queueClass);
        FrameId next = queue.head;
        queue = PortQueue{};
        port.queued &= ~(1U << queueClass);
        while (next != NO_FRAME)
        {
            const FrameId frameId = next;
            const Frame& frame = m_state.frames[frameId];
            next = frame.next;
            port.queuedBytes -= frame.bytes;
            PortId other = portId;
            for (PortId own = host.firstPort; own < host.firstPort + host.ports; own++)
            {
                if (!m_ports[own].down && m_state.routes.IsNearest(own, frame.dst))
                {
                    other = own;
                    break;
                }
            }
            Enqueue(other, frameId);
        }
    }
}

void
Fabric::RestorePort(PortId portId)
{
    Port& port = m_ports[portId];
    if (!port.down)
    {
        return;
    }
    port.down = false;
    port.paused = 0;
    if (!IsOwn(portId))
    {
        return;
    }
    if (LinkFlowControl* control = m_linkClasses[port.linkClass].control)
    {
        control->OnLinkUp(portId);
    }
}

/// Frames cut through a switch only where no port of it is faster than the one they come in by.
void
Fabric::DecideCutThrough(uint32_t node)
{
    const NodeState& state = m_state.network.nodes[node];
    if (!state.isSwitch || m_nodeClasses[state.nodeClass].cutThroughBytes == 0)
    {
        return;
    }
    uint64_t fastestBps = 0;
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        fastestBps = std::max(fastestBps, m_state.network.RateBps(port));
    }
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        m_ports[m_ports[port].peer].cutsThrough = m_state.network.RateBps(port) == fastestBps;
    }
}

void
Fabric::Reroute()
{
    m_state.routes.Follow();
    m_state.reachDiffers = true;
    for (const NodeClass& owner : m_nodeClasses)
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

} // namespace fabric
} // namespace ns3
