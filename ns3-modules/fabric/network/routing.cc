// SPDX-License-Identifier: GPL-2.0-only

#include "routing.h"

#include "fabric.h"

#include <map>

namespace ns3
{
namespace fabric
{

Routing::Routing(const std::vector<NodeState>& nodes, const std::vector<Port>& ports)
{
    BuildClasses(nodes, ports);
    BuildRoutes(nodes, ports);
}

uint32_t
Routing::AddGroup(const std::vector<PortId>& members)
{
    m_groups.push_back(
        {static_cast<uint32_t>(m_members.size()), static_cast<uint32_t>(members.size())});
    m_members.insert(m_members.end(), members.begin(), members.end());
    return static_cast<uint32_t>(m_groups.size() - 1);
}

void
Routing::BuildClasses(const std::vector<NodeState>& nodes, const std::vector<Port>& ports)
{
    std::map<std::vector<uint32_t>, uint32_t> classes;
    for (const auto& node : nodes)
    {
        if (node.isSwitch)
        {
            continue;
        }
        m_firstAttachment.push_back(static_cast<uint32_t>(m_attachments.size()));
        std::map<uint32_t, std::vector<PortId>> down; // ports of each neighbour switch
        for (PortId port = node.firstPort; port < node.firstPort + node.ports; port++)
        {
            if (ports[port].avoided)
            {
                continue;
            }
            down[ports[ports[port].peer].node].push_back(ports[port].peer);
        }
        std::vector<uint32_t> switches;
        for (const auto& [neighbour, members] : down)
        {
            switches.push_back(neighbour);
            m_attachments.push_back({neighbour, AddGroup(members)});
        }
        const auto [found, isNew] =
            classes.emplace(switches, static_cast<uint32_t>(classes.size()));
        if (isNew)
        {
            m_switchesOfClass.push_back(switches);
        }
        m_classOfHost.push_back(found->second);
    }
    m_firstAttachment.push_back(static_cast<uint32_t>(m_attachments.size()));
}

void
Routing::BuildRoutes(const std::vector<NodeState>& nodes, const std::vector<Port>& ports)
{
    constexpr uint32_t FAR = 0xffffffff;
    const auto nClasses = static_cast<uint32_t>(m_switchesOfClass.size());
    m_rowOfNode.assign(nodes.size(), 0);
    uint32_t rows = 0;
    for (uint32_t node = 0; node < nodes.size(); node++)
    {
        if (nodes[node].isSwitch)
        {
            m_rowOfNode[node] = rows++ * nClasses;
        }
    }
    m_next.assign(size_t{rows} * nClasses, NO_GROUP);

    std::vector<std::map<std::vector<PortId>, uint32_t>> known(nodes.size());
    std::vector<uint32_t> distance(nodes.size());
    std::vector<uint32_t> reached;
    std::vector<PortId> nearer;
    for (uint32_t hostClass = 0; hostClass < nClasses; hostClass++)
    {
        std::fill(distance.begin(), distance.end(), FAR);
        reached = m_switchesOfClass[hostClass];
        for (const auto node : reached)
        {
            distance[node] = 0;
        }
        for (size_t i = 0; i < reached.size(); i++) // breadth first
        {
            const auto& node = nodes[reached[i]];
            nearer.clear();
            for (PortId port = node.firstPort; port < node.firstPort + node.ports; port++)
            {
                const uint32_t neighbour = ports[ports[port].peer].node;
                if (!nodes[neighbour].isSwitch || ports[port].avoided)
                {
                    continue;
                }
                if (distance[neighbour] == FAR)
                {
                    distance[neighbour] = distance[reached[i]] + 1;
                    reached.push_back(neighbour);
                }
                else if (distance[neighbour] + 1 == distance[reached[i]])
                {
                    nearer.push_back(port);
                }
            }
            uint32_t& next = m_next[m_rowOfNode[reached[i]] + hostClass];
            if (distance[reached[i]] == 0)
            {
                next = LOCAL;
                continue;
            }
            const auto [found, isNew] = known[reached[i]].emplace(nearer, 0);
            if (isNew)
            {
                found->second = AddGroup(nearer);
            }
            next = found->second;
        }
    }
}

uint64_t
Routing::MemoryBytes() const
{
    return m_next.size() * sizeof(uint32_t) + m_members.size() * sizeof(PortId) +
           m_groups.size() * sizeof(Group) + m_attachments.size() * sizeof(Attachment) +
           (m_classOfHost.size() + m_firstAttachment.size() + m_rowOfNode.size()) *
               sizeof(uint32_t);
}

} // namespace fabric
} // namespace ns3
