// SPDX-License-Identifier: GPL-2.0-only

// The battery of the contract SwitchProgram: a program that uses all that the contract offers, and
// counts its calls.

#include "../../facade/test/test-network.h"

#include "ns3/switch-program.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

/**
 * @brief Stamps every departure, and holds every n-th packet of data for a while.
 *
 * A stamp makes a frame 8 bytes longer. Of a packet that was held a copy goes on, and the packet
 * itself is discarded, or the other way round: in turn.
 */
class StampAndHold final : public SwitchProgram
{
  public:
    static inline uint32_t attached = 0;
    static inline uint32_t arrivals = 0;
    static inline uint32_t departures = 0;
    static inline uint32_t timers = 0;
    static inline std::vector<uint64_t> behindBytes; ///< queuedBytes of departures of data [byte]

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::StampAndHold")
                                .SetParent<SwitchProgram>()
                                .SetGroupName("Tests")
                                .AddConstructor<StampAndHold>()
                                .AddAttribute("Hooks",
                                              "See Hooks",
                                              UintegerValue(ARRIVAL | DEPARTURE),
                                              MakeUintegerAccessor(&StampAndHold::m_hooks),
                                              MakeUintegerChecker<uint32_t>(0, 3))
                                .AddAttribute("Every",
                                              "Which packets are held, 0 = none",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&StampAndHold::m_every),
                                              MakeUintegerChecker<uint32_t>())
                                .AddAttribute("Apart",
                                              "See holdsApart",
                                              BooleanValue(false),
                                              MakeBooleanAccessor(&StampAndHold::m_apart),
                                              MakeBooleanChecker())
                                .AddAttribute("HoldPs",
                                              "How long, 0 = for ever [ps]",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&StampAndHold::m_holdPs),
                                              MakeUintegerChecker<uint64_t>());
        return tid;
    }

    static void Clear()
    {
        attached = arrivals = departures = timers = 0;
        behindBytes.clear();
    }

    void Attach(ProgramContext& context) override
    {
        attached++;
        m_context = &context;
    }

    Traits GetTraits() const override
    {
        return {.hooks = m_hooks, .holdsApart = m_apart};
    }

    Action OnArrival(uint32_t node, PortId ingress, FrameId frame) override
    {
        arrivals++;
        if (m_context->GetPort(ingress).node != node)
        {
            arrivals += 1000; // never
        }
        const Frame& arrived = m_context->GetFrame(frame);
        if (m_every == 0 || arrived.kind != frame_kind::DATA || (arrived.packet + 1) % m_every != 0)
        {
            return Action::FORWARD;
        }
        m_held.push_back(frame);
        if (m_holdPs)
        {
            m_context->SetTimer(node, m_context->NowPs() + m_holdPs);
        }
        return Action::TAKE;
    }

    void OnDeparture(PortId egress, FrameId frame, uint64_t queuedBytes) override
    {
        departures++;
        const Port& port = m_context->GetPort(egress);
        m_context->AddHop(frame,
                          {.timePs = m_context->NowPs(),
                           .sentBytes = port.sentBytes,
                           .queuedBytes = queuedBytes,
                           .rateBps = m_context->RateBps(egress),
                           .port = egress});
        m_context->GetFrame(frame).bytes += 8;
        if (m_context->GetFrame(frame).kind == frame_kind::DATA)
        {
            behindBytes.push_back(queuedBytes);
        }
    }

    void OnTimer(uint32_t node) override
    {
        timers++;
        const FrameId held = m_held.front();
        m_held.erase(m_held.begin());
        const FrameId copy = m_context->Copy(node, held);
        const bool sendsCopy = timers % 2 == 0;
        m_context->Inject(node, sendsCopy ? copy : held);
        m_context->Discard(node, sendsCopy ? held : copy);
    }

  private:
    ProgramContext* m_context{nullptr};
    uint32_t m_hooks{0};
    uint32_t m_every{0};
    bool m_apart{false};
    uint64_t m_holdPs{0};
    std::vector<FrameId> m_held;
};

NS_OBJECT_ENSURE_REGISTERED(StampAndHold);

namespace
{

constexpr int64_t GAP_PS = 10 * US_PS;
constexpr int64_t PACKETS = 6;

/// Host 0 sends six packets, one per 10 us, to host 1 over one or two switches.
void
SixPackets(TestNetwork& network,
           int64_t switches,
           const TestNetwork::Attributes& program,
           int64_t firstLinkClass = 0)
{
    StampAndHold::Clear();
    network.Host(0);
    network.Host(1);
    int64_t last = 0;
    for (int64_t i = 0; i < switches; i++)
    {
        network.Switch(10 + i);
        network.Link(last, 10 + i, 100, i == 0 ? firstLinkClass : 0);
        last = 10 + i;
    }
    network.Link(last, 1);
    network.Flow(0, 1, PACKETS * 1000);
    network.Use("program", "ns3::tests::StampAndHold", program);
    network.Transport({{"GapPs", std::to_string(GAP_PS)}});
}

} // namespace

static Suite g_suite{"fabric-switch-program", TestSuite::Type::SYSTEM};

/// Oracle, by hand: each hop adds 8 bytes, and says when it sent what.
TEST_CASES(ProgramStampsEachHop,
           "in-band telemetry over " + std::to_string(switches) + " switches",
           int64_t switches)
{
    TestNetwork network;
    SixPackets(network, switches, {});
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(StampAndHold::attached, 1, "attached");
    NS_TEST_EXPECT_MSG_EQ(StampAndHold::arrivals, switches * (PACKETS + 1), "arrivals");
    NS_TEST_EXPECT_MSG_EQ(StampAndHold::departures, switches * (PACKETS + 1), "departures");
    NS_TEST_ASSERT_MSG_EQ(PacedDatagrams::seen.size(), PACKETS + 1, "all came");
    for (int64_t packet = 0; packet < PACKETS; packet++)
    {
        const auto& seen = PacedDatagrams::seen[packet];
        NS_TEST_ASSERT_MSG_EQ(static_cast<int64_t>(seen.hops.size()), switches, "hops");
        NS_TEST_EXPECT_MSG_EQ(seen.frame.bytes, 1000 + 8 * switches, "size");
        int64_t timePs = packet * GAP_PS;
        for (int64_t hop = 0; hop < switches; hop++)
        {
            timePs += (1020 + 8 * hop) * 80 + US_PS;
            const IntHop& stamp = seen.hops[hop];
            NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(stamp.timePs),
                                  timePs,
                                  "when it left hop " << hop);
            NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(stamp.sentBytes),
                                  packet * (1008 + 8 * hop),
                                  "sent before");
            NS_TEST_EXPECT_MSG_EQ(stamp.queuedBytes, 0, "queue");
            NS_TEST_EXPECT_MSG_EQ(stamp.rateBps, 100 * GBPS, "rate");
        }
        NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(seen.timePs),
                              timePs + (1020 + 8 * switches) * 80 + US_PS,
                              "when it came");
    }
}

/// Oracle, by hand: every second packet comes 12 us later, after its successor.
class ProgramHoldsAndInjects : public TestCase
{
  public:
    explicit ProgramHoldsAndInjects(const std::string& flowControl, uint32_t linkClass = 0)
        : TestCase("take, hold by timer, copy, inject, discard " + flowControl +
                   (linkClass ? ", by which it comes in alone" : "")),
          m_flowControl(flowControl),
          m_linkClass(linkClass)
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t HOLD_PS = 12 * US_PS;
        TestNetwork network;
        SixPackets(network, 1, {{"Every", "2"}, {"HoldPs", std::to_string(HOLD_PS)}}, m_linkClass);
        if (!m_flowControl.empty())
        {
            network.Use("flow_control", m_flowControl, {}, m_linkClass);
        }
        network.Run();
        const std::vector<int64_t> order{0, 2, 1, 4, 3, 5};
        NS_TEST_EXPECT_MSG_EQ(StampAndHold::timers, 3, "timers");
        NS_TEST_EXPECT_MSG_EQ(StampAndHold::arrivals,
                              PACKETS + 1,
                              "what is injected does not come in");
        NS_TEST_EXPECT_MSG_EQ(StampAndHold::departures, PACKETS + 1, "but it leaves");
        NS_TEST_ASSERT_MSG_EQ(PacedDatagrams::seen.size(), PACKETS + 1, "six and the answer");
        for (size_t i = 0; i < order.size(); i++)
        {
            const auto& seen = PacedDatagrams::seen[i];
            const int64_t heldPs = order[i] % 2 == 1 ? HOLD_PS : 0;
            NS_TEST_EXPECT_MSG_EQ(seen.frame.packet, order[i], "order");
            NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(seen.timePs),
                                  order[i] * GAP_PS + heldPs + (1020 + 1028) * 80 + 2 * US_PS,
                                  "when");
            NS_TEST_EXPECT_MSG_EQ(seen.hops.size(), 1, "stamped once");
        }
        // One packet, and the one that overtakes it.
        const int64_t heldBytes = m_flowControl == "ns3::Pfc" ? 2000 : 0;
        NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "max_ingress_bytes"), heldBytes, "held");
        NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 1, "done");
    }

    std::string m_flowControl;
    uint32_t m_linkClass;
};

/// Oracle: what a program still has when the run ends is no error of the engine's books.
TEST_CASES(ProgramKeepsFrames,
           "frames that a program holds at the end " + flowControl,
           const std::string& flowControl)
{
    TestNetwork network;
    SixPackets(network, 1, {{"Every", "3"}});
    if (!flowControl.empty())
    {
        network.Use("flow_control", flowControl);
    }
    NS_TEST_EXPECT_MSG_EQ(network.Complaint(), "", "identities");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen.size(), 4, "four of six");
    if (flowControl == "ns3::Pfc") // its link accounts for both of 1000 bytes
    {
        NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "max_ingress_bytes"), 2000, "held");
    }
}

/**
 * Oracle, by hand: each packet is alone when it comes, so one that was taken before is in no
 * account any more. A lane of 32 blocks has room for two packets of 1000 bytes: if those that are
 * held kept their credit, the others would never come.
 */
TEST_CASES(ProgramHoldsApart,
           "what is held apart holds no link back " + flowControl,
           const std::string& flowControl)
{
    TestNetwork network;
    SixPackets(network, 1, {{"Every", "2"}, {"Apart", "true"}});
    const bool isPfc = flowControl == "ns3::Pfc";
    network.Use("flow_control",
                flowControl,
                isPfc ? TestNetwork::Attributes{} : TestNetwork::Attributes{{"LaneBlocks", "32"}});
    NS_TEST_EXPECT_MSG_EQ(network.Complaint(), "", "identities");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen.size(), 3, "every second one");
    NS_TEST_EXPECT_MSG_EQ(network.Port(10, 0, "max_ingress_bytes"), 1000, "one at a time");
}

/// A hook that nobody wants is not called.
TEST_CASES(ProgramHasOnlyItsHooks, "hooks " + std::to_string(hooks), uint32_t hooks)
{
    TestNetwork network;
    SixPackets(network, 1, {{"Hooks", std::to_string(hooks)}});
    network.Run();
    const bool arrives = hooks & SwitchProgram::ARRIVAL;
    const bool departs = hooks & SwitchProgram::DEPARTURE;
    NS_TEST_EXPECT_MSG_EQ(StampAndHold::arrivals, (arrives ? PACKETS + 1 : 0), "arrivals");
    NS_TEST_EXPECT_MSG_EQ(StampAndHold::departures, (departs ? PACKETS + 1 : 0), "departures");
}

/// Oracle, by hand: as many bytes wait behind a frame as frames have come meanwhile.
TEST_CASE(g_suite, "a departure is told how many bytes stay behind")
{
    StampAndHold::Clear();
    TestNetwork network;
    network.Star(3);
    network.Flow(0, 2, 3000);
    network.Flow(1, 2, 3000);
    network.Use("program", "ns3::tests::StampAndHold", {{"Hooks", "2"}});
    network.Transport();
    network.Run();
    // Frames leave 640 ps more slowly than they come. At the second departure the next two
    // have just come; at the third three wait behind, the last two among them.
    const std::vector<uint64_t> behind{0, 2000, 3000, 2000, 1000, 0};
    NS_TEST_EXPECT_MSG_EQ((StampAndHold::behindBytes == behind), true, "behind");
}

/// Two programs at every switch: who takes a frame ends the arrival.
TEST_CASE(g_suite, "several programs, in the order in which they are listed")
{
    TestNetwork network;
    SixPackets(network, 1, {{"Every", "1"}, {"Hooks", "1"}, {"HoldPs", "1000000"}});
    network.Use("program", "ns3::tests::StampAndHold");
    network.Run();
    // The first takes all data; the second sees the answer alone, and all departures.
    NS_TEST_EXPECT_MSG_EQ(StampAndHold::attached, 2, "attached");
    NS_TEST_EXPECT_MSG_EQ(StampAndHold::arrivals, PACKETS + 2, "arrivals");
    NS_TEST_EXPECT_MSG_EQ(StampAndHold::departures, PACKETS + 1, "departures");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen.size(), PACKETS + 1, "all came");
}

ADD_CASES(g_suite)
{
    for (const int64_t switches : {1, 2, 3})
    {
        suite.Add(new ProgramStampsEachHop(switches));
    }
    suite.Add(new ProgramHoldsAndInjects(""));
    suite.Add(new ProgramHoldsAndInjects("ns3::tests::LosslessThree"));
    suite.Add(new ProgramKeepsFrames(""));
    suite.Add(new ProgramKeepsFrames("ns3::tests::LosslessThree"));
    suite.Add(new ProgramKeepsFrames("ns3::Pfc"));
    suite.Add(new ProgramKeepsFrames("ns3::CreditFlowControl"));
    suite.Add(new ProgramHoldsApart("ns3::Pfc"));
    suite.Add(new ProgramHoldsApart("ns3::CreditFlowControl"));
    suite.Add(new ProgramHoldsAndInjects("ns3::Pfc"));
    suite.Add(new ProgramHoldsAndInjects("ns3::Pfc", 1));
    for (const uint32_t hooks : {0, 1, 2, 3})
    {
        suite.Add(new ProgramHasOnlyItsHooks(hooks));
    }
}

} // namespace tests
} // namespace ns3
