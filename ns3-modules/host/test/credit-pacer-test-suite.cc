// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/credit-pacer.h"
#include "ns3/event.h"

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

static Suite g_suite{"host-credit-pacer"};

/// As NDP pulls: one packet each, at the rate of the link.
TEST_CASE(g_suite, "pulls: round robin at the rate of the link")
{
    // 1000 B at 8 Gb/s: a credit each us. Oracle: flows 0, 1, 2, 0, 1, 2, ... at 1, 2, 3 us.
    CreditPacer pacer({1000, FlowOrder::By::ROUND_ROBIN, 8'000'000'000});
    NS_TEST_EXPECT_MSG_EQ(pacer.NextPs(), NEVER_PS, "nobody wants any");
    for (const uint32_t flow : {0, 1, 2})
    {
        pacer.Want(flow, 10'000);
    }
    uint64_t nowPs = 1'000'000;
    for (uint32_t i = 0; i < 30; i++)
    {
        const auto credit = pacer.Take(nowPs);
        NS_TEST_ASSERT_MSG_EQ(credit.has_value(), true, "credit " << i);
        NS_TEST_ASSERT_MSG_EQ(credit->flow, i % 3, "in turn");
        NS_TEST_ASSERT_MSG_EQ(credit->bytes, 1000, "a quantum");
        NS_TEST_ASSERT_MSG_EQ(pacer.Take(nowPs).has_value(), false, "not two at once");
        nowPs += 1'000'000;
        const uint64_t nextPs = i < 29 ? nowPs : NEVER_PS; // the last one is not waited for
        NS_TEST_ASSERT_MSG_EQ(pacer.NextPs(), nextPs, "the next one, " << i);
    }
    NS_TEST_EXPECT_MSG_EQ(pacer.Take(nowPs).has_value(), false, "all have what they wanted");
    NS_TEST_EXPECT_MSG_EQ(pacer.NextPs(), NEVER_PS, "nobody wants any");
    pacer.SetRateBps(4'000'000'000);
    pacer.Want(1, 2500);
    std::vector<uint64_t> bytes;
    for (nowPs = 100'000'000; bytes.size() < 3; nowPs += 2'000'000)
    {
        bytes.push_back(pacer.Take(nowPs)->bytes);
    }
    NS_TEST_EXPECT_MSG_EQ((bytes == std::vector<uint64_t>{1000, 1000, 500}), true, "the rest");
}

/// Oracle: by hand. Quanta of 1000 B at 8 Gb/s, so one each us.
TEST_CASE(g_suite, "idle flows get what they may be ahead by, in turn, while nobody wants any")
{
    CreditPacer pacer({1000, FlowOrder::By::ROUND_ROBIN, 8'000'000'000});
    uint64_t nowPs = 0;
    const auto take = [&pacer, &nowPs] {
        nowPs += 1'000'000;
        const auto credit = pacer.Take(nowPs);
        return credit ? std::pair{credit->flow, credit->bytes} : std::pair{99U, uint64_t{0}};
    };
    const auto nobody = std::pair{99U, uint64_t{0}};
    for (const uint32_t flow : {0, 1})
    {
        pacer.Want(flow, 1500);
        pacer.Spare(flow, 1500);
    }
    // What is wanted first, each turn a quantum or what is left of it; then two quanta for each,
    // because after one of them it is ahead by less than 1500 B.
    for (const uint64_t bytes : {1000, 500, 1000, 1000})
    {
        for (const uint32_t flow : {0, 1})
        {
            NS_TEST_EXPECT_MSG_EQ((take() == std::pair{flow, bytes}), true, bytes << " B");
        }
    }
    NS_TEST_EXPECT_MSG_EQ(pacer.NextPs(), NEVER_PS, "both are 2000 B ahead");
    NS_TEST_EXPECT_MSG_EQ((take() == nobody), true, "both are 2000 B ahead");
    // 1200 B more are wanted: 800 B ahead, which is less than 1500.
    pacer.Want(1, 1200);
    pacer.Want(2, 3000);
    for (const uint32_t flow : {2, 2, 2, 1})
    {
        NS_TEST_EXPECT_MSG_EQ((take() == std::pair{flow, uint64_t{1000}}), true, "2 wants it");
    }
    NS_TEST_EXPECT_MSG_EQ((take() == nobody), true, "1800 B ahead");
    // Forgotten while it may have some: whoever has its number next begins afresh.
    pacer.Want(1, 1000);
    pacer.Forget(1);
    NS_TEST_EXPECT_MSG_EQ((take() == nobody), true, "it was forgotten");
    pacer.Want(1, 400);
    NS_TEST_EXPECT_MSG_EQ((take() == std::pair{1U, uint64_t{400}}), true, "no more than wanted");
    NS_TEST_EXPECT_MSG_EQ((take() == nobody), true, "nothing to spare");
}

/// Oracle: what was wanted and forgotten, kept by hand; and who wanted first, if that is the order.
class CreditIsConserved : public TestCase
{
  public:
    explicit CreditIsConserved(FlowOrder::By order)
        : TestCase("credited = wanted, order " + std::to_string(static_cast<int>(order))),
          m_order(order)
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint64_t RATE_BPS = 8'000'000'000; // a byte each ns
        std::mt19937 random(17);
        CreditPacer pacer({1500, m_order, RATE_BPS});
        std::map<uint32_t, uint64_t> wanted;
        std::vector<uint32_t> begun; // who wants any, by the first time it did
        uint64_t nowPs = 0;
        for (int step = 0; step < 20'000; step++)
        {
            const uint32_t flow = random() % 20;
            const uint32_t kind = random() % 8;
            nowPs += 2'000'000; // more than a quantum takes
            const auto known = std::find(begun.begin(), begun.end(), flow);
            if (kind < 2)
            {
                const uint64_t bytes = 1 + random() % 5000;
                pacer.Want(flow, bytes);
                wanted[flow] += bytes;
                if (known == begun.end())
                {
                    begun.push_back(flow);
                }
            }
            else if (kind == 5 && known != begun.end())
            {
                pacer.Forget(flow);
                wanted.erase(flow);
                begun.erase(known);
            }
            else
            {
                Check(pacer.Take(nowPs), wanted, begun);
            }
        }
    }

    void Check(const std::optional<CreditPacer::Credit>& credit,
               std::map<uint32_t, uint64_t>& wanted,
               const std::vector<uint32_t>& begun)
    {
        const auto first = std::find_if(begun.begin(), begun.end(), [&wanted](uint32_t flow) {
            return wanted[flow] > 0;
        });
        NS_TEST_ASSERT_MSG_EQ(credit.has_value(), (first != begun.end()), "somebody wants any");
        if (!credit)
        {
            return;
        }
        NS_TEST_ASSERT_MSG_EQ(credit->bytes,
                              std::min<uint64_t>(1500, wanted[credit->flow]),
                              "a quantum, or what is left");
        if (m_order == FlowOrder::By::FIRST_COME)
        {
            NS_TEST_ASSERT_MSG_EQ(credit->flow, *first, "who began first");
        }
        wanted[credit->flow] -= credit->bytes;
    }

    FlowOrder::By m_order;
};

ADD_CASES(g_suite)
{
    for (const auto order : {FlowOrder::By::ROUND_ROBIN, FlowOrder::By::FIRST_COME})
    {
        suite.Add(new CreditIsConserved(order));
    }
}

} // namespace

} // namespace tests
} // namespace ns3
