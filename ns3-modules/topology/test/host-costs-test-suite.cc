// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/host-costs.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

static Suite g_suite{"host-costs"};
constexpr uint64_t LINE_BPS = 80'000'000'000; ///< 0.1 us for 1000 bytes

/// A message of 1000 bytes from host 0 to another.
HostMessage
Message(uint32_t index, uint32_t dst = 1)
{
    return {index, 0, dst, 0, 1000};
}

/// Stages that serve one message at a time: the slowest sets the pace, the first passes all.
TEST_CASE(g_suite, "messages follow each other through the stages of a source")
{
    HostModel model;
    model.messageTimePs = 100;
    model.requestTimePs = 300;
    model.sendDelayPs = 1000;
    HostCosts hosts({model}, std::vector<uint64_t>(2, LINE_BPS));
    for (uint32_t i = 0; i < 3; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(i), WorldPs(0)),
                              WorldPs(100 + 300 * (i + 1) + 1000),
                              "message " << i);
    }
    // Asked at the time that was said it is ready; later nobody is in its way.
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(0), WorldPs(1400)), WorldPs(1400), "ready");
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(3), WorldPs(9000)), WorldPs(10400), "idle again");
}

/// 1000 bytes at 8 Gb/s are 1 us: a message begins 0.1 us, the time of the line, before it is read.
TEST_CASE(g_suite, "a bus moves one message after the other")
{
    HostModel model;
    model.busRateBps = 8'000'000'000;
    HostCosts hosts({model}, std::vector<uint64_t>(2, LINE_BPS));
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(0), WorldPs(0)), WorldPs(900'000), "first");
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(1), WorldPs(0)), WorldPs(1'900'000), "second");
    // Written as they come, but no faster than the bus.
    const WorldPs first = hosts.Deliver(Message(0), WorldPs(2'000'000));
    const WorldPs second = hosts.Deliver(Message(1), WorldPs(2'100'000));
    NS_TEST_EXPECT_MSG_EQ(first, WorldPs(2'000'000), "written as it came");
    NS_TEST_EXPECT_MSG_EQ(second, WorldPs(3'000'000), "behind the first");
}

TEST_CASE(g_suite, "an interface keeps the connections that it has used last")
{
    HostModel model;
    model.missTimePs = 500;
    model.connections = 2;
    HostCosts hosts({model}, std::vector<uint64_t>(5, LINE_BPS));
    uint32_t index = 0;
    const auto costs = [&](uint32_t dst) {
        const WorldPs now(uint64_t{index} * 10'000);
        return hosts.Start(Message(index++, dst), now) - now;
    };
    NS_TEST_EXPECT_MSG_EQ(costs(1), 500, "the first use of 1");
    NS_TEST_EXPECT_MSG_EQ(costs(2), 500, "the first use of 2");
    NS_TEST_EXPECT_MSG_EQ(costs(1), 0, "1 is kept");
    NS_TEST_EXPECT_MSG_EQ(costs(3), 500, "3 comes for 2");
    NS_TEST_EXPECT_MSG_EQ(costs(1), 0, "1 was used later than 2");
    NS_TEST_EXPECT_MSG_EQ(costs(2), 500, "2 has gone");
}

TEST_CASE(g_suite, "messages of a connection wait for a place, others do not")
{
    HostModel model;
    model.outstanding = 2;
    model.messageTimePs = 10;
    model.completionDelayPs = 7;
    HostCosts hosts({model}, std::vector<uint64_t>(3, LINE_BPS));
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(0), WorldPs(0)), WorldPs(10), "first place");
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(1), WorldPs(0)), WorldPs(20), "second place");
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(2), WorldPs(0)), WorldPs::Never(), "no place");
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(3, 2), WorldPs(0)), WorldPs(30), "another one");
    const auto completed = hosts.Complete(Message(0), WorldPs(100));
    NS_TEST_EXPECT_MSG_EQ(completed.endPs, WorldPs(107), "the source knows");
    NS_TEST_ASSERT_MSG_EQ(completed.next.value_or(0), 2, "who has waited");
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(2), WorldPs(107)), WorldPs(117), "its place");
    NS_TEST_EXPECT_MSG_EQ(hosts.Complete(Message(1), WorldPs(200)).next.has_value(), false, "none");
    NS_TEST_EXPECT_MSG_EQ(hosts.Start(Message(4), WorldPs(200)), WorldPs(210), "a free place");
}

ADD_CASES(g_suite)
{
}

} // namespace

} // namespace tests
} // namespace ns3
