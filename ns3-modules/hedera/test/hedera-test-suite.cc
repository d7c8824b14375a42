// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/demand-estimator.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr int64_t HOSTS = 16;

/// Four leaves 100 to 103 with four hosts each, four spines 110 to 113.
void
FourByFour(TestNetwork& network)
{
    for (int64_t host = 0; host < HOSTS; host++)
    {
        network.Host(host);
    }
    for (int64_t leaf = 100; leaf < 104; leaf++)
    {
        network.Switch(leaf);
    }
    for (int64_t host = 0; host < HOSTS; host++)
    {
        network.Link(host, 100 + host / 4);
    }
    for (int64_t spine = 110; spine < 114; spine++)
    {
        network.Switch(spine, 2);
        for (int64_t leaf = 100; leaf < 104; leaf++)
        {
            network.Link(leaf, spine);
        }
    }
    network.Use("forwarding", "ns3::EcmpHash");
}

} // namespace

static Suite g_suite{"hedera", TestSuite::Type::SYSTEM};

/**
 * Oracle: the example of Hedera's section 4.1, by hand. Three hosts: 0 sends to 1, 2 and 3; 1 sends
 * to 0 twice and to 2; 2 sends to 0 and to 3; 3 sends to 1 twice. Sources share equally first;
 * receivers 0 and 1 get more than their link.
 */
TEST_CASE(g_suite, "demands of flows that only hosts limit")
{
    std::vector<Demand> demands;
    for (const auto& [src, dst] : {std::pair(0, 1),
                                   std::pair(0, 2),
                                   std::pair(0, 3),
                                   std::pair(1, 0),
                                   std::pair(1, 0),
                                   std::pair(1, 2),
                                   std::pair(2, 0),
                                   std::pair(2, 3),
                                   std::pair(3, 1),
                                   std::pair(3, 1)})
    {
        demands.push_back({.src = static_cast<uint32_t>(src), .dst = static_cast<uint32_t>(dst)});
    }
    EstimateDemands(demands);
    // Host 0 sends thirds, 1 thirds, 2 halves, 3 halves. Receiver 0 gets 1/3 + 1/3 + 1/2 =
    // 7/6: all at or above a third, so thirds. Receiver 1 gets 1/3 + 1/2 + 1/2 = 4/3: thirds.
    // Then 2 has 2/3 left for its flow to 3, which gets 1/3 + 2/3 = 1.
    const std::vector<double>
        expected{1. / 3, 1. / 3, 1. / 3, 1. / 3, 1. / 3, 1. / 3, 1. / 3, 2. / 3, 1. / 3, 1. / 3};
    for (size_t i = 0; i < demands.size(); i++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(demands[i].rate, expected[i], 1e-6, "flow " << i);
    }
}

/// Oracle: a small flow keeps what it has, the others share the rest of a receiver.
TEST_CASE(g_suite, "a receiver with one small and two large flows")
{
    // Host 0 sends to 9 and to 1, 2, 3, a quarter each; 4 and 5 send to 9 alone.
    std::vector<Demand> demands;
    for (const auto& [src, dst] : {std::pair(0, 9),
                                   std::pair(0, 1),
                                   std::pair(0, 2),
                                   std::pair(0, 3),
                                   std::pair(4, 9),
                                   std::pair(5, 9)})
    {
        demands.push_back({.src = static_cast<uint32_t>(src), .dst = static_cast<uint32_t>(dst)});
    }
    EstimateDemands(demands);
    for (const auto& [flow, rate] :
         {std::pair(0, 0.25), std::pair(1, 0.25), std::pair(4, 0.375), std::pair(5, 0.375)})
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(demands[flow].rate, rate, 1e-6, "flow " << flow);
    }
}

/**
 * Oracle: the maximum flow of a stride is the rate of every host. In the first interval at most
 * four flows share a link and leave three intervals' worth in its queue; a flow waits at most for
 * what it has there and for what lies before it on its new path. Answers of 86 bytes for each 4178
 * take up to 2.1 % of a link.
 */
TEST_CASES(StrideReachesTheMaximum,
           isPlaced ? "a stride of one leaf, placed" : "a stride of one leaf, hashed",
           bool isPlaced)
{
    constexpr int64_t PACKETS = 3000;
    constexpr int64_t INTERVAL_PS = 20 * US_PS;
    constexpr int64_t ALONE_PS = (PACKETS + 3) * 4178 * 80 + 4 * US_PS;
    TestNetwork network;
    FourByFour(network);
    for (int64_t host = 0; host < HOSTS; host++)
    {
        network.Flow(host, (host + 4) % HOSTS, PACKETS * 4096);
    }
    network.Use("program", "ns3::Hedera", {{"Interval", isPlaced ? "20us" : "10s"}});
    network.Transport(
        {{"Recovery", "SelectiveRepeat"}, {"ReorderPackets", "1000"}, {"WindowBytes", "250000"}},
        "ns3::RoceTransport");
    network.Run();
    int64_t lastPs = 0;
    for (size_t flow = 0; flow < HOSTS; flow++)
    {
        lastPs = std::max(lastPs, network.Cell("flows", "receiver_end_ps", flow));
    }
    if (isPlaced)
    {
        NS_TEST_EXPECT_MSG_LT(lastPs, ALONE_PS * 1021 / 1000 + 6 * INTERVAL_PS, "last");
        NS_TEST_EXPECT_MSG_EQ(network.Cell("summary", "rule_changes", 0), HOSTS, "each once");
    }
    else
    {
        NS_TEST_EXPECT_MSG_GT(lastPs, 19 * ALONE_PS / 10, "two flows on some link");
        NS_TEST_EXPECT_MSG_EQ(network.Cell("summary", "rule_changes", 0), 0, "none");
    }
}

/// Oracle: what sends less than a tenth of its link is no elephant, and nobody is moved for it.
TEST_CASES(MiceAreLeftAlone, isMouse ? "9 % of a link" : "11 % of a link", bool isMouse)
{
    TestNetwork network;
    FourByFour(network);
    network.Flow(0, 4, 200'000);
    network.Use("program", "ns3::Hedera", {{"Interval", "50us"}});
    // 1020 bytes last 81.6 ns: every 907 ns 9 % of the link, every 742 ns 11 %.
    network.Transport({{"GapPs", isMouse ? "907000" : "742000"}, {"Answers", "false"}});
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Cell("summary", "rule_changes", 0), (isMouse ? 0 : 1), "placed");
}

ADD_CASES(g_suite)
{
    suite.Add(new StrideReachesTheMaximum(true));
    suite.Add(new StrideReachesTheMaximum(false));
    suite.Add(new MiceAreLeftAlone(true));
    suite.Add(new MiceAreLeftAlone(false));
}

} // namespace tests
} // namespace ns3
