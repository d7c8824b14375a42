// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/mrc-entropies.h"
#include "ns3/mrc-transport.h"

#include <map>
#include <set>

namespace ns3
{
namespace tests
{

using State = MrcEntropies::State;

static Suite g_suite{"mrc-entropies"};

namespace
{

constexpr uint64_t TIMEOUT_PS = 100;

fabric::RandomCursor
Draws()
{
    return fabric::RandomCursor(fabric::CounterRandom(1, fabric::RandomUse::TRANSPORT, 7));
}

MrcEntropies
Make(uint32_t active, uint32_t paths, uint32_t probeSuccesses = 1)
{
    return MrcEntropies({.active = active,
                         .paths = paths,
                         .probeSuccesses = probeSuccesses,
                         .probeTimeoutPs = TIMEOUT_PS});
}

/// Let the entropies 0 to n - 1 fill all places.
void
Begin(MrcEntropies& entropies, uint16_t n, fabric::RandomCursor& draws)
{
    for (uint16_t i = 0; i < n; i++)
    {
        NS_ABORT_IF(entropies.Next(i, draws) != i);
    }
}

/// @return how often each entropy is used for so many packets
std::map<uint16_t, uint32_t>
Use(MrcEntropies& entropies, uint32_t packets, fabric::RandomCursor& draws)
{
    std::map<uint16_t, uint32_t> used;
    for (uint32_t i = 0; i < packets; i++)
    {
        used[entropies.Next(0, draws)]++;
    }
    return used;
}

bool
Is(const MrcEntropies& entropies, uint16_t entropy, State state)
{
    return entropies.StateOf(entropy) == state;
}

} // namespace

/// Oracle: a round has each of the four once.
TEST_CASE(g_suite, "entropies take turns, in an order drawn for each round")
{
    auto draws = Draws();
    MrcEntropies entropies = Make(4, 16);
    Begin(entropies, 4, draws);
    NS_TEST_EXPECT_MSG_EQ(entropies.Active(), 4, "no more than four");
    std::set<std::vector<uint16_t>> orders;
    for (uint32_t round = 0; round < 64; round++)
    {
        std::vector<uint16_t> order;
        for (uint32_t i = 0; i < 4; i++)
        {
            order.push_back(entropies.Next(9, draws));
        }
        NS_TEST_EXPECT_MSG_EQ(std::set<uint16_t>(order.begin(), order.end()).size(), 4, "each");
        orders.insert(order);
    }
    NS_TEST_EXPECT_MSG_GT(orders.size(), 12, "of 24 orders; a fixed one would be 1");
}

/// Oracle: by hand; of 8 packets over four the skipped one has one less, once.
TEST_CASE(g_suite, "a congested entropy loses its next turn")
{
    auto draws = Draws();
    MrcEntropies entropies = Make(4, 16);
    Begin(entropies, 4, draws);
    entropies.Skip(2);
    entropies.Skip(2); // again, before its turn
    NS_TEST_EXPECT_MSG_EQ(Is(entropies, 2, State::SKIP), true, "it waits for its turn");
    auto used = Use(entropies, 7, draws); // 3, then 4
    NS_TEST_EXPECT_MSG_EQ(used[2], 1, "one turn less");
    NS_TEST_EXPECT_MSG_EQ(used[0] + used[1] + used[3], 6, "the others have all of theirs");
    NS_TEST_EXPECT_MSG_EQ(Is(entropies, 2, State::GOOD), true, "it is over");
    entropies.Skip(5);
    NS_TEST_EXPECT_MSG_EQ(entropies.StateOf(5).has_value(), false, "not one of these");
}

/// Oracle: by hand; a packet makes one of them GOOD at most.
TEST_CASE(g_suite, "with all entropies congested a packet makes one good")
{
    auto draws = Draws();
    MrcEntropies entropies = Make(4, 16);
    Begin(entropies, 4, draws);
    for (uint16_t i = 0; i < 4; i++)
    {
        entropies.Skip(i);
    }
    const uint16_t first = entropies.Next(0, draws);
    NS_TEST_EXPECT_MSG_EQ(Is(entropies, first, State::GOOD), true, "it goes by a good one");
    uint32_t good = 0;
    for (uint16_t i = 0; i < 4; i++)
    {
        good += Is(entropies, i, State::GOOD);
    }
    NS_TEST_EXPECT_MSG_EQ(good, 1, "one alone");
}

/// Oracle: by hand.
TEST_CASE(g_suite, "a lost packet costs its entropy the place, and a new path takes it")
{
    auto draws = Draws();
    MrcEntropies entropies = Make(4, 16);
    Begin(entropies, 4, draws);
    entropies.Lose(1);
    entropies.Lose(1);
    NS_TEST_EXPECT_MSG_EQ(entropies.Bad(), 1, "once");
    NS_TEST_EXPECT_MSG_EQ(entropies.Active(), 3, "the others");
    NS_TEST_EXPECT_MSG_EQ((entropies.Next(1, draws) != 1), true, "not by the bad one");
    NS_TEST_EXPECT_MSG_EQ(entropies.Next(12, draws), 12, "a path that nobody has used");
    NS_TEST_EXPECT_MSG_EQ(entropies.Active(), 4, "all places");
    NS_TEST_EXPECT_MSG_EQ(Use(entropies, 400, draws).count(1), 0, "never");
}

/// Oracle: by hand; probes time out after 100 ps.
TEST_CASE(g_suite, "probes that are answered in a row bring an entropy back")
{
    auto draws = Draws();
    MrcEntropies entropies = Make(4, 4, 3);
    Begin(entropies, 4, draws);
    entropies.Lose(1);
    const auto probe = [&](uint64_t nowPs) { return entropies.TakeProbe(nowPs).has_value(); };
    NS_TEST_EXPECT_MSG_EQ(probe(0), true, "the first");
    NS_TEST_EXPECT_MSG_EQ(probe(99), false, "one at a time");
    entropies.OnProbe(1, false);
    NS_TEST_EXPECT_MSG_EQ(probe(100), true, "the second");
    NS_TEST_EXPECT_MSG_EQ(probe(200), true, "it was lost: the count begins again");
    entropies.OnProbe(1, false);
    probe(210);
    entropies.OnProbe(1, false);
    NS_TEST_EXPECT_MSG_EQ(Is(entropies, 1, State::ASSUMED_BAD), true, "two in a row");
    probe(220);
    entropies.OnProbe(1, true);
    NS_TEST_EXPECT_MSG_EQ(Is(entropies, 1, State::SKIP), true, "three, the last with a mark");
    NS_TEST_EXPECT_MSG_EQ(entropies.Bad(), 0, "none is left");
    NS_TEST_EXPECT_MSG_EQ(probe(999), false, "none is probed");
}

TEST_CASE(g_suite, "a port is usable while some path is not known to be bad")
{
    auto draws = Draws();
    MrcEntropies entropies = Make(2, 2);
    Begin(entropies, 2, draws);
    entropies.Lose(0);
    NS_TEST_EXPECT_MSG_EQ(entropies.IsUsable(), true, "one of two");
    entropies.Lose(1);
    NS_TEST_EXPECT_MSG_EQ(entropies.IsUsable(), false, "none");
    NS_TEST_EXPECT_MSG_EQ(entropies.Next(1, draws), 1, "if it must, a packet tries one");
    entropies.TakeProbe(0);
    entropies.OnProbe(0, false);
    NS_TEST_EXPECT_MSG_EQ(entropies.IsUsable(), true, "again");
}

ADD_CASES(g_suite)
{
    MrcTransport::GetTypeId(); // the library that registers it must be linked
}

} // namespace tests
} // namespace ns3
