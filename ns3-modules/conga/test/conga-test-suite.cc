// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/spines.h"

#include "ns3/rate-estimator.h"

#include <algorithm>
#include <cmath>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr const char* PROGRAM = "ns3::Conga";

/// Two hosts under two leaves, hashed where CONGA has no say.
void
TwoLeaves(TestNetwork& network, int64_t spines, int64_t lastGbps = 100)
{
    Spines(network, spines, lastGbps);
    network.Use("forwarding", "ns3::EcmpHash");
}

/// @return spines that the first leaf has sent data to
int64_t
SpinesInUse(const TestNetwork& network, int64_t spines)
{
    const auto packets = Uplinks(network, spines);
    return spines - std::count(packets.begin(), packets.end(), 0);
}

} // namespace

static Suite g_suite{"conga", TestSuite::Type::SYSTEM};

/**
 * Oracle, closed form: n ticks of b bytes each leave X = b (1 - (1 - a)^n) / a right before the
 * n-th decay, so X a / period is the rate b / period from below, and 1 - a of it after the decay.
 */
TEST_CASE(g_suite, "rate estimator at a steady rate")
{
    constexpr RateEstimator::Clock CLOCK{.periodPs = 20'000'000, .alpha = 0.125};
    constexpr uint64_t PACKETS_PER_TICK = 200;
    constexpr uint64_t GAP_PS = CLOCK.periodPs / PACKETS_PER_TICK;
    RateEstimator estimator;
    for (uint64_t tick = 1; tick <= 100; tick++)
    {
        for (uint64_t i = 0; i < PACKETS_PER_TICK; i++)
        {
            estimator.Add(1000, ((tick - 1) * PACKETS_PER_TICK + i) * GAP_PS, CLOCK);
        }
        const double rateBps = 80e9; // 1000 bytes in 100 ns
        const double risen = 1 - std::pow(1 - 0.125, tick);
        RateEstimator copy = estimator;
        NS_TEST_EXPECT_MSG_EQ_TOL(copy.RateBps(tick * CLOCK.periodPs - 1, CLOCK),
                                  rateBps * risen,
                                  1,
                                  "before tick " << tick);
        NS_TEST_EXPECT_MSG_EQ_TOL(copy.RateBps(tick * CLOCK.periodPs, CLOCK),
                                  rateBps * risen * (1 - 0.125),
                                  1,
                                  "after it");
    }
    // Half an hour of silence later nothing is left.
    NS_TEST_EXPECT_MSG_EQ_TOL(estimator.RateBps(1'800'000'000'000'000, CLOCK), 0, 1e-9, "idle");
}

/**
 * Oracle: of 80 Gb/s, x and 80 - x on paths of 100 and 50 Gb/s are equally congested if
 * x / 100 = (80 - x) / 50: two to one. Quanta are 1/32, so x is within 32/50 Gb/s or so of that.
 */
TEST_CASES(SplitFollowsTheRates,
           "a far link of " + std::to_string(slowGbps) + " Gbps on one of two paths",
           int64_t slowGbps)
{
    constexpr int64_t PACKETS = 60'000;
    TestNetwork network;
    TwoLeaves(network, 2, slowGbps);
    network.Flow(0, 1, PACKETS * 1000);
    network.Flow(1, 0, PACKETS / 4 * 64, 0, 1); // carries what leaf 11 has seen
    network.Use("program", PROGRAM, {{"Gap", "1ns"}, {"QuantumBits", "5"}});
    network.Transport({{"GapPs", "100000"}, {"Answers", "false"}});
    network.Transport({{"GapPs", "400000"}, {"PacketBytes", "64"}, {"Answers", "false"}});
    network.Run();
    const auto fast = static_cast<double>(network.Port(10, 20, "sent_data_packets"));
    const auto slow = static_cast<double>(network.Port(10, 21, "sent_data_packets"));
    NS_TEST_EXPECT_MSG_EQ_TOL(fast / slow,
                              100.0 / slowGbps,
                              0.06 * 100 / slowGbps,
                              fast << " and " << slow);
}

/**
 * Oracle: all paths are idle but those that packets of this tick have left by. Packets of a flow
 * within Gap never part; beyond it each takes a path that was not used in its tick.
 */
TEST_CASES(FlowletsKeepTogether,
           hasGaps ? "packets further apart than the gap" : "packets within the gap",
           bool hasGaps)
{
    constexpr int64_t PACKETS = 40;
    TestNetwork network;
    TwoLeaves(network, 4);
    network.Flow(0, 1, PACKETS * 8000);
    network.Use("program",
                PROGRAM,
                {{"Gap", hasGaps ? "500ns" : "2us"}, {"Period", "4us"}, {"Alpha", "0.9"}});
    // A packet is 8020 x 8 x 0.9 / 4 us = 14 Gb/s for its path, more than a quantum of 12.5.
    network.Transport({{"PacketBytes", "8000"},
                       {"GapPs", "1000000"},
                       {"Spreads", "false"},
                       {"Answers", "false"}});
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(SpinesInUse(network, 4), (hasGaps ? 4 : 1), "spines");
    const int64_t changes = network.Cell("summary", "rule_changes", 0);
    NS_TEST_EXPECT_MSG_EQ((changes > 1), hasGaps, "moves: " << changes);
}

/**
 * Oracle: a packet of b bytes and 20 of framing leaves (b + 20) x 8 x 0.9 / 4 us on its link, which
 * is an eighth of 100 Gb/s with 6944.4 B. The second packet, a flowlet of its own in the same tick,
 * stays as long as its path counts as idle.
 */
TEST_CASES(LeastCongestionIsAnEighth,
           std::to_string(bytes) + " bytes, " + (moves ? "more" : "less") + " than an eighth",
           int64_t bytes,
           bool moves)
{
    TestNetwork network;
    TwoLeaves(network, 4);
    network.Flow(0, 1, 2 * bytes);
    network.Use("program", PROGRAM, {{"Gap", "500ns"}, {"Period", "4us"}, {"Alpha", "0.9"}});
    network.Transport({{"PacketBytes", std::to_string(bytes)},
                       {"GapPs", "1000000"},
                       {"Spreads", "false"},
                       {"Answers", "false"}});
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(SpinesInUse(network, 4), (moves ? 2 : 1), "spines");
}

/// Networks that it is not made for are refused in one line.
class CongaNeedsALeafSpine : public TestCase
{
  public:
    CongaNeedsALeafSpine(int64_t kind, const std::string& expected)
        : TestCase("refused: " + expected),
          m_kind(kind),
          m_expected(expected)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        TwoLeaves(network, 2);
        if (m_kind == 0)
        {
            network.Link(10, 11);
        }
        else if (m_kind == 1)
        {
            network.Switch(30, 3);
            network.Link(20, 30);
        }
        else if (m_kind == 2)
        {
            network.Link(0, 11);
        }
        network.Flow(0, 1, 1000);
        network.Use("program", PROGRAM, {});
        network.Transport();
        const std::string said = network.Complaint();
        NS_TEST_EXPECT_MSG_NE(said.find(m_expected), std::string::npos, said);
    }

    int64_t m_kind;
    std::string m_expected;
};

ADD_CASES(g_suite)
{
    for (const int64_t gbps : {100, 50})
    {
        suite.Add(new SplitFollowsTheRates(gbps));
    }
    suite.Add(new FlowletsKeepTogether(false));
    suite.Add(new FlowletsKeepTogether(true));
    suite.Add(new LeastCongestionIsAnEighth(6920, false));
    suite.Add(new LeastCongestionIsAnEighth(6930, true));
    suite.Add(new CongaNeedsALeafSpine(0, "switches 10 and 11 are joined and both have hosts"));
    suite.Add(new CongaNeedsALeafSpine(1, "switches 20 and 30 are joined and neither have hosts"));
    suite.Add(new CongaNeedsALeafSpine(2, "host 0 is below two"));
}

} // namespace tests
} // namespace ns3
