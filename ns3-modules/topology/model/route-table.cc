// SPDX-License-Identifier: GPL-2.0-only

#include "route-table.h"

#include "ns3/abort.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace ns3
{
namespace fabric
{

namespace
{

/// Key of a listed route; nodes and directions of 2^31 messages.
uint64_t
ListedKey(uint32_t message, bool reverse, uint32_t node)
{
    return (uint64_t{message} << 33) | (uint64_t{reverse} << 32) | node;
}

} // namespace

RouteTable::RouteTable(const FabricNetwork& network,
                       EventQueue& queue,
                       const WorldClock& world,
                       std::shared_ptr<const Routing> nominal)
    : m_network(network),
      m_queue(queue),
      m_world(world),
      m_isFirst(!nominal),
      m_nominal(nominal ? std::move(nominal)
                        : std::make_shared<Routing>(network.nodes, network.ports.Data())),
      m_inForce(m_nominal.get())
{
}

uint64_t
RouteTable::MemoryBytes() const
{
    return (m_isFirst ? m_nominal->MemoryBytes() : 0) + (m_new ? m_new->MemoryBytes() : 0);
}

void
RouteTable::Follow()
{
    m_new = std::make_unique<Routing>(m_network.nodes, m_network.ports.Data());
    m_inForce = m_new.get();
    m_capacityBps.clear();
    m_freeBps.clear();
}

void
RouteTable::List(const std::vector<RouteRow>& rows, const std::vector<FlowRow>& flows)
{
    std::unordered_map<int64_t, uint32_t> nodes;
    for (uint32_t node = 0; node < m_network.nodes.size(); node++)
    {
        nodes[m_network.nodes[node].id] = node;
    }
    for (const auto& row : rows)
    {
        const auto message = PlaceOf(flows, row.flow);
        NS_ABORT_MSG_IF(!message, "routes: there is no flow " << row.flow);
        const PortId port = m_network.FindPort(row.node, row.peer, row.parallel);
        NS_ABORT_MSG_IF(port == NO_PORT,
                        "routes: flow " << row.flow << ": there is no link from node " << row.node
                                        << " to node " << row.peer << " (parallel " << row.parallel
                                        << ")");
        if (row.fromPs == 0)
        {
            m_listed[ListedKey(*message, row.reverse, nodes[row.node])] = port;
            continue;
        }
        Schedule(*message, row, nodes[row.node], port, EnginePs());
    }
}

void
RouteTable::Schedule(uint32_t message,
                     const RouteRow& row,
                     uint32_t node,
                     PortId port,
                     EnginePs nowPs)
{
    const WorldPs fromPs(static_cast<uint64_t>(row.fromPs));
    m_queue.Push(nowPs.Ps(),
                 {m_world.EngineOf(fromPs).Ps(),
                  EventTarget(EventType::CONTROL, CONTROL_ROUTE),
                  static_cast<uint32_t>(m_later.size())});
    m_later.push_back({ListedKey(message, row.reverse, node), port});
}

void
RouteTable::Take(uint32_t change)
{
    m_listed[m_later[change].key] = m_later[change].port;
}

PortId
RouteTable::Listed(uint32_t message, bool reverse, uint32_t node) const
{
    const auto found = m_listed.find(ListedKey(message, reverse, node));
    return found == m_listed.end() ? NO_PORT : found->second;
}

uint32_t
RouteTable::DistanceFrom(PortId port, uint32_t dst, const Routing& routing) const
{
    const Port& peer = m_network.ports[m_network.ports[port].peer];
    if (routing.NextHopTo(peer.node, dst) == Routing::NO_GROUP)
    {
        return Routing::FAR;
    }
    return routing.Distance(peer.node, dst);
}

/// Near is what was near as the network was built, of what still leads there; but if every way from
/// these ports has become longer than that from another one, near is what is near now. If no port
/// leads there now all are that did.
bool
RouteTable::IsNearest(PortId port, uint32_t dst) const
{
    const auto now = [this, dst](PortId own) {
        return m_network.ports[own].down ? Routing::FAR : DistanceFrom(own, dst, *m_inForce);
    };
    const HostState& host = m_network.hosts[m_network.ports[port].host];
    uint32_t leastNow = Routing::FAR;
    uint32_t leastBuilt = Routing::FAR;
    uint32_t nowOfBuilt = Routing::FAR; // the least of the ports that were nearest
    for (PortId other = host.firstPort; other < host.firstPort + host.ports; other++)
    {
        const uint32_t otherNow = now(other);
        const uint32_t built = DistanceFrom(other, dst, *m_nominal);
        if (otherNow == Routing::FAR || built == Routing::FAR)
        {
            continue;
        }
        leastNow = std::min(leastNow, otherNow);
        nowOfBuilt = built < leastBuilt ? otherNow : nowOfBuilt;
        nowOfBuilt = built == leastBuilt ? std::min(nowOfBuilt, otherNow) : nowOfBuilt;
        leastBuilt = std::min(leastBuilt, built);
    }
    const uint32_t built = DistanceFrom(port, dst, *m_nominal);
    if (leastNow == Routing::FAR || built == Routing::FAR)
    {
        return built != Routing::FAR;
    }
    const uint32_t ownNow = now(port);
    return ownNow != Routing::FAR &&
           (nowOfBuilt > leastNow ? ownNow == leastNow : built == leastBuilt);
}

std::vector<PortId>
RouteTable::NearestPorts(uint32_t host, uint32_t dst, const Routing& routing) const
{
    const HostState& state = m_network.hosts[host];
    std::vector<PortId> nearest;
    uint32_t least = Routing::FAR;
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        const uint32_t distance = DistanceFrom(port, dst, routing);
        if (distance < least)
        {
            least = distance;
            nearest.clear();
        }
        if (distance == least && distance != Routing::FAR)
        {
            nearest.push_back(port);
        }
    }
    return nearest;
}

void
RouteTable::Reserve(const std::vector<RouteRow>& rows,
                    const std::vector<FlowRow>& flows,
                    const Message* messages)
{
    for (const auto& row : rows)
    {
        const auto rateBps = static_cast<double>(messages[*PlaceOf(flows, row.flow)].admittedBps);
        if (!row.reverse && rateBps > 0 && row.fromPs == 0)
        {
            m_reservedBps[m_network.FindPort(row.node, row.peer, row.parallel)] += rateBps;
        }
    }
}

double
RouteTable::CapacityBps(PortId port, uint32_t dst) const
{
    return OfPort(port, dst, m_capacityBps);
}

double
RouteTable::FreeBps(PortId port, uint32_t dst) const
{
    return OfPort(port, dst, m_freeBps);
}

/// @return rate of a port, or what of it is not reserved
double
RouteTable::Own(PortId port, const Capacities& known) const
{
    const auto rateBps = static_cast<double>(m_network.RateBps(port));
    const auto reserved = m_reservedBps.find(port);
    const bool isWhole = &known == &m_capacityBps || reserved == m_reservedBps.end();
    return isWhole ? rateBps : std::max(0.0, rateBps - reserved->second);
}

double
RouteTable::OfPort(PortId port, uint32_t dst, Capacities& known) const
{
    const Port& peer = m_network.ports[m_network.ports[port].peer];
    const double own = Own(port, known);
    if (peer.isHost || own <= 0)
    {
        return own;
    }
    const double behind = OfNode(peer.node, dst, known);
    const double together = Together(port, known);
    return together == own ? std::min(own, behind) : own * std::min(1.0, behind / together);
}

/// @return rate of all cables between the two nodes of a port: they share what lies behind them
double
RouteTable::Together(PortId port, const Capacities& known) const
{
    const auto& ports = m_network.ports;
    const auto& node = m_network.nodes[ports[port].node];
    const auto isBeside = [&](PortId other) {
        return ports[ports[other].peer].node == ports[ports[port].peer].node;
    };
    PortId first = port;
    while (first > node.firstPort && isBeside(first - 1))
    {
        first--;
    }
    double sum = 0;
    for (PortId other = first; other < node.firstPort + node.ports && isBeside(other); other++)
    {
        sum += Own(other, known);
    }
    return sum;
}

/// What a switch can carry towards a host; the last link, down to the host, all paths share.
double
RouteTable::OfNode(uint32_t node, uint32_t dst, Capacities& known) const
{
    const uint64_t key = (uint64_t{node} << 32) | m_inForce->ClassOf(dst);
    if (const auto found = known.find(key); found != known.end())
    {
        return found->second;
    }
    const uint32_t nextHop = m_inForce->NextHopTo(node, dst);
    double sum = 0;
    if (nextHop != Routing::NO_GROUP)
    {
        const auto group = m_inForce->GroupOf(nextHop);
        for (uint32_t i = 0; i < group.size; i++)
        {
            const PortId member = m_inForce->Members(group)[i];
            const bool isLast = m_network.ports[m_network.ports[member].peer].isHost;
            sum += isLast ? std::numeric_limits<double>::infinity() : OfPort(member, dst, known);
        }
    }
    return known[key] = sum;
}

} // namespace fabric
} // namespace ns3
