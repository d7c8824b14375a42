// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLUID_PATHS_H
#define FLUID_PATHS_H

#include "idle-time.h"
#include "max-min.h"

#include "ns3/event-engine.h"

#include <cstdint>
#include <map>
#include <vector>

namespace ns3
{

/**
 * @ingroup fluid
 * @brief Which links each message of a fabric takes, and how much of it each of them carries.
 *
 * A message that keeps to one path takes the path that the packet engine would give it: the same
 * forwarding policy, the same draws. All others are split evenly over the shortest paths, at the
 * ports of their host and at each switch. Links that carry the same part of every message are one
 * link here, because they are full at the same moment; only where no message keeps to one path
 * and no link changes.
 *
 * **Not modelled** Weights of `ns3::WeightedHash` for messages that are sprayed.
 */
class FluidPaths
{
  public:
    /// @param mayMerge whether links stay as they are
    FluidPaths(const fabric::RunView& fabric, bool mayMerge);

    /// @return capacity of each link, 0 if it is cut; the last one is 0 [byte/ps]
    std::vector<double> Capacities() const;

    /// @return what a message takes of which links; of the last one alone if it has no path now
    std::vector<MaxMin::Use> UsesOf(uint32_t message);

    /// @return links of its path, or of the first of its shortest ones
    std::vector<FluidHop> HopsOf(uint32_t message) const;

    /// @return links of all hops of a message that is split, as they are now; none of another one
    std::vector<FluidHopLinks> LinksOf(uint32_t message) const;

    /// @return ports that are one link
    const std::vector<fabric::PortId>& Members(uint32_t link) const
    {
        return m_members[link];
    }

    uint32_t NumLinks() const
    {
        return static_cast<uint32_t>(m_members.size());
    }

  private:
    /// Part of what comes to a switch on its way to a class of hosts that each port carries.
    using Shares = std::map<fabric::PortId, double>;

    bool IsSprayed(uint32_t message) const;
    std::vector<fabric::PortId> FirstPorts(uint32_t message) const;
    std::vector<Shares> HopSharesOf(uint32_t message) const;
    Shares SharesOf(uint32_t message) const;
    void Spread(uint32_t node, uint32_t dst, double share, Shares& shares) const;
    void Merge();

    const fabric::RunView& m_fabric;
    std::vector<uint32_t> m_linkOf;                     ///< Per port
    std::vector<std::vector<fabric::PortId>> m_members; ///< Per link; none of the last
};

} // namespace ns3

#endif // FLUID_PATHS_H
