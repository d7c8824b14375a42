// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_LEAF_SPINE_H
#define FABRIC_LEAF_SPINE_H

#include "switch-context.h"

#include <span>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief A network as leaves and spines, for programs that are made for no other.
 *
 * Leaves have hosts and are joined to spines alone, spines to leaves alone; a host is below one
 * leaf. Parallel links are allowed, and leaves that not every spine is joined to.
 */
class LeafSpine
{
  public:
    LeafSpine() = default;

    /// Abort in one line that begins with `who` unless the network is such a one.
    LeafSpine(const SwitchContext& context, const std::string& who);

    /// @return the leaf above a host (dense indices)
    uint32_t LeafOf(uint32_t host) const
    {
        return m_leafOfHost[host];
    }

    bool IsLeaf(uint32_t node) const
    {
        return m_isLeaf[node];
    }

    /// @return whether a port is one of a leaf, towards a spine
    bool IsUplink(PortId port) const
    {
        return m_uplink[port] != NO_PORT;
    }

    /// @return place of such a port among those of its leaf
    uint32_t UplinkIndex(PortId port) const
    {
        return m_uplink[port];
    }

    /// @return most uplinks of a leaf
    uint32_t MostUplinks() const
    {
        return m_mostUplinks;
    }

    /**
     * @param node a switch
     * @param dst host (dense index)
     * @return uplinks to choose from if the node is a leaf and the host below another, else none
     */
    std::span<const PortId> UplinksTo(uint32_t node, uint32_t dst) const;

    // ---- tables of a program: an entry for each pair of leaves, or for each uplink of a leaf
    // towards another

    size_t Pairs() const
    {
        return size_t{m_leaves} * m_leaves;
    }

    size_t Pair(uint32_t leaf, uint32_t other) const
    {
        return size_t{m_leafIndex[leaf]} * m_leaves + m_leafIndex[other];
    }

    size_t Places() const
    {
        return Pairs() * m_mostUplinks;
    }

    size_t Place(uint32_t leaf, uint32_t other, uint32_t uplink) const
    {
        return Pair(leaf, other) * m_mostUplinks + uplink;
    }

  private:
    const SwitchContext* m_context{nullptr};
    std::vector<uint32_t> m_leafOfHost;
    std::vector<bool> m_isLeaf;        ///< Per node
    std::vector<uint32_t> m_uplink;    ///< Per port: its place, NO_PORT if it is none
    std::vector<uint32_t> m_leafIndex; ///< Per node: leaves before it
    uint32_t m_leaves{0};
    uint32_t m_mostUplinks{0};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_LEAF_SPINE_H
