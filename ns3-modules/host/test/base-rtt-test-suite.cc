// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"
#include "counting-fakes.h"

namespace ns3
{
namespace tests
{

namespace
{

// Two hosts at one switch, 100 Gb/s (80 ps per byte), 1 us, framing 20 bytes.
constexpr int64_t DATA_BYTES = 4096 + 62 + 20;
constexpr int64_t ACK_BYTES = 66 + 20;
constexpr int64_t WIRES_PS = 4 * US_PS;

} // namespace

static Suite g_suite{"host-base-rtt", TestSuite::Type::SYSTEM};

/**
 * What congestion control is told of the unloaded round trip is what a lone packet takes.
 *
 * Oracle: arithmetic. Stored and forwarded, both frames are put on two wires whole; cut through,
 * the switch begins with either when framing and the first 64 bytes are in.
 */
TEST_CASES(BaseRttIsThatOfALonePacket,
           "base round trip, cut through after bytes: " + cutThroughBytes,
           std::string cutThroughBytes,
           int64_t rttPs)
{
    CountingControl::calls = {};
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 4096);
    network.Section("ns3::Switch", {{"CutThroughBytes", cutThroughBytes}});
    network.Transport({{"CongestionControl", "ns3::tests::CountingControl"},
                       {"HeaderBytes", "62"},
                       {"AckBytes", "66"},
                       {"RethBytes", "0"}},
                      "ns3::RoceTransport");
    network.Run();
    const int64_t toldPs = CountingControl::calls.path.baseRttPs;
    NS_TEST_EXPECT_MSG_EQ(toldPs, rttPs, "told");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "sender_end_ps", 0), rttPs, "measured");
}

ADD_CASES(g_suite)
{
    constexpr int64_t STORED_PS = 2 * (DATA_BYTES + ACK_BYTES) * 80 + WIRES_PS;
    constexpr int64_t HEAD_BYTES = 64 + 20;
    constexpr int64_t CUT_PS = (2 * HEAD_BYTES + DATA_BYTES + ACK_BYTES) * 80 + WIRES_PS;
    suite.Add(new BaseRttIsThatOfALonePacket("none", STORED_PS));
    suite.Add(new BaseRttIsThatOfALonePacket("64", CUT_PS));
}

} // namespace tests
} // namespace ns3
