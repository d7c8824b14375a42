// SPDX-License-Identifier: GPL-2.0-only

// The battery of the contract EgressScheduler: a fake that serves the lowest class first, holds
// one back until a time, and writes down what it was asked.

#include "../../facade/test/idle-flow-control.h"
#include "../../facade/test/test-network.h"

#include "ns3/egress-scheduler.h"

#include <bit>

namespace ns3
{
namespace tests
{

using namespace fabric;

/// See above.
class LowestFirst final : public EgressScheduler
{
  public:
    /// A frame that left.
    struct Departure
    {
        uint32_t queueClass;
        uint64_t wireBytes;
        uint64_t leftBytes; ///< In its class, as the context says then [byte]
    };

    static inline uint32_t attached = 0;
    static inline std::vector<uint32_t> asked; ///< What was ready, each time
    static inline std::vector<uint32_t>
        headBytes; ///< Of the class chosen, as the context says [byte]
    static inline std::vector<Departure> sent;

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::LowestFirst")
                                .SetParent<EgressScheduler>()
                                .SetGroupName("Tests")
                                .AddConstructor<LowestFirst>()
                                .AddAttribute("Held",
                                              "Class that is held back",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&LowestFirst::m_held),
                                              MakeUintegerChecker<uint32_t>(0, 15))
                                .AddAttribute("UntilPs",
                                              "It is, until then [ps]",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&LowestFirst::m_untilPs),
                                              MakeUintegerChecker<uint64_t>());
        return tid;
    }

    void Attach(SwitchContext& context) override
    {
        attached++;
        asked.clear();
        headBytes.clear();
        sent.clear();
        m_context = &context;
    }

    Choice Next(PortId port, uint32_t ready) override
    {
        asked.push_back(ready);
        const bool holds = m_context->NowPs() < m_untilPs;
        const uint32_t mayGo = holds ? ready & ~(1U << m_held) : ready;
        if (mayGo == 0)
        {
            return {NONE, m_untilPs};
        }
        const auto queueClass = static_cast<uint32_t>(std::countr_zero(mayGo));
        headBytes.push_back(m_context->HeadBytes(port, queueClass));
        return {queueClass};
    }

    void Sent(PortId port, uint32_t queueClass, uint64_t wireBytes) override
    {
        sent.push_back({queueClass, wireBytes, m_context->QueuedBytes(port, queueClass)});
    }

  private:
    const SwitchContext* m_context{nullptr};
    uint32_t m_held{0};
    uint64_t m_untilPs{0};
};

NS_OBJECT_ENSURE_REGISTERED(LowestFirst);

/// Holds priority 3 back at every port of a switch, and lets it go on at 5 us.
class HoldsThree final : public IdleFlowControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::HoldsThree")
                                .SetParent<LinkFlowControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<HoldsThree>();
        return tid;
    }

    void Attach(LinkContext& context) override
    {
        m_context = &context;
        for (PortId port = 0; port < context.NumPorts(); port++)
        {
            if (!context.GetPort(port).isHost)
            {
                context.SetPaused(port, 1U << 3, {});
                context.SetTimer(port, 5 * US_PS);
            }
        }
    }

    void OnTimer(PortId port) override
    {
        m_context->SetPaused(port, 0, {});
    }

  private:
    LinkContext* m_context{nullptr};
};

NS_OBJECT_ENSURE_REGISTERED(HoldsThree);

namespace
{

/// Hosts 0 (priority 3) and 1 (priority 5) send to host 2; nobody answers.
void
TwoClasses(TestNetwork& network, int64_t bytes, int64_t secondPs)
{
    LowestFirst::attached = 0;
    network.Star(3);
    network.Flow(0, 2, bytes);
    network.Flow(1, 2, bytes, secondPs, 1);
    network.Transport({{"Priority", "3"}, {"Answers", "false"}});
    network.Transport({{"Priority", "5"}, {"Answers", "false"}});
}

} // namespace

static Suite g_suite{"fabric-egress-scheduler", TestSuite::Type::SYSTEM};

/// Oracle, by hand: 0.0 and 1.0 come first, then 0.1, 0.2 are served before 1.1, 1.2.
TEST_CASE(g_suite, "a scheduler is asked for each frame and told of each that leaves")
{
    TestNetwork network;
    TwoClasses(network, 3000, 0);
    network.Use("scheduler", "ns3::tests::LowestFirst");
    network.Run();
    std::vector<std::pair<uint32_t, uint32_t>> order;
    for (const auto& seen : PacedDatagrams::seen)
    {
        order.emplace_back(seen.frame.message, seen.frame.packet);
    }
    const decltype(order) expected{{0, 0}, {1, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}};
    const std::vector<uint32_t> ready{1U << 3, 1U << 5, 0b101000, 0b101000, 1U << 5, 1U << 5};
    NS_TEST_EXPECT_MSG_EQ((order == expected), true, "order");
    NS_TEST_EXPECT_MSG_EQ(LowestFirst::attached, 1, "attached");
    NS_TEST_EXPECT_MSG_EQ((LowestFirst::asked == ready), true, "what was ready");
    NS_TEST_ASSERT_MSG_EQ(LowestFirst::sent.size(), 6, "each frame");
    const std::vector<uint64_t> left{0, 0, 0, 0, 1000, 0};
    for (size_t i = 0; i < left.size(); i++)
    {
        const auto& sent = LowestFirst::sent[i];
        NS_TEST_EXPECT_MSG_EQ(sent.queueClass, (expected[i].first ? 5U : 3U), "class " << i);
        NS_TEST_EXPECT_MSG_EQ(sent.wireBytes, 1020, "with framing " << i);
        NS_TEST_EXPECT_MSG_EQ(sent.leftBytes, left[i], "it has left its queue " << i);
        NS_TEST_EXPECT_MSG_EQ(LowestFirst::headBytes[i], 1000, "head " << i);
    }
}

/**
 * Oracle, by hand: asked when the first frame comes (not yet), when the second of another class
 * comes (that one), when it has left (not yet), and at the time named.
 */
TEST_CASE(g_suite, "a class that may not go yet is asked for again at the time named")
{
    TestNetwork network;
    TwoClasses(network, 1000, 2 * US_PS);
    network.Use("scheduler",
                "ns3::tests::LowestFirst",
                {{"Held", "3"}, {"UntilPs", std::to_string(5 * US_PS)}});
    network.Run();
    const std::vector<uint32_t> ready{1U << 3, 0b101000, 1U << 3, 1U << 3};
    NS_TEST_EXPECT_MSG_EQ((LowestFirst::asked == ready), true, "asked");
    NS_TEST_ASSERT_MSG_EQ(PacedDatagrams::seen.size(), 2, "both came");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen[0].timePs, 2 * 1020 * 80 + 4 * US_PS, "free");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen[1].timePs, 1020 * 80 + 6 * US_PS, "held");
}

/**
 * Oracle, by hand: a class that flow control holds back is not there for the scheduler. It is asked
 * when the frame of the other class comes, and at 5 us, when the first may go; not in between.
 */
TEST_CASE(g_suite, "a class that link flow control holds back")
{
    TestNetwork network;
    TwoClasses(network, 1000, 2 * US_PS);
    network.Use("scheduler", "ns3::tests::LowestFirst");
    network.Use("flow_control", "ns3::tests::HoldsThree");
    network.Run();
    const std::vector<uint32_t> ready{1U << 5, 1U << 3};
    NS_TEST_EXPECT_MSG_EQ((LowestFirst::asked == ready), true, "asked");
    NS_TEST_ASSERT_MSG_EQ(PacedDatagrams::seen.size(), 2, "both came");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen[0].timePs, 2 * 1020 * 80 + 4 * US_PS, "free");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen[1].timePs, 1020 * 80 + 6 * US_PS, "paused");
}

} // namespace tests
} // namespace ns3
