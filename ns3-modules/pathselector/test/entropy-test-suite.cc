// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/entropy-order.h"
#include "ns3/recycled-entropies.h"
#include "ns3/slot-table.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

CounterRandom
Stream(uint64_t key)
{
    return CounterRandom(1, RandomUse::PATH_ENTROPY, key);
}

/// @return the next round
std::vector<uint16_t>
Round(EntropyOrder& order, RandomCursor& draws, uint32_t n)
{
    std::vector<uint16_t> round;
    for (uint32_t i = 0; i < n; i++)
    {
        round.push_back(order.Next(draws));
    }
    return round;
}

static Suite g_suite{"entropy"};

/// Every entropy comes once in each round, and no two rounds are alike.
TEST_CASES(RoundsArePermutations, "rounds of " + std::to_string(n), uint32_t n)
{
    EntropyOrder order(n);
    RandomCursor draws(Stream(7));
    std::vector<uint16_t> all(n);
    std::iota(all.begin(), all.end(), 0);
    std::vector<uint16_t> before;
    for (uint32_t rounds = 1; rounds <= 3; rounds++)
    {
        const auto round = Round(order, draws, n);
        auto sorted = round;
        std::sort(sorted.begin(), sorted.end());
        NS_TEST_EXPECT_MSG_EQ((sorted == all), true, "each once");
        NS_TEST_EXPECT_MSG_EQ((round == before && n > 10), false, "another order");
        NS_TEST_EXPECT_MSG_EQ(order.Rounds(), rounds, "rounds begun");
        before = round;
    }
}

/// Oracle: Fisher and Yates on the list of the round before, with the numbers of the stream.
TEST_CASE(g_suite, "the draws of a small round")
{
    constexpr uint32_t N = 16;
    EntropyOrder order(N);
    RandomCursor draws(Stream(3));
    std::vector<uint16_t> expected(N);
    std::iota(expected.begin(), expected.end(), 0);
    uint64_t draw = 0;
    for (uint32_t rounds = 0; rounds < 3; rounds++)
    {
        for (uint32_t i = N - 1; i > 0; i--)
        {
            std::swap(expected[i], expected[Stream(3).Below(draw++, i + 1)]);
        }
        NS_TEST_EXPECT_MSG_EQ((Round(order, draws, N) == expected), true, "round " << rounds);
    }
}

/**
 * Oracle: the place of an entropy is uniform. 4000 orders in 20 classes; chi-square of 19 degrees
 * exceeds 50.8 with probability 1e-4.
 */
TEST_CASE(g_suite, "first and second entropy of large rounds")
{
    constexpr uint32_t N = 2000;
    constexpr uint32_t ORDERS = 4000;
    constexpr uint32_t CLASSES = 20;
    std::vector<std::vector<uint32_t>> counts(2, std::vector<uint32_t>(CLASSES));
    std::vector<uint32_t> steps(CLASSES); // from the first to the second
    for (uint64_t key = 0; key < ORDERS; key++)
    {
        EntropyOrder order(N);
        RandomCursor draws(Stream(key));
        const uint32_t first = order.Next(draws);
        const uint32_t second = order.Next(draws);
        counts[0][first * CLASSES / N]++;
        counts[1][second * CLASSES / N]++;
        steps[(second + N - first) % N * CLASSES / N]++;
    }
    counts.push_back(steps);
    for (const auto& observed : counts)
    {
        const double expected = double{ORDERS} / CLASSES;
        double chiSquare = 0;
        for (const uint32_t n : observed)
        {
            chiSquare += (n - expected) * (n - expected) / expected;
        }
        NS_TEST_EXPECT_MSG_LT(chiSquare, 50.8, "uniform");
    }
}

/// A slot that is opened again knows nothing of the flow before; nothing is kept of a closed one.
TEST_CASE(g_suite, "slots of flows")
{
    fabric::SlotTable<std::shared_ptr<int>> flows;
    const auto first = std::make_shared<int>(1);
    flows.Open(3, first);
    NS_TEST_EXPECT_MSG_EQ(first.use_count(), 2, "held");
    flows.Close(3);
    NS_TEST_EXPECT_MSG_EQ(first.use_count(), 1, "given back");
    flows.Open(3, std::make_shared<int>(2));
    flows.Open(0, first);
    NS_TEST_EXPECT_MSG_EQ(*flows[3], 2, "the new one");
    NS_TEST_EXPECT_MSG_EQ(*flows[0], 1, "beside another");
}

/// Beside a std::deque, pushed to more often than popped from, so that the ring grows as it turns.
TEST_CASE(g_suite, "recycled entropies leave in the order in which they came")
{
    RecycledEntropies recycled;
    std::deque<uint16_t> expected;
    RandomCursor draws(Stream(8));
    size_t most = 0;
    for (uint32_t step = 0; step < 1000 || !expected.empty(); step++)
    {
        if (step < 1000 && draws.Below(10) < 7)
        {
            recycled.Push(static_cast<uint16_t>(step));
            expected.push_back(static_cast<uint16_t>(step));
        }
        else if (!expected.empty())
        {
            NS_TEST_ASSERT_MSG_EQ(recycled.Pop(), expected.front(), "the oldest");
            expected.pop_front();
        }
        NS_TEST_ASSERT_MSG_EQ(recycled.IsEmpty(), expected.empty(), "whether any is left");
        most = std::max(most, expected.size());
    }
    NS_TEST_EXPECT_MSG_GT(most, 256, "it has grown several times");
}

ADD_CASES(g_suite)
{
    for (const uint32_t n : {1, 2, 5, 64, 1024, 1025, 4096, 40'000, 65'535, 65'536})
    {
        suite.Add(new RoundsArePermutations(n));
    }
}

} // namespace

} // namespace tests
} // namespace ns3
