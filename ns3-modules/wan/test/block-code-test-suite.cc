// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/block-code.h"
#include "ns3/random-cursor.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

static Suite g_suite{"block-code"};

/// Oracle: hand. Seven packets, k = 2, m = 1, two blocks at a time.
TEST_CASE(g_suite, "seven packets in blocks of 2 + 1, two at a time, by hand")
{
    // sent:   0 1 2 3 p p | 4 5 6 p p
    // block:  0 1 0 1 0 1 | 2 3 2 3 2: the last group has 3 packets for two blocks
    const BlockCode code(2, 1, 2);
    const std::vector<uint32_t> blocks{0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2};
    const std::vector<uint32_t> packets{0, 1, 2, 3, 7, 7, 4, 5, 6, 7, 7}; // 7: parity
    NS_TEST_ASSERT_MSG_EQ(code.Packets(7), 11, "packets sent");
    NS_TEST_EXPECT_MSG_EQ(code.Blocks(7), 4, "blocks");
    for (uint32_t i = 0; i < 11; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(code.BlockOf(7, i), blocks[i], "block of " << i);
        NS_TEST_EXPECT_MSG_EQ(code.MessagePacket(7, i), packets[i], "packet of " << i);
    }
    NS_TEST_EXPECT_MSG_EQ(code.At(7, 2).data, 2, "block 2 has 4 and 6");
    NS_TEST_EXPECT_MSG_EQ(code.At(7, 3).data, 1, "block 3 has 5");
    NS_TEST_EXPECT_MSG_EQ(BlockCode(2, 0, 1).Packets(7), 7, "no parity, nothing more");
}

/**
 * Oracle: what a block code is. Each packet sent lies in one block; blocks have parity packets
 * beside at most k of the message; these come in order, each once; and of any depth x parity
 * packets in a row (fewer blocks at the end: as many fewer) no block has more than its parity.
 */
class EveryCodeIsOne : public TestCase
{
  public:
    EveryCodeIsOne()
        : TestCase("random codes and messages: each packet in one block, bursts are shared out")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(11);
        const auto draw = [&](uint32_t low, uint32_t high) {
            return low + random() % (high - low + 1);
        };
        for (int round = 0; round < 300; round++)
        {
            const uint32_t k = draw(1, 9);
            const uint32_t m = draw(0, 4);
            const uint32_t depth = draw(1, 5);
            const uint32_t message = draw(1, 120);
            Check(BlockCode(k, m, depth), k, m, depth, message);
        }
    }

    void Check(const BlockCode& code, uint32_t k, uint32_t m, uint32_t depth, uint32_t message)
    {
        const auto total = static_cast<uint32_t>(code.Packets(message));
        std::map<uint32_t, std::vector<uint32_t>> of; // packets of each block, in order
        uint32_t next = 0;
        std::map<uint32_t, uint32_t> data;
        for (uint32_t i = 0; i < total; i++)
        {
            const uint32_t block = code.BlockOf(message, i);
            of[block].push_back(i);
            if (code.MessagePacket(message, i) < message)
            {
                NS_TEST_ASSERT_MSG_EQ(code.MessagePacket(message, i), next++, "in order");
                data[block]++;
            }
        }
        NS_TEST_ASSERT_MSG_EQ(next, message, "all of the message is sent");
        NS_TEST_ASSERT_MSG_EQ(of.size(), code.Blocks(message), "blocks");
        NS_TEST_ASSERT_MSG_EQ(of.rbegin()->first + 1, code.Blocks(message), "counted from 0");
        for (const auto& [block, packets] : of)
        {
            const BlockCode::Block found = code.At(message, block);
            NS_TEST_ASSERT_MSG_EQ(found.data, data[block], "packets of the message");
            NS_TEST_ASSERT_MSG_EQ((found.data >= 1 && found.data <= k), true, "1 to k");
            NS_TEST_ASSERT_MSG_EQ(found.packets, found.data + m, "and parity");
            NS_TEST_ASSERT_MSG_EQ(found.packets, packets.size(), "no more");
            for (uint32_t j = 0; j < found.packets; j++)
            {
                NS_TEST_ASSERT_MSG_EQ(found.At(j), packets[j], "packet " << j << " of a block");
            }
        }
        const uint32_t last = message % (k * depth);
        const uint32_t together = last == 0 ? depth : std::min(depth, last);
        for (uint32_t first = 0; first < total; first++)
        {
            std::map<uint32_t, uint32_t> hit;
            for (uint32_t i = first; i < std::min(total, first + together * m); i++)
            {
                const uint32_t losses = ++hit[code.BlockOf(message, i)];
                NS_TEST_ASSERT_MSG_EQ((losses <= m), true, "a burst from " << first);
            }
        }
    }
};

/**
 * Oracle: binomial tail, for each decade of losses. Packets of one long message are lost like
 * frames of IndependentLoss, from streams of its kind; blocks with more losses than parity are
 * counted. Blocks are as long as it takes for some to be lost: k p is 0.3 to 0.7.
 */
TEST_CASES(ResidualLossInADecade,
           "residual loss, one packet in " + std::to_string(std::lround(1 / ratio)),
           double ratio,
           uint32_t k,
           uint32_t m,
           uint32_t blocks,
           uint32_t depth)
{
    using namespace fabric;
    const BlockCode code(k, m, depth);
    const uint32_t message = k * blocks;
    std::vector<uint32_t> lost(blocks, 0);
    RandomCursor draws(CounterRandom(1, RandomUse::LOSS_MODEL, k));
    for (uint32_t packet = 0; packet < code.Packets(message); packet++)
    {
        if (draws.Real() < ratio)
        {
            lost[code.BlockOf(message, packet)]++;
        }
    }
    const auto failed =
        std::count_if(lost.begin(), lost.end(), [&](uint32_t losses) { return losses > m; });
    const double n = k + m;
    double decoded = 0;
    for (uint32_t i = 0; i <= m; i++)
    {
        decoded += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1) +
                            i * std::log(ratio) + (n - i) * std::log1p(-ratio));
    }
    // Four standard deviations: a false alarm once in 16,000.
    const double expected = blocks * (1 - decoded);
    NS_TEST_EXPECT_MSG_GT(expected, 30, "enough blocks to tell");
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(failed),
                              expected,
                              4 * std::sqrt(expected * decoded),
                              "blocks that are not decoded");
}

ADD_CASES(g_suite)
{
    suite.Add(new EveryCodeIsOne);
    using Decade = ResidualLossInADecade;
    suite.Add(new Decade(1e-2, 64, 2, 20'000, 8));
    suite.Add(new Decade(1e-3, 512, 2, 5000, 4));
    suite.Add(new Decade(1e-4, 4096, 1, 1000, 2));
    suite.Add(new Decade(1e-5, 30'000, 1, 1000, 1));
}

} // namespace tests
} // namespace ns3
