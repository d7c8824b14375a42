// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_ROUTING_H
#define FABRIC_ROUTING_H

#include "frame.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace fabric
{

struct NodeState;
struct Port;

/**
 * @brief Shortest-path routes: for each switch and destination class a group of ports.
 *
 * Hosts behind the same set of switches form one class, so the tables hold one entry per class
 * and not per host. A group is the set of ports one hop nearer, shared by all classes of a switch
 * for which it is the same. Hosts do not forward. Ports that are avoided do not count.
 */
class Routing
{
  public:
    /// Ports to choose from.
    struct Group
    {
        uint32_t first; ///< Index into the members
        uint32_t size;
    };

    static constexpr uint32_t NO_GROUP = 0xffffffff;

    Routing(const std::vector<NodeState>& nodes, const std::vector<Port>& ports);

    /**
     * @param node switch
     * @param dst dense index of the destination host
     * @return group of ports nearer to it, NO_GROUP if it cannot be reached
     */
    uint32_t GroupTo(uint32_t node, uint32_t dst) const
    {
        const uint32_t group = m_next[m_rowOfNode[node] + m_classOfHost[dst]];
        return group == LOCAL ? GroupToLocal(node, dst) : group;
    }

    Group GetGroup(uint32_t group) const
    {
        return m_groups[group];
    }

    const PortId* Members(Group group) const
    {
        return &m_members[group.first];
    }

    uint32_t NumGroups() const
    {
        return static_cast<uint32_t>(m_groups.size());
    }

    uint64_t MemoryBytes() const;

  private:
    static constexpr uint32_t LOCAL = 0xfffffffe;

    /// A switch next to a host, and the group of ports down to it.
    struct Attachment
    {
        uint32_t node;
        uint32_t group;
    };

    uint32_t GroupToLocal(uint32_t node, uint32_t dst) const
    {
        for (uint32_t i = m_firstAttachment[dst]; i < m_firstAttachment[dst + 1]; i++)
        {
            if (m_attachments[i].node == node)
            {
                return m_attachments[i].group;
            }
        }
        return NO_GROUP;
    }

    uint32_t AddGroup(const std::vector<PortId>& members);
    void BuildClasses(const std::vector<NodeState>& nodes, const std::vector<Port>& ports);
    void BuildRoutes(const std::vector<NodeState>& nodes, const std::vector<Port>& ports);

    std::vector<uint32_t> m_rowOfNode;       ///< Start of a switch's row in m_next
    std::vector<uint32_t> m_next;            ///< Group per (switch, class)
    std::vector<uint32_t> m_classOfHost;     ///< Class of each host
    std::vector<std::vector<uint32_t>> m_switchesOfClass; ///< Switches next to a class
    std::vector<uint32_t> m_firstAttachment; ///< Per host, into m_attachments; one more at the end
    std::vector<Attachment> m_attachments;
    std::vector<Group> m_groups;
    std::vector<PortId> m_members;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_ROUTING_H
