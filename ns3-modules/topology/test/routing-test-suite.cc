// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/event-engine.h"
#include "ns3/routing.h"

#include <algorithm>
#include <map>
#include <queue>
#include <random>
#include <set>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

/// A graph with the ports of each node in a row, as the engine lays them out.
struct Graph
{
    std::vector<NodeState> nodes;
    std::vector<Port> ports;

    /// @param isSwitch per node @param links pairs of node indices, repeated if parallel
    Graph(const std::vector<bool>& isSwitch,
          const std::vector<std::pair<uint32_t, uint32_t>>& links)
        : nodes(isSwitch.size())
    {
        std::vector<std::vector<std::pair<uint32_t, uint32_t>>> ends(isSwitch.size());
        for (uint32_t link = 0; link < links.size(); link++)
        {
            ends[links[link].first].emplace_back(links[link].second, link);
            ends[links[link].second].emplace_back(links[link].first, link);
        }
        std::map<uint32_t, PortId> other; // port at the first end seen of a link
        uint32_t hosts = 0;
        for (uint32_t node = 0; node < nodes.size(); node++)
        {
            std::sort(ends[node].begin(), ends[node].end());
            nodes[node].id = node;
            nodes[node].isSwitch = isSwitch[node];
            nodes[node].host = isSwitch[node] ? 0 : hosts++;
            nodes[node].firstPort = static_cast<PortId>(ports.size());
            nodes[node].ports = static_cast<uint32_t>(ends[node].size());
            for (const auto& [neighbour, link] : ends[node])
            {
                Port port;
                port.node = node;
                const auto id = static_cast<PortId>(ports.size());
                if (const auto found = other.find(link); found != other.end())
                {
                    port.peer = found->second;
                    ports[found->second].peer = id;
                }
                other.emplace(link, id);
                ports.push_back(port);
            }
        }
    }

    uint32_t PeerNode(PortId port) const
    {
        return ports[ports[port].peer].node;
    }

    /// Let routes know that a link is cut, or that it is back, by the port at one of its ends.
    void Avoid(PortId port, bool isCut)
    {
        ports[port].avoided = isCut;
        ports[ports[port].peer].avoided = isCut;
    }

    /// Hops from every node to one, over switches only; the oracle, by breadth first search.
    std::vector<uint32_t> HopsTo(uint32_t target) const
    {
        std::vector<uint32_t> hops(nodes.size(), 0xffff);
        std::queue<uint32_t> reached;
        hops[target] = 0;
        reached.push(target);
        while (!reached.empty())
        {
            const uint32_t node = reached.front();
            reached.pop();
            if (node != target && !nodes[node].isSwitch)
            {
                continue; // hosts do not forward
            }
            for (PortId p = nodes[node].firstPort; p < nodes[node].firstPort + nodes[node].ports;
                 p++)
            {
                if (!ports[p].avoided && hops[PeerNode(p)] == 0xffff)
                {
                    hops[PeerNode(p)] = hops[node] + 1;
                    reached.push(PeerNode(p));
                }
            }
        }
        return hops;
    }
};

} // namespace

static Suite g_suite{"fabric-routing"};

/**
 * Oracle: from each switch to each host, all ports that lie on some shortest path and no other, in
 * their order; of the whole graph, without every third link, and of the whole graph again.
 */
class RoutesAreAllShortestPaths : public TestCase
{
  public:
    explicit RoutesAreAllShortestPaths(uint32_t seed)
        : TestCase("random graph " + std::to_string(seed)),
          m_random(seed)
    {
    }

  private:
    void DoRun() override
    {
        const uint32_t switches = 1 + m_random() % 8;
        const uint32_t hosts = 1 + m_random() % 8;
        std::vector<bool> isSwitch(hosts + switches, false);
        std::fill(isSwitch.begin() + hosts, isSwitch.end(), true);
        std::shuffle(isSwitch.begin(), isSwitch.end(), m_random); // ids in any order
        std::vector<uint32_t> switchIds;
        for (uint32_t node = 0; node < isSwitch.size(); node++)
        {
            if (isSwitch[node])
            {
                switchIds.push_back(node);
            }
        }
        std::vector<std::pair<uint32_t, uint32_t>> links;
        for (uint32_t node = 0; node < isSwitch.size(); node++)
        {
            // Hosts with one to three links (several planes), switches with up to three.
            const uint32_t n = isSwitch[node] ? m_random() % 4 : 1 + m_random() % 3;
            for (uint32_t i = 0; i < n; i++)
            {
                const uint32_t peer = switchIds[m_random() % switchIds.size()];
                if (peer != node)
                {
                    links.emplace_back(node, peer);
                }
            }
        }
        Graph graph(isSwitch, links);
        CompareAll(graph);
        for (PortId port = 0; port < graph.ports.size(); port++)
        {
            if (port < graph.ports[port].peer && m_random() % 3 == 0)
            {
                graph.Avoid(port, true);
            }
        }
        CompareAll(graph);
        for (PortId port = 0; port < graph.ports.size(); port++)
        {
            graph.Avoid(port, false);
        }
        CompareAll(graph);
    }

    void CompareAll(const Graph& graph)
    {
        const Routing routing(graph.nodes, graph.ports.data());
        std::set<std::pair<uint32_t, std::vector<PortId>>> groups; // one of a switch for all hosts
        uint32_t lastHops = 0;
        for (uint32_t node = 0; node < graph.nodes.size(); node++)
        {
            if (!graph.nodes[node].isSwitch)
            {
                Compare(graph, routing, node, groups, lastHops);
            }
        }
        NS_TEST_ASSERT_MSG_EQ(routing.NumGroups(), groups.size() + lastHops, "groups are shared");
    }

    /**
     * @param graph the graph
     * @param routing its routes
     * @param host node of a host
     * @param groups gets what leads to it over other switches
     * @param lastHops grows by the switches next to it
     */
    void Compare(const Graph& graph,
                 const Routing& routing,
                 uint32_t host,
                 std::set<std::pair<uint32_t, std::vector<PortId>>>& groups,
                 uint32_t& lastHops)
    {
        const auto hops = graph.HopsTo(host);
        for (uint32_t node = 0; node < graph.nodes.size(); node++)
        {
            const auto& state = graph.nodes[node];
            if (!state.isSwitch)
            {
                continue;
            }
            std::vector<PortId> expected;
            for (PortId p = state.firstPort; p < state.firstPort + state.ports; p++)
            {
                const uint32_t peer = graph.PeerNode(p);
                const bool through =
                    !graph.ports[p].avoided && (graph.nodes[peer].isSwitch || peer == host);
                if (through && hops[node] != 0xffff && hops[peer] + 1 == hops[node])
                {
                    expected.push_back(p);
                }
            }
            if (hops[node] == 1)
            {
                lastHops++;
            }
            else if (!expected.empty())
            {
                groups.emplace(node, expected);
            }
            const uint32_t nextHop = routing.NextHopTo(node, graph.nodes[host].host);
            std::vector<PortId> got;
            if (nextHop != Routing::NO_GROUP)
            {
                const auto ports = routing.Ports(nextHop);
                got.assign(ports.begin(), ports.end());
            }
            NS_TEST_ASSERT_MSG_EQ(Routing::IsDirect(nextHop), (got.size() == 1), "a single port");
            NS_TEST_ASSERT_MSG_EQ(routing.Distance(node, graph.nodes[host].host),
                                  (expected.empty() ? Routing::FAR : hops[node]),
                                  "links from switch " << node << " to host " << host);
            NS_TEST_ASSERT_MSG_EQ((got == expected),
                                  true,
                                  "switch " << node << " to host " << host << ": " << got.size()
                                            << " ports instead of " << expected.size());
        }
    }

    std::mt19937 m_random;
};

ADD_CASES(g_suite)
{
    for (uint32_t seed = 0; seed < 300; seed++)
    {
        suite.Add(new RoutesAreAllShortestPaths(seed));
    }
}

} // namespace tests
} // namespace ns3
