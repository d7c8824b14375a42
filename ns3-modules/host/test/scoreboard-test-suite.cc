// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/scoreboard.h"

#include <algorithm>
#include <random>
#include <set>
#include <string>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

static Suite g_suite{"host-scoreboard"};

/// Oracle: three sets of packet numbers, kept by hand.
class ScoreboardAgainstSets : public TestCase
{
  public:
    explicit ScoreboardAgainstSets(uint32_t seed)
        : TestCase("scoreboard, seed " + std::to_string(seed)),
          m_random(seed)
    {
    }

  private:
    static constexpr uint32_t PACKETS = 700;

    void DoRun() override
    {
        Scoreboard board;
        board.Reset(PACKETS);
        const uint32_t reorder = 1 + m_random() % 8;
        for (int step = 0; !board.IsComplete(); step++)
        {
            NS_TEST_ASSERT_MSG_LT(step, 200'000, "it ends");
            Step(board, reorder, m_random() % 16);
            Compare(board, step);
        }
        NS_TEST_EXPECT_MSG_EQ(m_arrived.size(), PACKETS, "all");
    }

    void Step(Scoreboard& board, uint32_t reorder, uint32_t kind)
    {
        if (kind < 8 && board.HasMore())
        {
            const auto [packet, again] = board.Take();
            const uint32_t expected = m_lost.empty() ? m_next++ : *m_lost.begin();
            NS_TEST_ASSERT_MSG_EQ(packet, expected, "the first loss, else a new one");
            NS_TEST_ASSERT_MSG_EQ(again, (m_lost.count(packet) > 0), "sent before");
            m_lost.erase(packet);
        }
        else if (kind < 13 && m_next > 0)
        {
            const uint32_t packet = m_random() % m_next;
            NS_TEST_ASSERT_MSG_EQ(board.Arrived(packet), m_arrived.insert(packet).second, "news");
            m_lost.erase(packet);
        }
        else if (kind == 13 && m_next > 0)
        {
            const uint32_t below = m_random() % (std::min(m_next, Base() + 4) + 1);
            uint32_t news = 0;
            for (uint32_t packet = 0; packet < below; packet++)
            {
                news += m_arrived.insert(packet).second;
                m_lost.erase(packet);
            }
            NS_TEST_ASSERT_MSG_EQ(board.ArrivedBelow(below), news, "news below " << below);
        }
        else if (kind == 14)
        {
            board.JudgeOvertaken(reorder, [this, reorder](uint32_t packet) {
                NS_TEST_ASSERT_MSG_LT(packet + reorder, *m_arrived.rbegin() + 1, "overtaken");
                NS_TEST_ASSERT_MSG_EQ(m_lost.insert(packet).second, true, "once");
            });
        }
        else if (kind == 15 && m_random() % 20 == 0)
        {
            std::set<uint32_t> told;
            board.LoseAll([&told](uint32_t packet) { told.insert(packet); });
            for (uint32_t packet = 0; packet < m_next; packet++)
            {
                const bool isNew = !m_arrived.count(packet) && m_lost.insert(packet).second;
                NS_TEST_ASSERT_MSG_EQ(isNew, (told.count(packet) > 0), "lost " << packet);
            }
        }
    }

    uint32_t Base() const
    {
        uint32_t base = 0;
        while (m_arrived.count(base))
        {
            base++;
        }
        return base;
    }

    void Compare(const Scoreboard& board, int step)
    {
        NS_TEST_ASSERT_MSG_EQ(board.Base(), Base(), "base, step " << step);
        NS_TEST_ASSERT_MSG_EQ(board.Next(), m_next, "next, step " << step);
        NS_TEST_ASSERT_MSG_EQ(board.ToResend(), m_lost.size(), "to resend, step " << step);
        NS_TEST_ASSERT_MSG_EQ(board.Next(),
                              m_arrived.size() + board.ToResend() + board.InFlight(),
                              "sent = arrived + lost + in flight, step " << step);
        NS_TEST_ASSERT_MSG_EQ(board.HasMore(), (!m_lost.empty() || m_next < PACKETS), "more");
    }

    std::mt19937 m_random;
    std::set<uint32_t> m_arrived;
    std::set<uint32_t> m_lost;
    uint32_t m_next{0};
};

/// Oracle: written out by hand.
TEST_CASE(g_suite, "scoreboard that goes back")
{
    Scoreboard board;
    board.Reset(10);
    for (uint32_t packet = 0; packet < 6; packet++)
    {
        NS_TEST_EXPECT_MSG_EQ(board.Take().again, false, "new");
    }
    NS_TEST_EXPECT_MSG_EQ(board.ArrivedBelow(2), 2, "0 and 1");
    board.Rewind(2);
    NS_TEST_EXPECT_MSG_EQ(board.InFlight(), 0, "nothing that is waited for");
    NS_TEST_EXPECT_MSG_EQ(board.HasOut(), true, "but something was sent");
    for (uint32_t packet = 2; packet < 10; packet++)
    {
        const auto [taken, again] = board.Take();
        NS_TEST_EXPECT_MSG_EQ(taken, packet, "in order");
        NS_TEST_EXPECT_MSG_EQ(again, (packet < 6), "sent before");
    }
    board.Rewind(3);
    NS_TEST_EXPECT_MSG_EQ(board.ArrivedBelow(8), 6, "that were on their way after all");
    NS_TEST_EXPECT_MSG_EQ(board.Next(), 8, "they are not sent again");
}

ADD_CASES(g_suite)
{
    for (uint32_t seed = 1; seed <= 8; seed++)
    {
        suite.Add(new ScoreboardAgainstSets(seed));
    }
}

} // namespace

} // namespace tests
} // namespace ns3
