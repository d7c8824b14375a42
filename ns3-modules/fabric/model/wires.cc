// SPDX-License-Identifier: GPL-2.0-only

#include "wires.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

Wires::Wires(EngineState& state,
             const PluginClasses& classes,
             const Observers& observers,
             Boundary* boundary)
    : m_state(state),
      m_ports(state.network.ports.Data()),
      m_classes(classes),
      m_observers(observers),
      m_boundary(boundary),
      m_changes(state.network),
      m_losses(state.network)
{
}

void
Wires::FindDelays()
{
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        const Port& peer = m_ports[m_ports[port].peer];
        m_arrivalDelaysPs.push_back(m_ports[port].delayPs + m_state.ProcessingDelayPs(peer));
    }
}

/// A frame begins to leave a port that is watched, or by which it cuts through.
void
Wires::ShowTransmission(PortId portId, FrameId frameId)
{
    const Port& port = m_ports[portId];
    const Frame& frame = m_state.frames[frameId];
    m_observers.Call(Observer::FRAMES, &Observer::OnSent, portId, frame);
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        return;
    }
    const LinkClass& link = m_classes.links[port.linkClass];
    if (link.watchesSenders)
    {
        link.control->OnTransmit(portId, frame);
    }
    if (port.cutsThrough)
    {
        BeginCutThrough(portId, frameId);
    }
}

/// The peer forwards a frame as soon as its first bytes are in: schedule that.
void
Wires::BeginCutThrough(PortId portId, FrameId frameId)
{
    Port& port = m_ports[portId];
    const SwitchModel& peer = m_state.switches[m_ports[port.peer].nodeClass];
    const uint64_t headBytes = std::min<uint64_t>(*peer.cutThroughBytes, port.currentBytes);
    const uint64_t headPs = m_state.network.rates[port.rate].Ps(m_state.framingBytes + headBytes);
    port.currentCutsThrough = true;
    PushArrival(portId, m_state.nowPs + headPs + port.delayPs + peer.processingDelayPs, frameId);
}

/// A frame is whole on a wire that no lane serves, or is of link control, or the link is cut.
void
Wires::PutOnWire(PortId portId, FrameId frameId)
{
    const Port& port = m_ports[portId];
    if (port.down) // cut while the frame was under way
    {
        CountLost(portId);
        m_state.frames.Free(frameId);
        return;
    }
    const bool isLinkControl = port.currentKind == frame_kind::LINK_CONTROL;
    const uint64_t processingDelayPs = m_state.ProcessingDelayPs(m_ports[port.peer]);
    const uint64_t delayPs = port.delayPs;
    if (port.crosses)
    {
        processingDelayPs == 0 ? m_boundary->HandOver(portId, frameId)
                               : m_boundary->HandOverAt(portId, m_state.nowPs + delayPs, frameId);
        return;
    }
    if (isLinkControl && processingDelayPs != 0) // it overtakes what waits for the switch
    {
        m_state.queue.Push(
            m_state.nowPs,
            {m_state.nowPs + delayPs, EventTarget(EventType::ARRIVE, port.peer), frameId});
        return;
    }
    if (port.lane != EventQueue::NO_LANE)
    {
        m_state.queue.PushLane(port.lane,
                               {m_state.nowPs + delayPs + processingDelayPs,
                                EventTarget(EventType::ARRIVE, port.peer),
                                frameId});
        return;
    }
    PushArrival(portId, m_state.nowPs + delayPs + processingDelayPs, frameId);
}

/// Frames of one port arrive in the order in which they left it, so they may wait on its wire.
void
Wires::PushArrival(PortId portId, uint64_t timePs, FrameId frameId)
{
    if (m_ports[portId].crosses)
    {
        m_boundary->HandOverAt(portId, timePs, frameId);
        return;
    }
    const Event event{timePs, EventTarget(EventType::ARRIVE, m_ports[portId].peer), frameId};
    m_state.queue.PushWire(m_state.nowPs, portId, event);
}

/// A frame is lost on its way out; the port that it never reaches counts it.
void
Wires::CountLost(PortId portId)
{
    const Port& port = m_ports[portId];
    if (port.crosses)
    {
        m_boundary->CountLost(port.peer);
    }
    else
    {
        m_state.network.counters[port.peer].lostFrames++;
    }
}

bool
Wires::IsLost(PortId portId, const Frame& frame)
{
    if (m_changes.LostByCut(portId, m_losses.CanLose(portId)))
    {
        return true;
    }
    // See docs/limitations.md: PAUSE frames do not expire, so they are not lost.
    return frame.kind != frame_kind::LINK_CONTROL &&
           m_losses.Loses(portId, frame, m_state.WorldNowPs());
}

void
Wires::DecideCutThrough(uint32_t node)
{
    const NodeState& state = m_state.network.nodes[node];
    if (!state.isSwitch || !m_state.switches[state.nodeClass].cutThroughBytes)
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
        const PortId sender = m_ports[port].peer;
        if (m_state.IsOwn(sender))
        {
            m_ports[sender].cutsThrough = m_state.network.RateBps(sender) >= fastestBps;
        }
    }
}

} // namespace fabric
} // namespace ns3
