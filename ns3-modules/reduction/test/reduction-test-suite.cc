// SPDX-License-Identifier: GPL-2.0-only

// Oracles: closed forms of one switch and of a leaf-spine, and counts of bytes. A chunk has 1000 B
// and 62 B of headers, the wire adds 20 B; links of 100 Gb/s (80 ps per byte) and 1 us.

#include "../../facade/test/test-network.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr int64_t FRAME = 1062;
constexpr int64_t CHUNK_PS = (FRAME + 20) * 80;
constexpr int64_t HOP_PS = CHUNK_PS + US_PS;
constexpr int64_t SWITCH = 100;

/// Flows of an all-reduce among hosts `first` to `first` + n - 1; the last begins later.
void
AllReduce(TestNetwork& network, int64_t first, int64_t n, int64_t chunks, int64_t lastPs = 0)
{
    for (int64_t rank = 0; rank < n; rank++)
    {
        network.Flow(first + rank,
                     first + (rank + 1) % n,
                     chunks * 1000,
                     rank == n - 1 ? lastPs : 0);
    }
}

void
UseReduction(TestNetwork& network, int64_t window, int64_t slots, const std::string& rto = "100ms")
{
    network.Transport({{"MtuBytes", "1000"}, {"Window", std::to_string(window)}, {"Rto", rto}},
                      "ns3::ReductionTransport");
    network.Use("program", "ns3::InNetworkReduction", {{"Slots", std::to_string(slots)}});
}

/// Hosts 0, 1 below leaf 10 (the root), 2 to 4 below leaf 11, spine 20 between.
void
TwoLeaves(TestNetwork& network)
{
    for (int64_t host = 0; host < 5; host++)
    {
        network.Host(host);
    }
    network.Switch(10);
    network.Switch(11);
    network.Switch(20, 2);
    for (int64_t host = 0; host < 5; host++)
    {
        network.Link(host, host < 2 ? 10 : 11);
    }
    network.Link(10, 20);
    network.Link(11, 20);
}

} // namespace

static Suite g_suite{"reduction", TestSuite::Type::SYSTEM};

/**
 * Oracle: each chunk goes up and down once, so n hosts at one switch take two hops and K - 1 more
 * chunks, whatever n is. A window of W chunks below the round trip R lets W of them go in each.
 */
TEST_CASES(ReductionTakesItsClosedForm,
           std::to_string(hosts) + " hosts, window " + std::to_string(window),
           int64_t hosts,
           int64_t window)
{
    constexpr int64_t CHUNKS = 100;
    constexpr int64_t RTT_PS = 2 * HOP_PS; // 25.1 chunks
    TestNetwork network;
    network.Star(hosts);
    AllReduce(network, 0, hosts, CHUNKS);
    UseReduction(network, window, window);
    network.Run();
    const int64_t last = CHUNKS - 1;
    const int64_t sentPs = window * CHUNK_PS >= RTT_PS
                               ? last * CHUNK_PS
                               : last / window * RTT_PS + last % window * CHUNK_PS;
    for (int64_t host = 0; host < hosts; host++)
    {
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", host),
                              sentPs + RTT_PS,
                              "end of the message to the host after " << host);
        const int64_t bytes = CHUNKS * (FRAME + 20);
        NS_TEST_EXPECT_MSG_EQ(network.Port(host, SWITCH, "sent_bytes"), bytes, "S up");
        NS_TEST_EXPECT_MSG_EQ(network.Port(SWITCH, host, "sent_bytes"), bytes, "S down");
    }
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "timeouts"), 0, "timeouts");
}

/// Oracle: the tree.
TEST_CASE(g_suite, "two leaves and a spine: S on each link and direction of the tree")
{
    constexpr int64_t CHUNKS = 40;
    TestNetwork network;
    TwoLeaves(network);
    AllReduce(network, 0, 5, CHUNKS);
    UseReduction(network, 100, 100);
    network.Run();
    using Link = std::pair<int64_t, int64_t>;
    for (const auto& [a, b] : {Link{10, 20}, Link{20, 10}, Link{11, 20}, Link{20, 11}})
    {
        NS_TEST_EXPECT_MSG_EQ(network.Port(a, b, "sent_bytes"),
                              CHUNKS * (FRAME + 20),
                              "from " << a << " to " << b);
    }
    // Up: host, leaf 11, spine, root; down to leaf 11: spine, leaf, host.
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 2),
                          6 * HOP_PS + (CHUNKS - 1) * CHUNK_PS,
                          "rank 3 has the result");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                          4 * HOP_PS + (CHUNKS - 1) * CHUNK_PS,
                          "rank 1 has the result");
}

/// Oracle: the shortest way. Hosts 2 and 3 are at one leaf, whose switch also reduces.
TEST_CASE(g_suite, "a message of another transport takes no way of the tree")
{
    constexpr int64_t CHUNKS = 40;
    TestNetwork network;
    TwoLeaves(network);
    AllReduce(network, 0, 5, CHUNKS);
    network.Flow(2, 3, 1000, 1000 * US_PS, 1);
    UseReduction(network, 100, 100);
    network.Transport();
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 6, "all end");
    NS_TEST_EXPECT_MSG_EQ(network.Port(11, 20, "sent_frames"), CHUNKS, "the reduction's alone");
    NS_TEST_EXPECT_MSG_EQ(network.Port(11, 3, "sent_frames"), CHUNKS + 1, "and the message's");
}

/// Oracle: counts. Without slots rank 0 gets all n parts and sends the sum; with few, the second.
TEST_CASES(ReductionFallsBack,
           "two groups of four, 16 slots each, " + std::to_string(slots) + " slots",
           int64_t slots)
{
    constexpr int64_t CHUNKS = 50;
    TestNetwork network;
    network.Star(8);
    AllReduce(network, 0, 4, CHUNKS);
    AllReduce(network, 4, 4, CHUNKS);
    UseReduction(network, 16, slots);
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 8, "done");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "timeouts"), 0, "timeouts");
    for (const int64_t root : {0, 4})
    {
        const bool isAdded = slots >= (root == 0 ? 16 : 32);
        NS_TEST_EXPECT_MSG_EQ(network.Port(SWITCH, root, "sent_frames"),
                              CHUNKS * (isAdded ? 1 : 5),
                              "parts and results to rank 0, host " << root);
        NS_TEST_EXPECT_MSG_EQ(network.Port(root, SWITCH, "sent_frames"),
                              CHUNKS * (isAdded ? 1 : 2),
                              "parts and results of rank 0, host " << root);
        NS_TEST_EXPECT_MSG_EQ(network.Port(SWITCH, root + 1, "sent_frames"),
                              CHUNKS,
                              "results to rank 1");
    }
}

/// Oracle: the window. Who waits for a straggler has sent W chunks; another group has not noticed.
TEST_CASE(g_suite, "a straggler stalls its group after one window, and no other")
{
    constexpr int64_t CHUNKS = 200;
    constexpr int64_t WINDOW = 32;
    constexpr int64_t LATE_PS = 1'000'000'000;
    const auto write = [](TestNetwork& network) {
        network.Star(8);
        AllReduce(network, 0, 4, CHUNKS, LATE_PS);
        AllReduce(network, 4, 4, CHUNKS);
        UseReduction(network, WINDOW, 2 * WINDOW);
    };
    TestNetwork until;
    write(until);
    until.Run(LATE_PS - 1);
    for (int64_t host = 0; host < 3; host++)
    {
        NS_TEST_EXPECT_MSG_EQ(until.Port(host, SWITCH, "sent_frames"), WINDOW, "one window");
    }
    const int64_t alonePs = 2 * HOP_PS + (CHUNKS - 1) * CHUNK_PS;
    for (int64_t row = 4; row < 8; row++)
    {
        NS_TEST_EXPECT_MSG_EQ(until.Cell("flows", "receiver_end_ps", row), alonePs, "others");
    }

    TestNetwork whole;
    write(whole);
    whole.Run();
    NS_TEST_EXPECT_MSG_EQ(whole.Cell("flows", "receiver_end_ps", 0), LATE_PS + alonePs, "late");
    NS_TEST_EXPECT_MSG_EQ(whole.Sum("flows", "timeouts"), 0, "timeouts");
}

/// Oracle: everybody ends; a chunk that is lost costs one timeout of who lacks it, or two.
TEST_CASES(LostChunksComeAgain,
           "frame " + std::to_string(ordinal) + " from " + std::to_string(node) + " to " +
               std::to_string(peer) + " is lost",
           int64_t node,
           int64_t peer,
           int64_t ordinal)
{
    constexpr int64_t RTO_PS = 200 * US_PS;
    TestNetwork network;
    network.Star(4);
    AllReduce(network, 0, 4, 60);
    UseReduction(network, 30, 30, "200us");
    network.Row("drops", {{"node", node}, {"peer", peer}, {"ordinal", ordinal}});
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 4, "done");
    NS_TEST_EXPECT_MSG_EQ((network.Sum("flows", "timeouts") > 0), true, "somebody waited");
    int64_t endPs = 0;
    for (int64_t row = 0; row < 4; row++)
    {
        endPs = std::max(endPs, network.Cell("flows", "receiver_end_ps", row));
    }
    const int64_t alonePs = 2 * HOP_PS + 59 * CHUNK_PS;
    NS_TEST_EXPECT_MSG_EQ((endPs > RTO_PS && endPs < 2 * RTO_PS + 3 * alonePs), true, endPs);
}

/// What is no ring is refused with the flow at which it ends.
TEST_CASE(g_suite, "flows that are no ring")
{
    TestNetwork network;
    network.Star(3);
    network.Flow(0, 1, 1000);
    network.Flow(1, 2, 2000);
    network.Flow(2, 0, 1000);
    UseReduction(network, 4, 4);
    const auto complaint = network.Complaint();
    NS_TEST_EXPECT_MSG_NE(complaint.find("flow 0 is not followed by one of as many bytes"),
                          std::string::npos,
                          complaint);
}

ADD_CASES(g_suite)
{
    for (const int64_t hosts : {2, 3, 70})
    {
        suite.Add(new ReductionTakesItsClosedForm(hosts, 64));
    }
    for (const int64_t window : {1, 7, 25, 26})
    {
        suite.Add(new ReductionTakesItsClosedForm(4, window));
    }
    for (const int64_t slots : {0, 31, 32})
    {
        suite.Add(new ReductionFallsBack(slots));
    }
    suite.Add(new LostChunksComeAgain(1, SWITCH, 5));  // a part
    suite.Add(new LostChunksComeAgain(SWITCH, 2, 7));  // a result
    suite.Add(new LostChunksComeAgain(SWITCH, 0, 60)); // the last, to rank 0
}

} // namespace tests
} // namespace ns3
