// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/penalised-entropies.h"

#include <set>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;
using Fate = PathReport::Fate;

namespace
{

RandomCursor
Draws()
{
    return RandomCursor(CounterRandom(1, RandomUse::PATH_ENTROPY, 3));
}

} // namespace

static Suite g_suite{"entropy-penalties"};

/// Oracle: a round is a permutation; of a power of two it is i XOR a constant.
TEST_CASES(EachOnceInARound, "rounds of " + std::to_string(n), uint32_t n)
{
    RandomCursor draws = Draws();
    PenalisedEntropies entropies(n, draws);
    std::set<uint32_t> firsts;
    for (uint32_t round = 1; round <= 5; round++)
    {
        std::vector<uint32_t> seen(n);
        const uint32_t first = entropies.Next(draws);
        seen[first]++;
        firsts.insert(first);
        for (uint32_t i = 1; i < n; i++)
        {
            const uint32_t entropy = entropies.Next(draws);
            seen[entropy]++;
            if ((n & (n - 1)) == 0)
            {
                NS_TEST_EXPECT_MSG_EQ((entropy ^ i), first, "i XOR a constant");
            }
        }
        NS_TEST_EXPECT_MSG_EQ((seen == std::vector<uint32_t>(n, 1)), true, "each once");
    }
    NS_TEST_EXPECT_MSG_EQ((firsts.size() == 1 && n >= 64), false, "another order each time");
}

/// Oracle: counting. In 20 rounds one of 16 is left out as often as it has penalties.
TEST_CASES(PenaltiesAreRounds,
           "a penalty of " + std::to_string(penalty),
           const std::vector<Fate>& fates,
           uint32_t penalty)
{
    constexpr uint32_t N = 16;
    constexpr uint32_t ROUNDS = 20;
    RandomCursor draws = Draws();
    PenalisedEntropies entropies(N, draws);
    for (const Fate fate : fates)
    {
        entropies.Report(5, fate);
    }
    NS_TEST_EXPECT_MSG_EQ(entropies.Penalty(5), penalty, "rounds to come");
    std::vector<uint32_t> seen(N);
    for (uint32_t i = 0; i < ROUNDS * N - penalty; i++)
    {
        seen[entropies.Next(draws)]++;
    }
    std::vector<uint32_t> expected(N, ROUNDS);
    expected[5] = ROUNDS - penalty;
    NS_TEST_EXPECT_MSG_EQ((seen == expected), true, "all others in each round");
    NS_TEST_EXPECT_MSG_EQ(entropies.Penalty(5), 0, "served");
}

/// Oracle: counting. When all are bad each packet takes one penalty away; no packet waits.
TEST_CASE(g_suite, "all are bad")
{
    constexpr uint32_t N = 8;
    RandomCursor draws = Draws();
    PenalisedEntropies entropies(N, draws);
    for (uint16_t entropy = 0; entropy < N; entropy++)
    {
        entropies.Report(entropy, Fate::TRIMMED);
    }
    uint32_t before = 4 * N;
    for (uint32_t i = 0; i < N; i++)
    {
        NS_TEST_EXPECT_MSG_LT(entropies.Next(draws), N, "an entropy");
        uint32_t sum = 0;
        for (uint16_t entropy = 0; entropy < N; entropy++)
        {
            sum += entropies.Penalty(entropy);
        }
        NS_TEST_EXPECT_MSG_EQ(sum, before - 1, "one less");
        before = sum;
    }
}

ADD_CASES(g_suite)
{
    for (const uint32_t n : {1, 2, 5, 64, 100, 1024})
    {
        suite.Add(new EachOnceInARound(n));
    }
    const Fate ARRIVED = Fate::ARRIVED;
    suite.Add(new PenaltiesAreRounds({Fate::MARKED}, 1));
    suite.Add(new PenaltiesAreRounds({Fate::TRIMMED, ARRIVED}, 4));
    suite.Add(new PenaltiesAreRounds({Fate::OVERTAKEN, Fate::MARKED}, 5));
    suite.Add(new PenaltiesAreRounds({Fate::TIMED_OUT, Fate::TRIMMED}, 15));
    suite.Add(new PenaltiesAreRounds({Fate::TRIMMED_AT_LAST_HOP}, 0));
}

} // namespace tests
} // namespace ns3
