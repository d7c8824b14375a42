// SPDX-License-Identifier: GPL-2.0-only

#include "islands.h"

#include "fabric.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ns3
{
namespace fabric
{

namespace
{

/// @return place of a value that a rising list has
template <typename T>
uint32_t
PlaceIn(const std::vector<T>& list, T value)
{
    return static_cast<uint32_t>(std::lower_bound(list.begin(), list.end(), value) - list.begin());
}

/// Keep each value once, in order.
void
Settle(std::vector<uint32_t>& list)
{
    std::ranges::sort(list);
    list.erase(std::ranges::unique(list).begin(), list.end());
}

} // namespace

uint32_t
Island::PlaceOfHost(uint32_t host) const
{
    return PlaceIn(hosts, host);
}

Islands::Islands(const Fabric& fabric)
    : m_fabric(fabric)
{
    Join();
    AddPorts();
    FindChoices();
    PlaceMessages();
    FindShapes();
}

/// Switches that a link joins are of one island.
void
Islands::Join()
{
    const FabricNetwork& network = m_fabric.Network();
    std::vector<uint32_t> above(network.nodes.size());
    std::iota(above.begin(), above.end(), 0);
    const auto rootOf = [&above](uint32_t node) {
        while (above[node] != node)
        {
            above[node] = above[above[node]];
            node = above[node];
        }
        return node;
    };
    for (PortId id = 0; id < network.NumPorts(); id++)
    {
        const Port& port = network.ports[id];
        const Port& peer = network.ports[port.peer];
        if (!port.isHost && !peer.isHost)
        {
            above[rootOf(port.node)] = rootOf(peer.node);
        }
    }
    m_ofNode.assign(above.size(), NOWHERE);
    std::vector<uint32_t> ofRoot(above.size(), NOWHERE);
    for (uint32_t node = 0; node < above.size(); node++)
    {
        if (network.nodes[node].isSwitch)
        {
            uint32_t& island = ofRoot[rootOf(node)];
            if (island == NOWHERE)
            {
                island = Size();
                m_islands.emplace_back();
            }
            m_ofNode[node] = island;
            m_islands[island].switches.push_back(node);
        }
    }
}

/// @return the island to which a port belongs or leads
uint32_t
Islands::IslandOfPort(PortId id) const
{
    const Port& port = m_fabric.Network().ports[id];
    return m_ofNode[port.isHost ? m_fabric.Network().ports[port.peer].node : port.node];
}

void
Islands::AddPorts()
{
    const FabricNetwork& network = m_fabric.Network();
    for (PortId id = 0; id < network.NumPorts(); id++)
    {
        const uint32_t place = IslandOfPort(id);
        if (place == NOWHERE)
        {
            continue; // two hosts side by side
        }
        Island& island = m_islands[place];
        island.ports.push_back(id);
        if (network.ports[id].isHost)
        {
            island.hosts.push_back(network.ports[id].host);
        }
    }
    for (Island& island : m_islands)
    {
        const size_t ports = island.hosts.size();
        Settle(island.hosts);
        island.mayReplay = island.mayReplay && island.hosts.size() == ports;
        for (const uint32_t host : island.hosts)
        {
            island.mayReplay = island.mayReplay && network.hosts[host].endpoints <= 1;
        }
        for (const uint32_t node : island.switches)
        {
            const uint8_t nodeClass = network.nodes[node].nodeClass;
            island.mayReplay =
                island.mayReplay && !m_fabric.m_nodeClasses[nodeClass].hasOwnRoutes;
        }
    }
}

/// Which path a frame takes must not be a question.
void
Islands::FindChoices()
{
    const Routing& routing = m_fabric.Routes().Nominal();
    for (uint32_t i = 0; i < routing.NumGroups(); i++)
    {
        const Routing::Group group = routing.GetGroup(i);
        if (group.size > 1)
        {
            const uint32_t node = m_fabric.Network().ports[routing.Members(group)[0]].node;
            m_islands[m_ofNode[node]].mayReplay = false;
        }
    }
}

void
Islands::PlaceMessages()
{
    const MessageBook& messages = m_fabric.Messages();
    m_ofMessage.assign(messages.Size(), NOWHERE);
    for (uint32_t index = 0; index < messages.Size(); index++)
    {
        const Message& message = messages[index];
        if (message.bytes == 0)
        {
            continue;
        }
        const auto ports = m_fabric.Routes().NearestPorts(message.src, message.dst);
        const bool isPlain = ports.size() == 1 && message.admittedBps == 0;
        for (const PortId port : ports)
        {
            const uint32_t island = IslandOfPort(port);
            if (island != NOWHERE)
            {
                m_islands[island].mayReplay = m_islands[island].mayReplay && isPlain;
            }
        }
        m_ofMessage[index] = IslandOfPort(ports.front());
    }
    for (uint32_t& island : m_ofMessage)
    {
        island = island != NOWHERE && m_islands[island].mayReplay ? island : NOWHERE;
    }
}

/// Say of each port all that decides what it does; what an order decides, ports have in order.
void
Islands::FindShapes()
{
    const FabricNetwork& network = m_fabric.Network();
    std::map<std::vector<uint64_t>, uint32_t> shapes;
    for (Island& island : m_islands)
    {
        if (!island.mayReplay)
        {
            continue;
        }
        std::vector<uint64_t> looks;
        for (const PortId id : island.ports)
        {
            const Port& port = network.ports[id];
            const uint64_t owner = port.isHost ? PlaceIn(island.hosts, port.host)
                                               : PlaceIn(island.switches, port.node);
            looks.insert(looks.end(),
                         {uint64_t{port.isHost},
                          owner,
                          PlaceIn(island.ports, port.peer),
                          network.RateBps(id),
                          network.ports[id].delayPs,
                          uint64_t{port.linkClass},
                          uint64_t{port.nodeClass},
                          uint64_t{port.cutsThrough}});
        }
        island.shape = shapes.emplace(std::move(looks), shapes.size()).first->second;
    }
    m_shapes = static_cast<uint32_t>(shapes.size());
}

} // namespace fabric
} // namespace ns3
