// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_ROUTING_H
#define FABRIC_ROUTING_H

#include "ns3/frame.h"

#include <cstdint>
#include <map>
#include <span>
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
    static constexpr uint32_t FAR = 0xffff;      ///< Distance of what cannot be reached
    static constexpr uint32_t DIRECT = 1U << 31; ///< In a next hop: a port, not a group

    Routing(const std::vector<NodeState>& nodes, const Port* ports);

    /**
     * @param node switch
     * @param dst dense index of the destination host
     * @return the next hop to it: DIRECT and the only port, a group, or NO_GROUP if there is none
     */
    uint32_t NextHopTo(uint32_t node, uint32_t dst) const
    {
        const Destination& to = m_destinations[dst];
        const uint32_t nextHop = m_next[m_rowOfNode[node] + to.hostClass];
        if (nextHop != LOCAL)
        {
            return nextHop;
        }
        return to.node == node ? to.nextHop : NextHopToLocal(node, dst);
    }

    /// @return whether a next hop is a single port
    static bool IsDirect(uint32_t nextHop)
    {
        return (nextHop & DIRECT) && nextHop != NO_GROUP;
    }

    /// @return ports to choose from at a next hop that exists, the only port included
    Group GroupOf(uint32_t nextHop) const
    {
        return m_groups[IsDirect(nextHop) ? m_groupOfPort[nextHop & ~DIRECT] : nextHop];
    }

    Group GetGroup(uint32_t group) const
    {
        return m_groups[group];
    }

    const PortId* Members(Group group) const
    {
        return &m_members[group.first];
    }

    /// @return the ports of GroupOf
    std::span<const PortId> Ports(uint32_t nextHop) const
    {
        const Group group = GroupOf(nextHop);
        return {Members(group), group.size};
    }

    uint32_t NumGroups() const
    {
        return static_cast<uint32_t>(m_groups.size());
    }

    /// @return links from a switch to a host, FAR if there is none
    uint32_t Distance(uint32_t node, uint32_t dst) const;

    /// @return classes of destinations
    uint32_t NumClasses() const
    {
        return static_cast<uint32_t>(m_switchesOfClass.size());
    }

    /// @return class of a destination host
    uint32_t ClassOf(uint32_t dst) const
    {
        return m_destinations[dst].hostClass;
    }

    uint64_t MemoryBytes() const;

  private:
    static constexpr uint32_t LOCAL = 0xfffffffe;

    /// A host as a destination, with the next hop down to it from the first switch next to it.
    struct Destination
    {
        uint32_t hostClass;
        uint32_t node;
        uint32_t nextHop;
        uint32_t firstAttachment; ///< Into m_attachments; those of the next host end them
    };

    /// What the next hops of all classes share while they are found: a switch is reached once for
    /// each class.
    struct Search
    {
        /// A link from one switch to another that is not avoided.
        struct Hop
        {
            PortId port;
            uint32_t neighbour;
        };

        using NextHops = std::map<std::vector<PortId>, uint32_t>; ///< By their ports

        std::vector<uint32_t> firstHop; ///< Per node, and one more at the end
        std::vector<Hop> hops;
        std::vector<uint16_t> distance;                ///< Per node; FAR between two classes
        std::vector<uint32_t> reached;                 ///< Nearest first
        std::vector<NextHops> known;                   ///< Per node: those found so far
        std::vector<const NextHops::value_type*> last; ///< Per node: that of the class before
    };

    /// A switch next to a host, and the next hop down to it.
    struct Attachment
    {
        uint32_t node;
        uint32_t nextHop;
    };

    uint32_t NextHopToLocal(uint32_t node, uint32_t dst) const;
    uint32_t AddNextHop(const std::vector<PortId>& members);
    void BuildClasses(const std::vector<NodeState>& nodes, const Port* ports);
    void BuildRoutes(const std::vector<NodeState>& nodes, const Port* ports);
    void BuildClass(uint32_t hostClass, Search& search);
    uint32_t NextHopOver(uint32_t node, const std::vector<PortId>& nearer, Search& search);

    std::vector<uint32_t> m_rowOfNode;       ///< Start of a switch's row in m_next
    std::vector<uint32_t> m_next;            ///< Next hop per (switch, class)
    std::vector<uint16_t> m_distance;        ///< Links to the switches of a class, same order
    std::vector<Destination> m_destinations; ///< Per host; one more at the end
    std::vector<Attachment> m_attachments;
    std::vector<Group> m_groups;
    std::vector<PortId> m_members;
    std::vector<uint32_t> m_groupOfPort; ///< Of a port that is the only one of a group
    std::vector<std::vector<uint32_t>> m_switchesOfClass; ///< Switches next to a class
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_ROUTING_H
