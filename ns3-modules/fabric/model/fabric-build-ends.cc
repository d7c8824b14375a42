// SPDX-License-Identifier: GPL-2.0-only

// The ends of messages, the events that most wait for, and what is recorded.

#include "fabric.h"

#include "steady-skip.h"

#include "ns3/abort.h"

#include <algorithm>
#include <map>
#include <set>

namespace ns3
{
namespace fabric
{

// ---- hosts ------------------------------------------------------------------------------------

uint32_t
Fabric::EndpointOf(uint32_t host, uint32_t transport) const
{
    const HostState& state = m_network.hosts[host];
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
Fabric::BuildEndpoints()
{
    const size_t transports = m_options.transports.size();
    std::vector<std::vector<bool>> uses(m_network.hosts.size(), std::vector<bool>(transports));
    for (uint32_t i = 0; i < m_messages.Size(); i++)
    {
        const Message& message = m_messages[i];
        NS_ABORT_MSG_IF(message.transport >= transports,
                        "flows: flow " << message.id << ": transport is "
                                       << static_cast<int32_t>(message.transport)
                                       << ", but there are " << transports
                                       << " transports, counted from 0");
        if (message.bytes != 0)
        {
            uses[message.src][message.transport] = true;
            uses[message.dst][message.transport] = true;
        }
    }
    std::vector<std::pair<int, uint32_t>> order; // (-priority, index) of each transport
    for (uint32_t transport = 0; transport < transports; transport++)
    {
        const auto sample = m_options.transports[transport].Create<Transport>();
        order.emplace_back(-int{sample->DataPriority()}, transport);
        m_wires.push_back(sample->Wire());
        m_isOpen |= sample->IsOpen();
        for (auto& host : uses)
        {
            host[transport] = host[transport] || sample->IsOpen();
        }
    }
    std::sort(order.begin(), order.end());
    for (const auto& [priority, transport] : order)
    {
        m_transportOrder.push_back(transport);
    }
    for (uint32_t host = 0; host < m_network.hosts.size(); host++)
    {
        BuildEndpointsOf(host, uses[host]);
    }
    BuildMessages();
}

/// Endpoints of a host are contiguous, the most urgent first.
void
Fabric::BuildEndpointsOf(uint32_t host, const std::vector<bool>& uses)
{
    HostState& state = m_network.hosts[host];
    state.firstEndpoint = static_cast<uint32_t>(m_endpoints.size());
    for (const uint32_t transport : m_transportOrder)
    {
        if (!uses[transport] || !IsOwnNode(state.node))
        {
            continue;
        }
        const auto object = m_options.transports[transport].Create<Transport>();
        m_plugins.push_back(object);
        const auto endpoint = static_cast<uint32_t>(m_endpoints.size());
        m_endpoints.push_back({PeekPointer(object), object->DataPriority()});
        m_hostOfEndpoint.push_back(host);
        m_transportOfEndpoint.push_back(transport);
        state.endpoints++;
        state.variesUrgency |= object->VariesUrgency();
        object->Attach(HostPort(*this, endpoint, host));
    }
}

void
Fabric::BuildMessages()
{
    for (uint32_t i = 0; i < m_messages.Size(); i++)
    {
        Message& message = m_messages[i];
        if (message.bytes == 0)
        {
            continue;
        }
        message.srcEndpoint = EndpointOf(message.src, message.transport);
        message.dstEndpoint = EndpointOf(message.dst, message.transport);
    }
}

/// Every flow needs a port that leads to its destination; find out whether all its ports do.
void
Fabric::BuildReach()
{
    const auto nodeId = [this](uint32_t host) {
        return m_network.nodes[m_network.hosts[host].node].id;
    };
    for (uint32_t i = 0; i < m_messages.Size(); i++)
    {
        const Message& message = m_messages[i];
        if (message.bytes == 0)
        {
            continue;
        }
        for (const auto& [src, dst] : {std::pair{message.src, message.dst},
                                      std::pair{message.dst, message.src}})
        {
            const size_t nearest = m_routes.NearestPorts(src, dst).size();
            NS_ABORT_MSG_IF(nearest == 0,
                            "flows: flow " << message.id << ": no path from host " << nodeId(src)
                                           << " to host " << nodeId(dst)
                                           << "; the links do not connect them");
            m_reachDiffers |= nearest != m_network.hosts[src].ports;
        }
    }
}

// ---- events -----------------------------------------------------------------------------------

/// The delays that most events wait for get lanes: propagation first, then full frames,
/// acknowledgements and, if there is room, the shortest frames: trimmed ones, PULLs, credit. What
/// finds no lane goes through the wheel, or waits on its wire.
void
Fabric::BuildLanes()
{
    const auto delayOf = [this](PortId port) {
        const Port& peer = m_ports[m_ports[port].peer];
        return m_network.counters[port].delayPs +
               (peer.isHost ? 0 : m_nodeClasses[peer.nodeClass].latencyPs);
    };
    std::map<uint64_t, size_t> uses;
    for (PortId port = 0; port < m_network.NumPorts(); port++)
    {
        uses[delayOf(port)]++;
    }
    std::vector<std::pair<size_t, uint64_t>> delays;
    for (const auto& [delayPs, n] : uses)
    {
        delays.emplace_back(n, delayPs);
    }
    std::sort(delays.rbegin(), delays.rend());
    constexpr size_t LINK_LANES = DomainMail::LANES;
    std::map<uint64_t, uint8_t> laneOf;
    std::map<uint64_t, uint32_t> listOf; // of the mail: the same in all domains
    for (size_t i = 0; i < std::min(delays.size(), LINK_LANES); i++)
    {
        laneOf[delays[i].second] = m_queue.LaneFor(EventType::ARRIVE, delays[i].second);
        listOf[delays[i].second] = i;
    }
    bool anyWire = false;
    for (PortId port = 0; port < m_network.NumPorts(); port++)
    {
        const auto lane = laneOf.find(delayOf(port));
        const bool hasLane = lane != laneOf.end() && !m_ports[port].crosses;
        m_ports[port].lane = hasLane ? lane->second : EventQueue::NO_LANE;
        if (m_ports[port].crosses)
        {
            const auto list = listOf.find(delayOf(port));
            BuildOutbox(port,
                        list == listOf.end() ? DomainMail::LANES : list->second,
                        delayOf(port));
        }
        // What cuts through is on its way for other times than a lane's.
        const NodeClass& next = m_nodeClasses[m_ports[m_ports[port].peer].nodeClass];
        anyWire |= m_network.counters[port].delayPs >= EventWheel::HORIZON_PS &&
                   (!hasLane || next.cutThroughBytes != 0);
    }
    m_queue.SetWires(anyWire ? m_network.NumPorts() : 0);
    BuildFrameLanes();
}

/// What crosses by a port is put there, and comes here from others by a lane of its own.
void
Fabric::BuildOutbox(PortId portId, uint32_t list, uint64_t delayPs)
{
    if (list < DomainMail::LANES)
    {
        m_inLanes[list] =
            m_queue.LaneFor(EventType::ARRIVE, delayPs, EventQueue::Origin::ELSEWHERE);
    }
    Port& port = m_ports[portId];
    const uint32_t domain = m_network.nodes[m_ports[port.peer].node].domain;
    const auto box = std::ranges::find_if(m_outboxes, [domain, list](const Outbox& other) {
        return other.domain == domain && other.list == list;
    });
    port.outbox = static_cast<uint16_t>(box - m_outboxes.begin());
    if (box == m_outboxes.end())
    {
        m_outboxes.push_back({{&m_mail[domain][0], &m_mail[domain][1]}, domain, list, delayPs});
    }
}

void
Fabric::BuildFrameLanes()
{
    std::vector<uint32_t> sizes;
    for (const auto& wire : m_wires)
    {
        const uint32_t fullBytes = wire.mtuBytes + wire.headerBytes;
        for (const auto bytes : {fullBytes, wire.ackBytes, fullBytes + wire.firstHeaderBytes})
        {
            const uint32_t frameBytes = std::max(MIN_FRAME_BYTES, bytes);
            if (std::find(sizes.begin(), sizes.end(), frameBytes) == sizes.end())
            {
                sizes.push_back(frameBytes);
            }
        }
    }
    if (std::find(sizes.begin(), sizes.end(), MIN_FRAME_BYTES) == sizes.end())
    {
        sizes.push_back(MIN_FRAME_BYTES);
    }
    for (const auto bytes : sizes)
    {
        m_largestFrameBytes = std::max(m_largestFrameBytes, bytes);
        for (auto& rate : m_network.rates)
        {
            if (rate.lanes == RateClass::LANES)
            {
                continue;
            }
            const uint64_t ps = rate.Ps(bytes + m_options.framingBytes);
            const uint8_t lane = m_queue.LaneFor(EventType::TX_DONE, ps);
            if (lane != EventQueue::NO_LANE)
            {
                rate.laneBytes[rate.lanes] = bytes;
                rate.lanePs[rate.lanes] = ps;
                rate.lane[rate.lanes] = lane;
                rate.lanes++;
            }
        }
    }
}

void
Fabric::BuildTelemetry(const std::vector<SampledRow>& rows)
{
    std::set<int64_t> ids;
    for (const auto& row : rows)
    {
        ids.insert(row.node);
    }
    std::vector<PortId> sampled;
    for (PortId port = 0; port < m_network.NumPorts() && m_options.samplePs; port++)
    {
        const bool isChosen =
            ids.empty() || ids.contains(m_network.nodes[m_ports[port].node].id);
        if (isChosen && IsOwn(port))
        {
            sampled.push_back(port);
        }
    }
    if (m_options.samplePs || m_options.traceArrivals || m_options.tracePauses)
    {
        m_telemetry = std::make_unique<Telemetry>(*this, std::move(sampled));
        m_watchPs = m_telemetry->NextSamplePs();
    }
    for (const auto& link : m_linkClasses)
    {
        if (link.control && m_mail.size() == 1)
        {
            m_deadlockCheckPs = 0;
            m_watchPs = 0;
        }
    }
    if (m_options.skipTolerance > 0)
    {
        m_skip = std::make_unique<SteadySkip>(*this, m_options.skipTolerance);
        m_watchPs = 0;
    }
}

} // namespace fabric
} // namespace ns3
