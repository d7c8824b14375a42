// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FETCH_H
#define FABRIC_FETCH_H

// Memory ahead of time, for networks larger than a core's cache. Private to fabric.cc, as
// fabric-ingress.h is.

#include "fabric-ingress.h"

namespace ns3
{
namespace fabric
{

/// Ask for the memory of an event that is still some instants away.
FABRIC_HOT void
Fabric::FetchSoon(const Event& event) const
{
    __builtin_prefetch(&m_ports[event.target & EVENT_INDEX_MASK]); // hints, whatever it is
    __builtin_prefetch(&m_state.frames[event.payload]);
}

/// Ask for what flow control knows of an ingress.
FABRIC_HOT void
Fabric::FetchAccount(PortId ingress) const
{
    const auto& memory = m_linkClasses[0].memory; // a hint too
    __builtin_prefetch(static_cast<const char*>(memory.first) + ingress * memory.bytesPerPort, 1);
}

/// Ask for the next frame of a port and the account of the one that leaves, or for the transport.
FABRIC_HOT void
Fabric::FetchForTransmissionDone(uint64_t key)
{
    const PortId portId = IndexOf(key);
    Port& port = m_ports[portId];
    if (port.queued != 0)
    {
        const uint32_t queueClass = std::bit_width(port.queued) - 1;
        __builtin_prefetch(&m_state.frames[Queue(portId, port, queueClass).head]);
    }
    if (port.crosses) [[unlikely]]
    {
        __builtin_prefetch(&m_state.frames[port.current]);
    }
    if (port.isHost)
    {
        const HostState& host = m_state.network.hosts[port.host];
        if (host.endpoints != 0)
        {
            FetchObject(m_endpoints[host.firstEndpoint].transport);
        }
    }
    else if (m_linkClasses[0].memory.first)
    {
        FetchAccount(m_state.network.nodes[port.node].firstPort + port.currentIngress);
    }
}

/// Find the next hop of a frame at a switch, and ask for what lies there.
FABRIC_HOT void
Fabric::FetchForArrival(size_t i)
{
    const uint64_t key = m_instant.arrived[i];
    const PortId portId = IndexOf(key);
    const Port& port = m_ports[portId];
    const Frame& frame = m_state.frames[static_cast<FrameId>(key)];
    m_egress[i] = ROUTE_NOW;
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        return;
    }
    if (port.isHost)
    {
        __builtin_prefetch(&m_state.messages[frame.message]);
        return;
    }
    FetchAccount(portId);
    const NodeClass& owner = m_nodeClasses[port.nodeClass];
    if (owner.routesEarly)
    {
        m_egress[i] = Route(owner, port.node, frame);
        if (m_egress[i] != NO_PORT)
        {
            const Port& egress = m_ports[m_egress[i]];
            __builtin_prefetch(&egress);
            __builtin_prefetch(&egress.queuedBytes);
        }
    }
}

/// Ask for a transport object with the state of its first flow, which lies in it.
FABRIC_HOT void
Fabric::FetchObject(const Transport* transport)
{
    const auto* object = reinterpret_cast<const char*>(transport);
    constexpr size_t LINES = 17;
    for (size_t line = 0; line < LINES; line++)
    {
        __builtin_prefetch(object + 64 * line);
    }
}

/// Ask for the transport object that a frame will reach.
FABRIC_HOT void
Fabric::FetchTransport(uint64_t key) const
{
    if (!m_ports[IndexOf(key)].isHost)
    {
        return;
    }
    const Frame& frame = m_state.frames[static_cast<FrameId>(key)];
    if (frame.kind != frame_kind::LINK_CONTROL)
    {
        const Message& message = m_state.messages[frame.message];
        const bool reverse = frame.flags & frame_flag::REVERSE;
        FetchObject(m_endpoints[reverse ? message.srcEndpoint : message.dstEndpoint].transport);
    }
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FETCH_H
