// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/smartt-window.h"
#include "ns3/smartt.h"

#include <algorithm>
#include <deque>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

// 100 packets of 1000 bytes, 1048 on the wire, fill 100 Gb/s (80 ps per byte) for 8.384 us.
constexpr double MSS = 1000;
constexpr double BDP = 100 * MSS;
constexpr uint64_t PACKET_PS = 1048 * 80;
constexpr uint64_t BASE_PS = 100 * PACKET_PS;
constexpr uint64_t TARGET_PS = BASE_PS * 3 / 2;
constexpr CongestionControl::Path PATH{100'000'000'000, BASE_PS, 1000, 48, 4};

constexpr SmarttWindow::Rules RULES{.fairIncrease = 2,
                                    .proportionalIncrease = 2.5,
                                    .proportionalDecrease = 2,
                                    .fairDecrease = 0.8,
                                    .targetShare = 0.5,
                                    .startBdp = 1.25,
                                    .fastPackets = 4,
                                    .fastDelayPackets = 5,
                                    .quickShare = 1,
                                    .waitShare = 0};

/// An answer for some packets of which the last one had this round trip.
CongestionControl::Ack
Answer(uint64_t rttPs, bool isMarked, uint64_t packets = 1, uint64_t inFlightBytes = 0)
{
    return {.rttPs = rttPs,
            .arrivedBytes = packets * 1000,
            .markedBytes = isMarked ? 1000U : 0U,
            .lostBytes = 0,
            .inFlightBytes = inFlightBytes,
            .packet = 0,
            .nextPacket = 0,
            .hops = {}};
}

CongestionControl::Ack
Trimmed(uint64_t inFlightBytes = 0)
{
    CongestionControl::Ack ack = Answer(BASE_PS, false, 0, inFlightBytes);
    ack.lostBytes = 1000;
    return ack;
}

} // namespace

static Suite g_suite{"smartt"};

/// Oracle: the formulas of the paper with numbers put in by hand, window of 125 packets.
class FourCases : public TestCase
{
  public:
    FourCases()
        : TestCase("the four cases")
    {
    }

  private:
    /// @return how many packets an answer adds to a window that has been brought to 100 packets
    double Change(uint64_t rttPs, bool isMarked, const SmarttWindow::Rules& rules = RULES)
    {
        SmarttWindow window(rules, PATH);
        for (uint32_t i = 0; i < 25; i++)
        {
            window.OnAck(rules, Trimmed(), 0); // one packet less each
        }
        const double before = window.PayloadBytes();
        NS_TEST_EXPECT_MSG_EQ_TOL(before, BDP, 1e-6, "one product");
        window.OnAck(rules, Answer(rttPs, isMarked), 1);
        return (window.PayloadBytes() - before) / MSS;
    }

    void DoRun() override
    {
        SmarttWindow fresh(RULES, PATH);
        NS_TEST_EXPECT_MSG_EQ_TOL(fresh.BdpBytes(), BDP, 1e-6, "payload of a product");
        NS_TEST_EXPECT_MSG_EQ_TOL(fresh.PayloadBytes(), 1.25 * BDP, 1e-6, "start");

        // W = BDP = 100 packets; target = 1.5 base.
        // No mark, long: x / W = 2 / 100.
        NS_TEST_EXPECT_MSG_EQ_TOL(Change(2 * BASE_PS, false), 0.02, 1e-9, "fair increase");
        // No mark, rtt = 1.25 base: y * (1.5 - 1.25) / 1.25 / W + x / W = 0.005 + 0.02.
        NS_TEST_EXPECT_MSG_EQ_TOL(Change(BASE_PS * 5 / 4, false), 0.025, 1e-9, "proportional");
        // Mark, rtt = 1.25 base: z * W / BDP = 0.8.
        NS_TEST_EXPECT_MSG_EQ_TOL(Change(BASE_PS * 5 / 4, true), -0.8, 1e-9, "fair decrease");
        // Mark, rtt = 1.6 base: w * 0.1 / 1.6 + 0.8 = 0.925.
        NS_TEST_EXPECT_MSG_EQ_TOL(Change(BASE_PS * 8 / 5, true), -0.925, 1e-9, "both");
        // Mark, rtt = 2 base: w * 0.5 / 2 + 0.8 = 1.3, of which one packet counts.
        NS_TEST_EXPECT_MSG_EQ_TOL(Change(2 * BASE_PS, true), -1, 1e-9, "at most one packet");

        // Wait to decrease: one mark gives 0.125 of 0.3; it takes three (0.33).
        SmarttWindow::Rules waits = RULES;
        waits.waitShare = 0.3;
        NS_TEST_EXPECT_MSG_EQ_TOL(Change(2 * BASE_PS, true, waits), 0, 1e-9, "waits");
        SmarttWindow window(waits, PATH);
        for (const double expected : {125.0, 125.0, 124.0})
        {
            window.OnAck(waits, Answer(2 * BASE_PS, true), 1);
            const double packets = window.PayloadBytes() / MSS;
            NS_TEST_EXPECT_MSG_EQ_TOL(packets, expected, 1e-9, "until the third");
        }
        // An answer for four packets counts four times: 4 x 0.02.
        SmarttWindow four(RULES, PATH);
        for (uint32_t i = 0; i < 25; i++)
        {
            four.OnAck(RULES, Trimmed(), 0);
        }
        four.OnAck(RULES, Answer(2 * BASE_PS, false, 4), 1);
        NS_TEST_EXPECT_MSG_EQ_TOL(four.PayloadBytes() / MSS, 100.08, 1e-9, "four packets");
    }
};

/**
 * Oracle: of eight equal flows through one link each gets BDP / 8 of payload in a base round trip.
 * The first window is trimmed in part; at the end of the first whole round trip the window is that.
 */
TEST_CASE(g_suite, "quick adaption in an incast of eight")
{
    SmarttWindow window(RULES, PATH);
    for (uint32_t i = 0; i < 125; i++)
    {
        window.OnSent(1000);
    }
    uint64_t nowPs = BASE_PS;
    uint32_t answers = 0;
    double least = window.PayloadBytes();
    // Every eighth packet time one arrives; between, headers of trimmed ones.
    for (; nowPs <= 2 * BASE_PS; nowPs += PACKET_PS)
    {
        const uint64_t inFlight = (125 - ++answers) * 1000;
        const bool isWhole = answers % 8 == 1;
        const double before = window.PayloadBytes();
        window.OnAck(RULES,
                     isWhole ? Answer(TARGET_PS, false, 1, inFlight) : Trimmed(inFlight),
                     nowPs);
        least = std::min(least, before);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(window.PayloadBytes(), BDP / 8, MSS, "BDP / 8");

    // What was in flight then says nothing any more: 125 - 101 packets.
    const double adapted = window.PayloadBytes();
    for (uint32_t i = 0; i < 24; i++)
    {
        window.OnAck(RULES, Trimmed(), nowPs);
        NS_TEST_EXPECT_MSG_EQ(window.PayloadBytes(), adapted, "ignored " << i);
    }
    window.OnAck(RULES, Trimmed(), nowPs);
    NS_TEST_EXPECT_MSG_EQ(window.PayloadBytes(), adapted - MSS, "the next one counts");
}

namespace
{

/// @return a window of an eighth of a product
SmarttWindow
Small()
{
    SmarttWindow::Rules rules = RULES;
    SmarttWindow window(rules, PATH);
    for (uint32_t i = 0; i < 1125; i++)
    {
        CongestionControl::Ack ack = Trimmed();
        ack.lostBytes = 100;
        window.OnAck(rules, ack, 0);
    }
    window.OnAck(rules, Answer(2 * BASE_PS, false), 0); // from here the good ones count
    return window;
}

} // namespace

/**
 * Oracle: a window of BDP / 8 that meets no delay any more: after one window it grows by four
 * packets for each that arrives, to 125 of them in (125 - 12.5) / 4 = 29 answers; one answer before
 * counts too. A mark ends it.
 */
TEST_CASE(g_suite, "fast increase")
{
    SmarttWindow window = Small();
    const double small = window.PayloadBytes() / MSS;
    NS_TEST_EXPECT_MSG_EQ_TOL(small, 12.5, 0.2, "an eighth");
    uint32_t answers = 0;
    while (window.PayloadBytes() < 1.25 * BDP && answers < 1000)
    {
        window.OnAck(RULES, Answer(BASE_PS + 5 * PACKET_PS, false), 1);
        answers++;
    }
    const auto most = static_cast<uint32_t>(small + (125 - small) / 4 + 2);
    NS_TEST_EXPECT_MSG_LT_OR_EQ(answers, most, "answers");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(answers, most - 3, "nor sooner");

    SmarttWindow marked = Small();
    SmarttWindow late = Small();
    for (uint32_t i = 0; i < 14; i++)
    {
        marked.OnAck(RULES, Answer(BASE_PS, false), 1);
        late.OnAck(RULES, Answer(BASE_PS + 5 * PACKET_PS + 1, false), 1);
    }
    NS_TEST_EXPECT_MSG_GT(marked.PayloadBytes(), (small + 4) * MSS, "fast");
    NS_TEST_EXPECT_MSG_LT(late.PayloadBytes(), (small + 4) * MSS, "late ones are not good");
    const double before = marked.PayloadBytes();
    marked.OnAck(RULES, Answer(BASE_PS, true), 1);
    NS_TEST_EXPECT_MSG_LT(marked.PayloadBytes(), before, "less");
    marked.OnAck(RULES, Answer(BASE_PS, false), 1);
    NS_TEST_EXPECT_MSG_LT(marked.PayloadBytes(), before + MSS, "and slow again");
}

TEST_CASE(g_suite, "a timeout takes off what was in flight")
{
    SmarttWindow window(RULES, PATH);
    for (uint32_t i = 0; i < 25; i++)
    {
        window.OnSent(1000);
    }
    window.OnTimeout();
    NS_TEST_EXPECT_MSG_EQ_TOL(window.PayloadBytes(), 100 * MSS, 1e-6, "25 packets less");
    for (uint32_t i = 0; i < 150; i++)
    {
        window.OnSent(1000);
    }
    window.OnTimeout();
    NS_TEST_EXPECT_MSG_EQ(window.PayloadBytes(), MSS, "one packet is left");
}

ADD_CASES(g_suite)
{
    Smartt::GetTypeId(); // the library that registers it must be linked
    suite.Add(new FourCases);
}

} // namespace tests
} // namespace ns3
