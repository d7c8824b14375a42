// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/spines.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

static Suite g_suite{"forwarding", TestSuite::Type::SYSTEM};

/// Oracle: who is lost on the way takes no turn, so the others differ by at most one.
TEST_CASES(LostPacketsTakeNoTurn,
           "round robin of what is left of 1000 packets, seed " + std::to_string(seed),
           int64_t seed)
{
    TestNetwork network;
    Spines(network, 2);
    network.Flow(0, 1, 1'000'000);
    for (int64_t ordinal = 1; ordinal <= 1000; ordinal += 2)
    {
        network.Row("drops", {{"node", 0}, {"peer", 10}, {"ordinal", ordinal}});
    }
    network.Use("forwarding", "ns3::RoundRobinSpray");
    network.Transport();
    network.GetFacade().Seed(seed);
    network.Run();
    const auto packets = Uplinks(network, 2);
    NS_TEST_EXPECT_MSG_EQ(packets[0] + packets[1], 500, "every second one");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(std::abs(packets[0] - packets[1]), 1, "in turn");
}

/// Oracle: links that come and go elsewhere move no draw of this switch.
TEST_CASES(DrawsGoOnOverNewRoutes,
           type + " goes on when routes change elsewhere",
           const std::string& type)
{
    std::vector<std::vector<int64_t>> outcomes;
    for (const bool changes : {false, true})
    {
        TestNetwork network;
        Spines(network, 8);
        network.Host(2);
        network.Switch(12);
        network.Link(2, 12);
        network.Link(12, 20);
        SinglePackets(network, 500);
        for (int64_t i = 1; i < 10 && changes; i++)
        {
            network.Row("link_events",
                        {{"time_ps", i * 5'000'000},
                         {"node_a", 2},
                         {"node_b", 12},
                         {"rate_bps", i % 2 == 0 ? 100 * GBPS : 0}});
        }
        network.Use("forwarding", type);
        network.Run();
        outcomes.push_back(Uplinks(network, 8));
    }
    NS_TEST_EXPECT_MSG_EQ((outcomes[0] == outcomes[1]), true, "the same choices");
}

namespace
{

/// @return standard deviation of the packets of the paths while all are busy
double
Deviation(const std::string& choices, const std::string& memory)
{
    TestNetwork network;
    Spines(network, 8);
    for (int64_t host = 2; host < 9; host++)
    {
        network.Host(host);
        network.Link(host, 10);
    }
    for (int64_t host = 2; host < 9; host++)
    {
        network.Flow(host, 1, 500'000);
    }
    network.Flow(0, 1, 500'000);
    network.Use("forwarding", "ns3::LeastLoaded", {{"Choices", choices}, {"Memory", memory}});
    network.Transport();
    network.Run();
    const auto packets = Uplinks(network, 8);
    double squares = 0;
    for (const int64_t count : packets)
    {
        squares += std::pow(static_cast<double>(count) - 500, 2);
    }
    return std::sqrt(squares / 8);
}

} // namespace

/// Oracle: with one draw per packet the load is random; whoever looks at more keeps queues shorter.
TEST_CASE(g_suite, "DRILL(1, 0), (1, 1), (2, 1) and all members")
{
    std::vector<double> deviations;
    for (const auto& [choices, memory] :
         {std::pair("1", "0"), std::pair("1", "1"), std::pair("2", "1"), std::pair("0", "0")})
    {
        deviations.push_back(Deviation(choices, memory));
    }
    // Shares of 4000 packets among 8 paths, binomial: sqrt(4000 / 8 * 7 / 8) = 20.9. With all
    // members in view, or one that remembers the emptiest, counts follow the queues instead.
    NS_TEST_EXPECT_MSG_GT(deviations[0], 10, "random");
    NS_TEST_EXPECT_MSG_LT(deviations[1], deviations[0] / 2, "one draw and a memory");
    NS_TEST_EXPECT_MSG_LT(deviations[2], deviations[1], "two draws and a memory");
    NS_TEST_EXPECT_MSG_LT(deviations[3], deviations[1], "all members");
}

/// Oracle: the table. What it does not name takes one of the shortest paths.
TEST_CASE(g_suite, "flows whose paths are listed")
{
    TestNetwork network;
    Spines(network, 4);
    network.Switch(30, 2);
    network.Switch(31, 2);
    network.Link(10, 30);
    network.Link(30, 31);
    network.Link(11, 31);
    for (const int64_t packets : {10, 20, 1})
    {
        network.Flow(0, 1, packets * 1000);
    }
    const auto route = [&](int64_t flow, int64_t node, int64_t peer, int64_t reverse) {
        network.Row("routes",
                    {{"flow", flow}, {"node", node}, {"peer", peer}, {"reverse", reverse}});
    };
    route(0, 10, 23, 0);
    route(0, 11, 22, 1);
    route(1, 10, 30, 0); // the long path round
    route(1, 30, 31, 0);
    network.Use("forwarding", "ns3::ExplicitRoutes");
    network.Transport();
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 3, "done");
    NS_TEST_EXPECT_MSG_EQ(network.Port(30, 31, "sent_data_packets"), 20, "listed");
    const auto packets = Uplinks(network, 4);
    NS_TEST_EXPECT_MSG_EQ(std::accumulate(packets.begin(), packets.end(), int64_t{0}),
                          10 + 1,
                          "one listed, one hashed");
    NS_TEST_EXPECT_MSG_EQ((packets[3] == 10 || packets[3] == 11), true, "listed, or both");
    NS_TEST_EXPECT_MSG_GT(network.Port(11, 22, "sent_frames"), 0, "its answer");
}

/// Oracle: flows that share the only entry of a table are one flow without any gap.
TEST_CASE(g_suite, "flowlets in tables of one entry and of many")
{
    for (const bool isSmall : {true, false})
    {
        TestNetwork network;
        Spines(network, 4);
        SinglePackets(network, 64);
        network.Use("forwarding",
                    "ns3::Flowlet",
                    {{"Gap", "1us"}, {"Entries", isSmall ? "1" : "8192"}});
        network.Run();
        const auto packets = Uplinks(network, 4);
        const auto unused = std::count(packets.begin(), packets.end(), 0);
        NS_TEST_EXPECT_MSG_EQ(unused, (isSmall ? 3 : 0), "spines without a packet");
    }
}

/// Oracle: with a gap that never ends, packets of a flow part by their entropy alone.
TEST_CASE(g_suite, "sprayed packets of one flow are flowlets of their own")
{
    TestNetwork network;
    Spines(network, 4);
    network.Flow(0, 1, 64'000); // each packet has an entropy of its own
    network.Use("forwarding", "ns3::Flowlet", {{"Gap", "1s"}});
    network.Transport();
    network.Run();
    const auto packets = Uplinks(network, 4);
    NS_TEST_EXPECT_MSG_EQ(std::count(packets.begin(), packets.end(), 0), 0, "all are used");
}

ADD_CASES(g_suite)
{
    for (const int64_t seed : {1, 2, 3, 4})
    {
        suite.Add(new LostPacketsTakeNoTurn(seed));
    }
    for (const char* type : {"ns3::RandomSpray", "ns3::LeastLoaded", "ns3::Flowlet"})
    {
        suite.Add(new DrawsGoOnOverNewRoutes(type));
    }
}

} // namespace

} // namespace tests
} // namespace ns3
