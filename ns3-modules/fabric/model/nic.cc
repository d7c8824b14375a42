// SPDX-License-Identifier: GPL-2.0-only

#include "nic.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricNic");

namespace fabric
{

Nic::Nic(EngineState& state, const PluginClasses& classes, Wires& wires, Observers& observers)
    : m_state(state),
      m_ports(state.network.ports.Data()),
      m_classes(classes),
      m_wires(wires),
      m_observers(observers)
{
}

uint32_t
Nic::CreateMessage(uint32_t endpoint, uint32_t dst, uint64_t bytes, uint64_t startPs)
{
    NS_ABORT_MSG_IF(!m_isAlone,
                    "messages are made at run time, and others would have to learn of them: the "
                    "Traits of its transport say isOpen, and it is run in one domain");
    const uint32_t src = m_hostOfEndpoint[endpoint];
    NS_ABORT_MSG_IF(bytes == 0 || src == dst,
                    "a message made at run time needs at least a byte and another host");
    const uint32_t transport = m_transportOfEndpoint[endpoint];
    const uint32_t index =
        m_state.messages.Create(src,
                                dst,
                                bytes,
                                std::max(EnginePs(startPs), m_state.EngineNowPs()),
                                m_state.EngineNowPs());
    Message& message = m_state.messages[index];
    message.transport = static_cast<uint16_t>(transport);
    message.srcEndpoint = endpoint;
    message.dstEndpoint = EndpointOf(dst, transport);
    NS_ABORT_MSG_IF(message.dstEndpoint == NO_ENDPOINT,
                    "host " << m_state.network.nodes[m_state.network.hosts[dst].node].id
                            << " has no end of this transport: no flow of the tables uses it "
                            << "there");
    return index;
}

uint32_t
Nic::OpenConversation(uint32_t endpoint, uint32_t dst)
{
    const uint32_t transport = m_transportOfEndpoint[endpoint];
    const uint32_t index =
        m_state.messages.AddDone(m_hostOfEndpoint[endpoint], dst, m_state.EngineNowPs());
    Message& message = m_state.messages[index];
    message.transport = static_cast<uint16_t>(transport);
    message.srcEndpoint = endpoint;
    message.dstEndpoint = EndpointOf(dst, transport);
    NS_ABORT_MSG_IF(message.dstEndpoint == NO_ENDPOINT,
                    "a conversation beside the messages of the tables needs a transport that "
                    "IsOpen, so that its other host has an end of it");
    return index;
}

Transport*
Nic::TransportAt(int64_t id, uint32_t transport) const
{
    for (uint32_t host = 0; host < m_state.network.hosts.size(); host++)
    {
        if (m_state.network.nodes[m_state.network.hosts[host].node].id == id)
        {
            const uint32_t endpoint = EndpointOf(host, transport);
            return endpoint == NO_ENDPOINT ? nullptr : m_endpoints[endpoint].transport;
        }
    }
    return nullptr;
}

Datagram
Nic::DescribeFrame(const Frame& frame) const
{
    const Message& message = m_state.messages[frame.message];
    const bool reverse = frame.flags & frame_flag::REVERSE;
    const uint32_t sender = reverse ? message.dstEndpoint : message.srcEndpoint;
    const uint32_t receiver = reverse ? message.srcEndpoint : message.dstEndpoint;
    // The sender may be in another engine; what a frame holds is the same for both, and, if a
    // third one sends it in their name, for all.
    uint32_t end = sender == NO_ENDPOINT ? receiver : sender;
    if (end == NO_ENDPOINT)
    {
        const auto its = std::ranges::find(m_transportOfEndpoint, message.transport);
        end = static_cast<uint32_t>(its - m_transportOfEndpoint.begin());
    }
    return m_endpoints[end].transport->Describe(frame);
}

void
Nic::StartMessage(uint32_t message)
{
    if (m_state.messages[message].bytes == 0)
    {
        m_state.messages.PassPoint(message, m_state.EngineNowPs());
        return;
    }
    if (!m_state.messages.IsReady(message, m_state.EngineNowPs()))
    {
        return;
    }
    NS_LOG_LOGIC("message " << m_state.messages[message].id << " starts at " << m_state.nowPs
                            << " ps");
    m_endpoints[m_state.messages[message].srcEndpoint].transport->StartMessage(message);
    m_observers.OnStart(message);
}

void
Nic::Readmit(uint32_t message)
{
    m_endpoints[m_state.messages[message].srcEndpoint].transport->Readmit(message);
    m_observers.OnDisturbance();
}

void
Nic::Delivered(uint32_t message)
{
    m_state.messages.Delivered(message, m_state.EngineNowPs());
    m_arrived.messages++;
    m_observers.OnDisturbance();
    if (!m_traits[m_state.messages[message].transport].isAcknowledged)
    {
        Acknowledged(message);
    }
}

void
Nic::Acknowledged(uint32_t message)
{
    m_state.messages.Acknowledged(message, m_state.EngineNowPs());
}

/// Send a control frame of a host, or let it wait.
void
Nic::Enqueue(PortId portId, FrameId frameId)
{
    Port& port = m_ports[portId];
    const Frame& frame = m_state.frames[frameId];
    if (port.current == NO_FRAME && !((port.paused >> frame.priority) & 1))
    {
        // An idle port has nothing else that may go.
        m_wires.Transmit(m_state, portId, port, frameId, 0);
        return;
    }
    EgressQueues::Append(m_state, portId, port, frame.priority, frameId);
}

/// Ask idle ports in turn, from the one after the last that began to send so: a host with less to
/// send than its ports carry uses them evenly.
void
Nic::Kick(uint32_t host)
{
    HostState& state = m_state.network.hosts[host];
    const uint32_t first = state.turn;
    for (uint32_t i = 0; i < state.ports; i++)
    {
        const uint32_t turn = first + i < state.ports ? first + i : first + i - state.ports;
        Port& port = m_ports[state.firstPort + turn];
        if (port.current != NO_FRAME || port.down)
        {
            continue;
        }
        Select(state.firstPort + turn, port);
        if (port.current != NO_FRAME)
        {
            state.turn = turn + 1 == state.ports ? 0 : turn + 1;
        }
    }
}

/// Ask the transports of a host in order of what is most urgent now, in turn among equals (see
/// Pull); who names an urgency may still have nothing.
FrameId
Nic::PullUrgent(PortId portId, const NicState& nic)
{
    const HostState& host = m_state.network.hosts[m_ports[portId].host];
    Endpoint* first = m_endpoints.data() + host.firstEndpoint;
    std::vector<std::pair<uint8_t, uint32_t>> order;
    for (uint32_t i = 0; i < host.endpoints; i++)
    {
        const uint32_t turn = (first->turn + i) % host.endpoints;
        const auto urgency = first[turn].transport->Urgency(portId);
        if (urgency && *urgency >= nic.leastPriority)
        {
            order.emplace_back(*urgency, turn);
        }
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) {
        return a.first > b.first;
    });
    for (const auto& [urgency, turn] : order)
    {
        const FrameId frame = first[turn].transport->NextFrame(portId, nic);
        if (frame != NO_FRAME)
        {
            first->turn = (turn + 1) % host.endpoints;
            return CountPulled(frame);
        }
    }
    return NO_FRAME;
}

/// What a host has to say goes out by another port that leads there; else it waits for this one.
void
Nic::MoveControl(PortId portId)
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

uint32_t
Nic::EndpointOf(uint32_t host, uint32_t transport) const
{
    const HostState& state = m_state.network.hosts[host];
    for (uint32_t i = state.firstEndpoint; i < state.firstEndpoint + state.endpoints; i++)
    {
        if (m_transportOfEndpoint[i] == transport)
        {
            return i;
        }
    }
    return NO_ENDPOINT;
}

void
CheckTransport(int64_t flow, int64_t transport, size_t transports)
{
    NS_ABORT_MSG_IF(transport < 0 || transport >= static_cast<int64_t>(transports),
                    "flows: flow " << flow << ": transport is " << transport << ", but there are "
                                   << transports << " transports, counted from 0");
}

void
CheckBytes(int64_t flow, uint64_t bytes, const Transport::Traits& traits)
{
    const uint32_t mtuBytes = traits.wire.mtuBytes;
    const bool isCounted = !traits.usesStockEvents && mtuBytes > 0;
    NS_ABORT_MSG_IF(isCounted && bytes > mtuBytes * WireProfile::MAX_PACKETS,
                    "flows: flow " << flow << ": a message of " << bytes << " bytes has more than "
                                   << WireProfile::MAX_PACKETS << " packets of MtuBytes = "
                                   << mtuBytes << "; make MtuBytes larger or the message smaller");
}

void
Nic::Build(const std::vector<ObjectFactory>& transports,
           bool isAlone,
           std::vector<Ptr<Object>>& owned)
{
    m_isAlone = isAlone;
    std::vector<std::vector<bool>> uses(m_state.network.hosts.size(),
                                        std::vector<bool>(transports.size()));
    for (uint32_t i = 0; i < m_state.messages.Size(); i++)
    {
        const Message& message = m_state.messages[i];
        CheckTransport(message.id, message.transport, transports.size());
        if (message.bytes != 0)
        {
            uses[message.src][message.transport] = true;
            uses[message.dst][message.transport] = true;
        }
    }
    const bool mayGrow = m_state.messages.MayGrow();
    std::vector<std::pair<int, uint32_t>> order; // (-priority, index) of each transport
    std::vector<bool> acknowledged;
    for (uint32_t transport = 0; transport < transports.size(); transport++)
    {
        const auto sample = MakePlugin<Transport>(transports[transport]);
        const Transport::Traits& traits = m_traits.emplace_back(sample->GetTraits());
        order.emplace_back(-int{traits.dataPriority}, transport);
        acknowledged.push_back(traits.isAcknowledged);
    }
    for (uint32_t i = 0; i < m_state.messages.Size(); i++)
    {
        const Message& message = m_state.messages[i];
        CheckBytes(message.id, message.bytes, m_traits[message.transport]);
    }
    std::sort(order.begin(), order.end());
    for (uint32_t host = 0; host < m_state.network.hosts.size(); host++)
    {
        HostState& state = m_state.network.hosts[host];
        state.firstEndpoint = NumEnds();
        for (const auto& [priority, transport] : order) // the most urgent first
        {
            const bool isUsed = uses[host][transport] || mayGrow || m_traits[transport].isOpen;
            if (isUsed && m_state.IsOwnNode(state.node))
            {
                const auto object = transports[transport].Create<Transport>();
                owned.push_back(object);
                AddEnd(host, transport, object);
            }
        }
    }
    GiveEnds(0);
    m_state.messages.BuildShare(std::move(acknowledged));
}

/// Put a transport on a host; those of one host are contiguous.
void
Nic::AddEnd(uint32_t host, uint32_t transport, const Ptr<Transport>& object)
{
    HostState& state = m_state.network.hosts[host];
    const uint32_t endpoint = NumEnds();
    m_endpoints.push_back({PeekPointer(object), m_traits[transport].dataPriority});
    m_hostOfEndpoint.push_back(host);
    m_transportOfEndpoint.push_back(transport);
    state.endpoints++;
    state.variesUrgency |= m_traits[transport].variesUrgency;
    object->Attach(HostContext(m_state, *this, endpoint, host));
}

/// Tell messages their ends here; memory of the others may be shared with other engines.
void
Nic::GiveEnds(uint32_t firstMessage)
{
    for (uint32_t i = firstMessage; i < m_state.messages.Size(); i++)
    {
        Message& message = m_state.messages[i];
        if (message.bytes == 0)
        {
            continue;
        }
        if (const uint32_t end = EndpointOf(message.src, message.transport); end != NO_ENDPOINT)
        {
            message.srcEndpoint = end;
        }
        if (const uint32_t end = EndpointOf(message.dst, message.transport); end != NO_ENDPOINT)
        {
            message.dstEndpoint = end;
        }
    }
}

void
Nic::CheckRateChange(uint32_t message) const
{
    const uint32_t endpoint = m_state.messages[message].srcEndpoint;
    NS_ABORT_MSG_IF(m_state.messages[message].bytes > 0 && endpoint < m_endpoints.size() &&
                        !TraitsOf(endpoint).mayReadmit,
                    "rate_changes: flow "
                        << m_state.messages[message].id << ": "
                        << m_endpoints[endpoint].transport->GetInstanceTypeId().GetName()
                        << " keeps the rate with which a message has begun, so no control of its"
                           " workload can change it. Leave control out, or take another transport");
}

/// A frame has come to a host by a port that is watched.
void
Nic::ShowArrival(PortId portId, const Frame& frame)
{
    m_observers.Call(Observer::FRAMES, &Observer::OnReceived, portId, frame);
    const LinkClass& link = m_classes.links[m_ports[portId].linkClass];
    if (link.watchesSenders && ((link.countedMask >> frame.priority) & 1) &&
        link.control->OnArrival(portId, NO_PORT, frame))
    {
        link.control->OnDeparture(portId, frame.priority, frame.bytes); // hosts take all at once
    }
}

void
Nic::KickAll()
{
    for (uint32_t host = 0; host < m_state.network.hosts.size(); host++)
    {
        Kick(host);
    }
}

void
Nic::Shorten(uint32_t index, uint64_t packets)
{
    Message& message = m_state.messages[index];
    message.bytes -= packets * m_traits[message.transport].wire.mtuBytes;
    for (const uint32_t end : {message.srcEndpoint, message.dstEndpoint})
    {
        m_endpoints[end].transport->Shorten(index, static_cast<uint32_t>(packets));
    }
    m_arrived.dataPackets += packets;
}

} // namespace fabric
} // namespace ns3
