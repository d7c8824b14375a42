// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PREFETCH_H
#define FABRIC_PREFETCH_H

#include "nic.h"
#include "switching.h"

#include <array>
#include <bit>
#include <vector>

namespace ns3
{
namespace fabric
{

/// When memory is asked for, before it is used.
enum class Fetching
{
    NONE,   ///< Never: the state fits a core's cache
    WITHIN, ///< Within an instant, which has many events
    ACROSS, ///< In earlier instants, which have few
};

/**
 * @ingroup fabric
 * @brief Asks for memory ahead of time, in networks larger than a core's cache.
 */
class Prefetch
{
  public:
    Prefetch(EngineState& state,
             const PluginClasses& classes,
             const Nic& nic,
             const Switching& switching)
        : m_state(state),
          m_ports(state.network.ports.Data()),
          m_classes(classes),
          m_nic(nic),
          m_switching(switching)
    {
    }

    void Expect(size_t arrivals) ///< In the instant at hand
    {
        if (m_egress.size() < arrivals)
        {
            m_egress.resize(arrivals);
        }
    }

    void Soon(const Event& event) const;
    void ForEvent(const Event& event);
    void ForTransmissionDone(uint64_t key);
    void ForArrival(uint64_t key, size_t i);
    void ForTransport(uint64_t key) const;

    PortId EgressOf(size_t arrival) const ///< ROUTE_NOW if it is not known yet
    {
        return m_egress[arrival];
    }

    /// @return egress of a frame that ForEvent was shown, if it is still known; ROUTE_NOW otherwise
    template <Fetching FETCHING>
    PortId TakeEgressOf(FrameId frame)
    {
        if (FETCHING != Fetching::ACROSS)
        {
            return ROUTE_NOW;
        }
        Early& early = m_early[frame % m_early.size()];
        const PortId egress = early.frame == frame ? early.egress : ROUTE_NOW;
        early.frame = NO_FRAME;
        return egress;
    }

    void ForgetRoutes() ///< They change
    {
        m_early.fill({NO_FRAME, NO_PORT});
    }

  private:
    /// The egress of a frame that comes to a switch soon.
    struct Early
    {
        FrameId frame{NO_FRAME};
        PortId egress{NO_PORT};
    };

    static constexpr uint32_t NO_MESSAGE = 0xffffffff;

    /// The end of a message that a frame reaches.
    struct Reached
    {
        uint32_t message{NO_MESSAGE};
        bool isSource{false};
    };

    void FetchRest(const Port& port, FrameId frame) const;
    void FetchEgress(PortId egress) const;
    void FetchEnd(const Reached& end) const;
    void FetchAccount(PortId ingress) const;
    static void FetchObject(const Transport* transport);

    EngineState& m_state;
    Port* m_ports; ///< Of the network
    const PluginClasses& m_classes;
    const Nic& m_nic;
    const Switching& m_switching;
    std::vector<PortId> m_egress;  ///< Of each frame of the instant that has come to a switch
    std::array<Early, 64> m_early; ///< Of frames that were shown, by the end of their number
    Reached m_atHost;              ///< By the frame for a host that was shown last
};

/// Ask for the memory of an event that is still some instants away.
FABRIC_HOT void
Prefetch::Soon(const Event& event) const
{
    __builtin_prefetch(&m_ports[event.target & EVENT_INDEX_MASK]); // hints, whatever it is
    __builtin_prefetch(&m_state.frames[event.payload]);
}

/// Ask for what flow control knows of an ingress.
FABRIC_HOT void
Prefetch::FetchAccount(PortId ingress) const
{
    const auto& memory = m_classes.links[0].memory; // a hint too
    __builtin_prefetch(static_cast<const char*>(memory.first) + ingress * memory.bytesPerPort, 1);
}

/// Ask for what belongs to a frame that comes to a port soon, but does not lie in it: a host reads
/// its note and all of its hops, a switch may append a hop.
FABRIC_HOT void
Prefetch::FetchRest(const Port& port, FrameId frame) const
{
    if (port.isHost)
    {
        m_state.frames.FetchRest(frame);
    }
    else if (m_state.frames.AnyHops() && m_state.frames[frame].kind == frame_kind::DATA)
    {
        m_state.frames.FetchNextHop(frame);
    }
}

/// Ask for the next frame of a port and the account of the one that leaves, or for the transport.
FABRIC_HOT void
Prefetch::ForTransmissionDone(uint64_t key)
{
    const PortId portId = IndexOf(key);
    Port& port = m_ports[portId];
    if (port.queued != 0)
    {
        const uint32_t queueClass = std::bit_width(port.queued) - 1;
        const PortQueue& queue = EgressQueues::At(m_state, portId, port, queueClass);
        __builtin_prefetch(&m_state.frames[queue.head]);
        if (m_state.frames.AnyHops() && !port.isHost)
        {
            m_state.frames.FetchHops(queue.head);
        }
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
            FetchObject(&m_nic.EndAt(host.firstEndpoint));
        }
    }
    else if (m_classes.links[0].memory.first)
    {
        FetchAccount(m_state.network.nodes[port.node].firstPort + port.currentIngress);
    }
}

/// Find the next hop of a frame at a switch, and ask for what lies there.
FABRIC_HOT void
Prefetch::ForArrival(uint64_t key, size_t i)
{
    const PortId portId = IndexOf(key);
    const Port& port = m_ports[portId];
    const Frame& frame = m_state.frames[static_cast<FrameId>(key)];
    m_egress[i] = ROUTE_NOW;
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        return;
    }
    FetchRest(port, static_cast<FrameId>(key));
    if (port.isHost)
    {
        __builtin_prefetch(&m_state.messages[frame.message]);
        return;
    }
    FetchAccount(portId);
    const NodeClass& owner = m_classes.nodes[port.nodeClass];
    if (owner.routesEarly)
    {
        m_egress[i] = m_switching.Route(owner, port.node, frame);
        FetchEgress(m_egress[i]);
    }
}

/// Ask for the port by which a frame will leave.
FABRIC_HOT void
Prefetch::FetchEgress(PortId egress) const
{
    if (egress != NO_PORT)
    {
        __builtin_prefetch(&m_ports[egress]);
        __builtin_prefetch(&m_ports[egress].queuedBytes);
    }
}

/// Ask for what an event of one of the next instants leads to; what lies there was asked for.
FABRIC_HOT void
Prefetch::ForEvent(const Event& event)
{
    const PortId portId = event.target & EVENT_INDEX_MASK;
    if (event.Type() == EventType::TX_DONE)
    {
        ForTransmissionDone(event.Key());
        return;
    }
    if (event.Type() != EventType::ARRIVE)
    {
        return;
    }
    const Port& port = m_ports[portId];
    const Frame& frame = m_state.frames[event.payload];
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        return;
    }
    FetchRest(port, event.payload);
    if (port.isHost)
    {
        __builtin_prefetch(&m_state.messages[frame.message]);
        if (m_atHost.message != NO_MESSAGE)
        {
            FetchEnd(m_atHost);
        }
        m_atHost = {frame.message, (frame.flags & frame_flag::REVERSE) != 0};
        return;
    }
    FetchAccount(portId);
    const NodeClass& owner = m_classes.nodes[port.nodeClass];
    if (owner.routesAnyTime)
    {
        const PortId egress = m_switching.Route(owner, port.node, frame);
        m_early[event.payload % m_early.size()] = {event.payload, egress};
        FetchEgress(egress);
    }
}

/// Ask for a transport object with the state of its first flow, which lies in it.
FABRIC_HOT void
Prefetch::FetchObject(const Transport* transport)
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
Prefetch::ForTransport(uint64_t key) const
{
    if (!m_ports[IndexOf(key)].isHost)
    {
        return;
    }
    const Frame& frame = m_state.frames[static_cast<FrameId>(key)];
    if (frame.kind != frame_kind::LINK_CONTROL)
    {
        FetchEnd({frame.message, (frame.flags & frame_flag::REVERSE) != 0});
    }
}

FABRIC_HOT void
Prefetch::FetchEnd(const Reached& end) const
{
    const Message& message = m_state.messages[end.message];
    FetchObject(&m_nic.EndAt(end.isSource ? message.srcEndpoint : message.dstEndpoint));
}

/// What the event queue shows events to that come soon.
template <Fetching FETCHING>
struct Ahead
{
    static constexpr bool NEARS = FETCHING == Fetching::ACROSS;

    void Far(const Event& event) const
    {
        if (FETCHING != Fetching::NONE)
        {
            prefetch.Soon(event);
        }
    }

    void Near(const Event& event) const
    {
        prefetch.ForEvent(event);
    }

    Prefetch& prefetch;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PREFETCH_H
