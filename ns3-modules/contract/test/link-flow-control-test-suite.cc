// SPDX-License-Identifier: GPL-2.0-only

// The battery of the contract LinkFlowControl: a fake that counts its calls. What uses all that the
// contract offers is ns3::CreditFlowControl.

#include "../../facade/test/test-network.h"

#include "ns3/link-flow-control.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

/// Counts its calls; each departure may stop the other end for a moment.
class CountingFlowControl final : public LinkFlowControl
{
  public:
    /// How often it was called.
    struct Calls
    {
        uint32_t attached, switchArrivals, hostArrivals, departures, transmits, controls, timers,
            downs, ups;
        uint64_t timerPs;
        uint32_t linkControlTransmits;
    };

    static inline Calls calls{};

    static TypeId GetTypeId()
    {
        static TypeId tid =
            TypeId("ns3::tests::CountingFlowControl")
                .SetParent<LinkFlowControl>()
                .SetGroupName("Tests")
                .AddConstructor<CountingFlowControl>()
                .AddAttribute("Watches",
                              "See WatchesSenders",
                              BooleanValue(true),
                              MakeBooleanAccessor(&CountingFlowControl::m_watches),
                              MakeBooleanChecker())
                .AddAttribute("Stops",
                              "Each departure from a switch stops priority 3 and lets it go on",
                              BooleanValue(false),
                              MakeBooleanAccessor(&CountingFlowControl::m_stops),
                              MakeBooleanChecker())
                .AddAttribute("TimerPs",
                              "When the timer of port 0 runs out, 0 = none [ps]",
                              UintegerValue(0),
                              MakeUintegerAccessor(&CountingFlowControl::m_timerPs),
                              MakeUintegerChecker<uint64_t>())
                .AddAttribute("Counts",
                              "Traits::countedClasses",
                              UintegerValue(0xffff),
                              MakeUintegerAccessor(&CountingFlowControl::m_counts),
                              MakeUintegerChecker<uint32_t>());
        return tid;
    }

    void Attach(LinkContext& context) override
    {
        calls = {};
        calls.attached = 1;
        m_context = &context;
        if (m_timerPs)
        {
            context.SetTimer(0, m_timerPs);
        }
    }

    Traits GetTraits() const override
    {
        return {.losslessClasses = 0xff, .countedClasses = m_counts, .watchesSenders = m_watches};
    }

    bool OnArrival(PortId ingress, PortId egress, const Frame& frame) override
    {
        (egress == NO_PORT ? calls.hostArrivals : calls.switchArrivals)++;
        m_heldBytes[{ingress, frame.priority}] += frame.bytes;
        return true;
    }

    void OnDeparture(PortId ingress, uint8_t priority, uint32_t bytes) override
    {
        calls.departures++;
        m_heldBytes[{ingress, priority}] -= bytes;
        if (m_stops && !m_context->GetPort(ingress).isHost)
        {
            m_context->Send(ingress, 1U << 3, MIN_FRAME_BYTES);
            m_context->Send(ingress, 0, MIN_FRAME_BYTES);
        }
    }

    void OnTransmit(PortId, const Frame& frame) override
    {
        (frame.kind == frame_kind::LINK_CONTROL ? calls.linkControlTransmits : calls.transmits)++;
    }

    void OnLinkControl(PortId port, const LinkMessage& message) override
    {
        calls.controls++;
        m_context->SetPaused(port, static_cast<uint16_t>(message.word), message);
    }

    void OnTimer(PortId port) override
    {
        calls.timers++;
        calls.timerPs = m_context->NowPs() + port; // port 0
    }

    void OnLinkDown(PortId) override
    {
        calls.downs++;
    }

    void OnLinkUp(PortId) override
    {
        calls.ups++;
    }

    Account GetAccount(PortId ingress, uint8_t priority) const override
    {
        const auto held = m_heldBytes.find({ingress, priority});
        return {.heldBytes = held == m_heldBytes.end() ? 0 : held->second,
                .peakBytes = 0,
                .reservedBytes = 0,
                .holdsBack = false};
    }

  private:
    LinkContext* m_context{nullptr};
    bool m_watches{true};
    bool m_stops{false};
    uint32_t m_counts{0};
    uint64_t m_timerPs{0};
    std::map<std::pair<PortId, uint8_t>, uint64_t> m_heldBytes; ///< [byte]
};

NS_OBJECT_ENSURE_REGISTERED(CountingFlowControl);

namespace
{

constexpr int64_t PACKETS = 5;

/// Host 0 sends five packets to host 1 over one switch; one answer.
void
FivePackets(TestNetwork& network, const TestNetwork::Attributes& flowControl)
{
    network.Star(2);
    network.Flow(0, 1, PACKETS * 1000);
    network.Use("flow_control", "ns3::tests::CountingFlowControl", flowControl);
    network.Transport();
}

} // namespace

static Suite g_suite{"fabric-link-flow-control", TestSuite::Type::SYSTEM};

/// Oracle: counting. Six frames over one switch: each arrives twice and is sent twice.
TEST_CASES(FlowControlIsToldOfEachFrame,
           watches ? "all ends of a link" : "switches alone",
           bool watches)
{
    TestNetwork network;
    FivePackets(network, {{"Watches", watches ? "true" : "false"}, {"TimerPs", "3000000"}});
    network.Run();
    const auto& calls = CountingFlowControl::calls;
    NS_TEST_EXPECT_MSG_EQ(calls.attached, 1, "attached");
    NS_TEST_EXPECT_MSG_EQ(calls.switchArrivals, PACKETS + 1, "into the switch");
    NS_TEST_EXPECT_MSG_EQ(calls.hostArrivals, (watches ? PACKETS + 1 : 0), "into hosts");
    NS_TEST_EXPECT_MSG_EQ(calls.departures, (watches ? 2 : 1) * (PACKETS + 1), "departures");
    NS_TEST_EXPECT_MSG_EQ(calls.transmits, (watches ? 2 * (PACKETS + 1) : 0), "transmits");
    NS_TEST_EXPECT_MSG_EQ(calls.timers, 1, "one timer");
    NS_TEST_EXPECT_MSG_EQ(calls.timerPs, 3 * US_PS, "at its time");
    NS_TEST_EXPECT_MSG_EQ(calls.downs + calls.ups + calls.controls, 0, "nothing else");
}

/// Oracle: counting. Five packets of priority 3 are counted, their answer of priority 6 is not.
TEST_CASE(g_suite, "one class of two")
{
    TestNetwork network;
    FivePackets(network, {{"Counts", std::to_string(1U << 3)}});
    network.Run(); // which holds what is counted against what is held
    const auto& calls = CountingFlowControl::calls;
    NS_TEST_EXPECT_MSG_EQ(calls.switchArrivals, PACKETS, "into the switch");
    NS_TEST_EXPECT_MSG_EQ(calls.hostArrivals, PACKETS, "into hosts");
    NS_TEST_EXPECT_MSG_EQ(calls.departures, 2 * PACKETS, "departures");
    NS_TEST_EXPECT_MSG_EQ(calls.transmits, 2 * (PACKETS + 1), "all are watched");
}

/// Oracle: a cable has two ends; each hears of a cut, and of the return.
TEST_CASE(g_suite, "a link that is cut and comes back")
{
    TestNetwork network;
    FivePackets(network, {});
    for (const auto& [timePs, rateBps] :
         {std::pair(40 * US_PS, int64_t{0}), std::pair(50 * US_PS, 100 * GBPS)})
    {
        network.Row("link_events",
                    {{"time_ps", timePs}, {"node_a", 0}, {"node_b", 100}, {"rate_bps", rateBps}});
    }
    network.Flow(1, 0, 1000, 60 * US_PS); // so that the run lasts
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(CountingFlowControl::calls.downs, 2, "down");
    NS_TEST_EXPECT_MSG_EQ(CountingFlowControl::calls.ups, 2, "up");
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 2, "both flows");
}

/// A pause that a departure has caused is for the sake of no egress.
TEST_CASE(g_suite, "each departure sends a stop and a go to the other end")
{
    TestNetwork network;
    FivePackets(network, {{"Stops", "true"}, {"Watches", "false"}});
    network.Section("ns3::Trace", {{"Pauses", "true"}});
    network.Run();
    // Each departure of data and of the answer pauses once; the pause for the answer's is
    // still under way when the answer has come and the run ends.
    NS_TEST_ASSERT_MSG_EQ(network.Rows("pauses"), PACKETS, "pauses");
    for (size_t i = 0; i < network.Rows("pauses"); i++)
    {
        NS_TEST_EXPECT_MSG_EQ(network.Cell("pauses", "congested_peer", i), -1, "pause " << i);
    }
    NS_TEST_EXPECT_MSG_EQ(CountingFlowControl::calls.controls, 2 * PACKETS, "words");
    NS_TEST_EXPECT_MSG_EQ(CountingFlowControl::calls.linkControlTransmits, 0, "not of its own");
}

ADD_CASES(g_suite)
{
    suite.Add(new FlowControlIsToldOfEachFrame(true));
    suite.Add(new FlowControlIsToldOfEachFrame(false));
}

} // namespace tests
} // namespace ns3
