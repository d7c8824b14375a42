// SPDX-License-Identifier: GPL-2.0-only

#include "annealing.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using namespace fabric;

namespace
{

/// @return the least upper neighbour of a switch, itself if it has none (dense indices)
uint32_t
PodOf(const SwitchContext& context, uint32_t node)
{
    const NodeState& state = context.GetNode(node);
    uint32_t pod = node;
    for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
    {
        const Port& peer = context.GetPort(context.GetPort(port).peer);
        const bool isAbove = !peer.isHost && context.GetNode(peer.node).tier > state.tier;
        pod = isAbove && (pod == node || peer.node < pod) ? peer.node : pod;
    }
    return pod;
}

} // namespace

Annealing::Annealing(const SwitchContext& context)
    : m_context(context),
      m_draws(context.CursorOfNode(0, RandomUse::PLACEMENT)),
      m_ways(context.NumHosts()),
      m_lastOf(context.NumHosts(), context.NumNodes()),
      m_podOf(context.NumHosts()),
      m_loadBps(context.NumPorts())
{
    for (PortId port = 0; port < context.NumPorts(); port++)
    {
        const Port& here = context.GetPort(port);
        if (here.isHost && m_lastOf[here.host] == context.NumNodes()) // by its first link
        {
            m_lastOf[here.host] = context.GetPort(here.peer).node;
            m_podOf[here.host] = PodOf(context, m_lastOf[here.host]);
            auto& pod = m_pods[m_podOf[here.host]];
            m_ways[here.host] = static_cast<uint32_t>(pod.size());
            pod.push_back(here.host);
            m_lasts[m_lastOf[here.host]].push_back(here.host);
        }
    }
}

void
Annealing::Add(const std::vector<PortId>& links, double rateBps)
{
    for (const PortId link : links)
    {
        const auto carriesBps = static_cast<double>(m_context.RateBps(link));
        m_excessBps -= std::max(0.0, m_loadBps[link] - carriesBps);
        m_loadBps[link] += rateBps;
        m_excessBps += std::max(0.0, m_loadBps[link] - carriesBps);
    }
}

void
Annealing::SwapWays(uint32_t a, uint32_t b, const std::vector<Flow>& flows, const Walk& walk)
{
    std::swap(m_ways[a], m_ways[b]);
    for (const uint32_t host : {a, b})
    {
        for (const size_t flow : m_flowsTo[host])
        {
            Add(m_links[flow], -flows[flow].demandBps);
            m_links[flow] = walk(flow, m_ways[host]);
            Add(m_links[flow], flows[flow].demandBps);
        }
    }
}

/// @return another host, or the same: of all, of its pod, or of its last switch
uint32_t
Annealing::Partner(uint32_t host)
{
    const uint32_t kind = m_draws.Below(3);
    if (kind == 0)
    {
        return m_draws.Below(m_context.NumHosts());
    }
    const auto& hosts = kind == 1 ? m_pods[m_podOf[host]] : m_lasts[m_lastOf[host]];
    return hosts[m_draws.Below(static_cast<uint32_t>(hosts.size()))];
}

void
Annealing::Improve(const std::vector<Flow>& flows,
                   const Walk& walk,
                   uint32_t iterations,
                   double factor)
{
    m_loadBps.assign(m_context.NumPorts(), 0);
    m_excessBps = 0;
    m_flowsTo.assign(m_context.NumHosts(), {});
    m_links.clear();
    for (const Flow& flow : flows)
    {
        m_flowsTo[flow.dst].push_back(m_links.size());
        m_links.push_back(walk(m_links.size(), m_ways[flow.dst]));
        Add(m_links.back(), flow.demandBps);
    }
    double unitBps = 1;
    for (PortId port = 0; port < m_context.NumPorts(); port++)
    {
        const bool isHost = m_context.GetPort(port).isHost;
        unitBps = std::max(unitBps, isHost ? static_cast<double>(m_context.RateBps(port)) : 0);
    }
    double leastBps = m_excessBps;
    std::vector<uint32_t> best = m_ways;
    const double enoughBps = 1e-6 * unitBps; // rounding
    for (uint32_t heat = iterations; heat > 0 && leastBps > enoughBps; heat--)
    {
        const uint32_t host = m_draws.Below(m_context.NumHosts());
        const uint32_t partner = Partner(host);
        if (m_ways[host] == m_ways[partner])
        {
            continue;
        }
        const double beforeBps = m_excessBps;
        SwapWays(host, partner, flows, walk);
        const double growth = (m_excessBps - beforeBps) / unitBps;
        const double chance = std::exp(-factor * std::max(0.0, growth) * iterations / heat);
        if (m_draws.Real() >= chance)
        {
            SwapWays(host, partner, flows, walk);
        }
        else if (m_excessBps < leastBps - enoughBps)
        {
            leastBps = m_excessBps;
            best = m_ways;
        }
    }
    m_ways = best;
}

} // namespace ns3
