// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr const char* PROGRAM = "ns3::ConWeave";

/**
 * Hosts 0, 2, 4 under leaf 10 and 1, 3, 5 under leaf 11; four spines whose links down take 1, 2, 4
 * and 8 us, so that a packet on a shorter path overtakes those before it.
 */
void
UnequalPaths(TestNetwork& network)
{
    for (int64_t host = 0; host < 6; host++)
    {
        network.Host(host);
    }
    network.Switch(10);
    network.Switch(11);
    for (int64_t host = 0; host < 6; host++)
    {
        network.Link(host, 10 + host % 2);
    }
    for (int64_t spine = 0; spine < 4; spine++)
    {
        network.Switch(20 + spine, 2);
        for (const int64_t leaf : {10, 11})
        {
            network.Row("links",
                        {{"node_a", leaf},
                         {"node_b", 20 + spine},
                         {"parallel", 0},
                         {"rate_bps", 40 * GBPS},
                         {"delay_ps", leaf == 10 ? US_PS : (US_PS << spine)},
                         {"class", 0}});
        }
    }
    network.Use("forwarding", "ns3::EcmpHash");
}

/// Three messages at 100 Gb/s each over four paths of 40 Gb/s: all of them are late.
void
RunThree(TestNetwork& network, const TestNetwork::Attributes& attributes, int64_t bytes)
{
    UnequalPaths(network);
    for (const int64_t host : {0, 2, 4})
    {
        network.Flow(host, host + 1, bytes);
    }
    network.Use("program", PROGRAM, attributes);
    network.Transport({{"MtuBytes", "1000"}}, "ns3::RoceTransport");
    network.Run();
}

} // namespace

static Suite g_suite{"conweave", TestSuite::Type::SYSTEM};

/// Oracle: go-back-N receivers ask for nothing again, however often their flows were moved.
TEST_CASES(OrderIsKept, "in order after many moves, cutoff " + cutoff, const std::string& cutoff)
{
    TestNetwork network;
    RunThree(network, {{"Cutoff", cutoff}, {"PathBusy", "1us"}, {"Resume", "1s"}}, 4'000'000);
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 3, "done");
    NS_TEST_EXPECT_MSG_GT(network.Cell("summary", "rule_changes", 0), 5, "moves");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "naks"), 0, "nothing was out of order");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "retransmitted_packets"), 0, "nor sent again");
}

/**
 * Oracle: what a leaf holds is in no link's account, neither while it waits nor when its wait is
 * over and all of it comes at once. With 20 kB before PAUSE and headroom for what is under way
 * nothing may be dropped.
 */
TEST_CASE(g_suite, "PFC with packets that wait for those of a slower path")
{
    TestNetwork network;
    network.Use("flow_control", "ns3::Pfc", {{"XoffBytes", "20000"}, {"XonOffsetBytes", "5000"}});
    RunThree(network, {{"Cutoff", "8us"}, {"PathBusy", "1us"}, {"Resume", "1s"}}, 4'000'000);
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 3, "done");
    NS_TEST_EXPECT_MSG_GT(network.Cell("summary", "rule_changes", 0), 5, "moves");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_headroom_frames"), 0, "dropped");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "retransmitted_packets"), 0, "nor sent again");
}

/// Oracle: whose wait ends before the last packet of a slower path has come is out of order.
TEST_CASE(g_suite, "packets that wait for a shorter time than paths differ by")
{
    TestNetwork network;
    RunThree(network, {{"Cutoff", "8us"}, {"PathBusy", "1us"}, {"Resume", "10ns"}}, 4'000'000);
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 3, "done all the same");
    NS_TEST_EXPECT_MSG_GT(network.Sum("flows", "naks"), 0, "out of order");
}

/// Oracle: who gets its replies in time is never moved.
TEST_CASE(g_suite, "a cutoff above every round trip")
{
    // A packet of 1062 bytes takes 214 ns on 40 Gb/s; the longest way there and back 18 us.
    TestNetwork network;
    UnequalPaths(network);
    network.Flow(0, 1, 1'000'000);
    network.Use("program", PROGRAM, {{"Cutoff", "25us"}});
    network.Transport({{"PacketBytes", "1000"}, {"GapPs", "400000"}});
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Cell("summary", "rule_changes", 0), 0, "moves");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen.size(), 1001, "hosts see no control frames");
}

/// Oracle: moves that balance three flows over four paths end earlier than two flows on one path.
TEST_CASE(g_suite, "three flows find three paths")
{
    // Alone on a path of 40 Gb/s 4 MB take 4000 x 1082 x 200 ps = 866 us, with another 1731.
    TestNetwork network;
    RunThree(network, {{"Cutoff", "20us"}, {"PathBusy", "100us"}}, 4'000'000);
    for (size_t flow = 0; flow < 3; flow++)
    {
        const int64_t endPs = network.Cell("flows", "receiver_end_ps", flow);
        NS_TEST_EXPECT_MSG_LT(endPs, 1731 * US_PS, "flow " << flow);
    }
}

TEST_CASE(g_suite, "refused on another network")
{
    TestNetwork network;
    UnequalPaths(network);
    network.Link(10, 11);
    network.Flow(0, 1, 1000);
    network.Use("program", PROGRAM);
    network.Transport();
    const std::string said = network.Complaint();
    const bool isSaid = said.find("ns3::ConWeave is for leaf-spines") != std::string::npos;
    NS_TEST_EXPECT_MSG_EQ(isSaid, true, said);
}

ADD_CASES(g_suite)
{
    suite.Add(new OrderIsKept("8us"));
    suite.Add(new OrderIsKept("30us"));
}

} // namespace tests
} // namespace ns3
