// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/linked-windows.h"
#include "ns3/mptcp-transport.h"

#include <cmath>

namespace ns3
{
namespace tests
{

static Suite g_suite{"mptcp"};

/// Bring a subflow to congestion avoidance: `packets` are left of twice as many.
static void
Bring(LinkedWindows& windows, uint32_t subflow, double packets, uint64_t rttPs)
{
    while (windows.Packets(subflow) < 2 * packets)
    {
        windows.OnAck(subflow, rttPs); // slow start: one packet each
    }
    windows.OnLoss(subflow);
}

/// Oracle: RFC 6356 with numbers put in by hand.
TEST_CASE(g_suite, "increases by hand")
{
    LinkedWindows alone(1, 4);
    alone.OnAck(0, 1'000'000);
    NS_TEST_EXPECT_MSG_EQ(alone.Packets(0), 5, "slow start");
    alone.OnLoss(0);
    NS_TEST_EXPECT_MSG_EQ(alone.Packets(0), 2.5, "halved");
    alone.OnAck(0, 1'000'000);
    NS_TEST_EXPECT_MSG_EQ_TOL(alone.Packets(0), 2.9, 1e-9, "one subflow is a TCP: 1 / 2.5");
    alone.OnTimeout(0);
    NS_TEST_EXPECT_MSG_EQ(alone.Packets(0), 1, "timeout");
    alone.OnAck(0, 1'000'000);
    NS_TEST_EXPECT_MSG_EQ(alone.Packets(0), 2, "slow start up to half");

    // Equal: A = 20 * 10 / (10 + 10)^2 = 1/2. Each answer adds 1/40; 20 answers in a round
    // trip add half a packet to both together. A TCP with a window of 10 would add one.
    LinkedWindows equal(2, 1);
    Bring(equal, 0, 10, 1'000'000);
    Bring(equal, 1, 10, 1'000'000);
    NS_TEST_EXPECT_MSG_EQ_TOL(equal.Aggressiveness(), 0.5, 1e-9, "A");
    equal.OnAck(0, 1'000'000);
    NS_TEST_EXPECT_MSG_EQ_TOL(equal.Packets(0), 10.025, 1e-9, "A / sum");
    NS_TEST_EXPECT_MSG_EQ(equal.Packets(1), 10, "the other stays");

    // Windows 10 and 20, round trips 1 and 2: A = 30 * max(10, 5) / (10 + 10)^2 = 0.75.
    LinkedWindows unequal(2, 1);
    Bring(unequal, 0, 10, 1'000'000);
    Bring(unequal, 1, 20, 2'000'000);
    NS_TEST_EXPECT_MSG_EQ_TOL(unequal.Aggressiveness(), 0.75, 1e-9, "A");
    unequal.OnAck(1, 2'000'000);
    NS_TEST_EXPECT_MSG_EQ_TOL(unequal.Packets(1), 20 + 0.75 / 30, 1e-9, "A / sum");

    // Windows 2 and 98, round trips 1 and 10: A = 100 * 2 / (2 + 9.8)^2 = 1.436, over 100 more
    // than 1 / 98, which is the most: never faster than a TCP on that path.
    LinkedWindows bounded(2, 1);
    Bring(bounded, 0, 2, 1'000'000);
    Bring(bounded, 1, 98, 10'000'000);
    NS_TEST_EXPECT_MSG_EQ_TOL(bounded.Aggressiveness(), 200 / (11.8 * 11.8), 1e-9, "A");
    bounded.OnAck(1, 10'000'000);
    NS_TEST_EXPECT_MSG_EQ_TOL(bounded.Packets(1), 98 + 1 / 98.0, 1e-9, "at most 1 / window");
}

/// Oracle: with one subflow alone A is the sum over its window, so it is a TCP: 1 / 10.
TEST_CASE(g_suite, "a subflow without a measured round trip takes no part")
{
    LinkedWindows windows(2, 1);
    Bring(windows, 0, 10, 1'000'000);
    NS_TEST_EXPECT_MSG_LT(std::abs(windows.Aggressiveness() - 1.1), 1e-9, "A; not NaN");
    windows.OnAck(0, 1'000'000);
    NS_TEST_EXPECT_MSG_LT(std::abs(windows.Packets(0) - 10.1), 1e-9, "1 / window");
}

ADD_CASES(g_suite)
{
    MptcpTransport::GetTypeId(); // the library that registers it must be linked
}

} // namespace tests
} // namespace ns3
