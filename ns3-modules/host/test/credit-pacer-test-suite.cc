// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/credit-pacer.h"
#include "ns3/event.h"
#include "ns3/test.h"

#include <map>
#include <random>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

/// As NDP pulls: one packet each, at the rate of the link.
class PullsAreFairAndPaced : public TestCase
{
  public:
    PullsAreFairAndPaced()
        : TestCase("pulls: round robin at the rate of the link")
    {
    }

  private:
    void DoRun() override
    {
        // 1000 B at 8 Gb/s: a credit each us. Oracle: flows 0, 1, 2, 0, 1, 2, ... at 1, 2, 3 us.
        CreditPacer pacer({1000, FlowOrder::By::ROUND_ROBIN, 8'000'000'000, 0, 0});
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
};

/// As Homa's grants: the K shortest flows, each with so much outstanding.
class GrantsAreForTheShortest : public TestCase
{
  public:
    GrantsAreForTheShortest()
        : TestCase("grants: the shortest two, 3000 bytes outstanding each")
    {
    }

  private:
    void DoRun() override
    {
        CreditPacer pacer({1000, FlowOrder::By::LEAST_REMAINING, 0, 2, 3000});
        pacer.Want(7, 50'000);
        pacer.Want(3, 20'000);
        pacer.Want(5, 5000);
        std::map<uint32_t, uint64_t> granted;
        while (const auto credit = pacer.Take(0))
        {
            granted[credit->flow] += credit->bytes;
        }
        // Oracle: by hand.
        NS_TEST_EXPECT_MSG_EQ(granted[5], 3000, "the shortest");
        NS_TEST_EXPECT_MSG_EQ(granted[3], 3000, "the next");
        NS_TEST_EXPECT_MSG_EQ(granted[7], 0, "no third");
        pacer.Received(5, 1000);
        NS_TEST_EXPECT_MSG_EQ(pacer.Take(0)->flow, 5, "what came back is granted again");
        NS_TEST_EXPECT_MSG_EQ(pacer.Take(0).has_value(), false, "and no more");
        pacer.Forget(5);
        granted.clear();
        while (const auto credit = pacer.Take(0))
        {
            granted[credit->flow] += credit->bytes;
        }
        NS_TEST_EXPECT_MSG_EQ(granted[7], 3000, "the third takes the place of one that has ended");
        NS_TEST_EXPECT_MSG_EQ(granted[3], 0, "which has its share already");
    }
};

/// Oracle: what was wanted, received and forgotten, kept by hand.
class CreditIsConserved : public TestCase
{
  public:
    explicit CreditIsConserved(FlowOrder::By order)
        : TestCase("credited = wanted, order " + std::to_string(static_cast<int>(order))),
          m_order(order)
    {
    }

  private:
    static constexpr uint64_t MOST = 4000;

    void DoRun() override
    {
        std::mt19937 random(17);
        CreditPacer pacer({1500, m_order, 0, 0, MOST});
        std::map<uint32_t, uint64_t> wanted;
        std::map<uint32_t, uint64_t> outstanding;
        for (int step = 0; step < 20'000; step++)
        {
            const uint32_t flow = random() % 20;
            const uint32_t kind = random() % 8;
            if (kind < 2)
            {
                const uint64_t bytes = 1 + random() % 5000;
                pacer.Want(flow, bytes);
                wanted[flow] += bytes;
            }
            else if (kind < 5 && outstanding[flow] > 0)
            {
                const uint64_t bytes = 1 + random() % outstanding[flow];
                pacer.Received(flow, bytes);
                outstanding[flow] -= bytes;
            }
            else if (kind == 5 && wanted[flow] > 0)
            {
                pacer.Forget(flow);
                wanted[flow] = outstanding[flow] = 0;
            }
            else if (const auto credit = pacer.Take(0))
            {
                NS_TEST_ASSERT_MSG_LT_OR_EQ(credit->bytes, wanted[credit->flow], "wanted");
                NS_TEST_ASSERT_MSG_LT(outstanding[credit->flow], MOST, "not too much out");
                wanted[credit->flow] -= credit->bytes;
                outstanding[credit->flow] += credit->bytes;
            }
            else
            {
                for (const auto& [waiting, bytes] : wanted)
                {
                    NS_TEST_ASSERT_MSG_EQ((bytes == 0 || outstanding[waiting] >= MOST),
                                          true,
                                          "flow " << waiting << " is left out, step " << step);
                }
            }
        }
    }

    FlowOrder::By m_order;
};

class HostCreditPacerTestSuite : public TestSuite
{
  public:
    HostCreditPacerTestSuite()
        : TestSuite("host-credit-pacer", Type::UNIT)
    {
        AddTestCase(new PullsAreFairAndPaced, Duration::QUICK);
        AddTestCase(new GrantsAreForTheShortest, Duration::QUICK);
        for (const auto order : {FlowOrder::By::ROUND_ROBIN,
                                 FlowOrder::By::FIRST_COME,
                                 FlowOrder::By::LEAST_REMAINING})
        {
            AddTestCase(new CreditIsConserved(order), Duration::QUICK);
        }
    }
};

HostCreditPacerTestSuite g_hostCreditPacerTestSuite; ///< Registers itself

} // namespace

} // namespace tests
} // namespace ns3
