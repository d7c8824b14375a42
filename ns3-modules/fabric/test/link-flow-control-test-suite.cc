// SPDX-License-Identifier: GPL-2.0-only

// The battery of the contract LinkFlowControl: a fake that counts its calls, and credits in the
// manner of InfiniBand that use all that the contract offers.

#include "test-network.h"

#include "ns3/link-flow-control.h"
#include "ns3/test.h"

#include <array>

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
                              MakeUintegerChecker<uint64_t>());
        return tid;
    }

    void Attach(LinkDoor& door) override
    {
        calls = {};
        calls.attached = 1;
        m_door = &door;
        if (m_timerPs)
        {
            door.SetTimer(0, m_timerPs);
        }
    }

    uint32_t LosslessClasses() const override
    {
        return 0xff;
    }

    bool WatchesSenders() const override
    {
        return m_watches;
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
        if (m_stops && !m_door->GetPort(ingress).isHost)
        {
            m_door->Send(ingress, 1U << 3, MIN_FRAME_BYTES);
            m_door->Send(ingress, 0, MIN_FRAME_BYTES);
        }
    }

    void OnTransmit(PortId, const Frame& frame) override
    {
        (frame.kind == frame_kind::LINK_CONTROL ? calls.linkControlTransmits : calls.transmits)++;
    }

    void OnLinkControl(PortId port, const LinkMessage& message) override
    {
        calls.controls++;
        m_door->SetPaused(port, static_cast<uint16_t>(message.word), message);
    }

    void OnTimer(PortId port) override
    {
        calls.timers++;
        calls.timerPs = m_door->NowPs() + port; // port 0
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
    LinkDoor* m_door{nullptr};
    bool m_watches{true};
    bool m_stops{false};
    uint64_t m_timerPs{0};
    std::map<std::pair<PortId, uint8_t>, uint64_t> m_heldBytes; ///< [byte]
};

NS_OBJECT_ENSURE_REGISTERED(CountingFlowControl);

/**
 * @brief Credits: a sender may have so many frames of a class in the buffer of the other end, and
 * hears at each tick what has left it. All 16 classes, hosts as well as switches.
 */
class Credits final : public LinkFlowControl
{
  public:
    static inline uint64_t peakFrames = 0; ///< Most that one ingress ever held of a class

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::Credits")
                                .SetParent<LinkFlowControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<Credits>()
                                .AddAttribute("Frames",
                                              "Buffer of a class",
                                              UintegerValue(2),
                                              MakeUintegerAccessor(&Credits::m_frames),
                                              MakeUintegerChecker<uint32_t>(1, 255))
                                .AddAttribute("TickPs",
                                              "Period of updates [ps]",
                                              UintegerValue(10 * US_PS),
                                              MakeUintegerAccessor(&Credits::m_tickPs),
                                              MakeUintegerChecker<uint64_t>(1));
        return tid;
    }

    void Attach(LinkDoor& door) override
    {
        peakFrames = 0;
        m_door = &door;
        m_ends.assign(door.NumPorts(), {});
        for (PortId port = 0; port < door.NumPorts(); port++)
        {
            m_ends[port].credit.fill(m_frames);
            door.SetTimer(port, m_tickPs);
        }
    }

    uint32_t NumClasses() const override
    {
        return MAX_CLASSES;
    }

    uint32_t LosslessClasses() const override
    {
        return (1U << MAX_CLASSES) - 1;
    }

    bool WatchesSenders() const override
    {
        return true;
    }

    bool OnArrival(PortId ingress, PortId, const Frame& frame) override
    {
        uint32_t& held = m_ends[ingress].held[frame.priority];
        if (held == m_frames)
        {
            return false;
        }
        held++;
        m_ends[ingress].heldBytes[frame.priority] += frame.bytes;
        peakFrames = std::max<uint64_t>(peakFrames, held);
        return true;
    }

    void OnDeparture(PortId ingress, uint8_t priority, uint32_t bytes) override
    {
        m_ends[ingress].held[priority]--;
        m_ends[ingress].heldBytes[priority] -= bytes;
        m_ends[ingress].freed[priority]++;
    }

    void OnTransmit(PortId egress, const Frame& frame) override
    {
        if (--m_ends[egress].credit[frame.priority] == 0)
        {
            const uint16_t paused = m_door->GetPort(egress).paused;
            m_door->SetPaused(egress, static_cast<uint16_t>(paused | (1U << frame.priority)));
        }
    }

    void OnTimer(PortId port) override
    {
        for (uint32_t c = 0; c < MAX_CLASSES; c++)
        {
            if (uint32_t& freed = m_ends[port].freed[c]; freed > 0)
            {
                m_door->Send(port, (c << 8) | freed, MIN_FRAME_BYTES);
                freed = 0;
            }
        }
        m_door->SetTimer(port, m_door->NowPs() + m_tickPs);
    }

    void OnLinkControl(PortId port, const LinkMessage& message) override
    {
        const uint32_t c = message.word >> 8;
        m_ends[port].credit[c] += message.word & 0xff;
        const uint16_t paused = m_door->GetPort(port).paused;
        m_door->SetPaused(port, static_cast<uint16_t>(paused & ~(1U << c)), message);
    }

    void OnLinkDown(PortId) override
    {
    }

    Account GetAccount(PortId ingress, uint8_t priority) const override
    {
        return {.heldBytes = m_ends[ingress].heldBytes[priority],
                .peakBytes = 0,
                .reservedBytes = 0,
                .holdsBack = false};
    }

  private:
    /// One end of a link: what it may send, and what it holds.
    struct End
    {
        std::array<uint32_t, MAX_CLASSES> credit{}; ///< Frames
        std::array<uint32_t, MAX_CLASSES> held{};   ///< Frames
        std::array<uint32_t, MAX_CLASSES> freed{};  ///< Frames, since the last update
        std::array<uint64_t, MAX_CLASSES> heldBytes{};
    };

    LinkDoor* m_door{nullptr};
    uint32_t m_frames{0};
    uint64_t m_tickPs{0};
    std::vector<End> m_ends; ///< Per port
};

NS_OBJECT_ENSURE_REGISTERED(Credits);

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

/// Oracle: counting. Six frames over one switch: each arrives twice and is sent twice.
class FlowControlIsToldOfEachFrame : public TestCase
{
  public:
    explicit FlowControlIsToldOfEachFrame(bool watches)
        : TestCase(watches ? "all ends of a link" : "switches alone"),
          m_watches(watches)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        FivePackets(network, {{"Watches", m_watches ? "true" : "false"}, {"TimerPs", "3000000"}});
        network.Run();
        const auto& calls = CountingFlowControl::calls;
        NS_TEST_EXPECT_MSG_EQ(calls.attached, 1, "attached");
        NS_TEST_EXPECT_MSG_EQ(calls.switchArrivals, PACKETS + 1, "into the switch");
        NS_TEST_EXPECT_MSG_EQ(calls.hostArrivals, (m_watches ? PACKETS + 1 : 0), "into hosts");
        NS_TEST_EXPECT_MSG_EQ(calls.departures, (m_watches ? 2 : 1) * (PACKETS + 1), "departures");
        NS_TEST_EXPECT_MSG_EQ(calls.transmits, (m_watches ? 2 * (PACKETS + 1) : 0), "transmits");
        NS_TEST_EXPECT_MSG_EQ(calls.timers, 1, "one timer");
        NS_TEST_EXPECT_MSG_EQ(calls.timerPs, 3 * US_PS, "at its time");
        NS_TEST_EXPECT_MSG_EQ(calls.downs + calls.ups + calls.controls, 0, "nothing else");
    }

    bool m_watches;
};

/// Oracle: a cable has two ends; each hears of a cut, and of the return.
class FlowControlIsToldOfCuts : public TestCase
{
  public:
    FlowControlIsToldOfCuts()
        : TestCase("a link that is cut and comes back")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        FivePackets(network, {});
        for (const auto& [timePs, rateBps] : {std::pair(40 * US_PS, int64_t{0}),
                                              std::pair(50 * US_PS, 100 * GBPS)})
        {
            network.Row("link_events",
                        {{"time_ps", timePs}, {"node_a", 0}, {"node_b", 100},
                          {"rate_bps", rateBps}});
        }
        network.Flow(1, 0, 1000, 60 * US_PS); // so that the run lasts
        network.Run();
        NS_TEST_EXPECT_MSG_EQ(CountingFlowControl::calls.downs, 2, "down");
        NS_TEST_EXPECT_MSG_EQ(CountingFlowControl::calls.ups, 2, "up");
        NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 2, "both flows");
    }
};

/// A pause that a departure has caused is for the sake of no egress.
class FlowControlPausesForNobody : public TestCase
{
  public:
    FlowControlPausesForNobody()
        : TestCase("each departure sends a stop and a go to the other end")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        FivePackets(network, {{"Stops", "true"}, {"Watches", "false"}});
        network.GetFacade().Option("trace_pauses", 1);
        network.Run();
        // Each departure of data and of the answer pauses once; the pause for the answer's is
        // still under way when the answer has come and the run ends.
        NS_TEST_ASSERT_MSG_EQ(network.Rows("pauses"), PACKETS, "pauses");
        for (size_t i = 0; i < network.Rows("pauses"); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(network.Cell("pauses", "toward", i), -1, "pause " << i);
        }
        NS_TEST_EXPECT_MSG_EQ(CountingFlowControl::calls.controls, 2 * PACKETS, "words");
        NS_TEST_EXPECT_MSG_EQ(CountingFlowControl::calls.linkControlTransmits, 0, "not of its own");
    }
};

/**
 * Oracle, by hand: two frames at once, and two more whenever an update has come, 64 + 20 bytes and
 * 1 us after each tick of 10 us. The second link has a tenth of the rate, so both wait there.
 */
class CreditsGovernALink : public TestCase
{
  public:
    explicit CreditsGovernALink(uint32_t priority)
        : TestCase("credits of class " + std::to_string(priority)),
          m_priority(priority)
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PAIRS = 3;
        TestNetwork network;
        network.Host(0);
        network.Host(1);
        network.Switch(100);
        network.Link(0, 100);
        network.Link(1, 100, 10);
        network.Flow(0, 1, PAIRS * 2 * 1000);
        network.Use("flow_control", "ns3::tests::Credits");
        network.Transport({{"Priority", std::to_string(m_priority)}});
        network.Run();
        NS_TEST_ASSERT_MSG_EQ(network.GetFacade().FlowsDone(), 1, "done");
        constexpr int64_t DATA_PS = 1020 * 80;
        constexpr int64_t UPDATE_PS = 84 * 80 + US_PS;
        const int64_t lastPairPs = (PAIRS - 1) * 10 * US_PS + UPDATE_PS;
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                              lastPairPs + (1 + 2 * 10) * DATA_PS + 2 * US_PS,
                              "last packet");
        NS_TEST_EXPECT_MSG_EQ(Credits::peakFrames, 2, "never more");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_headroom_frames"), 0, "no loss");
    }

    uint32_t m_priority;
};

class FabricLinkFlowControlTestSuite : public TestSuite
{
  public:
    FabricLinkFlowControlTestSuite()
        : TestSuite("fabric-link-flow-control", Type::SYSTEM)
    {
        AddTestCase(new FlowControlIsToldOfEachFrame(true), Duration::QUICK);
        AddTestCase(new FlowControlIsToldOfEachFrame(false), Duration::QUICK);
        AddTestCase(new FlowControlIsToldOfCuts, Duration::QUICK);
        AddTestCase(new FlowControlPausesForNobody, Duration::QUICK);
        for (const uint32_t priority : {0, 3, 7, 8, 12, 15})
        {
            AddTestCase(new CreditsGovernALink(priority), Duration::QUICK);
        }
    }
};

static FabricLinkFlowControlTestSuite g_fabricLinkFlowControlTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3
