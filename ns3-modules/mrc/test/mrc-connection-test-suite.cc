// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/mrc-connection.h"

#include <vector>

namespace ns3
{
namespace tests
{

static Suite g_suite{"mrc-connection"};

namespace
{

constexpr uint32_t PORTS = 4;
constexpr uint32_t ALL = 0b1111;

/// A connection over ports that have four paths and two entropies each.
MrcConnection
Make(uint32_t leastActive = 0)
{
    std::vector<MrcEntropies> ports(PORTS, MrcEntropies({.active = 2, .paths = 4}));
    return {std::move(ports),
            leastActive,
            fabric::RandomCursor(fabric::CounterRandom(1, fabric::RandomUse::TRANSPORT, 7))};
}

/// Send packets, each by the first of the ports whose turn it is. @return how many each has sent
std::vector<uint32_t>
Send(MrcConnection& connection, uint32_t packets, uint32_t up)
{
    std::vector<uint32_t> sent(PORTS);
    for (uint32_t i = 0; i < packets; i++)
    {
        uint32_t place = 0;
        while (!connection.IsTurnOf(place, connection.Alive(up)))
        {
            place++;
        }
        connection.Leave(place, connection.Alive(up), static_cast<uint16_t>(i % 4));
        sent[place]++;
    }
    return sent;
}

} // namespace

/// Oracle: packets over ports, to one packet.
TEST_CASE(g_suite, "all ports that are alive carry the same")
{
    MrcConnection connection = Make();
    NS_TEST_EXPECT_MSG_EQ((Send(connection, 40, ALL) == std::vector<uint32_t>{10, 10, 10, 10}),
                          true,
                          "four");
    NS_TEST_EXPECT_MSG_EQ((Send(connection, 30, 0b1011) == std::vector<uint32_t>{10, 10, 0, 10}),
                          true,
                          "three: one is down here");
    connection.HearPorts(0b0001);
    NS_TEST_EXPECT_MSG_EQ((Send(connection, 30, ALL) == std::vector<uint32_t>{0, 10, 10, 10}),
                          true,
                          "three: another is down there");
    connection.HearPorts(0);
    NS_TEST_EXPECT_MSG_EQ((Send(connection, 40, ALL) == std::vector<uint32_t>{10, 10, 10, 10}),
                          true,
                          "one that comes back has nothing to make up for");
}

TEST_CASE(g_suite, "a port without a path that is good is not used")
{
    MrcConnection connection = Make();
    for (uint16_t entropy = 0; entropy < 4; entropy++)
    {
        connection.Leave(2, ALL, entropy); // it takes the free place
        connection.Leave(2, ALL, entropy);
        connection.Lose(2, entropy);
    }
    NS_TEST_EXPECT_MSG_EQ(connection.Alive(ALL), 0b1011, "all four paths are bad");
    NS_TEST_EXPECT_MSG_EQ(connection.Alive(0b0100), 0b0100, "unless there is no other");
    const auto probe = connection.TakeProbe(0);
    NS_TEST_ASSERT_MSG_EQ(probe.has_value(), true, "they are probed");
    NS_TEST_EXPECT_MSG_EQ(probe->first, 2, "by their port");
    connection.Port(2).OnProbe(probe->second, false);
    NS_TEST_EXPECT_MSG_EQ(connection.Alive(ALL), ALL, "one is good again");
}

/// Oracle: by hand; eight entropies, of which five must stay.
TEST_CASE(g_suite, "no more entropies are lost than may be")
{
    MrcConnection connection = Make(5);
    for (uint32_t place = 0; place < PORTS; place++)
    {
        connection.Leave(place, ALL, 0);
        connection.Leave(place, ALL, 1);
    }
    uint32_t lost = 0;
    for (uint32_t place = 0; place < PORTS; place++)
    {
        lost += connection.Lose(place, 0);
    }
    NS_TEST_EXPECT_MSG_EQ(lost, 3, "the fourth stays");
}

TEST_CASE(g_suite, "the grammar of a denylist")
{
    const auto list = MrcDenylist::Parse("3:*,0:17");
    NS_TEST_ASSERT_MSG_EQ(list.has_value(), true, "well formed");
    MrcEntropies::Rules first{.paths = 2};
    MrcDenylist::Apply(*list, 0, first);
    NS_TEST_EXPECT_MSG_EQ(first.denied.size(), 1, "one");
    NS_TEST_EXPECT_MSG_EQ(first.denied[0], 17, "this one");
    MrcEntropies::Rules third{.paths = 2};
    MrcDenylist::Apply(*list, 3, third);
    NS_TEST_EXPECT_MSG_EQ(MrcEntropies(third).IsUsable(), false, "all of port 3");
    for (const char* text : {"3", "3:", ":1", "3:x", "32:1", "0:65536", "a:1", "0:1,,0:2", "-1:2"})
    {
        NS_TEST_EXPECT_MSG_EQ(MrcDenylist::Parse(text).has_value(), false, text);
    }
    NS_TEST_EXPECT_MSG_EQ(MrcDenylist::Parse("")->empty(), true, "none");
}

} // namespace tests
} // namespace ns3
