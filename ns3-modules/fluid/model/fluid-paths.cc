// SPDX-License-Identifier: GPL-2.0-only

#include "fluid-paths.h"

#include "ns3/counter-random.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_map>

namespace ns3
{

using namespace fabric;

FluidPaths::FluidPaths(const RunView& fabric, bool mayMerge)
    : m_fabric(fabric)
{
    const PortId ports = fabric.Network().NumPorts();
    for (PortId port = 0; port < ports; port++)
    {
        m_linkOf.push_back(port);
        m_members.push_back({port});
    }
    if (mayMerge)
    {
        Merge();
    }
    m_members.emplace_back(); // what leads nowhere
}

std::vector<double>
FluidPaths::Capacities() const
{
    constexpr double BITS_PS = 8e12;
    std::vector<double> capacities;
    for (const auto& members : m_members)
    {
        const bool leads = !members.empty() && !m_fabric.Network().ports[members[0]].down;
        capacities.push_back(leads ? m_fabric.Network().RateBps(members[0]) / BITS_PS : 0);
    }
    return capacities;
}

bool
FluidPaths::IsSprayed(uint32_t message) const
{
    return m_fabric.PathOf(message).empty();
}

/// @return ports of its host that a sprayed message uses, as long as they lead anywhere
std::vector<PortId>
FluidPaths::FirstPorts(uint32_t index) const
{
    const Message& message = m_fabric.Messages()[index];
    const auto nearest = m_fabric.Routes().NearestPorts(message.src, message.dst);
    std::vector<PortId> ports;
    for (const PortId port : nearest)
    {
        if (m_fabric.Routes().IsNearest(port, message.dst))
        {
            ports.push_back(port);
        }
    }
    // Where another port has become the nearest, what a message takes alone would not be known.
    return ports.empty() ? nearest : ports;
}

void
FluidPaths::Spread(uint32_t node, uint32_t dst, double share, Shares& shares) const
{
    const Routing& routing = m_fabric.Routes().InForce();
    const uint32_t nextHop = routing.NextHopTo(node, dst);
    if (nextHop == Routing::NO_GROUP)
    {
        return;
    }
    const auto ports = routing.Ports(nextHop);
    for (const PortId port : ports)
    {
        shares[port] += share / static_cast<double>(ports.size());
    }
}

/// Level by level, so that what several paths bring to a switch goes on together.
std::vector<FluidPaths::Shares>
FluidPaths::HopSharesOf(uint32_t index) const
{
    const FabricNetwork& network = m_fabric.Network();
    const uint32_t dst = m_fabric.Messages()[index].dst;
    const auto first = FirstPorts(index);
    std::vector<Shares> hops(1);
    std::map<uint32_t, double> at; // share that comes to each switch
    for (const PortId port : first)
    {
        hops[0][port] = 1.0 / first.size();
        at[network.ports[network.ports[port].peer].node] += 1.0 / first.size();
    }
    while (!at.empty())
    {
        Shares next;
        for (const auto& [node, share] : at)
        {
            Spread(node, dst, share, next);
        }
        at.clear();
        for (const auto& [port, share] : next)
        {
            const Port& peer = network.ports[network.ports[port].peer];
            if (!peer.isHost)
            {
                at[peer.node] += share;
            }
        }
        if (!next.empty())
        {
            hops.push_back(std::move(next));
        }
    }
    return hops;
}

FluidPaths::Shares
FluidPaths::SharesOf(uint32_t index) const
{
    Shares all;
    for (const Shares& hop : HopSharesOf(index))
    {
        for (const auto& [port, share] : hop)
        {
            all[port] += share;
        }
    }
    return all;
}

/// Links with the same column of shares over capacity are one.
void
FluidPaths::Merge()
{
    const uint32_t messages = m_fabric.Messages().Size();
    std::unordered_map<uint64_t, bool> known; // by first ports and class of the destination
    std::vector<uint64_t> column(m_linkOf.size(), 0);
    for (uint32_t message = 0; message < messages; message++)
    {
        if (m_fabric.Messages()[message].bytes == 0)
        {
            continue;
        }
        if (!IsSprayed(message))
        {
            return;
        }
        const uint64_t ends =
            (uint64_t{m_fabric.Messages()[message].src} << 32) | m_fabric.Messages()[message].dst;
        if (!known.emplace(ends, true).second)
        {
            continue;
        }
        for (const auto& [port, share] : SharesOf(message))
        {
            const double perPs = share / static_cast<double>(m_fabric.Network().RateBps(port));
            column[port] += Mix64(Mix64(ends) ^ std::bit_cast<uint64_t>(perPs));
        }
    }
    std::unordered_map<uint64_t, uint32_t> linkOf;
    m_members.clear();
    for (PortId port = 0; port < m_linkOf.size(); port++)
    {
        const auto [found, isNew] =
            linkOf.emplace(column[port], static_cast<uint32_t>(m_members.size()));
        if (isNew)
        {
            m_members.emplace_back();
        }
        m_linkOf[port] = found->second;
        m_members[found->second].push_back(port);
    }
}

std::vector<MaxMin::Use>
FluidPaths::UsesOf(uint32_t message)
{
    const FabricNetwork& network = m_fabric.Network();
    const uint32_t nowhere = NumLinks() - 1;
    std::vector<MaxMin::Use> uses;
    const auto path = m_fabric.PathOf(message);
    if (!path.empty())
    {
        for (const PortId port : path)
        {
            uses.push_back({m_linkOf[port], 1.0});
        }
        const bool arrives = network.ports[network.ports[path.back()].peer].isHost;
        return arrives ? uses : std::vector<MaxMin::Use>{{nowhere, 1.0}};
    }
    std::vector<uint32_t> links;
    double arrived = 0;
    for (const auto& [port, share] : SharesOf(message))
    {
        arrived += network.ports[network.ports[port].peer].isHost ? share : 0;
        const uint32_t link = m_linkOf[port];
        if (m_members[link][0] == port)
        {
            uses.push_back({link, share});
        }
    }
    return arrived > 1 - 1e-9 ? uses : std::vector<MaxMin::Use>{{nowhere, 1.0}};
}

std::vector<FluidHopLinks>
FluidPaths::LinksOf(uint32_t message) const
{
    constexpr double BITS_PS = 8e12;
    std::vector<FluidHopLinks> found;
    for (const Shares& hop : IsSprayed(message) ? HopSharesOf(message) : std::vector<Shares>{})
    {
        FluidHopLinks links{.bytesPerPs = std::numeric_limits<double>::infinity()};
        for (const auto& [port, share] : hop)
        {
            const uint64_t rateBps = m_fabric.Network().RateBps(port);
            links.areAlike &=
                links.links == 0 || (rateBps == links.rateBps && share == hop.begin()->second);
            links.links++;
            links.rateBps = std::max(links.rateBps, rateBps);
            links.bytesPerPs =
                std::min(links.bytesPerPs, static_cast<double>(rateBps) / BITS_PS / share);
        }
        found.push_back(links);
    }
    return found;
}

std::vector<FluidHop>
FluidPaths::HopsOf(uint32_t index) const
{
    const FabricNetwork& network = m_fabric.Network();
    const Message& message = m_fabric.Messages()[index];
    auto path = m_fabric.PathOf(index);
    if (path.empty() || !network.ports[network.ports[path.back()].peer].isHost)
    {
        path = {m_fabric.Routes().NearestPorts(message.src, message.dst).at(0)};
        while (!network.ports[network.ports[path.back()].peer].isHost)
        {
            const Routing& routing = m_fabric.Routes().Nominal();
            const uint32_t node = network.ports[network.ports[path.back()].peer].node;
            path.push_back(routing.Ports(routing.NextHopTo(node, message.dst))[0]);
        }
    }
    std::vector<FluidHop> hops;
    for (const PortId port : path)
    {
        const Port& peer = network.ports[network.ports[port].peer];
        const auto& classes = m_fabric.Options().nodeClasses;
        const uint64_t processingDelayPs =
            peer.isHost ? 0 : classes[peer.nodeClass].processingDelayPs;
        hops.push_back({network.RateBps(port), network.ports[port].delayPs, processingDelayPs});
    }
    return hops;
}

} // namespace ns3
