// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/recent-arrivals.h"

namespace ns3
{
namespace tests
{

static Suite g_suite{"mptcp-recent-arrivals"};

/// Oracle: RFC 8985, section 6.2, steps 1 to 4, with numbers put in by hand.
TEST_CASE(g_suite, "how long a packet may be missing")
{
    RecentArrivals arrivals;
    arrivals.OnArrival(3, 1200);
    NS_TEST_EXPECT_MSG_EQ(arrivals.WaitPs(false, 1200), 1500, "a quarter of the least beyond");
    NS_TEST_EXPECT_MSG_EQ(arrivals.WaitPs(true, 1200), 1200, "losses, and nothing out of order");
    arrivals.OnArrival(5, 800);
    NS_TEST_EXPECT_MSG_EQ(arrivals.Number(), 5, "the one that was sent last");
    NS_TEST_EXPECT_MSG_EQ(arrivals.WaitPs(false, 1200), 1000, "its round trip, the least as well");
    arrivals.OnArrival(6, 2000);
    NS_TEST_EXPECT_MSG_EQ(arrivals.WaitPs(false, 1200), 2200, "the least was 800");
    NS_TEST_EXPECT_MSG_EQ(arrivals.WaitPs(false, 100), 2100, "at most the smoothed one");
    arrivals.OnArrival(4, 3000);
    NS_TEST_EXPECT_MSG_EQ(arrivals.Number(), 6, "an earlier one is not the last");
    NS_TEST_EXPECT_MSG_EQ(arrivals.WaitPs(true, 1200), 2200, "there is reordering, so wait");
}

} // namespace tests
} // namespace ns3
