// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_NIC_H
#define FABRIC_NIC_H

#include "egress-queues.h"
#include "observers.h"
#include "plugin-classes.h"
#include "wires.h"

#include "ns3/object-factory.h"
#include "ns3/transport.h"

#include <bit>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief The host adapters: transports and their messages, and what hosts send and receive.
 *
 * The transports of a host are asked in order of priority whenever one of its ports is free.
 */
class Nic final : private HostActions
{
  public:
    /**
     * @param state of the engine
     * @param classes of links and their flow control
     * @param wires take what hosts send
     * @param observers see starts, arrivals and frames
     */
    Nic(EngineState& state, const PluginClasses& classes, Wires& wires, Observers& observers);

    /**
     * Make the transports of hosts, and tell messages which of them they have.
     * @param transports in the order of flows.transport
     * @param isAlone whether this is the only engine of its run
     * @param owned takes the objects
     */
    void Build(const std::vector<ObjectFactory>& transports,
               bool isAlone,
               std::vector<Ptr<Object>>& owned);
    void GiveEnds(uint32_t firstMessage); ///< Tell messages from one on which transports they have
    /// Abort if a transport cannot follow another rate of a message.
    void CheckRateChange(uint32_t message) const;

    // ---- while it runs
    void Select(PortId portId, Port& port); ///< Send what is most urgent, if anything
    void Receive(PortId portId, const Port& port, FrameId frameId);
    void StartMessage(uint32_t message);
    void Readmit(uint32_t message);  ///< To another rate
    void MoveControl(PortId portId); ///< What waits takes another port that leads there, if any
    void KickAll();                  ///< Ports may be back, or lead somewhere again
    void Shorten(uint32_t message, uint64_t packets); ///< By packets that are not sent

    // ---- what it holds
    /// @return the ends of transports, by index; of one host they are contiguous
    Transport& EndAt(uint32_t endpoint) const
    {
        return *m_endpoints[endpoint].transport;
    }

    uint32_t NumEnds() const
    {
        return static_cast<uint32_t>(m_endpoints.size());
    }

    /// @return the traits of the transport of an end
    const Transport::Traits& TraitsOf(uint32_t endpoint) const
    {
        return m_traits[m_transportOfEndpoint[endpoint]];
    }

    const std::vector<Transport::Traits>& Traits() const ///< By transport
    {
        return m_traits;
    }

    /// @return the end of a transport at a host, by node id; null if it has none there
    Transport* TransportAt(int64_t host, uint32_t transport) const;
    Datagram DescribeFrame(const Frame& frame) const;

    /// What has come to the hosts of this engine.
    struct Arrived
    {
        uint64_t dataPackets{0};
        uint64_t messages{0};
    };

    const Arrived& GetArrived() const
    {
        return m_arrived;
    }

  private:
    /// One transport object at one host.
    struct Endpoint
    {
        Transport* transport;
        uint8_t priority; ///< Of its data
        uint32_t turn{0}; ///< At the first of those that are equally urgent: who is asked first
    };


    void AddEnd(uint32_t host, uint32_t transport, const Ptr<Transport>& object);
    uint32_t EndpointOf(uint32_t host, uint32_t transport) const;
    FrameId Pull(PortId portId, const Port& port, uint32_t ready);
    FrameId PullUrgent(PortId portId, const NicState& nic);
    FrameId CountPulled(FrameId frameId);
    void ShowArrival(PortId portId, const Frame& frame);

    uint32_t CreateMessage(uint32_t endpoint,
                           uint32_t dst,
                           uint64_t bytes,
                           uint64_t startPs) override;
    uint32_t OpenConversation(uint32_t endpoint, uint32_t dst) override;
    void Delivered(uint32_t message) override;
    void Acknowledged(uint32_t message) override;
    void Enqueue(PortId port, FrameId frame) override;
    void Kick(uint32_t host) override;

    EngineState& m_state;
    Port* m_ports; ///< Of the network
    const PluginClasses& m_classes;
    Wires& m_wires;
    Observers& m_observers;
    std::vector<Endpoint> m_endpoints;
    std::vector<uint32_t> m_hostOfEndpoint;
    std::vector<uint32_t> m_transportOfEndpoint;
    std::vector<Transport::Traits> m_traits; ///< Of each transport of the scenario
    bool m_isAlone{true};
    Arrived m_arrived;
};

/// Ask the transports of a host in order of priority, round robin among equals, but none that is
/// less urgent than a frame that already waits (`ready`: classes with frames that may go).
FABRIC_HOT FrameId
Nic::Pull(PortId portId, const Port& port, uint32_t ready)
{
    const HostState& host = m_state.network.hosts[port.host];
    const NicState nic{port.paused, static_cast<uint32_t>(std::bit_width(ready))};
    if (host.variesUrgency) [[unlikely]]
    {
        return PullUrgent(portId, nic);
    }
    Endpoint* endpoint = m_endpoints.data() + host.firstEndpoint; // may be its end
    const Endpoint* end = endpoint + host.endpoints;
    while (endpoint != end && endpoint->priority >= nic.leastPriority)
    {
        uint32_t equals = 1;
        while (endpoint + equals != end && endpoint[equals].priority == endpoint->priority)
        {
            equals++;
        }
        for (uint32_t i = 0; i < equals; i++)
        {
            const uint32_t turn = equals == 1 ? 0 : endpoint->turn++ % equals;
            const FrameId frame = endpoint[turn].transport->NextFrame(portId, nic);
            if (frame != NO_FRAME)
            {
                return CountPulled(frame);
            }
        }
        endpoint += equals;
    }
    return NO_FRAME;
}

/// A transport has handed over a frame to send.
FABRIC_HOT FrameId
Nic::CountPulled(FrameId frameId)
{
    const Frame& frame = m_state.frames[frameId];
    m_state.heldByHosts--;
    if (frame.kind == frame_kind::DATA)
    {
        Message& message = m_state.messages[frame.message];
        message.sentPackets++;
        if (frame.flags & frame_flag::RETRANSMITTED) [[unlikely]]
        {
            message.retransmittedPackets++;
        }
    }
    return frameId;
}

FABRIC_HOT void
Nic::Select(PortId portId, Port& port)
{
    const uint32_t ready = port.queued & ~uint32_t{port.paused};
    FrameId frameId = Pull(portId, port, ready);
    if (frameId == NO_FRAME)
    {
        if (ready == 0)
        {
            return;
        }
        frameId = EgressQueues::Pop(m_state, portId, port, std::bit_width(ready) - 1);
    }
    m_wires.Transmit(m_state, portId, port, frameId, 0);
}

FABRIC_HOT void
Nic::Receive(PortId portId, const Port& port, FrameId frameId)
{
    const Frame& frame = m_state.frames[frameId];
    if (port.isWatched) [[unlikely]]
    {
        ShowArrival(portId, frame);
    }
    Message& message = m_state.messages[frame.message];
    if (frame.kind == frame_kind::DATA && !(frame.flags & frame_flag::BOUNCED))
    {
        if (frame.flags & (frame_flag::ECN_MARKED | frame_flag::TRIMMED))
        {
            message.markedPackets += (frame.flags & frame_flag::ECN_MARKED) != 0;
            message.trimmedPackets += (frame.flags & frame_flag::TRIMMED) != 0;
        }
        if (!(frame.flags & frame_flag::TRIMMED))
        {
            m_arrived.dataPackets++;
            m_observers.Call(Observer::ARRIVALS, &Observer::OnDataArrived, frame, port.node);
        }
    }
    const uint32_t endpoint =
        (frame.flags & frame_flag::REVERSE) ? message.srcEndpoint : message.dstEndpoint;
    m_state.heldByHosts++;
    m_endpoints[endpoint].transport->Receive(frameId, portId);
}

/// Abort if a flow names a transport that there is not.
void CheckTransport(int64_t flow, int64_t transport, size_t transports);

/// Abort if a flow has more packets than its transport can count.
void CheckBytes(int64_t flow, uint64_t bytes, const Transport::Traits& traits);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_NIC_H
