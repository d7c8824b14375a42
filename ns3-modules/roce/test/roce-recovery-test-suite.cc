// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/roce-transport.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

namespace
{

constexpr int64_t FRAME_PS = (4096 + 62 + 20) * 80; ///< At 100 Gb/s, 80 ps per byte

/// One message over a chain of three links of 100 Gb/s; `lost` counts data on the one amid.
class Chain
{
  public:
    Chain(int64_t packets,
          const TestNetwork::Attributes& attributes,
          const std::vector<int64_t>& lost = {},
          int64_t delayPs = US_PS)
    {
        network.Host(0);
        network.Host(1);
        network.Switch(10);
        network.Switch(11);
        for (const auto& [a, b] : {std::pair{0, 10}, {10, 11}, {11, 1}})
        {
            network.Row(
                "links",
                {{"node_a", a}, {"node_b", b}, {"rate_bps", 100 * GBPS}, {"delay_ps", delayPs}});
        }
        network.Flow(0, 1, packets * 4096);
        for (const int64_t ordinal : lost)
        {
            network.Row("drops", {{"node", 10}, {"peer", 11}, {"ordinal", ordinal}});
        }
        auto all = attributes;
        all.emplace_back("RethBytes", "0");
        network.Transport(all, "ns3::RoceTransport");
    }

    int64_t Flow(const char* column) const
    {
        return network.Cell("flows", column, 0);
    }

    TestNetwork network;
};

} // namespace

static Suite g_suite{"roce-recovery", TestSuite::Type::SYSTEM};

/**
 * Oracle: the packets that were sent between the lost one and its NAK are sent again, a bandwidth-
 * delay product, although the NAK is repeated many times within that round trip.
 */
TEST_CASES(GoesBackOncePerGap,
           "one loss on a path of 60 ms, a NAK every " + nakInterval,
           const std::string& nakInterval)
{
    constexpr int64_t DELAY_PS = 10'000'000'000;
    constexpr int64_t PACKETS = 1'000'000;
    Chain chain(PACKETS, {{"NakInterval", nakInterval}, {"Rto", "1s"}}, {1000}, DELAY_PS);
    chain.network.Run();
    const double rttPs = 6.0 * DELAY_PS + 3.0 * FRAME_PS + 3 * 86 * 80;
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(chain.Flow("retransmitted_packets")),
                              rttPs / FRAME_PS,
                              2,
                              "sent again");
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(chain.Flow("receiver_end_ps")),
                              PACKETS * 1.0 * FRAME_PS + rttPs / 2 + rttPs,
                              4.0 * FRAME_PS,
                              "one round trip later than without a loss");
}

/// Oracle: counting. The packet and its first copy are lost, so a NAK is repeated for the copy.
TEST_CASE(g_suite, "the copy is lost too")
{
    const TestNetwork::Attributes fast{{"NakInterval", "1us"}, {"Rto", "1s"}};
    Chain once(2000, fast, {100});
    once.network.Run();
    const int64_t again = once.Flow("retransmitted_packets");
    // The copy of packet 99 is the next data frame after those that were on their way.
    Chain twice(2000, fast, {100, 100 + again});
    twice.network.Run();
    NS_TEST_EXPECT_MSG_EQ(twice.Flow("timeouts"), 0, "no timeout");
    NS_TEST_EXPECT_MSG_EQ_TOL(twice.Flow("retransmitted_packets"), 2 * again, 4, "twice");
    NS_TEST_EXPECT_MSG_EQ(twice.Flow("sent_data_packets"),
                          2000 + twice.Flow("retransmitted_packets"),
                          "sent");
}

/// Oracle: closed form of a window of w packets; the round trip is longer than w packets take.
TEST_CASES(SmallWindowsNeedNoTimeout,
           "a window of " + std::to_string(window) + " packets, 16 per acknowledgement, " +
               recovery,
           int64_t window,
           const std::string& recovery)
{
    constexpr int64_t PACKETS = 240;
    constexpr int64_t ACK_PS = 86 * 80;
    constexpr int64_t RTT_PS = 3 * (FRAME_PS + US_PS) + 3 * (ACK_PS + US_PS);
    Chain chain(PACKETS,
                {{"WindowBytes", std::to_string(window * 4096)},
                 {"AckInterval", "16"},
                 {"Recovery", recovery}});
    chain.network.Run();
    NS_TEST_EXPECT_MSG_EQ(chain.Flow("timeouts"), 0, "no timeout");
    NS_TEST_EXPECT_MSG_EQ(chain.Flow("retransmitted_packets"), 0, "nothing again");
    // The last packet of each window is acknowledged: a window per round trip and its tail.
    const int64_t rounds = PACKETS / window;
    NS_TEST_EXPECT_MSG_EQ(chain.Flow("sender_end_ps"),
                          rounds * (RTT_PS + (window - 1) * FRAME_PS),
                          "completion");
}

/// Oracle: nothing is lost, so nothing may be sent again, whatever queue there is.
TEST_CASE(g_suite, "a flow behind a long queue does not time out")
{
    TestNetwork network;
    constexpr int64_t SENDERS = 40;
    network.Star(SENDERS + 2);
    for (int64_t src = 2; src < SENDERS + 2; src++)
    {
        network.Flow(src, 0, 400'000);
    }
    network.Flow(1, 0, 400'000, 50 * US_PS);
    network.Transport(
        {{"Recovery", "SelectiveRepeat"}, {"RtoLow", "100us"}, {"WindowBytes", "70000"}},
        "ns3::RoceTransport");
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "timeouts"), 0, "timeouts");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "retransmitted_packets"), 0, "spurious");
}

/// Oracle: IRN section 3: RtoLow while few are in flight, the long timeout otherwise.
TEST_CASE(g_suite, "the last packet, and the whole window, are lost")
{
    const TestNetwork::Attributes irn{{"Recovery", "SelectiveRepeat"},
                                      {"RtoLow", "100us"},
                                      {"Rto", "4ms"}};
    Chain last(50, irn, {50});
    last.network.Run();
    NS_TEST_EXPECT_MSG_EQ(last.Flow("timeouts"), 1, "timeout");
    NS_TEST_EXPECT_MSG_LT(last.Flow("sender_end_ps"), 150 * US_PS, "the short one");
    std::vector<int64_t> all;
    for (int64_t ordinal = 1; ordinal <= 10; ordinal++)
    {
        all.push_back(ordinal);
    }
    Chain window(10, irn, all);
    window.network.Run();
    NS_TEST_EXPECT_MSG_EQ(window.Flow("timeouts"), 1, "timeout");
    NS_TEST_EXPECT_MSG_GT(window.Flow("sender_end_ps"), 4000 * US_PS, "the long one");
}

/// Oracle: one line that names type and attribute, or what to change.
class WhatCannotBeSentIsRefused : public TestCase
{
  public:
    WhatCannotBeSentIsRefused()
        : TestCase("what cannot be sent")
    {
    }

  private:
    void Expect(const std::string& complaint, const std::string& part)
    {
        NS_TEST_EXPECT_MSG_EQ((complaint.find(part) != std::string::npos &&
                               std::count(complaint.begin(), complaint.end(), '\n') == 0),
                              true,
                              "'" << complaint << "' is not a line with '" << part << "'");
    }

    /// @return what is said of an attribute, when it is set or when the run begins
    static std::string Complaint(const TestNetwork::Attributes& attributes)
    {
        try
        {
            return Chain(10, attributes).network.Complaint();
        }
        catch (const std::runtime_error& error)
        {
            return error.what();
        }
    }

    void DoRun() override
    {
        for (const char* name : {"Rto", "RtoLow", "NakInterval", "CnpInterval"})
        {
            Expect(Complaint({{name, "0ns"}}), name);
            Expect(Complaint({{name, "-1us"}}), name);
        }
        TestNetwork network;
        network.Star(2);
        network.Flow(0, 1, int64_t{4'294'967'297});
        network.Transport({{"MtuBytes", "1"}}, "ns3::RoceTransport");
        Expect(network.Complaint(),
               "a message of 4294967297 bytes has more than 4294967294 packets");
    }
};

ADD_CASES(g_suite)
{
    RoceTransport::GetTypeId(); // the library that registers it must be linked
    suite.Add(new GoesBackOncePerGap("500us"));
    suite.Add(new GoesBackOncePerGap("1s"));
    for (const int64_t window : {1, 2, 5, 15})
    {
        suite.Add(new SmallWindowsNeedNoTimeout(window, "GoBackN"));
        suite.Add(new SmallWindowsNeedNoTimeout(window, "SelectiveRepeat"));
    }
    suite.Add(new WhatCannotBeSentIsRefused);
}

} // namespace tests
} // namespace ns3
