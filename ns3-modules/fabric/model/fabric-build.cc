// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "ns3/abort.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <unordered_map>

namespace ns3
{
namespace fabric
{

namespace
{

/// Make an object of a factory, or null when the user chose none.
template <typename T>
Ptr<T>
Make(const ObjectFactory& factory)
{
    return factory.IsTypeIdSet() ? factory.Create<T>() : nullptr;
}

} // namespace

Fabric::Fabric(FabricTables tables, const FabricOptions& options)
    : m_options(options),
      m_tables(std::move(tables))
{
    m_tables.SortAndCheck();
    BuildPorts();
    m_nominalRouting = std::make_unique<Routing>(m_nodes, m_ports);
    m_routing = m_nominalRouting.get();
    BuildEndpoints();
    BuildLinkEvents();
    for (uint32_t node = 0; node < m_nodes.size(); node++)
    {
        DecideCutThrough(node);
    }
    BuildLanes();
    BuildDrops();
    m_forwardingPolicy = Make<ForwardingPolicy>(m_options.forwarding);
    m_queueDiscipline = Make<QueueDiscipline>(m_options.queue);
    m_flowControl = Make<LinkFlowControl>(m_options.flowControl);
    m_forwarding = PeekPointer(m_forwardingPolicy);
    m_discipline = PeekPointer(m_queueDiscipline);
    m_control = PeekPointer(m_flowControl);
    if (m_forwarding)
    {
        m_forwarding->Attach(*this);
        m_routeEarly = !m_forwarding->LooksAtQueues();
    }
    if (m_discipline)
    {
        m_discipline->Attach(*this);
    }
    if (m_control)
    {
        m_control->Attach(*this);
        for (uint8_t priority = 0; priority < NUM_PRIORITIES; priority++)
        {
            m_losslessMask |= uint32_t{m_control->IsLossless(priority)} << priority;
        }
    }
    for (uint32_t group = 0; group < m_routing->NumGroups() && !m_forwarding; group++)
    {
        NS_ABORT_MSG_IF(m_routing->GetGroup(group).size > 1,
                        "forwarding: a switch has several ways to a destination, so a "
                        "forwarding policy is needed, for example ns3::EcmpHash");
    }
    if (!m_options.captures.empty())
    {
        m_capture = std::make_unique<PacketCapture>(*this);
    }
    m_present.assign(m_ports.size() / 64 + 1, 0);
    m_presentWords.assign(m_ports.size() / 4096 + 1, 0);
    BuildDependencies();
    ScheduleControl();
    BuildTelemetry();
}

void
Fabric::BuildTelemetry()
{
    std::set<int64_t> ids;
    for (const auto& row : m_tables.sampled)
    {
        ids.insert(row.node);
    }
    std::vector<PortId> sampled;
    for (PortId port = 0; port < m_ports.size() && m_options.samplePs; port++)
    {
        if (ids.empty() || ids.contains(m_nodes[m_ports[port].node].id))
        {
            sampled.push_back(port);
        }
    }
    if (m_options.samplePs || m_options.traceArrivals || m_options.tracePauses)
    {
        m_telemetry = std::make_unique<Telemetry>(*this, std::move(sampled));
        m_watchPs = m_telemetry->NextSamplePs();
    }
    if (m_control)
    {
        m_deadlockCheckPs = 0;
        m_watchPs = 0;
    }
}

void
Fabric::ScheduleControl()
{
    for (uint32_t event = 0; event < m_tables.linkEvents.size(); event++)
    {
        const auto timePs = static_cast<uint64_t>(m_tables.linkEvents[event].timePs);
        m_queue.Push(0, {timePs, EventTarget(EventType::CONTROL, CONTROL_LINK), event});
        m_queue.Push(0,
                     {timePs + m_options.convergencePs,
                      EventTarget(EventType::CONTROL, CONTROL_REROUTE),
                      event});
    }
    for (uint32_t message = 0; message < m_messages.size(); message++)
    {
        if (!m_waitsFor.contains(message))
        {
            m_queue.Push(0,
                         {m_messages[message].startPs,
                          EventTarget(EventType::CONTROL, CONTROL_MESSAGE),
                          message});
        }
    }
}

Fabric::~Fabric()
{
    for (auto& transport : m_transports)
    {
        transport->Dispose();
    }
}

void
Fabric::BuildPorts()
{
    std::unordered_map<int64_t, uint32_t> indexOf;
    std::vector<std::vector<std::pair<size_t, bool>>> linksOf(m_tables.nodes.size());
    for (const auto& row : m_tables.nodes)
    {
        NodeState node;
        node.id = row.id;
        node.isSwitch = row.isSwitch;
        node.tier = static_cast<uint32_t>(row.tier);
        node.plane = static_cast<uint32_t>(row.plane);
        if (!row.isSwitch)
        {
            node.host = static_cast<uint32_t>(m_hosts.size());
            m_hosts.push_back({static_cast<uint32_t>(m_nodes.size())});
        }
        node.salt = Stream(RandomUse::SWITCH_SALT, static_cast<uint64_t>(row.id)).Bits(0);
        indexOf[row.id] = static_cast<uint32_t>(m_nodes.size());
        m_nodes.push_back(node);
    }
    // Links are sorted by (a, b, parallel) and nodes by id, so appending a link first to b and
    // then to a leaves each node's links in order of (peer, parallel).
    for (const bool toB : {true, false})
    {
        for (size_t link = 0; link < m_tables.links.size(); link++)
        {
            const auto& row = m_tables.links[link];
            linksOf[indexOf[toB ? row.nodeB : row.nodeA]].emplace_back(link, toB);
        }
    }
    std::vector<std::pair<PortId, PortId>> endsOf(m_tables.links.size(), {NO_PORT, NO_PORT});
    for (uint32_t node = 0; node < m_nodes.size(); node++)
    {
        NS_ABORT_MSG_IF(linksOf[node].empty() && !m_nodes[node].isSwitch,
                        "links: host " << m_nodes[node].id << " has no link");
        NS_ABORT_MSG_IF(linksOf[node].size() > 65535,
                        "links: node " << m_nodes[node].id << " has more than 65535 links");
        m_nodes[node].firstPort = static_cast<PortId>(m_ports.size());
        m_nodes[node].ports = static_cast<uint32_t>(linksOf[node].size());
        if (!m_nodes[node].isSwitch)
        {
            HostState& host = m_hosts[m_nodes[node].host];
            host.firstPort = m_nodes[node].firstPort;
            host.ports = m_nodes[node].ports;
        }
        for (const auto& [link, isB] : linksOf[node])
        {
            const auto& row = m_tables.links[link];
            const auto id = static_cast<PortId>(m_ports.size());
            (isB ? endsOf[link].second : endsOf[link].first) = id;
            Port port;
            port.node = node;
            port.isHost = !m_nodes[node].isSwitch;
            port.host = m_nodes[node].host;
            port.rate = RateIndex(static_cast<uint64_t>(row.rateBps));
            m_ports.push_back(port);
            m_counters.emplace_back();
            m_counters.back().delayPs = static_cast<uint64_t>(row.delayPs);
            if (row.lossRatio > 0)
            {
                m_ports.back().lossy = true;
                m_lossRatio[id] = row.lossRatio;
            }
            if (row.bitErrorRatio > 0)
            {
                m_ports.back().lossy = true;
                m_bitErrorRatio[id] = row.bitErrorRatio;
            }
        }
    }
    NS_ABORT_MSG_IF(m_ports.size() > EVENT_INDEX_MASK, "links: more than 2^29 links");
    for (const auto& [a, b] : endsOf)
    {
        m_ports[a].peer = b;
        m_ports[b].peer = a;
    }
}

uint8_t
Fabric::RateIndex(uint64_t rateBps)
{
    for (size_t i = 0; i < m_rates.size(); i++)
    {
        if (m_rates[i].rateBps == rateBps)
        {
            return static_cast<uint8_t>(i);
        }
    }
    NS_ABORT_MSG_IF(m_rates.size() == 255, "links: more than 255 different rates");
    constexpr uint64_t PS_PER_SECOND_AND_BYTE = 8'000'000'000'000;
    m_rates.push_back(
        {rateBps, PS_PER_SECOND_AND_BYTE % rateBps == 0 ? PS_PER_SECOND_AND_BYTE / rateBps : 0});
    return static_cast<uint8_t>(m_rates.size() - 1);
}

void
Fabric::BuildLinkEvents()
{
    for (const auto& row : m_tables.linkEvents)
    {
        const PortId port = FindPort(row.nodeA, row.nodeB, row.parallel);
        NS_ABORT_MSG_IF(port == NO_PORT,
                        "link_events: there is no link " << row.nodeA << "-" << row.nodeB
                                                         << " (parallel " << row.parallel << ")");
        m_linkEventPort.push_back(port);
        if (row.rateBps > 0)
        {
            RateIndex(static_cast<uint64_t>(row.rateBps));
        }
        else
        {
            m_lastCutPs = std::max(m_lastCutPs, static_cast<uint64_t>(row.timePs));
        }
    }
}

void
Fabric::BuildEndpoints()
{
    std::unordered_map<int64_t, uint32_t> hostOf;
    for (const auto& node : m_nodes)
    {
        if (!node.isSwitch)
        {
            hostOf[node.id] = node.host;
        }
    }
    // Endpoints of a host are contiguous, the most urgent first.
    std::vector<std::vector<bool>> uses(m_hosts.size(),
                                        std::vector<bool>(m_options.transports.size()));
    for (const auto& row : m_tables.flows)
    {
        NS_ABORT_MSG_IF(row.transport < 0 ||
                            row.transport >= static_cast<int64_t>(m_options.transports.size()),
                        "flows: flow " << row.id << ": transport is " << row.transport
                                       << ", but there are " << m_options.transports.size()
                                       << " transports, counted from 0");
        uses[hostOf[row.src]][row.transport] = true;
        uses[hostOf[row.dst]][row.transport] = true;
    }
    std::vector<std::vector<uint32_t>> endpointOf(
        m_hosts.size(),
        std::vector<uint32_t>(m_options.transports.size()));
    std::vector<std::pair<int, size_t>> order; // (-priority, index) of each transport
    for (size_t transport = 0; transport < m_options.transports.size(); transport++)
    {
        const auto sample = m_options.transports[transport].Create<Transport>();
        order.emplace_back(-int{sample->DataPriority()}, transport);
    }
    std::sort(order.begin(), order.end());
    for (uint32_t host = 0; host < m_hosts.size(); host++)
    {
        m_hosts[host].firstEndpoint = static_cast<uint32_t>(m_endpoints.size());
        for (const auto& [priority, transport] : order)
        {
            if (!uses[host][transport])
            {
                continue;
            }
            auto object = m_options.transports[transport].Create<Transport>();
            const auto endpoint = static_cast<uint32_t>(m_endpoints.size());
            object->Attach(this, endpoint, host);
            endpointOf[host][transport] = endpoint;
            m_endpoints.push_back({PeekPointer(object), object->DataPriority()});
            m_transports.push_back(object);
            m_hosts[host].endpoints++;
        }
    }
    for (const auto& row : m_tables.flows)
    {
        Message message{};
        message.bytes = static_cast<uint64_t>(row.bytes);
        message.src = hostOf[row.src];
        message.dst = hostOf[row.dst];
        message.transport = static_cast<uint32_t>(row.transport);
        message.srcEndpoint = endpointOf[message.src][row.transport];
        message.dstEndpoint = endpointOf[message.dst][row.transport];
        message.id = row.id;
        message.startPs = static_cast<uint64_t>(row.startPs);
        const uint64_t ends =
            Mix64(static_cast<uint64_t>(row.src)) + static_cast<uint64_t>(row.dst);
        message.tuple = static_cast<uint32_t>(
            Stream(RandomUse::FLOW_TUPLE, Mix64(ends) ^ static_cast<uint64_t>(row.id)).Bits(0));
        m_messages.push_back(message);
        const auto [first, ports] = PortsOfHost(message.src);
        for (PortId port = first; port < first + ports; port++)
        {
            const uint32_t leaf = m_ports[m_ports[port].peer].node;
            NS_ABORT_MSG_IF(m_routing->GroupTo(leaf, message.dst) == Routing::NO_GROUP,
                            "flows: flow " << row.id << ": no path from host " << row.src
                                           << " to host " << row.dst
                                           << "; the links do not connect them");
        }
    }
}

void
Fabric::BuildLanes()
{
    // The delays that most events wait for get lanes: propagation first, then full frames and
    // acknowledgements. What finds no lane goes through the wheel.
    std::map<uint64_t, size_t> uses;
    const auto dataDelayPs = [this](PortId port) {
        const bool toSwitch = !m_ports[m_ports[port].peer].isHost;
        return m_counters[port].delayPs + (toSwitch ? m_options.switchDelayPs : 0);
    };
    for (PortId port = 0; port < m_ports.size(); port++)
    {
        uses[dataDelayPs(port)]++;
    }
    std::vector<std::pair<size_t, uint64_t>> delays;
    for (const auto& [delayPs, n] : uses)
    {
        delays.emplace_back(n, delayPs);
    }
    std::sort(delays.rbegin(), delays.rend());
    constexpr size_t LINK_LANES = 4;
    std::map<uint64_t, uint8_t> laneOf;
    for (size_t i = 0; i < std::min(delays.size(), LINK_LANES); i++)
    {
        laneOf[delays[i].second] = m_queue.LaneFor(delays[i].second);
    }
    for (PortId port = 0; port < m_ports.size(); port++)
    {
        const auto lane = laneOf.find(dataDelayPs(port));
        m_ports[port].lane = lane == laneOf.end() ? EventQueue::NO_LANE : lane->second;
    }
    std::vector<uint32_t> sizes;
    for (const auto& transport : m_options.transports)
    {
        for (const auto bytes : transport.Create<Transport>()->CommonFrameBytes())
        {
            if (std::find(sizes.begin(), sizes.end(), bytes) == sizes.end())
            {
                sizes.push_back(bytes);
            }
        }
    }
    for (const auto bytes : sizes)
    {
        m_largestFrameBytes = std::max(m_largestFrameBytes, bytes);
        for (auto& rate : m_rates)
        {
            if (rate.lanes == std::size(rate.lane))
            {
                continue;
            }
            const uint64_t ps = rate.Ps(bytes + m_options.framingBytes);
            const uint8_t lane = m_queue.LaneFor(ps);
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

PortId
Fabric::FindPort(int64_t nodeId, int64_t peer, int64_t parallel) const
{
    for (const auto& node : m_nodes)
    {
        if (node.id != nodeId)
        {
            continue;
        }
        for (PortId port = node.firstPort; port < node.firstPort + node.ports; port++)
        {
            if (PeerOf(port) == std::pair<int64_t, uint32_t>(peer, parallel))
            {
                return port;
            }
        }
    }
    return NO_PORT;
}

void
Fabric::BuildDrops()
{
    for (const auto& row : m_tables.drops)
    {
        const PortId sender = FindPort(row.node, row.peer, row.parallel);
        NS_ABORT_MSG_IF(sender == NO_PORT,
                        "drops: there is no link from node " << row.node << " to node " << row.peer
                                                             << " (parallel " << row.parallel
                                                             << ")");
        NS_ABORT_MSG_IF(row.ordinal <= 0, "drops: ordinal is " << row.ordinal << ", not > 0");
        const PortId receiver = m_ports[sender].peer;
        m_ports[receiver].lossy = true;
        m_drops[receiver].ordinals.push_back(static_cast<uint64_t>(row.ordinal));
    }
}

std::pair<int64_t, uint32_t>
Fabric::PeerOf(PortId port) const
{
    const uint32_t peerNode = m_ports[m_ports[port].peer].node;
    const NodeState& node = m_nodes[m_ports[port].node];
    uint32_t parallel = 0;
    for (PortId before = port; before > node.firstPort; before--)
    {
        if (m_ports[m_ports[before - 1].peer].node != peerNode)
        {
            break;
        }
        parallel++;
    }
    return {m_nodes[peerNode].id, parallel};
}

} // namespace fabric
} // namespace ns3
