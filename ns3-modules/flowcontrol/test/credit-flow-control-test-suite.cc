// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

// 100 Gb/s is 80 ps per byte; 20 bytes of framing; links of 1 us.
constexpr int64_t BLOCK_PS = 84 * 80;  ///< A frame of one block on the wire [ps]
constexpr int64_t UPDATE_PS = 26 * 80; ///< An update of 6 bytes [ps]
constexpr const char* CREDITS = "ns3::CreditFlowControl";

/// From the start of a frame until its credit is back: over the link, out of the switch, and back.
constexpr int64_t LOOP_PS = 2 * BLOCK_PS + UPDATE_PS + 2 * US_PS;

/// Host 0 and host 1 around a switch; frames are of one block, each freed block is said at once.
void
BlockByBlock(TestNetwork& network,
             int64_t laneBlocks,
             const std::string& interval = "1s",
             uint32_t lane = 3)
{
    network.Star(2);
    network.Use("flow_control",
                CREDITS,
                {{"LaneBlocks", std::to_string(laneBlocks)},
                 {"UpdateBlocks", "1"},
                 {"UpdateInterval", interval},
                 {"Lanes", lane < 8 ? "8" : "15"}});
    network.Transport(
        {{"PacketBytes", "64"}, {"Answers", "false"}, {"Priority", std::to_string(lane)}});
}

/// @return time from the start of a message of so many blocks to its last bit, with credits [ps]
int64_t
TimeOf(int64_t packets, int64_t laneBlocks)
{
    const int64_t roundPs = std::max(LOOP_PS, laneBlocks * BLOCK_PS);
    const int64_t last = packets - 1;
    return last / laneBlocks * roundPs + last % laneBlocks * BLOCK_PS + 2 * BLOCK_PS + 2 * US_PS;
}

static Suite g_suite{"flowcontrol-credits", TestSuite::Type::SYSTEM};

/**
 * Oracle: min(C, credits / round trip), to the picosecond. n blocks go at line rate, and each of
 * them again when its credit is back; LOOP_PS / BLOCK_PS is 299.9, so the knee is at 300.
 */
class RateIsCreditsPerRoundTrip : public TestCase
{
  public:
    explicit RateIsCreditsPerRoundTrip(int64_t laneBlocks, uint32_t lane = 3)
        : TestCase("credits of " + std::to_string(laneBlocks) + " blocks on lane " +
                   std::to_string(lane)),
          m_laneBlocks(laneBlocks),
          m_lane(lane)
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PACKETS = 3001;
        TestNetwork network;
        BlockByBlock(network, m_laneBlocks, "1s", m_lane);
        network.Flow(0, 1, PACKETS * 64);
        network.Run();
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                              TimeOf(PACKETS, m_laneBlocks),
                              "last block");
        const double bps = (PACKETS - 1) * 84.0 * 8 * 1e12 /
                           static_cast<double>(TimeOf(PACKETS, m_laneBlocks) - TimeOf(1, 1));
        const bool isFull = bps > 0.9999 * 100e9;
        NS_TEST_EXPECT_MSG_EQ(isFull, (m_laneBlocks >= 300), "full rate from the knee on: " << bps);
    }

    int64_t m_laneBlocks;
    uint32_t m_lane;
};

/// Oracle: credits that are lost would be missing later, so a second message takes as long.
TEST_CASE(g_suite, "what was sent comes back as credit")
{
    constexpr int64_t PACKETS = 1000;
    constexpr int64_t LATER_PS = 200 * US_PS;
    TestNetwork network;
    BlockByBlock(network, 37);
    network.Flow(0, 1, PACKETS * 64);
    network.Flow(0, 1, PACKETS * 64, LATER_PS);
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 1) - LATER_PS,
                          network.Cell("flows", "receiver_end_ps", 0),
                          "as long as the first");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(network.Port(100, 0, "max_ingress_bytes"), 37 * 64, "bound");
}

/**
 * Oracle, by hand: with four blocks of credit and the first four lost, nothing goes until the
 * sender has said what it has sent (after the interval) and the switch what it is to have.
 */
TEST_CASE(g_suite, "blocks that are lost on the wire")
{
    constexpr int64_t INTERVAL_PS = 50 * US_PS;
    TestNetwork network;
    BlockByBlock(network, 4, "50us");
    network.Flow(0, 1, 8 * 64);
    for (int64_t ordinal = 1; ordinal <= 4; ordinal++)
    {
        network.Row("drops", {{"node", 0}, {"peer", 100}, {"ordinal", ordinal}});
    }
    network.Run(200 * US_PS);
    NS_TEST_ASSERT_MSG_EQ(PacedDatagrams::seen.size(), 4, "the other four");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen[0].timePs,
                          INTERVAL_PS + 2 * (UPDATE_PS + US_PS) + 2 * BLOCK_PS + 2 * US_PS,
                          "first after the stop");
}

/// Oracle: what waits inside a switch is not lost, however often updates say what was sent.
TEST_CASE(g_suite, "a switch that takes longer than updates to come")
{
    constexpr int64_t PACKETS = 500;
    constexpr int64_t LATENCY_PS = 5 * US_PS;
    TestNetwork network;
    BlockByBlock(network, 20, "300ns");
    network.Flow(0, 1, PACKETS * 64);
    network.Section("ns3::Switch", {{"ProcessingDelayPs", std::to_string(LATENCY_PS)}});
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_headroom_frames"), 0, "no overrun");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(network.Port(100, 0, "max_ingress_bytes"), 20 * 64, "bound");
    // 25 rounds of 20 blocks; an update may delay a block, and a block an update.
    const auto wholePs = static_cast<double>(24 * (LOOP_PS + LATENCY_PS));
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(network.Cell("flows", "receiver_end_ps", 0)),
                              wholePs + 20 * BLOCK_PS + LATENCY_PS + 2 * US_PS,
                              wholePs * 0.02,
                              "credits per round trip");
}

/// Oracle: after a cut both ends begin with what they hold; a later message is as on a new link.
TEST_CASE(g_suite, "a link that is cut while frames are on their way, and back")
{
    constexpr int64_t PACKETS = 100;
    constexpr int64_t LATER_PS = 100 * US_PS;
    TestNetwork network;
    BlockByBlock(network, 10);
    network.Flow(0, 1, 40 * 64); // all credit is used when the link is cut
    network.Flow(0, 1, PACKETS * 64, LATER_PS);
    for (const auto& [timePs, rateBps] :
         {std::pair(US_PS + BLOCK_PS * 7 / 2, int64_t{0}), std::pair(50 * US_PS, 100 * GBPS)})
    {
        network.Row("link_events",
                    {{"time_ps", timePs}, {"node_a", 0}, {"node_b", 100}, {"rate_bps", rateBps}});
    }
    network.Run(ALWAYS_PS / 1000);
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 1) - LATER_PS,
                          TimeOf(PACKETS, 10),
                          "as on a new link");
}

/// What does not fit is refused, with what to write instead.
TEST_CASES(CreditsThatDoNotFit,
           "refused: " + expected,
           const TestNetwork::Attributes& attributes,
           const std::string& expected)
{
    TestNetwork network;
    network.Star(3);
    network.Flow(0, 1, 1000);
    network.Use("flow_control", CREDITS, attributes);
    network.Section("ns3::Switch", {{"BufferBytes", "1000000"}});
    network.Transport({{"Answers", "false"}});
    const std::string said = network.Complaint();
    NS_TEST_EXPECT_MSG_NE(said.find(expected), std::string::npos, said);
}

ADD_CASES(g_suite)
{
    for (const int64_t laneBlocks : {1, 2, 150, 298, 299, 300, 301, 2048, 8191})
    {
        suite.Add(new RateIsCreditsPerRoundTrip(laneBlocks));
    }
    for (const uint32_t lane : {0, 7, 8, 14})
    {
        suite.Add(new RateIsCreditsPerRoundTrip(150, lane));
    }
    // 3 ports x 8 lanes x 2048 blocks = 3 145 728 bytes; 1 000 000 bytes are 651 blocks each.
    suite.Add(new CreditsThatDoNotFit({}, "fewer Lanes, or LaneBlocks=651"));
    suite.Add(new CreditsThatDoNotFit({{"LaneBlocks", "15"}}, "write at least LaneBlocks=16"));
    suite.Add(new CreditsThatDoNotFit({{"LaneBlocks", "20"}, {"UpdateBlocks", "6"}},
                                      "write at most UpdateBlocks=5"));
    suite.Add(new CreditsThatDoNotFit({{"LaneBlocks", "20"}, {"Lanes", "3"}},
                                      "Give them 4 classes or more"));
}

} // namespace

} // namespace tests
} // namespace ns3
