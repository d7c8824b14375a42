// SPDX-License-Identifier: GPL-2.0-only

#include "routing.h"

#include "fabric-state.h"

namespace ns3
{
namespace fabric
{

Routing::Routing(const std::vector<NodeState>& nodes, const Port* ports)
{
    BuildClasses(nodes, ports);
    BuildRoutes(nodes, ports);
}

/// Remember a set of ports. @return the next hop that it is: the port itself if it is the only one
uint32_t
Routing::AddNextHop(const std::vector<PortId>& members)
{
    const auto group = static_cast<uint32_t>(m_groups.size());
    m_groups.push_back(
        {static_cast<uint32_t>(m_members.size()), static_cast<uint32_t>(members.size())});
    m_members.insert(m_members.end(), members.begin(), members.end());
    if (members.size() > 1)
    {
        return group;
    }
    const PortId port = members[0];
    if (port >= m_groupOfPort.size())
    {
        m_groupOfPort.resize(port + 1, NO_GROUP);
    }
    m_groupOfPort[port] = group;
    return DIRECT | port;
}

void
Routing::BuildClasses(const std::vector<NodeState>& nodes, const Port* ports)
{
    std::map<std::vector<uint32_t>, uint32_t> classes;
    for (const auto& node : nodes)
    {
        if (node.isSwitch)
        {
            continue;
        }
        const auto firstAttachment = static_cast<uint32_t>(m_attachments.size());
        std::map<uint32_t, std::vector<PortId>> down; // ports of each neighbour switch
        for (PortId port = node.firstPort; port < node.firstPort + node.ports; port++)
        {
            if (!ports[port].avoided)
            {
                down[ports[ports[port].peer].node].push_back(ports[port].peer);
            }
        }
        std::vector<uint32_t> switches;
        for (const auto& [neighbour, members] : down)
        {
            switches.push_back(neighbour);
            m_attachments.push_back({neighbour, AddNextHop(members)});
        }
        const auto [found, isNew] =
            classes.emplace(switches, static_cast<uint32_t>(classes.size()));
        if (isNew)
        {
            m_switchesOfClass.push_back(switches);
        }
        const bool isAttached = firstAttachment < m_attachments.size();
        m_destinations.push_back({found->second,
                                  isAttached ? m_attachments[firstAttachment].node : 0xffffffff,
                                  isAttached ? m_attachments[firstAttachment].nextHop : NO_GROUP,
                                  firstAttachment});
    }
    m_destinations.push_back({0, 0, NO_GROUP, static_cast<uint32_t>(m_attachments.size())});
}

void
Routing::BuildRoutes(const std::vector<NodeState>& nodes, const Port* ports)
{
    m_rowOfNode.assign(nodes.size(), 0);
    uint32_t rows = 0;
    for (uint32_t node = 0; node < nodes.size(); node++)
    {
        if (nodes[node].isSwitch)
        {
            m_rowOfNode[node] = rows++ * NumClasses();
        }
    }
    m_next.assign(size_t{rows} * NumClasses(), NO_GROUP);
    m_distance.assign(m_next.size(), FAR);

    Search search;
    for (const auto& node : nodes)
    {
        search.firstHop.push_back(static_cast<uint32_t>(search.hops.size()));
        for (PortId port = node.firstPort; port < node.firstPort + node.ports; port++)
        {
            const uint32_t neighbour = ports[ports[port].peer].node;
            if (node.isSwitch && nodes[neighbour].isSwitch && !ports[port].avoided)
            {
                search.hops.push_back({port, neighbour});
            }
        }
    }
    search.firstHop.push_back(static_cast<uint32_t>(search.hops.size()));
    search.distance.assign(nodes.size(), FAR);
    search.known.resize(nodes.size());
    search.last.assign(nodes.size(), nullptr);
    for (uint32_t hostClass = 0; hostClass < NumClasses(); hostClass++)
    {
        BuildClass(hostClass, search);
    }
}

/// Find the next hops of all switches to one class, breadth first from the switches next to it.
void
Routing::BuildClass(uint32_t hostClass, Search& search)
{
    auto& distance = search.distance;
    auto& reached = search.reached;
    reached = m_switchesOfClass[hostClass];
    for (const auto node : reached)
    {
        distance[node] = 0;
    }
    std::vector<PortId> nearer;
    for (size_t i = 0; i < reached.size(); i++)
    {
        const uint32_t node = reached[i];
        nearer.clear();
        for (uint32_t hop = search.firstHop[node]; hop < search.firstHop[node + 1]; hop++)
        {
            const auto [port, neighbour] = search.hops[hop];
            if (distance[neighbour] == FAR)
            {
                distance[neighbour] = distance[node] + 1;
                reached.push_back(neighbour);
            }
            else if (distance[neighbour] + 1 == distance[node])
            {
                nearer.push_back(port);
            }
        }
        m_next[m_rowOfNode[node] + hostClass] =
            distance[node] == 0 ? LOCAL : NextHopOver(node, nearer, search);
    }
    for (const auto node : reached)
    {
        m_distance[m_rowOfNode[node] + hostClass] = distance[node];
        distance[node] = FAR;
    }
}

/// @return the next hop of a switch over all these ports; most classes share it with the one before
uint32_t
Routing::NextHopOver(uint32_t node, const std::vector<PortId>& nearer, Search& search)
{
    const auto*& last = search.last[node];
    if (!last || last->first != nearer)
    {
        const auto [found, isNew] = search.known[node].emplace(nearer, 0);
        if (isNew)
        {
            found->second = AddNextHop(nearer);
        }
        last = &*found;
    }
    return last->second;
}

uint32_t
Routing::NextHopToLocal(uint32_t node, uint32_t dst) const
{
    const uint32_t end = m_destinations[dst + 1].firstAttachment;
    for (uint32_t i = m_destinations[dst].firstAttachment; i < end; i++)
    {
        if (m_attachments[i].node == node)
        {
            return m_attachments[i].nextHop;
        }
    }
    return NO_GROUP;
}

uint32_t
Routing::Distance(uint32_t node, uint32_t dst) const
{
    const uint32_t toLast = m_distance[m_rowOfNode[node] + m_destinations[dst].hostClass];
    return toLast == FAR ? FAR : toLast + 1;
}

uint64_t
Routing::MemoryBytes() const
{
    return m_next.size() * (sizeof(uint32_t) + sizeof(uint16_t)) +
           m_members.size() * sizeof(PortId) + m_groups.size() * sizeof(Group) +
           m_attachments.size() * sizeof(Attachment) + m_destinations.size() * sizeof(Destination) +
           (m_groupOfPort.size() + m_rowOfNode.size()) * sizeof(uint32_t);
}

} // namespace fabric
} // namespace ns3
