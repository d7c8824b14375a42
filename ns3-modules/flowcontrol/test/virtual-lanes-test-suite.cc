// SPDX-License-Identifier: GPL-2.0-only

// Flows that share links, and virtual lanes, under credits.

#include "../../facade/test/test-network.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr const char* CREDITS = "ns3::CreditFlowControl";

static Suite g_suite{"flowcontrol-lanes", TestSuite::Type::SYSTEM};

/// Oracle: zero drops at any load, full use of the last link, fair shares; packets of any size.
TEST_CASES(NothingIsDropped,
           std::to_string(senders) + " to 1 with packets of " + std::to_string(packetBytes),
           int64_t senders,
           int64_t packetBytes)
{
    constexpr int64_t PACKETS = 200;
    TestNetwork network;
    network.Star(senders + 1);
    for (int64_t sender = 1; sender <= senders; sender++)
    {
        network.Flow(sender, 0, PACKETS * packetBytes);
    }
    network.Use("flow_control", CREDITS, {{"LaneBlocks", "512"}, {"Lanes", "7"}});
    network.Section("ns3::Switch", {{"BufferBytes", std::to_string((senders + 1) * 7 * 512 * 64)}});
    network.Transport({{"PacketBytes", std::to_string(packetBytes)}, {"Answers", "false"}});
    network.Run();
    for (const char* column :
         {"dropped_headroom_frames", "dropped_buffer_frames", "dropped_loss_frames"})
    {
        NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", column), 0, column);
    }
    const int64_t lastPs = network.LastPs();
    // All frames on the last link, one frame and two wires before it, updates on the way.
    const int64_t framePs = (packetBytes + 20) * 80;
    const int64_t busyPs = senders * PACKETS * framePs;
    NS_TEST_EXPECT_MSG_GT_OR_EQ(lastPs, busyPs + framePs + 2 * US_PS, "not faster");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(lastPs, busyPs + framePs + 2 * US_PS + busyPs / 100, "busy");
}

/**
 * Oracle: who shares a lane with a flow that a tenth of the rate is left for gets as little (the
 * shared queue alternates); on a lane of its own it has all that is left.
 */
TEST_CASES(VictimOfALane,
           sharesLane ? "a victim on the congested lane" : "a victim on another lane",
           bool sharesLane)
{
    TestNetwork network;
    for (const int64_t host : {0, 1, 2, 3})
    {
        network.Host(host);
    }
    network.Switch(100);
    network.Switch(101);
    network.Link(0, 100);
    network.Link(2, 100);
    network.Link(100, 101);
    network.Link(1, 101, 10);
    network.Link(3, 101);
    network.Flow(0, 1, 2'000'000);
    network.Flow(2, 3, 1'000'000, 0, 1);
    network.Use("flow_control", CREDITS, {{"LaneBlocks", "1024"}});
    network.Transport({{"Priority", "3"}, {"Answers", "false"}});
    network.Transport({{"Priority", sharesLane ? "3" : "4"}, {"Answers", "false"}});
    network.Run();
    const auto alonePs = static_cast<double>(1000 * 1020 * 80);
    const auto tookPs = static_cast<double>(network.Cell("flows", "receiver_end_ps", 1));
    const double times = sharesLane ? 10 : 1;
    NS_TEST_EXPECT_MSG_EQ_TOL(tookPs / alonePs, times, 0.08 * times, "times as long as alone");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_headroom_frames"), 0, "lossless");
}

/// Oracle: two lanes with weights of 3 to 1 and credit for all share a link 3 to 1.
TEST_CASE(g_suite, "credits with the arbitration of lanes")
{
    TestNetwork network;
    network.Star(3);
    network.Flow(1, 0, 400'000);
    network.Flow(2, 0, 400'000, 0, 1);
    network.Use("flow_control", CREDITS);
    network.Use("scheduler", "ns3::VlArbitration", {{"LowTable", "3:192,4:64"}});
    network.Transport({{"Priority", "3"}, {"Answers", "false"}});
    network.Transport({{"Priority", "4"}, {"Answers", "false"}});
    network.Run();
    const auto isOfFirst = [](const auto& seen) { return seen.frame.message == 0; };
    const auto ofFirst =
        std::count_if(PacedDatagrams::seen.begin(), PacedDatagrams::seen.begin() + 400, isOfFirst);
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(ofFirst), 300, 12, "of the first 400");
}

ADD_CASES(g_suite)
{
    for (const int64_t senders : {2, 8, 32})
    {
        suite.Add(new NothingIsDropped(senders, 1000));
        suite.Add(new NothingIsDropped(senders, 4160));
    }
    suite.Add(new VictimOfALane(true));
    suite.Add(new VictimOfALane(false));
}

} // namespace

} // namespace tests
} // namespace ns3
