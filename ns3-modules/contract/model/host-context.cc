// SPDX-License-Identifier: GPL-2.0-only

#include "host-context.h"

#include <algorithm>
#include <span>

namespace ns3
{
namespace fabric
{

HostContext::HostContext(EngineState& state, HostActions& actions, uint32_t endpoint, uint32_t host)
    : m_state(&state),
      m_actions(&actions),
      m_messages(state.messages.Data()),
      m_firstPort(state.network.hosts[host].firstPort),
      m_numPorts(state.network.hosts[host].ports),
      m_endpoint(endpoint),
      m_host(host)
{
}

int64_t
HostContext::HostId() const
{
    return m_state->network.nodes[m_state->network.hosts[m_host].node].id;
}

// ---- messages

uint32_t
HostContext::NumMessages() const
{
    return m_state->messages.Size();
}

uint32_t
HostContext::CreateMessage(uint32_t dst, uint64_t bytes, uint64_t startPs)
{
    return m_actions->CreateMessage(m_endpoint, dst, bytes, startPs);
}

uint32_t
HostContext::OpenConversation(uint32_t dst)
{
    return m_actions->OpenConversation(m_endpoint, dst);
}

void
HostContext::Delivered(uint32_t message)
{
    m_actions->Delivered(message);
}

void
HostContext::Acknowledged(uint32_t message)
{
    m_actions->Acknowledged(message);
}

// ---- ports

uint64_t
HostContext::RateBps(PortId port) const
{
    return m_state->network.RateBps(port);
}

uint64_t
HostContext::SerialisationPs(PortId port, uint32_t frameBytes) const
{
    const FabricNetwork& network = m_state->network;
    return network.rates[network.ports[port].rate].Ps(frameBytes + FramingBytes());
}

uint64_t
HostContext::FramingBytes() const
{
    return m_state->framingBytes;
}

bool
HostContext::IsDown(PortId port) const
{
    return m_state->network.ports[port].down;
}

bool
HostContext::ServesByRoutes(PortId port, uint32_t dst) const
{
    constexpr uint32_t REACHES = 64;
    const uint32_t place = port - m_firstPort;
    if (place >= 64)
    {
        return m_state->routes.IsNearest(port, dst);
    }
    if (m_reach.empty())
    {
        m_reach.resize(REACHES);
    }
    Reach& reach = m_reach[dst % REACHES];
    if (reach.dst != dst || reach.changes != m_state->reachChanges)
    {
        reach = {dst, m_state->reachChanges, 0, 0};
    }
    const uint64_t bit = uint64_t{1} << place;
    if ((reach.asked & bit) == 0)
    {
        reach.asked |= bit;
        reach.serves |= m_state->routes.IsNearest(port, dst) ? bit : 0;
    }
    return (reach.serves & bit) != 0;
}

uint32_t
HostContext::NumServing(uint32_t dst) const
{
    if (m_numPorts == 1)
    {
        return 1;
    }
    return static_cast<uint32_t>(m_state->routes.NearestPorts(m_host, dst).size());
}

PortId
HostContext::PortOf(uint32_t message) const
{
    return m_state->PortOfMessage(message);
}

uint64_t
HostContext::BaseRttPs(uint32_t message, PortId port, uint32_t dataBytes, uint32_t ackBytes) const
{
    const Message& its = m_messages[message];
    const RoundTrips::Frames frames{dataBytes, ackBytes};
    if (port != NO_PORT)
    {
        return m_state->roundTrips.LongestPs(port, its.dst, frames);
    }
    uint64_t longestPs = 0;
    for (const PortId own : m_state->routes.NearestPorts(its.src, its.dst))
    {
        longestPs = std::max(longestPs, m_state->roundTrips.LongestPs(own, its.dst, frames));
    }
    return longestPs;
}

uint32_t
HostContext::NumPaths(uint32_t message, PortId port) const
{
    const auto& ports = m_state->network.ports;
    const Routing& routing = m_state->routes.InForce();
    const uint32_t dst = m_messages[message].dst;
    const auto waysFrom = [&](PortId link) { // from the end of a link on, none if it ends at a host
        const Port& end = ports[ports[link].peer];
        const uint32_t nextHop = end.isHost ? Routing::NO_GROUP : routing.NextHopTo(end.node, dst);
        return nextHop == Routing::NO_GROUP ? std::span<const PortId>{} : routing.Ports(nextHop);
    };
    uint32_t paths = 1;
    for (auto ways = waysFrom(port); !ways.empty();)
    {
        paths = std::min<uint32_t>(paths * static_cast<uint32_t>(ways.size()), 65535);
        auto next = waysFrom(ways[0]);
        for (size_t i = 1; RoutesChanged() && i < ways.size(); i++)
        {
            const auto other = waysFrom(ways[i]); // a switch that lost links offers fewer ways
            next = other.size() > next.size() ? other : next;
        }
        ways = next;
    }
    return paths;
}

uint32_t
HostContext::NumLinks(uint32_t message) const
{
    const auto& ports = m_state->network.ports;
    const Port& end = ports[ports[PortOf(message)].peer];
    return end.isHost ? 1
                      : 1 + m_state->routes.Nominal().Distance(end.node, m_messages[message].dst);
}

// ---- what it may do

void
HostContext::SetTimer(uint64_t atPs, uint32_t token)
{
    m_state->SetTimer(m_endpoint, atPs, token);
}

void
HostContext::SendControl(FrameId frame, PortId port)
{
    m_state->frames[frame].hops = 0; // it may have been the frame that it answers
    m_state->heldByHosts--;
    m_actions->Enqueue(port, frame);
}

void
HostContext::Kick()
{
    m_actions->Kick(m_host);
}

CounterRandom
HostContext::Stream(RandomUse use, uint64_t key) const
{
    return CounterRandom(m_state->seed, use, key);
}

} // namespace fabric
} // namespace ns3
