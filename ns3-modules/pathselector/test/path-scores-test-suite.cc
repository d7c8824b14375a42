// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/path-scores.h"

#include <functional>
#include <set>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;
using Fate = PathReport::Fate;

namespace
{

constexpr PathScores::Rules RULES{.outlierSigmas = 3, .excludedRounds = 16};

/// Send on `n` paths, each packet's fate known at once; @return by round the paths that were taken.
std::vector<std::set<uint16_t>>
Rounds(uint32_t n, uint32_t rounds, const std::function<Fate(uint16_t, uint32_t)>& fate)
{
    PathScores scores(n);
    RandomCursor draws{CounterRandom(1, RandomUse::PATH_ENTROPY, 3)};
    std::vector<std::set<uint16_t>> taken(rounds + 1);
    while (true)
    {
        const uint16_t path = scores.Next(RULES, draws);
        const uint32_t round = scores.Round();
        if (round > rounds)
        {
            return taken;
        }
        taken[round].insert(path);
        scores.Report(path, fate(path, round));
    }
}

/// @return rounds in which a path was taken
std::vector<uint32_t>
Of(uint16_t path, const std::vector<std::set<uint16_t>>& taken)
{
    std::vector<uint32_t> rounds;
    for (uint32_t round = 0; round < taken.size(); round++)
    {
        if (taken[round].count(path) > 0)
        {
            rounds.push_back(round);
        }
    }
    return rounds;
}

} // namespace

static Suite g_suite{"entropy-path-scores"};

/**
 * By hand, of 8 paths. After k rounds k faults are found where k / 8 are expected: 7 k / 8 is more
 * than 3 first for k = 4. So the fifth round and 15 more go without the path. It begins anew, with
 * four packets more each time (those of all others make the expectation small), and 32 rounds go
 * without it.
 */
TEST_CASES(AnOutlierIsLeftOut,
           "a path with more than its share of " + what,
           const std::string& what,
           Fate own,
           Fate others)
{
    const auto taken = Rounds(8, 60, [&](uint16_t path, uint32_t round) {
        return path == 3 ? own : round % 2 ? others : Fate::ARRIVED;
    });
    const std::vector<uint32_t> rounds{1, 2, 3, 4, 21, 22, 23, 24, 57, 58, 59, 60};
    NS_TEST_EXPECT_MSG_EQ((Of(3, taken) == rounds), true, "rounds of the bad one");
    NS_TEST_EXPECT_MSG_EQ(Of(4, taken).size(), 60, "rounds of another");
}

/// What all paths do alike, or what a path is not to blame for, leaves none out.
class NoneIsLeftOut : public TestCase
{
  public:
    NoneIsLeftOut(const std::string& what, const std::function<Fate(uint16_t)>& fate)
        : TestCase("no path is left out: " + what),
          m_fate(fate)
    {
    }

  private:
    void DoRun() override
    {
        const auto taken = Rounds(8, 200, [this](uint16_t path, uint32_t) { return m_fate(path); });
        for (uint16_t path = 0; path < 8; path++)
        {
            NS_TEST_EXPECT_MSG_EQ(Of(path, taken).size(), 200, "each round has path " << path);
        }
    }

    std::function<Fate(uint16_t)> m_fate;
};

/**
 * Five of 8 are bad: k faults where 5 k / 8 are expected. 3 k / 8 is more than 3 sqrt(5 k / 8) from
 * k = 41 on, so round 42 goes without four of them, and the fifth stays with the three good ones.
 */
TEST_CASE(g_suite, "half of the paths stay")
{
    const auto taken = Rounds(8, 57, [](uint16_t path, uint32_t) {
        return path < 5 ? Fate::TRIMMED : Fate::ARRIVED;
    });
    for (uint32_t round = 1; round <= 57; round++)
    {
        NS_TEST_EXPECT_MSG_EQ(taken[round].size(), (round < 42 ? 8 : 4), "round " << round);
    }
}

/// What is old counts ever less, so a path that was good for long is found almost as soon as ever;
/// with all that was ever known 60 more faults would hide among the 2500 that each path had.
TEST_CASE(g_suite, "a path that becomes bad after long is left out")
{
    constexpr uint32_t LONG = 5000;
    const auto taken = Rounds(8, LONG + 60, [](uint16_t path, uint32_t round) {
        const bool isBad = round > LONG ? path == 3 : round % 2 == 0;
        return isBad ? Fate::TRIMMED : Fate::ARRIVED;
    });
    NS_TEST_EXPECT_MSG_GT(Of(3, taken).back(), LONG, "it was there");
    uint32_t after = 0;
    for (const uint32_t round : Of(3, taken))
    {
        after += round > LONG;
    }
    NS_TEST_EXPECT_MSG_LT(after, 30, "and is left out");
}

ADD_CASES(g_suite)
{
    suite.Add(new AnOutlierIsLeftOut("trims", Fate::TRIMMED, Fate::ARRIVED));
    suite.Add(new AnOutlierIsLeftOut("losses", Fate::TIMED_OUT, Fate::ARRIVED));
    suite.Add(new AnOutlierIsLeftOut("losses, while all trim", Fate::OVERTAKEN, Fate::TRIMMED));
    suite.Add(new NoneIsLeftOut("all trim", [](uint16_t) { return Fate::TRIMMED; }));
    suite.Add(new NoneIsLeftOut("all lose", [](uint16_t) { return Fate::TIMED_OUT; }));
    suite.Add(new NoneIsLeftOut("at the last hop", [](uint16_t path) {
        return path == 3 ? Fate::TRIMMED_AT_LAST_HOP : Fate::ARRIVED;
    }));
}

} // namespace tests
} // namespace ns3
