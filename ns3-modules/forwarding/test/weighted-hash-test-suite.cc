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

static Suite g_suite{"forwarding-weighted-hash", TestSuite::Type::SYSTEM};

/// Oracle: a far link of a quarter of the rate leaves its path a fifth of the flows.
TEST_CASE(g_suite, "weights by what lies behind a port")
{
    constexpr int64_t FLOWS = 4000;
    TestNetwork network;
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    network.Link(0, 10, 400);
    network.Link(1, 11, 400);
    for (const int64_t spine : {20, 21})
    {
        network.Switch(spine, 2);
        network.Link(10, spine, 400);
        network.Link(11, spine, spine == 20 ? 400 : 100);
    }
    SinglePackets(network, FLOWS);
    network.Use("forwarding", "ns3::WeightedHash");
    network.Run();
    const auto packets = Uplinks(network, 2);
    NS_TEST_EXPECT_MSG_EQ(packets[0] + packets[1], FLOWS, "all");
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(packets[1]),
                              FLOWS * 0.2,
                              4 * std::sqrt(FLOWS * 0.2 * 0.8),
                              "slow path");
}

/// Oracle: two cables to one host and three, of unequal rates, to the other of the same leaf.
TEST_CASE(g_suite, "weights of parallel links down to hosts of one leaf")
{
    constexpr int64_t FLOWS = 4000;
    TestNetwork network;
    for (const int64_t host : {0, 1, 2})
    {
        network.Host(host);
    }
    network.Switch(10);
    network.Link(0, 10, 400);
    network.Link(1, 10, 100);
    network.Link(1, 10, 300);
    for (const int64_t gbps : {100, 100, 200})
    {
        network.Link(2, 10, gbps);
    }
    for (int64_t i = 0; i < FLOWS; i++)
    {
        network.Flow(0, 1 + i % 2, 1000, i * 100'000);
    }
    network.Transport();
    network.Use("forwarding", "ns3::WeightedHash");
    network.Run();
    const std::map<int64_t, std::vector<double>> shares{{1, {0.25, 0.75}}, {2, {0.25, 0.25, 0.5}}};
    for (size_t row = 0; row < network.Rows("ports"); row++)
    {
        const int64_t peer = network.Cell("ports", "peer", row);
        if (network.Cell("ports", "node", row) != 10 || peer == 0)
        {
            continue;
        }
        const double share = shares.at(peer).at(network.Cell("ports", "parallel", row));
        NS_TEST_EXPECT_MSG_EQ_TOL(
            static_cast<double>(network.Cell("ports", "sent_data_packets", row)),
            FLOWS / 2 * share,
            4 * std::sqrt(FLOWS / 2 * share * (1 - share)),
            "link to host " << peer);
    }
}

/// Oracle, by hand: WCMP after a link is degraded: shares of the rates that are left, +- 1 %.
TEST_CASE(g_suite, "weights after a far link has lost three quarters of its rate")
{
    constexpr int64_t FLOWS = 20'000;
    TestNetwork network;
    Spines(network, 4);
    network.Row("link_events",
                {{"time_ps", 1}, {"node_a", 11}, {"node_b", 23}, {"rate_bps", 25 * GBPS}});
    for (int64_t i = 0; i < FLOWS; i++)
    {
        network.Flow(0, 1, 1000, 100'000 + i * 100'000);
    }
    network.Transport({{"Answers", "false"}});
    network.Use("forwarding", "ns3::WeightedHash");
    network.Run();
    // 100 + 100 + 100 + 25: the last has a thirteenth. 1 % of all is four standard deviations.
    const auto packets = Uplinks(network, 4);
    for (size_t path = 0; path < 4; path++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(packets[path]) / FLOWS,
                                  (path == 3 ? 1.0 / 13 : 4.0 / 13),
                                  0.01,
                                  "path " << path);
    }
}

/**
 * Oracle, by hand: 60 of the 100 Gb/s from the spine 23 to the second leaf are admitted to another
 * flow, so 100 + 100 + 100 + 40 are free and the last path has 2/17 of the packets, within a few.
 */
TEST_CASE(g_suite, "packets are sprayed over what admitted flows leave")
{
    constexpr int64_t PACKETS = 17'000;
    TestNetwork network;
    Spines(network, 4);
    network.Host(2);
    network.Link(2, 23);
    const auto flow = [&network](int64_t id, int64_t src, int64_t bytes, int64_t rateBps) {
        network.Row("flows",
                    {{"flow", id},
                     {"src", src},
                     {"dst", 1},
                     {"bytes", bytes},
                     {"start_ps", 0},
                     {"rate_bps", rateBps}});
    };
    flow(0, 0, PACKETS * 1000, 10 * GBPS);
    flow(1, 2, 1000, 60 * GBPS);
    for (const auto& [node, peer] : {std::pair<int64_t, int64_t>{23, 11}, {11, 1}})
    {
        network.Row("routes", {{"flow", 1}, {"node", node}, {"peer", peer}, {"reverse", 0}});
    }
    network.Transport({{"MtuBytes", "1000"}}, "ns3::SprayTransport");
    network.Use("forwarding", "ns3::ExplicitRoutes", {{"DefaultPolicy", "ns3::WeightedSpray"}});
    network.Run();
    const auto packets = Uplinks(network, 4);
    for (size_t path = 0; path < 4; path++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(packets[path]),
                                  PACKETS * (path == 3 ? 2.0 : 5.0) / 17,
                                  10,
                                  "path " << path);
    }
    NS_TEST_EXPECT_MSG_EQ(network.Port(23, 11, "sent_data_packets"),
                          packets[3] + 1,
                          "the admitted one went where it was told");
}

} // namespace

} // namespace tests
} // namespace ns3
