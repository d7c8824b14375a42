// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/mprdma-transport.h"

namespace ns3
{
namespace tests
{

static Suite g_suite{"mprdma"};

/// Oracle: by hand.
TEST_CASE(g_suite, "marks, slow paths and losses")
{
    MpRdmaWindow window(10);
    NS_TEST_EXPECT_MSG_EQ(window.OnAck(0, false, false, 32), true, "clocks");
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 10.1, 1e-9, "1 / window more");
    window.OnAck(1, false, true, 32);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 9.6, 1e-9, "half a packet less");

    NS_TEST_EXPECT_MSG_EQ(window.OnAck(50, false, true, 32), true, "the furthest");
    NS_TEST_EXPECT_MSG_EQ(window.OnAck(18, false, true, 32), true, "32 behind");
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 8.6, 1e-9, "two marks");
    NS_TEST_EXPECT_MSG_EQ(window.OnAck(17, false, true, 32), false, "33 behind: slow");
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 7.1, 1e-9, "a packet less");
    NS_TEST_EXPECT_MSG_EQ(window.OnAck(3, true, true, 32), true, "a copy is late anyhow");
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 6.6, 1e-9, "not slow");
    window.OnLoss(4);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 4.6, 1e-9, "a loss is a mark");
    window.OnLoss(40);
    NS_TEST_EXPECT_MSG_EQ(window.Packets(), 1, "one packet is left");

    // W unmarked answers add one packet, or a little less: sum of 1 / (W + ...).
    MpRdmaWindow grows(20);
    for (uint32_t i = 0; i < 20; i++)
    {
        grows.OnAck(i, false, false, 32);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(grows.Packets(), 21, 0.03, "one packet per round trip");
    grows.OnTimeout();
    NS_TEST_EXPECT_MSG_EQ(grows.Packets(), 1, "after a timeout");
}

ADD_CASES(g_suite)
{
    MpRdmaTransport::GetTypeId(); // the library that registers it must be linked
}

} // namespace tests
} // namespace ns3
