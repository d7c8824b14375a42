// SPDX-License-Identifier: GPL-2.0-only

#include "test-case.h"

#include "ns3/counter-random.h"

#include <cmath>
#include <set>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

static Suite g_suite{"fabric-random"};

/**
 * Oracle: counts in equal classes follow chi-square.
 *
 * With k - 1 degrees of freedom the statistic has mean k - 1 and variance 2 (k - 1). By Wilson
 * and Hilferty (1931) its cube root is nearly normal; 5 sigma is a false alarm of 6e-7 per test,
 * for streams drawn at random. These are fixed.
 */
class DrawsAreUniform : public TestCase
{
  public:
    DrawsAreUniform(uint64_t seed, uint64_t key)
        : TestCase("uniform, seed " + std::to_string(seed) + ", key " + std::to_string(key)),
          m_seed(seed),
          m_key(key)
    {
    }

  private:
    static double Sigmas(const std::vector<uint32_t>& counts)
    {
        double n = 0;
        for (const auto count : counts)
        {
            n += count;
        }
        const double expected = n / static_cast<double>(counts.size());
        double statistic = 0;
        for (const auto count : counts)
        {
            statistic += (count - expected) * (count - expected) / expected;
        }
        const double dof = static_cast<double>(counts.size()) - 1;
        const double spread = 2 / (9 * dof);
        return (std::cbrt(statistic / dof) - (1 - spread)) / std::sqrt(spread);
    }

    void DoRun() override
    {
        constexpr uint32_t DRAWS = 200'000;
        const CounterRandom stream(m_seed, RandomUse::FRAME_LOSS, m_key);
        std::vector<uint32_t> real(100);
        std::vector<uint32_t> below(7);
        std::vector<uint32_t> pairs(64);
        std::vector<uint32_t> lowBits(256);
        for (uint64_t i = 0; i < DRAWS; i++)
        {
            const double x = stream.Real(i);
            NS_TEST_ASSERT_MSG_EQ((x >= 0 && x < 1), true, "in [0, 1)");
            real[static_cast<size_t>(x * 100)]++;
            NS_TEST_ASSERT_MSG_LT(stream.Below(i, 7), 7, "below 7");
            below[stream.Below(i, 7)]++;
            pairs[stream.Below(2 * i, 8) * 8 + stream.Below(2 * i + 1, 8)]++; // serial
            lowBits[stream.Bits(i) & 255]++;
        }
        for (const auto* counts : {&real, &below, &pairs, &lowBits})
        {
            NS_TEST_EXPECT_MSG_LT(std::abs(Sigmas(*counts)), 5, "classes " << counts->size());
        }
    }

    uint64_t m_seed;
    uint64_t m_key;
};

/// Streams of different seeds, uses or keys share nothing; a stream is a pure function.
TEST_CASE(g_suite, "streams differ by seed, use and key, and repeat exactly")
{
    std::set<uint64_t> seen;
    uint32_t n = 0;
    for (const uint64_t seed : {0UL, 1UL, 2UL, ~0UL})
    {
        for (const auto use : {RandomUse::FLOW_TUPLE, RandomUse::ECN_MARK})
        {
            for (uint64_t key = 0; key < 1000; key++)
            {
                const CounterRandom stream(seed, use, key);
                for (uint64_t i = 0; i < 4; i++)
                {
                    seen.insert(stream.Bits(i));
                    n++;
                }
                NS_TEST_ASSERT_MSG_EQ(stream.Bits(3),
                                      CounterRandom(seed, use, key).Bits(3),
                                      "the same again");
            }
        }
    }
    // 32 000 numbers of 64 bits: two alike with probability 3e-11.
    NS_TEST_EXPECT_MSG_EQ(seen.size(), n, "no number twice");
}

/// Neighbouring keys must not be correlated: flows 0, 1, 2 .. take the same counter.
TEST_CASE(g_suite, "counter 0 of keys 0, 1, 2 .. is uniform, and so is the step between them")
{
    constexpr int KEYS = 160'000;
    constexpr int CLASSES = 16;
    std::vector<double> first(CLASSES);
    std::vector<double> step(CLASSES);
    double before = 0;
    for (int key = 0; key < KEYS; key++)
    {
        const double x = CounterRandom(1, RandomUse::FLOW_TUPLE, key).Real(0);
        first[static_cast<int>(x * CLASSES)]++;
        step[static_cast<int>((x - before + (x < before ? 1 : 0)) * CLASSES)]++;
        before = x;
    }
    // 10 000 per class, sigma 100: all 32 within 5 sigma.
    for (int i = 0; i < CLASSES; i++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(first[i], 10'000, 500, "class " << i);
        NS_TEST_EXPECT_MSG_EQ_TOL(step[i], 10'000, 500, "step class " << i);
    }
}

ADD_CASES(g_suite)
{
    for (const uint64_t seed : {0UL, 1UL, 12345UL, ~0UL})
    {
        for (const uint64_t key : {0UL, 1UL, ~0UL})
        {
            suite.Add(new DrawsAreUniform(seed, key));
        }
    }
}

} // namespace tests
} // namespace ns3
