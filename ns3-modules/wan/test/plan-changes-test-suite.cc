// SPDX-License-Identifier: GPL-2.0-only

// What a controller changes while messages are under way: the rates and the paths of flows.

#include "wan-line.h"

#include "ns3/wan-transport.h"

#include <string>

namespace ns3
{
namespace tests
{

namespace
{

constexpr int64_t GAP_PS = WIRE * 8 * 100; ///< From packet to packet at 10 Gb/s [ps]
constexpr int64_t WAY_PS = 10'000 * US_PS; ///< Of the long link

void
Admitted(TestNetwork& network, int64_t packets, int64_t startPs = 0)
{
    network.Transport({{"MtuBytes", "1000"}, {"HeaderBytes", "62"}}, "ns3::WanTransport");
    network.Row("flows",
                {{"flow", 7},
                 {"src", 0},
                 {"dst", 1},
                 {"bytes", packets * PAYLOAD},
                 {"start_ps", startPs},
                 {"rate_bps", 10 * GBPS}});
}

/// Host 0 - switch 100 - 102 or, 19 us longer, 103 - switch 101 - host 1.
void
TwoWays(TestNetwork& network)
{
    for (const int64_t node : {100, 101, 102, 103})
    {
        network.Switch(node);
    }
    network.Host(0);
    network.Host(1);
    const int64_t ends[6][2] = {{0, 100}, {1, 101}, {100, 102}, {102, 101}, {100, 103}, {103, 101}};
    for (const auto& [a, b] : ends)
    {
        network.Row("links",
                    {{"node_a", a},
                     {"node_b", b},
                     {"rate_bps", 100 * GBPS},
                     {"delay_ps", b == 103 ? 20 * US_PS : US_PS}});
    }
    network.Use("forwarding", "ns3::ExplicitRoutes");
}

void
ChangeRate(TestNetwork& network, int64_t timePs, int64_t rateBps)
{
    network.Row("rate_changes", {{"time_ps", timePs}, {"flow", 7}, {"rate_bps", rateBps}});
}

} // namespace

static Suite g_suite{"plan-changes", TestSuite::Type::SYSTEM};

/**
 * Oracle: hand. Packets 0 to 9 leave a gap apart. Half a gap after packet 9 the rate is another
 * one: what is left of that gap, and all further gaps, last as much longer or shorter.
 */
TEST_CASES(RateChangesUnderWay,
           "10 Gbps become " + std::to_string(rateBps / GBPS),
           int64_t rateBps,
           int64_t lastPs)
{
    TestNetwork network;
    Line(network, WAY_PS);
    Admitted(network, 40);
    ChangeRate(network, 9 * GAP_PS + GAP_PS / 2, rateBps);
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                          lastPs + 2 * WIRE * 80 + US_PS + WAY_PS,
                          "last packet");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "retransmitted_packets", 0), 0, "copies");
}

/// Oracle: a message that begins after the change has the new rate from its first packet on.
TEST_CASE(g_suite, "the rate changes twice before a message begins, and once it is done")
{
    constexpr int64_t START_PS = 50 * US_PS;
    TestNetwork network;
    Line(network, WAY_PS);
    Admitted(network, 3, START_PS);
    ChangeRate(network, 20 * US_PS, 5 * GBPS);
    ChangeRate(network, 10 * US_PS, 50 * GBPS);
    ChangeRate(network, 100'000 * US_PS, 1);
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                          START_PS + 2 * 2 * GAP_PS + 2 * WIRE * 80 + US_PS + WAY_PS,
                          "last packet");
}

/**
 * Oracle: counting, and the path by hand. From a time on the flow goes by 103. Entries of 102 stay,
 * so what is on its way there arrives: nothing is lost, each packet takes one way, and both add up.
 * If link 100-102 is cut at that very time nothing new is lost either: what was on its wire is, and
 * is sent again.
 */
TEST_CASES(MakeBeforeBreak, cuts ? "the old path is cut" : "make before break", bool cuts)
{
    constexpr int64_t PACKETS = 100;
    constexpr int64_t MOVED = 30; // packet 30 has not come to switch 100, packet 29 has
    constexpr int64_t FIRST_PS = WIRE * 80 + US_PS;
    constexpr int64_t AT_PS = FIRST_PS + MOVED * GAP_PS - GAP_PS / 2;
    TestNetwork network;
    TwoWays(network);
    Admitted(network, PACKETS);
    const int64_t routes[4][3] = {{100, 102, 0},
                                  {102, 101, 0},
                                  {100, 103, AT_PS},
                                  {103, 101, AT_PS}};
    for (const auto& [node, peer, fromPs] : routes)
    {
        network.Row("routes", {{"flow", 7}, {"node", node}, {"peer", peer}, {"from_ps", fromPs}});
    }
    if (cuts)
    {
        network.Row("link_events",
                    {{"time_ps", AT_PS}, {"node_a", 100}, {"node_b", 102}, {"rate_bps", 0}});
    }
    network.Run();
    // A link holds what left within 1 us and its serialisation, 1.15 gaps: packet 29.
    const int64_t again = cuts ? 1 : 0;
    NS_TEST_EXPECT_MSG_EQ(network.Port(100, 102, "sent_data_packets"), MOVED, "old path");
    NS_TEST_EXPECT_MSG_EQ(network.Port(100, 103, "sent_data_packets"),
                          PACKETS - MOVED + again,
                          "new path");
    NS_TEST_EXPECT_MSG_EQ(network.Port(102, 101, "sent_data_packets"), MOVED - again, "on");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "retransmitted_packets", 0), again, "again");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "timeouts", 0), 0, "timeouts");
}

/// Run on until a time, as a controller outside does; afterwards it may look and change.
static void
PauseAt(TestNetwork& network, int64_t timePs)
{
    while (!network.GetFacade().RunSlice(timePs, 1))
    {
    }
}

/**
 * Oracle: the tables. A run that pauses, and is told then what the tables told before, has the same
 * times as above; what it has counted when it pauses is what has left by then, by hand.
 */
class ChangesWhileItPauses : public TestCase
{
  public:
    ChangesWhileItPauses()
        : TestCase("a run pauses and is changed")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        Line(network, WAY_PS);
        Admitted(network, 40);
        network.Build();
        PauseAt(network, 9 * GAP_PS + GAP_PS / 4);
        network.GetFacade().Look();
        NS_TEST_EXPECT_MSG_EQ(network.Cell("seen_flows", "sent_data_packets", 0), 10, "so far");
        NS_TEST_EXPECT_MSG_EQ(network.Cell("seen_flows", "wire_bytes", 0), WIRE, "a packet");
        NS_TEST_EXPECT_MSG_EQ(network.Cell("seen_ports", "sent_bytes", 0), 10 * WIRE, "its host");
        network.GetFacade().ChangeRate(9 * GAP_PS + GAP_PS / 2, 7, 5 * GBPS);
        PauseAt(network, ALWAYS_PS);
        network.GetFacade().Finish();
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                              68 * GAP_PS + GAP_PS / 2 + 2 * WIRE * 80 + US_PS + WAY_PS,
                              "last packet");
        CheckWay();
        CheckRefusals();
    }

    /// Packet 30 and all later ones go by 103.
    void CheckWay()
    {
        TestNetwork network;
        TwoWays(network);
        Admitted(network, 100);
        for (const int64_t node : {100, 102})
        {
            network.Row("routes", {{"flow", 7}, {"node", node}, {"peer", node == 100 ? 102 : 101}});
        }
        network.Build();
        PauseAt(network, 5 * GAP_PS);
        const int64_t atPs = WIRE * 80 + US_PS + 30 * GAP_PS - GAP_PS / 2;
        network.GetFacade().ChangeRoute(atPs, 7, 100, 103, 0, false);
        PauseAt(network, ALWAYS_PS);
        network.GetFacade().Finish();
        NS_TEST_EXPECT_MSG_EQ(network.Port(100, 102, "sent_data_packets"), 30, "old path");
        NS_TEST_EXPECT_MSG_EQ(network.Port(100, 103, "sent_data_packets"), 70, "new path");
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "retransmitted_packets", 0), 0, "again");
    }

    void CheckRefusals()
    {
        TestNetwork network;
        Line(network, WAY_PS);
        Admitted(network, 40);
        network.Build();
        PauseAt(network, 5 * GAP_PS);
        const auto complaint = [](const auto& change) -> std::string {
            try
            {
                change();
            }
            catch (const std::runtime_error& error)
            {
                return error.what();
            }
            return "";
        };
        auto& facade = network.GetFacade();
        const auto expect = [&](const std::string& said, const std::string& part) {
            NS_TEST_EXPECT_MSG_EQ((said.find(part) != std::string::npos), true, said);
        };
        expect(complaint([&] { facade.ChangeRate(GAP_PS, 7, GBPS); }), "ps is over, it is");
        expect(complaint([&] { facade.ChangeRate(ALWAYS_PS, 8, GBPS); }), "there is no such flow");
        expect(complaint([&] { facade.ChangeRate(ALWAYS_PS, 7, 0); }), "rate_bps is 0, not > 0");
        expect(complaint([&] { facade.ChangeRoute(GAP_PS, 7, 100, 1, 0, false); }),
               "is over, it is");
        expect(complaint([&] { facade.ChangeRoute(ALWAYS_PS, 7, 0, 100, 0, false); }),
               "no link from a switch 0");
        expect(complaint([&] { facade.ChangeRoute(ALWAYS_PS, 7, 100, 1, 1, false); }),
               "to node 1 (parallel 1)");
    }
};

/// What cannot be is refused in one line.
TEST_CASE(g_suite, "changes that cannot be")
{
    const auto complaint = [](int64_t flow, int64_t timePs, int64_t rateBps, bool twice) {
        TestNetwork network;
        Line(network, WAY_PS);
        Admitted(network, 3);
        for (int i = 0; i < 1 + twice; i++)
        {
            network.Row("rate_changes",
                        {{"time_ps", timePs}, {"flow", flow}, {"rate_bps", rateBps}});
        }
        return network.Complaint();
    };
    const auto says = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    NS_TEST_EXPECT_MSG_EQ(says(complaint(8, 1, 1, false), "flow 8 at 1 ps: there is no such"),
                          true,
                          "flow");
    NS_TEST_EXPECT_MSG_EQ(says(complaint(7, 1, 0, false), "rate_bps is 0, not > 0"), true, "rate");
    NS_TEST_EXPECT_MSG_EQ(says(complaint(7, -1, 1, false), "time_ps is not >= 0"), true, "time");
    NS_TEST_EXPECT_MSG_EQ(says(complaint(7, 1, 1, true), "two rates at the same time"),
                          true,
                          "twice");
    TestNetwork network;
    Line(network, WAY_PS);
    network.Transport(); // of a test, which keeps no rate at all
    network.Flow(0, 1, PAYLOAD);
    network.Row("rate_changes", {{"time_ps", 1}, {"flow", 0}, {"rate_bps", 1}});
    NS_TEST_EXPECT_MSG_EQ(says(network.Complaint(), "keeps the rate with which a message has"),
                          true,
                          "transport");
}

ADD_CASES(g_suite)
{
    WanTransport::GetTypeId(); // the library that registers it must be linked
    // Half the rate: packet 10 leaves at 9.5 + 1 gaps, packet 39 58 gaps later.
    suite.Add(new RateChangesUnderWay(5 * GBPS, 68 * GAP_PS + GAP_PS / 2));
    // Four times: packet 10 an eighth of a gap later, packet 39 29 quarters after that.
    suite.Add(
        new RateChangesUnderWay(40 * GBPS, 9 * GAP_PS + GAP_PS / 2 + GAP_PS / 8 + 29 * GAP_PS / 4));
    suite.Add(new MakeBeforeBreak(false));
    suite.Add(new MakeBeforeBreak(true));
    suite.Add(new ChangesWhileItPauses);
}

} // namespace tests
} // namespace ns3
