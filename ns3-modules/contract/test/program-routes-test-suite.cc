// SPDX-License-Identifier: GPL-2.0-only

// The part of the contract SwitchProgram that routes, and frames that end at a switch.

#include "../../facade/test/test-network.h"

#include "ns3/switch-program.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

using namespace fabric;

/// Sends each packet by the port named by its number, and keeps what has the number Last.
class PortByNumber final : public SwitchProgram
{
  public:
    static inline uint32_t asked = 0;
    static inline uint32_t changes = 0;
    static inline std::vector<uint32_t> sources;
    static inline std::vector<size_t> nearest; ///< Ports of host 0 to host 1: at first, and later

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::PortByNumber")
                                .SetParent<SwitchProgram>()
                                .SetGroupName("Tests")
                                .AddConstructor<PortByNumber>()
                                .AddAttribute("Last",
                                              "Packet that ends here",
                                              UintegerValue(1000),
                                              MakeUintegerAccessor(&PortByNumber::m_last),
                                              MakeUintegerChecker<uint32_t>());
        return tid;
    }

    void Attach(ProgramContext& context) override
    {
        asked = changes = 0;
        sources.clear();
        m_context = &context;
        m_ruleChanges = 7;
        nearest = {context.NearestPorts(0, 1).size()};
    }

    Traits GetTraits() const override
    {
        return {.hooks = ARRIVAL | ROUTE};
    }

    Action OnArrival(uint32_t, PortId, FrameId frame) override
    {
        sources.push_back(m_context->SourceOf(m_context->GetFrame(frame)));
        return m_context->GetFrame(frame).packet == m_last ? Action::DROP : Action::FORWARD;
    }

    PortId Route(uint32_t node, const Frame& frame) override
    {
        asked++;
        const uint32_t nextHop = m_context->Routes().NextHopTo(node, frame.dst);
        const auto ports = m_context->Routes().Ports(nextHop);
        const bool isMine = frame.kind == frame_kind::DATA && ports.size() > 1;
        return isMine ? ports[frame.packet % ports.size()] : NO_PORT;
    }

    void OnRoutesChanged() override
    {
        changes++;
        nearest.push_back(m_context->NearestPorts(0, 1).size());
    }

  private:
    ProgramContext* m_context{nullptr};
    uint32_t m_last{0};
};

NS_OBJECT_ENSURE_REGISTERED(PortByNumber);

namespace
{

/// Host 0 under switch 10, host 1 under switch 11, switches 20 to 22 between them.
void
ThreeWays(TestNetwork& network)
{
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    network.Link(0, 10);
    network.Link(1, 11);
    for (const int64_t spine : {20, 21, 22})
    {
        network.Switch(spine, 2);
        network.Link(10, spine);
        network.Link(11, spine);
    }
    network.Use("forwarding", "ns3::tests::CountingForwarding");
    network.Use("program", "ns3::tests::PortByNumber");
}

} // namespace

static Suite g_suite{"fabric-program-routes", TestSuite::Type::SYSTEM};

/// Oracle: counting. Packets 0, 3, 6 go first, 1, 4, 7 second, 2, 5 third; the answer is hashed.
TEST_CASE(g_suite, "a program that routes data, and leaves the rest")
{
    TestNetwork network;
    ThreeWays(network);
    network.Flow(0, 1, 8000);
    network.Transport({{"GapPs", "10000000"}});
    network.Row("link_events",
                {{"time_ps", 500 * US_PS}, {"node_a", 10}, {"node_b", 20}, {"rate_bps", 0}});
    network.Flow(0, 1, 3000, 600 * US_PS); // two paths are left
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Port(10, 20, "sent_data_packets"), 3, "first");
    NS_TEST_EXPECT_MSG_EQ(network.Port(10, 21, "sent_data_packets"), 3 + 2, "second");
    NS_TEST_EXPECT_MSG_EQ(network.Port(10, 22, "sent_data_packets"), 2 + 1, "third");
    NS_TEST_EXPECT_MSG_EQ(PortByNumber::asked, 3 * (11 + 2), "at every switch");
    NS_TEST_EXPECT_MSG_EQ(PortByNumber::changes, 1, "new routes");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("summary", "rule_changes", 0), 7, "counted");
    const auto back = std::count(PortByNumber::sources.begin(), PortByNumber::sources.end(), 1);
    NS_TEST_EXPECT_MSG_EQ(back, 3 * 2, "answers come from host 1, data from host 0");
}

/// Oracle: hand. Hosts 0 and 1 have a link to either switch; one of host 1 is cut.
TEST_CASE(g_suite, "the nearest ports of a host, by the routes in force")
{
    TestNetwork network;
    for (const int64_t node : {0, 1})
    {
        network.Host(node);
        network.Switch(10 + node);
    }
    for (const int64_t host : {0, 1})
    {
        network.Link(host, 10);
        network.Link(host, 11);
    }
    network.Use("program", "ns3::tests::PortByNumber");
    network.Row("link_events",
                {{"time_ps", 5 * US_PS}, {"node_a", 1}, {"node_b", 11}, {"rate_bps", 0}});
    network.Flow(0, 1, 1000, 100 * US_PS);
    network.Transport();
    network.Run();
    const std::vector<size_t> expected{2, 1};
    NS_TEST_EXPECT_MSG_EQ((PortByNumber::nearest == expected), true, "two, then one");
}

/// Oracle: identities hold at the end of the run, and one packet less comes.
TEST_CASES(ProgramEndsAFrame,
           "a frame that is for a switch alone " + flowControl,
           const std::string& flowControl)
{
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 6000);
    network.Use("program", "ns3::tests::PortByNumber", {{"Last", "5"}});
    if (!flowControl.empty())
    {
        network.Use("flow_control", flowControl);
    }
    network.Transport();
    NS_TEST_EXPECT_MSG_EQ(network.Complaint(), "", "identities");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen.size(), 5, "five of six");
}

ADD_CASES(g_suite)
{
    suite.Add(new ProgramEndsAFrame(""));
    suite.Add(new ProgramEndsAFrame("ns3::tests::LosslessThree"));
}

} // namespace tests
} // namespace ns3
