// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr uint16_t ALL_CLASSES = (1U << (NUM_PRIORITIES + 1)) - 1;

} // namespace

/**
 * A row of link_events comes into force: both directions of a cable change.
 *
 * What is on the wire of a cut link is lost, however soon it is back; what waits for it at a switch
 * is dropped; hosts see their own link go down at once and send nothing. Switches go on sending to
 * a link that is cut elsewhere, and drop what they send to their own, until the routes follow.
 */
void
Fabric::ChangeLink(uint32_t event)
{
    const PortId end = m_linkEventPort[event];
    const auto rateBps = static_cast<uint64_t>(m_tables.linkEvents[event].rateBps);
    if (m_ports[end].down != (rateBps == 0))
    {
        m_lastFlip[end] = event;
    }
    for (const PortId port : {end, m_ports[end].peer})
    {
        if (rateBps == 0)
        {
            CutPort(port);
        }
        else
        {
            m_ports[port].rate = RateIndex(rateBps);
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
    if (port.down)
    {
        return;
    }
    m_counters[portId].pausedPs = PausedPs(portId);
    if (m_telemetry && m_telemetry->LogsPauses())
    {
        m_telemetry->PauseChanged(portId, port.paused, 0, {});
    }
    port.down = true;
    port.paused = ALL_CLASSES;
    if (m_control)
    {
        m_control->OnLinkDown(portId);
    }
    FlushQueues(portId);
    m_sentBeforeCut[port.peer] = port.sentFrames;
    m_ports[port.peer].lossy = true;
}

/**
 * Whether the frame that comes now was under way when its link was cut; the link may be back.
 *
 * Identity: sent before the cut = received + lost + corrupt, once the last of these has come.
 * Frames keep their order, but for link control, which switches do not delay; of that, PFC sends
 * nothing into a link that is back before a new frame has come.
 */
bool
Fabric::LostByCut(PortId portId)
{
    const auto sent = m_sentBeforeCut.find(portId);
    if (sent == m_sentBeforeCut.end())
    {
        return false;
    }
    Port& port = m_ports[portId];
    const PortCounters& counters = m_counters[portId];
    if (port.receivedFrames + counters.lostFrames + counters.corruptFrames < sent->second)
    {
        return true;
    }
    m_sentBeforeCut.erase(sent);
    port.lossy = m_lossRatio.contains(portId) || m_bitErrorRatio.contains(portId) ||
                 m_drops.contains(portId);
    return false;
}

void
Fabric::FlushQueues(PortId portId)
{
    Port& port = m_ports[portId];
    for (uint32_t queueClass = 0; queueClass <= NUM_PRIORITIES; queueClass++)
    {
        if (!((port.queued >> queueClass) & 1) ||
            (port.isHost && queueClass != LINK_CONTROL_CLASS))
        {
            continue; // a host keeps its acknowledgements until the link is back
        }
        PortQueue& queue = port.Queue(queueClass);
        while (queue.head != NO_FRAME)
        {
            const FrameId frameId = queue.head;
            const Frame& frame = m_frames[frameId];
            queue.head = frame.next;
            port.queuedBytes -= frame.bytes;
            if (queueClass == LINK_CONTROL_CLASS)
            {
                m_counters[portId].linkControlSent--; // it never was
            }
            else
            {
                NodeState& node = m_nodes[port.node];
                node.usedBytes -= frame.bytes;
                m_counters[portId].droppedDown++;
                if (m_control)
                {
                    m_control->OnDeparture(node.firstPort + frame.ingress,
                                           frame.priority,
                                           frame.bytes);
                }
            }
            m_frames.Free(frameId);
        }
        queue = PortQueue{};
        port.queued &= ~(1U << queueClass);
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
}

/// Frames cut through a switch only where no port of it is faster than the one they come in by.
void
Fabric::DecideCutThrough(uint32_t node)
{
    const NodeState& state = m_nodes[node];
    if (m_options.cutThroughBytes == 0 || !state.isSwitch)
    {
        return;
    }
    uint64_t fastestBps = 0;
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        fastestBps = std::max(fastestBps, RateBps(port));
    }
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        m_ports[m_ports[port].peer].cutsThrough = RateBps(port) == fastestBps;
    }
}

/// Routes are to know of a row of link_events, unless its link has flipped again since.
void
Fabric::NoticeLink(uint32_t event)
{
    const PortId end = m_linkEventPort[event];
    if (const auto flip = m_lastFlip.find(end); flip != m_lastFlip.end() && flip->second == event)
    {
        m_ports[end].avoided = m_ports[end].down;
        m_ports[m_ports[end].peer].avoided = m_ports[end].down;
    }
}

void
Fabric::Reroute()
{
    m_newRouting = std::make_unique<Routing>(m_nodes, m_ports);
    m_routing = m_newRouting.get();
    if (m_forwarding)
    {
        m_forwarding->Attach(*this);
    }
}

/// @return whether a port of a host leads nowhere, but one of the host's other ports does not
bool
Fabric::OthersLead(PortId port, uint32_t dst) const
{
    const auto leads = [this, dst](PortId own) {
        return !m_ports[own].down &&
               m_routing->GroupTo(m_ports[m_ports[own].peer].node, dst) != Routing::NO_GROUP;
    };
    if (leads(port))
    {
        return false;
    }
    const auto [first, n] = PortsOfHost(m_ports[port].host);
    for (PortId other = first; other < first + n; other++)
    {
        if (leads(other))
        {
            return true;
        }
    }
    return false;
}

} // namespace fabric
} // namespace ns3
