// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/penalised-entropies.h"
#include "ns3/test.h"

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

/// Oracle: a round is a permutation; of a power of two it is i XOR a constant.
class EachOnceInARound : public TestCase
{
  public:
    explicit EachOnceInARound(uint32_t n)
        : TestCase("rounds of " + std::to_string(n)),
          m_n(n)
    {
    }

  private:
    void DoRun() override
    {
        RandomCursor draws = Draws();
        PenalisedEntropies entropies(m_n, draws);
        std::set<uint32_t> firsts;
        for (uint32_t round = 1; round <= 5; round++)
        {
            std::vector<uint32_t> seen(m_n);
            const uint32_t first = entropies.Next(draws);
            seen[first]++;
            firsts.insert(first);
            for (uint32_t i = 1; i < m_n; i++)
            {
                const uint32_t entropy = entropies.Next(draws);
                seen[entropy]++;
                if ((m_n & (m_n - 1)) == 0)
                {
                    NS_TEST_EXPECT_MSG_EQ((entropy ^ i), first, "i XOR a constant");
                }
            }
            NS_TEST_EXPECT_MSG_EQ((seen == std::vector<uint32_t>(m_n, 1)), true, "each once");
        }
        NS_TEST_EXPECT_MSG_EQ((firsts.size() == 1 && m_n >= 64), false, "another order each time");
    }

    uint32_t m_n;
};

/// Oracle: counting. In 20 rounds one of 16 is left out as often as it has penalties.
class PenaltiesAreRounds : public TestCase
{
  public:
    PenaltiesAreRounds(const std::vector<Fate>& fates, uint32_t penalty)
        : TestCase("a penalty of " + std::to_string(penalty)),
          m_fates(fates),
          m_penalty(penalty)
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t N = 16;
        constexpr uint32_t ROUNDS = 20;
        RandomCursor draws = Draws();
        PenalisedEntropies entropies(N, draws);
        for (const Fate fate : m_fates)
        {
            entropies.Report(5, fate);
        }
        NS_TEST_EXPECT_MSG_EQ(entropies.Penalty(5), m_penalty, "rounds to come");
        std::vector<uint32_t> seen(N);
        for (uint32_t i = 0; i < ROUNDS * N - m_penalty; i++)
        {
            seen[entropies.Next(draws)]++;
        }
        std::vector<uint32_t> expected(N, ROUNDS);
        expected[5] = ROUNDS - m_penalty;
        NS_TEST_EXPECT_MSG_EQ((seen == expected), true, "all others in each round");
        NS_TEST_EXPECT_MSG_EQ(entropies.Penalty(5), 0, "served");
    }

    std::vector<Fate> m_fates;
    uint32_t m_penalty;
};

/// Oracle: counting. When all are bad each packet takes one penalty away; no packet waits.
class AllAreBad : public TestCase
{
  public:
    AllAreBad()
        : TestCase("all are bad")
    {
    }

  private:
    void DoRun() override
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
};

class PenalisedEntropiesTestSuite : public TestSuite
{
  public:
    PenalisedEntropiesTestSuite()
        : TestSuite("entropy-penalties", Type::UNIT)
    {
        for (const uint32_t n : {1, 2, 5, 64, 100, 1024})
        {
            AddTestCase(new EachOnceInARound(n), Duration::QUICK);
        }
        const Fate ARRIVED = Fate::ARRIVED;
        AddTestCase(new PenaltiesAreRounds({Fate::MARKED}, 1), Duration::QUICK);
        AddTestCase(new PenaltiesAreRounds({Fate::TRIMMED, ARRIVED}, 4), Duration::QUICK);
        AddTestCase(new PenaltiesAreRounds({Fate::OVERTAKEN, Fate::MARKED}, 5), Duration::QUICK);
        AddTestCase(new PenaltiesAreRounds({Fate::TIMED_OUT, Fate::TRIMMED}, 15), Duration::QUICK);
        AddTestCase(new PenaltiesAreRounds({Fate::TRIMMED_AT_LAST_HOP}, 0), Duration::QUICK);
        AddTestCase(new AllAreBad, Duration::QUICK);
    }
};

static PenalisedEntropiesTestSuite g_penalisedEntropiesTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3
