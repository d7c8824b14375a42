// SPDX-License-Identifier: GPL-2.0-only

#include "round-trips.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

RoundTrips::RoundTrips(const FabricNetwork& network,
                       const RouteTable& routes,
                       const std::vector<SwitchModel>& switches,
                       uint64_t framing,
                       const RoundTrips* first)
    : m_network(network),
      m_routes(routes),
      m_switches(switches),
      m_framingBytes(framing)
{
    if (first)
    {
        m_isUniform = first->m_isUniform;
        m_fastestBps = first->m_fastestBps;
        return;
    }
    FindUniform();
    FindFastest();
}

/// Find out whether all links between switches are alike, all links of hosts, and all switches.
void
RoundTrips::FindUniform()
{
    const Port* ofSwitches = nullptr;
    const Port* ofHosts = nullptr; // at the switch
    for (PortId id = 0; m_isUniform && id < m_network.NumPorts(); id++)
    {
        const Port& port = m_network.ports[id];
        if (port.isHost)
        {
            continue;
        }
        const Port*& like = m_network.ports[port.peer].isHost ? ofHosts : ofSwitches;
        like = like ? like : &port;
        m_isUniform = port.delayPs == like->delayPs && port.rate == like->rate &&
                      port.nodeClass == like->nodeClass;
    }
}

/// Find the fastest port of each node, if a switch forwards frames before their end is in.
void
RoundTrips::FindFastest()
{
    const auto cutsThrough = [](const SwitchModel& its) { return its.cutThroughBytes.has_value(); };
    if (std::ranges::none_of(m_switches, cutsThrough))
    {
        return;
    }
    for (const NodeState& node : m_network.nodes)
    {
        uint64_t fastestBps = 0;
        for (PortId port = node.firstPort; port < node.firstPort + node.ports; port++)
        {
            fastestBps = std::max(fastestBps, m_network.FirstRateBps(port));
        }
        m_fastestBps.push_back(fastestBps);
    }
}

uint64_t
RoundTrips::LongestPs(PortId port, uint32_t dst, const Frames& frames) const
{
    const Port& end = m_network.ports[m_network.ports[port].peer];
    const uint64_t firstPs = LinkPs(port, frames);
    if (end.isHost)
    {
        return firstPs;
    }
    const Routing& routing = m_routes.Nominal();
    NS_ABORT_MSG_IF(routing.Distance(end.node, dst) == Routing::FAR,
                    "flows: a port of host " << m_network.nodes[m_network.ports[port].node].id
                                             << " has no path to host "
                                             << m_network.nodes[m_network.hosts[dst].node].id);
    if (m_isUniform) // a single path is soon followed, and needs no memory
    {
        return firstPs + ToHostPs(LastSwitches(end.node, dst, frames), dst, frames);
    }
    const auto [known, isNew] = m_known.try_emplace({end.node, routing.ClassOf(dst), frames});
    if (isNew)
    {
        known->second = LastSwitches(end.node, dst, frames);
    }
    return firstPs + ToHostPs(known->second, dst, frames);
}

/// @return the longest round trip from where the search began, over its last links [ps]
uint64_t
RoundTrips::ToHostPs(const Reached& lastSwitches, uint32_t dst, const Frames& frames) const
{
    const Routing& routing = m_routes.Nominal();
    uint64_t longestPs = 0;
    for (const auto& [node, ps] : lastSwitches)
    {
        for (const PortId link : routing.Ports(routing.NextHopTo(node, dst)))
        {
            longestPs = std::max(longestPs, ps + LinkPs(link, frames));
        }
    }
    return longestPs;
}

/// @return the switches next to a destination that paths from a switch lead to
RoundTrips::Reached
RoundTrips::LastSwitches(uint32_t node, uint32_t dst, const Frames& frames) const
{
    const Routing& routing = m_routes.Nominal();
    m_placeOf.resize(m_network.nodes.size());
    Reached here{{node, 0}};
    for (uint32_t links = routing.Distance(node, dst); links > 1; links--)
    {
        Reached next;
        for (const auto& [from, ps] : here)
        {
            const auto ways = routing.Ports(routing.NextHopTo(from, dst));
            for (const PortId link : m_isUniform ? ways.first(1) : ways)
            {
                const uint32_t to = m_network.ports[m_network.ports[link].peer].node;
                uint32_t& place = m_placeOf[to];
                if (place >= next.size() || next[place].first != to)
                {
                    place = static_cast<uint32_t>(next.size());
                    next.emplace_back(to, 0);
                }
                next[place].second = std::max(next[place].second, ps + LinkPs(link, frames));
            }
        }
        here = std::move(next);
    }
    return here;
}

/// @return there with data and back with its acknowledgement, over one link [ps]
uint64_t
RoundTrips::LinkPs(PortId link, const Frames& frames) const
{
    return OneWayPs(link, frames.dataBytes) +
           OneWayPs(m_network.ports[link].peer, frames.ackBytes);
}

/// @return until a frame may leave the node at the end of a link, or all of it is at a host [ps]
uint64_t
RoundTrips::OneWayPs(PortId egress, uint32_t bytes) const
{
    const Port& port = m_network.ports[egress];
    const Port& end = m_network.ports[port.peer];
    const RateClass& rate = m_network.FirstRate(egress);
    uint64_t seenBytes = bytes;
    uint64_t processingPs = 0;
    if (!end.isHost)
    {
        const SwitchModel& next = m_switches[end.nodeClass];
        processingPs = next.processingDelayPs;
        if (next.cutThroughBytes && rate.rateBps >= m_fastestBps[end.node])
        {
            seenBytes = std::min<uint64_t>(*next.cutThroughBytes, bytes);
        }
    }
    return rate.Ps(m_framingBytes + seenBytes) + port.delayPs + processingPs;
}

} // namespace fabric
} // namespace ns3
