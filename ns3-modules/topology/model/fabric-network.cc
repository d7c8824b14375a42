// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-network.h"

#include "ns3/abort.h"
#include "ns3/event.h"

#include <new>
#include <unordered_map>

namespace ns3
{
namespace fabric
{

namespace
{

/// From this size on, arrays that are reached in random order gain by huge pages [byte].
constexpr size_t LARGE_BYTES = 5'000'000;

} // namespace

FabricNetwork::FabricNetwork(const FabricTables& tables,
                             uint64_t seed,
                             const FabricNetwork* first)
    : ports(2 * tables.links.size()),
      counters(ports.Capacity()),
      m_seed(seed)
{
    NS_ABORT_MSG_IF(ports.Capacity() > EVENT_INDEX_MASK, "links: more than 2^29 links");
    BuildNodes(tables.nodes);
    if (first)
    {
        ShareLinks(*first);
        return;
    }
    if (IsOfOneEngine() && ports.Capacity() * sizeof(Port) > LARGE_BYTES)
    {
        ports.UseHugePages();
    }
    BuildPorts(tables.links);
    if (!IsOfOneEngine())
    {
        ports.Freeze();
    }
}

void
FabricNetwork::BuildNodes(const std::vector<NodeRow>& rows)
{
    for (const auto& row : rows)
    {
        NodeState node;
        node.id = row.id;
        node.isSwitch = row.isSwitch;
        node.tier = static_cast<uint32_t>(row.tier);
        node.plane = static_cast<uint32_t>(row.plane);
        node.nodeClass = static_cast<uint8_t>(row.nodeClass);
        node.engine = static_cast<uint16_t>(row.engine);
        if (!row.isSwitch)
        {
            node.host = static_cast<uint32_t>(hosts.size());
            hosts.push_back({static_cast<uint32_t>(nodes.size())});
        }
        node.salt =
            CounterRandom(m_seed, RandomUse::SWITCH_SALT, static_cast<uint64_t>(row.id)).Bits(0);
        nodes.push_back(node);
    }
}

/// Tell a host its ports. If all began with the same plane, their first packets would be on it.
static void
SetPorts(HostState& host, const NodeState& node, uint64_t seed)
{
    host.firstPort = node.firstPort;
    host.ports = node.ports;
    host.turn = CounterRandom(seed, RandomUse::FIRST_PORT, static_cast<uint64_t>(node.id))
                    .Below(0, host.ports);
}

void
FabricNetwork::ShareLinks(const FabricNetwork& first)
{
    for (size_t i = 0; i < nodes.size(); i++)
    {
        nodes[i].firstPort = first.nodes[i].firstPort;
        nodes[i].ports = first.nodes[i].ports;
        if (!nodes[i].isSwitch)
        {
            SetPorts(hosts[nodes[i].host], nodes[i], m_seed);
        }
    }
    for (const RateClass& rate : first.rates)
    {
        RateIndex(rate.rateBps);
    }
    ports.BeginWith(first.ports);
}

void
FabricNetwork::BuildPorts(const std::vector<LinkRow>& rows)
{
    std::unordered_map<int64_t, uint32_t> indexOf;
    for (uint32_t node = 0; node < nodes.size(); node++)
    {
        indexOf[nodes[node].id] = node;
    }
    // Links are sorted by (a, b, parallel) and nodes by id, so appending a link first to b and
    // then to a leaves each node's links in order of (peer, parallel).
    std::vector<std::vector<std::pair<size_t, bool>>> linksOf(nodes.size());
    for (const bool toB : {true, false})
    {
        for (size_t link = 0; link < rows.size(); link++)
        {
            linksOf[indexOf[toB ? rows[link].nodeB : rows[link].nodeA]].emplace_back(link, toB);
        }
    }
    std::vector<std::pair<PortId, PortId>> endsOf(rows.size(), {NO_PORT, NO_PORT});
    PortId next = 0;
    for (uint32_t index = 0; index < nodes.size(); index++)
    {
        NodeState& node = nodes[index];
        const auto& links = linksOf[index];
        NS_ABORT_MSG_IF(links.empty() && !node.isSwitch,
                        "links: host " << node.id << " has no link");
        NS_ABORT_MSG_IF(links.size() > 65535,
                        "links: node " << node.id << " has more than 65535 links");
        node.firstPort = next;
        node.ports = static_cast<uint32_t>(links.size());
        if (!node.isSwitch)
        {
            SetPorts(hosts[node.host], node, m_seed);
        }
        for (const auto& [link, isB] : links)
        {
            const auto& row = rows[link];
            (isB ? endsOf[link].second : endsOf[link].first) = next;
            Port& port = *new (&ports[next++]) Port;
            port.node = index;
            port.isHost = !node.isSwitch;
            port.host = node.host;
            port.nodeClass = node.nodeClass;
            port.linkClass = static_cast<uint8_t>(row.linkClass);
            port.rate = RateIndex(static_cast<uint64_t>(row.rateBps));
            port.delayPs = static_cast<uint64_t>(row.delayPs);
        }
    }
    for (const auto& [a, b] : endsOf)
    {
        ports[a].peer = b;
        ports[b].peer = a;
        const bool crosses = nodes[ports[a].node].engine != nodes[ports[b].node].engine;
        ports[a].crosses = crosses;
        ports[b].crosses = crosses;
    }
}

void
FabricNetwork::ShareForeign(uint32_t engine)
{
    PortId first = 0;
    for (const NodeState& node : nodes)
    {
        if (node.engine == engine)
        {
            ports.Restore(first, node.firstPort - first);
            first = node.firstPort + node.ports;
        }
    }
    ports.Restore(first, ports.Capacity() - first);
}

bool
FabricNetwork::IsOfOneEngine() const
{
    return std::ranges::all_of(nodes, [](const NodeState& node) { return node.engine == 0; });
}

uint8_t
FabricNetwork::RateIndex(uint64_t rateBps)
{
    for (size_t i = 0; i < rates.size(); i++)
    {
        if (rates[i].rateBps == rateBps)
        {
            return static_cast<uint8_t>(i);
        }
    }
    NS_ABORT_MSG_IF(rates.size() == 255, "links: more than 255 different rates");
    constexpr uint64_t PS_PER_SECOND_AND_BYTE = 8'000'000'000'000;
    rates.push_back(
        {rateBps, PS_PER_SECOND_AND_BYTE % rateBps == 0 ? PS_PER_SECOND_AND_BYTE / rateBps : 0});
    return static_cast<uint8_t>(rates.size() - 1);
}

void
FabricNetwork::ChangeRate(PortId port, uint64_t rateBps)
{
    firstRates.try_emplace(port, ports[port].rate);
    ports[port].rate = RateIndex(rateBps);
}

const RateClass&
FabricNetwork::FirstRate(PortId port) const
{
    const auto first = firstRates.find(port);
    return rates[first == firstRates.end() ? ports[port].rate : first->second];
}

std::pair<int64_t, uint32_t>
FabricNetwork::PeerOf(PortId port) const
{
    const uint32_t peerNode = ports[ports[port].peer].node;
    const NodeState& node = nodes[ports[port].node];
    uint32_t parallel = 0;
    for (PortId before = port; before > node.firstPort; before--)
    {
        if (ports[ports[before - 1].peer].node != peerNode)
        {
            break;
        }
        parallel++;
    }
    return {nodes[peerNode].id, parallel};
}

PortId
FabricNetwork::FindPort(int64_t nodeId, int64_t peer, int64_t parallel) const
{
    for (const auto& node : nodes)
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

CounterRandom
FabricNetwork::StreamOfPort(PortId port, RandomUse use, uint32_t number) const
{
    const auto [peer, parallel] = PeerOf(port);
    const uint64_t key = Mix64(nodes[ports[port].node].id) ^ Mix64(Mix64(peer) + parallel);
    return CounterRandom(m_seed, use, key ^ Mix64(number)); // 0 changes nothing
}

std::vector<uint64_t>
FabricNetwork::LineRatesBps() const
{
    std::vector<uint64_t> found(hosts.size(), 0);
    for (size_t host = 0; host < hosts.size(); host++)
    {
        for (uint32_t i = 0; i < hosts[host].ports; i++)
        {
            found[host] += RateBps(hosts[host].firstPort + i);
        }
    }
    return found;
}

uint64_t
FabricNetwork::MemoryBytes(uint32_t engine) const
{
    uint64_t own = 0;
    for (const NodeState& node : nodes)
    {
        own += node.engine == engine ? node.ports : 0;
    }
    const uint64_t shared = engine == 0 && own < NumPorts() ? NumPorts() : 0;
    return own * (sizeof(Port) + sizeof(PortCounters)) + shared * sizeof(Port) +
           nodes.size() * sizeof(NodeState) + hosts.size() * sizeof(HostState);
}

} // namespace fabric
} // namespace ns3
