// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/reps-state.h"

#include <deque>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;
using Fate = PathReport::Fate;

namespace
{

constexpr RepsState::Rules RULES{.entropies = 256,
                                 .ringEntries = 8,
                                 .lifetimeUses = 1,
                                 .explorePackets = 16,
                                 .freezePs = 1000};

const CounterRandom STREAM(1, RandomUse::PATH_ENTROPY, 7);

PathReport
Of(uint16_t entropy, Fate fate, uint64_t rttPs = 1)
{
    return {.rttPs = rttPs, .port = NO_PORT, .entropy = entropy, .fate = fate};
}

/// One flow and its draws; entropies above 255 can only have been stored.
struct Flow
{
    explicit Flow(const RepsState::Rules& theRules = RULES)
        : rules(theRules)
    {
    }

    uint16_t Next(uint64_t nowPs = 0)
    {
        return state.Next(rules, draws, nowPs);
    }

    void Report(uint16_t entropy, Fate fate, uint64_t nowPs = 0)
    {
        state.Report(rules, Of(entropy, fate), nowPs);
    }

    RepsState::Rules rules;
    RepsState state;
    RandomCursor draws{STREAM};
};

} // namespace

static Suite g_suite{"entropy-reps"};

/// Oracle: chi-square of 255 degrees exceeds 346 with probability 1e-4; each draw is the stream's.
TEST_CASE(g_suite, "random while nothing comes back")
{
    constexpr uint32_t SENDS = 1 << 14;
    Flow flow;
    std::vector<uint32_t> counts(256);
    for (uint32_t i = 0; i < SENDS; i++)
    {
        const uint16_t entropy = flow.Next();
        NS_TEST_ASSERT_MSG_EQ(entropy, STREAM.Below(i, 256), "the stream's");
        counts[entropy]++;
    }
    double chiSquare = 0;
    for (const uint32_t n : counts)
    {
        chiSquare += (n - SENDS / 256.0) * (n - SENDS / 256.0) / (SENDS / 256.0);
    }
    NS_TEST_EXPECT_MSG_LT(chiSquare, 346, "uniform");
}

/// Oracle: by hand; what is stored comes back once, oldest first, and only the last eight of it.
TEST_CASE(g_suite, "what came back is sent again")
{
    Flow flow;
    for (const uint16_t stored : {1001, 1002, 1003})
    {
        flow.Report(stored, Fate::ARRIVED);
    }
    NS_TEST_EXPECT_MSG_EQ(flow.Next(), 1001, "oldest");
    flow.Report(1004, Fate::ARRIVED);
    for (const uint16_t expected : {1002, 1003, 1004})
    {
        NS_TEST_EXPECT_MSG_EQ(flow.Next(), expected, "next");
    }
    NS_TEST_EXPECT_MSG_LT(flow.Next(), 256, "nothing left");

    for (uint16_t stored = 1000; stored < 1011; stored++)
    {
        flow.Report(stored, Fate::ARRIVED);
    }
    for (uint16_t expected = 1003; expected < 1011; expected++)
    {
        NS_TEST_EXPECT_MSG_EQ(flow.Next(), expected, "the last eight of eleven");
    }
    NS_TEST_EXPECT_MSG_LT(flow.Next(), 256, "and no more");
}

TEST_CASE(g_suite, "marks, trims and losses teach nothing")
{
    Flow flow;
    for (const Fate fate : {Fate::MARKED, Fate::TRIMMED, Fate::OVERTAKEN})
    {
        flow.Report(1000, fate);
    }
    flow.state.Report(RULES, Of(1000, Fate::ARRIVED, 0), 0); // not the one that is answered
    NS_TEST_EXPECT_MSG_LT(flow.Next(), 256, "not stored");
    flow.Report(1001, Fate::TRIMMED_AT_LAST_HOP);
    NS_TEST_EXPECT_MSG_EQ(flow.Next(), 1001, "the path was good");
}

/// Oracle: by hand. Three known entropies go round until the time is over, 16 draws follow.
TEST_CASE(g_suite, "a timeout freezes, time thaws")
{
    Flow flow;
    for (const uint16_t stored : {1001, 1002, 1003})
    {
        flow.Report(stored, Fate::ARRIVED);
        flow.Next();
    }
    NS_TEST_EXPECT_MSG_LT(flow.Next(), 256, "used up");
    flow.Report(7, Fate::TIMED_OUT, 100);
    flow.Report(8, Fate::TIMED_OUT, 600); // does not make it last longer
    std::vector<uint32_t> seen(2000);
    for (uint32_t i = 0; i < 9; i++)
    {
        seen[flow.Next(1099)]++;
    }
    for (const uint16_t stored : {1001, 1002, 1003})
    {
        NS_TEST_EXPECT_MSG_EQ(seen[stored], 3, "in turn");
    }
    flow.Report(1004, Fate::ARRIVED, 1099);
    NS_TEST_EXPECT_MSG_EQ(flow.Next(1099), 1004, "a fresh one first");

    for (uint32_t i = 0; i < 16; i++)
    {
        flow.Report(2000 + i, Fate::ARRIVED, 1100);
        NS_TEST_EXPECT_MSG_EQ(flow.Next(1100), STREAM.Below(1 + i, 256), "explores");
        flow.Report(7, Fate::TIMED_OUT, 1100);
        NS_TEST_EXPECT_MSG_EQ((flow.state.IsFrozen() && i < 15), false, "not while exploring");
    }
    NS_TEST_EXPECT_MSG_EQ(flow.state.IsFrozen(), true, "again afterwards");
    NS_TEST_EXPECT_MSG_EQ(flow.Next(1100), 2008, "the oldest of eight");
}

/// Oracle: by hand, for acknowledgements of four packets each.
TEST_CASE(g_suite, "an entropy for each packet of an acknowledgement")
{
    RepsState::Rules rules = RULES;
    rules.lifetimeUses = 4;
    Flow flow(rules);
    flow.Report(1001, Fate::ARRIVED);
    flow.Report(1002, Fate::ARRIVED);
    for (uint32_t i = 0; i < 8; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(flow.Next(), (i < 4 ? 1001 : 1002), "use " << i);
    }
    NS_TEST_EXPECT_MSG_LT(flow.Next(), 256, "worn out");
}

/**
 * Oracle: counting. A window of 64 packets over 16 paths (entropy modulo 16), one of which is dead
 * from the beginning. What is lost is sent anew with a random entropy, of which a sixteenth is dead
 * again: 64, 4, 0.25 packets in window 0, 1, 2. After ten windows fewer than one in a hundred.
 */
TEST_CASE(g_suite, "a dead path is left")
{
    constexpr uint32_t WINDOW = 64;
    constexpr uint32_t WINDOWS = 20;
    Flow flow;
    std::deque<uint16_t> out;
    uint32_t early = 0;
    uint32_t late = 0;
    for (uint32_t i = 0; i < WINDOW * WINDOWS; i++)
    {
        if (out.size() == WINDOW)
        {
            const bool lost = out.front() % 16 == 3;
            flow.Report(out.front(), lost ? Fate::OVERTAKEN : Fate::ARRIVED);
            out.pop_front();
        }
        out.push_back(flow.Next());
        const bool dead = out.back() % 16 == 3;
        early += dead && i < WINDOW;
        late += dead && i >= 10 * WINDOW;
    }
    NS_TEST_EXPECT_MSG_GT(early, 0, "it was tried");
    NS_TEST_EXPECT_MSG_LT(late, 10 * WINDOW / 100, "and left");
}

} // namespace tests
} // namespace ns3
