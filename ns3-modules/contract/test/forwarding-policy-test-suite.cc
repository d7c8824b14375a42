// SPDX-License-Identifier: GPL-2.0-only

// The battery of the contract ForwardingPolicy: a fake that takes paths in turn, or has routes of
// its own, and counts what it is asked.

#include "../../facade/test/test-network.h"

#include "ns3/forwarding-policy.h"
#include "ns3/string.h"

#include <set>

namespace ns3
{
namespace tests
{

using namespace fabric;

/// See above.
class CountingForwarding final : public ForwardingPolicy
{
  public:
    static inline uint32_t attached = 0;
    static inline uint32_t changes = 0;
    static inline uint32_t routed = 0;
    static inline std::vector<uint32_t> selectedPackets; ///< Of data
    static inline uint32_t selectedAnswers = 0;
    static inline std::string wrong; ///< What a choice should not be like

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::CountingForwarding")
                                .SetParent<ForwardingPolicy>()
                                .SetGroupName("Tests")
                                .AddConstructor<CountingForwarding>()
                                .AddAttribute("Sees",
                                              "See LooksAt, as a number",
                                              UintegerValue(1),
                                              MakeUintegerAccessor(&CountingForwarding::m_sees),
                                              MakeUintegerChecker<uint32_t>(0, 2))
                                .AddAttribute("OwnRoutes",
                                              "Whether Route is asked, and sends all by node 30",
                                              BooleanValue(false),
                                              MakeBooleanAccessor(&CountingForwarding::m_own),
                                              MakeBooleanChecker());
        return tid;
    }

    void Attach(SwitchContext& context) override
    {
        attached++;
        changes = routed = selectedAnswers = 0;
        selectedPackets.clear();
        wrong.clear();
        m_context = &context;
    }

    void OnRoutesChanged() override
    {
        changes++;
    }

    uint32_t Select(const ForwardingChoice& choice, const Frame& frame) override
    {
        Check(choice, frame);
        if (frame.kind != frame_kind::DATA)
        {
            selectedAnswers++;
            return 0;
        }
        selectedPackets.push_back(frame.packet);
        return m_turn++ % choice.n;
    }

    Traits GetTraits() const override
    {
        return {.sees = static_cast<Sees>(m_sees), .hasOwnRoutes = m_own};
    }

    PortId Route(uint32_t node, const Frame& frame) override
    {
        routed++;
        const NodeState& state = m_context->GetNode(node);
        for (PortId port = state.firstPort; port < state.firstPort + state.ports; port++)
        {
            const bool isDetour = state.id == 10 && m_context->PeerOf(port).first == 30;
            if (isDetour && !(frame.flags & frame_flag::REVERSE))
            {
                return port;
            }
        }
        return NO_PORT;
    }

  private:
    void Check(const ForwardingChoice& choice, const Frame& frame)
    {
        const Routing& routes = m_context->Routes();
        const uint32_t nextHop = routes.NextHopTo(choice.node, frame.dst);
        if (nextHop != choice.group || choice.group >= routes.NumGroups())
        {
            wrong = "group";
        }
        if (choice.n < 2 || routes.GroupOf(nextHop).size != choice.n)
        {
            wrong = "size";
        }
        std::pair<int64_t, uint32_t> before{-1, 0};
        for (uint32_t i = 0; i < choice.n; i++)
        {
            const auto peer = m_context->PeerOf(choice.members[i]);
            if (m_context->GetPort(choice.members[i]).node != choice.node || peer <= before)
            {
                wrong = "members";
            }
            before = peer;
        }
    }

    const SwitchContext* m_context{nullptr};
    uint32_t m_sees{0};
    bool m_own{false};
    uint32_t m_turn{0};
};

NS_OBJECT_ENSURE_REGISTERED(CountingForwarding);

namespace
{

constexpr uint32_t PACKETS = 10;

/// Host 0, leaf 10, spines 20 and 21, leaf 11, host 1; and a longer path over 30 and 31.
void
TwoWays(TestNetwork& network, const TestNetwork::Attributes& forwarding)
{
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    for (const int64_t spine : {20, 21, 30, 31})
    {
        network.Switch(spine, 2);
    }
    network.Link(0, 10);
    network.Link(1, 11);
    for (const int64_t spine : {20, 21})
    {
        network.Link(10, spine);
        network.Link(11, spine);
    }
    network.Link(10, 30);
    network.Link(30, 31);
    network.Link(11, 31);
    network.Flow(0, 1, PACKETS * 1000);
    network.Use("forwarding", "ns3::tests::CountingForwarding", forwarding);
    network.Transport({{"GapPs", "1000000"}});
}

/// Beside these, events at the same times, and wires so long that memory is asked for in advance.
void
FarAway(TestNetwork& network)
{
    network.Host(2);
    network.Host(3);
    network.Switch(40);
    network.Switch(41);
    network.Link(2, 40);
    network.Link(3, 40);
    network.Row("links",
                {{"node_a", 40},
                 {"node_b", 41},
                 {"parallel", 0},
                 {"rate_bps", 100 * GBPS},
                 {"delay_ps", 1'000'000 * US_PS},
                 {"class", 0}});
    network.Flow(2, 3, PACKETS * 1000);
}

} // namespace

static Suite g_suite{"fabric-forwarding-policy", TestSuite::Type::SYSTEM};

/// Oracle: counting. Only the first leaf has a choice for data, and the other for the answer.
TEST_CASES(PolicyIsAskedWhereThereIsAChoice,
           "asked once per frame and choice, sees " + std::to_string(sees),
           uint32_t sees)
{
    CountingForwarding::attached = 0;
    TestNetwork network;
    TwoWays(network, {{"Sees", std::to_string(sees)}});
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::attached, 1, "attached");
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::wrong, "", "what it is asked");
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::selectedPackets.size(), PACKETS, "data");
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::selectedAnswers, 1, "answer");
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::routed, 0, "no routes of its own");
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::changes, 0, "no change");
    for (const int64_t spine : {20, 21})
    {
        NS_TEST_EXPECT_MSG_EQ(network.Port(10, spine, "sent_data_packets"),
                              PACKETS / 2,
                              "in turn, spine " << spine);
    }
}

/// Oracle: every second packet is lost before the switch, and the others take turns.
TEST_CASES(LostFramesTakeNoTurn,
           "a frame that is lost on its way is not asked about, sees " + std::to_string(sees) +
               (isFar ? ", beside long wires" : ""),
           uint32_t sees,
           bool isFar)
{
    TestNetwork network;
    TwoWays(network, {{"Sees", std::to_string(sees)}});
    if (isFar)
    {
        FarAway(network);
    }
    for (int64_t ordinal = 1; ordinal <= PACKETS; ordinal += 2)
    {
        network.Row("drops", {{"node", 0}, {"peer", 10}, {"ordinal", ordinal}});
    }
    network.Run();
    const std::vector<uint32_t> expected{1, 3, 5, 7, 9};
    NS_TEST_EXPECT_MSG_EQ((CountingForwarding::selectedPackets == expected), true, "packets");
    NS_TEST_EXPECT_MSG_EQ(network.Port(10, 20, "sent_data_packets"), 3, "first, third, fifth");
    NS_TEST_EXPECT_MSG_EQ(network.Port(10, 21, "sent_data_packets"), 2, "second, fourth");
}

/// Oracle: counting. A cut and a return, each followed by the routes.
TEST_CASE(g_suite, "a policy is told when groups have been numbered anew")
{
    CountingForwarding::attached = 0;
    TestNetwork network;
    TwoWays(network, {});
    for (const auto& [timePs, rateBps] :
         {std::pair(2'500'000, int64_t{0}), std::pair(6'500'000, 100 * GBPS)})
    {
        network.Row("link_events",
                    {{"time_ps", timePs}, {"node_a", 11}, {"node_b", 20}, {"rate_bps", rateBps}});
    }
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::changes, 2, "changes");
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::attached, 1, "attached");
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::wrong, "", "what it is asked");
    // Packets come to the leaf 1.0816 us after each full microsecond: 2 to 5 have one path.
    const std::vector<uint32_t> expected{0, 1, 6, 7, 8, 9};
    NS_TEST_EXPECT_MSG_EQ((CountingForwarding::selectedPackets == expected), true, "choices");
}

/// Oracle: counting. Three switches for each of ten packets, and two more for the detour.
TEST_CASE(g_suite, "a policy with routes of its own is asked for every frame, at every switch")
{
    TestNetwork network;
    TwoWays(network, {{"OwnRoutes", "true"}});
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Port(10, 30, "sent_data_packets"), PACKETS, "detour");
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::selectedPackets.size(), 0, "no choice left");
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::selectedAnswers, 1, "the answer has one");
    // 10, 30, 31, 11 for data; 11, 20 or 21, 10 for the answer.
    NS_TEST_EXPECT_MSG_EQ(CountingForwarding::routed, 4 * PACKETS + 3, "asked");
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 1, "done");
}

ADD_CASES(g_suite)
{
    for (const uint32_t sees : {0, 1, 2})
    {
        suite.Add(new PolicyIsAskedWhereThereIsAChoice(sees));
    }
    for (const uint32_t sees : {1, 2})
    {
        suite.Add(new LostFramesTakeNoTurn(sees, false));
        suite.Add(new LostFramesTakeNoTurn(sees, true));
    }
}

} // namespace tests
} // namespace ns3
