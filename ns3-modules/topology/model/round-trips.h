// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_ROUND_TRIPS_H
#define FABRIC_ROUND_TRIPS_H

#include "fabric-network.h"
#include "route-table.h"
#include "switch-model.h"

#include <map>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Unloaded round trips in the network as built, over the longest of the paths.
 *
 * A message may take any path with the fewest links. Where cables differ in length so do the round
 * trips of these paths; a window must be enough for the longest one. Failures, and links that
 * become slower, change nothing.
 */
class RoundTrips
{
  public:
    /// What crosses the path and comes back [byte], without framing.
    struct Frames
    {
        uint32_t dataBytes;
        uint32_t ackBytes;
        auto operator<=>(const Frames&) const = default;
    };

    /**
     * @param framing what a frame takes of a wire beyond its size [byte]
     * @param first that of the first of several engines, null for that one
     */
    RoundTrips(const FabricNetwork& network,
               const RouteTable& routes,
               const std::vector<SwitchModel>& switches,
               uint64_t framing,
               const RoundTrips* first);

    /**
     * @param port of the source host
     * @param dst dense index of the destination host
     * @return the longest round trip of a full data frame and its acknowledgement [ps]
     */
    uint64_t LongestPs(PortId port, uint32_t dst, const Frames& frames) const;

  private:
    /// A switch, and the longest round trip to it from where a search began [ps].
    using Reached = std::vector<std::pair<uint32_t, uint64_t>>;

    /// Messages of one way share all links but the first and the last one.
    struct Way
    {
        uint32_t node;      ///< First switch
        uint32_t hostClass; ///< Of the destination
        Frames frames;
        auto operator<=>(const Way&) const = default;
    };

    Reached LastSwitches(uint32_t node, uint32_t dst, const Frames& frames) const;
    uint64_t ToHostPs(const Reached& lastSwitches, uint32_t dst, const Frames& frames) const;
    uint64_t LinkPs(PortId link, const Frames& frames) const;
    uint64_t OneWayPs(PortId egress, uint32_t bytes) const;
    void FindUniform();
    void FindFastest();

    const FabricNetwork& m_network;
    const RouteTable& m_routes;
    const std::vector<SwitchModel>& m_switches;
    const uint64_t m_framingBytes;
    bool m_isUniform{true};             ///< So any path is the longest one
    std::vector<uint64_t> m_fastestBps; ///< Of the ports of a node; empty without cut-through
    mutable std::map<Way, Reached> m_known; ///< Last switches, in a network that is not uniform
    mutable std::vector<uint32_t> m_placeOf; ///< Of a node among those that a search has reached
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_ROUND_TRIPS_H
