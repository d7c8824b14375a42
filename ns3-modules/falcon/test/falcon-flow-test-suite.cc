// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/falcon-transport.h"

namespace ns3
{
namespace tests
{

static Suite g_suite{"falcon"};

namespace
{

constexpr uint64_t US_PS = 1'000'000;

/// A target of 27 us over two links, whatever the window.
FalconRules
Plain()
{
    FalconRules rules;
    rules.baseTargetPs = 25.0 * US_PS;
    rules.hopTargetPs = 1.0 * US_PS;
    return rules;
}

/// Answer packets that took so long, at a time.
bool
Answer(FalconFlow& flow, const FalconRules& rules, uint32_t packets, uint64_t rttPs, uint64_t nowPs)
{
    return flow.OnAck(rules,
                      {.packets = packets,
                       .sentPs = nowPs - rttPs,
                       .nowPs = nowPs,
                       .links = 2,
                       .roundEnds = flow.Packets()});
}

} // namespace

/// Oracle: the ends of the range, where the square roots cancel.
TEST_CASE(g_suite, "the target of a flow")
{
    FalconRules rules = Plain();
    rules.scalingRangePs = 100.0 * US_PS;
    NS_TEST_EXPECT_MSG_EQ_TOL(rules.TargetPs(256, 2), 27e6, 1, "a large window");
    NS_TEST_EXPECT_MSG_EQ_TOL(rules.TargetPs(0.1, 2), 127e6, 1, "a small one");
    NS_TEST_EXPECT_MSG_EQ_TOL(rules.TargetPs(0.01, 3), 128e6, 1, "no more for a smaller one");
    // 1 / sqrt(W) halfway between 1 / sqrt(256) and 1 / sqrt(0.1): W = 4 / (1/16 + sqrt(10))^2
    NS_TEST_EXPECT_MSG_EQ_TOL(rules.TargetPs(0.384615, 2), 77e6, 1e5, "half of the range");
}

/// Oracle: by hand.
TEST_CASE(g_suite, "the window of a flow")
{
    const FalconRules rules = Plain();
    FalconFlow flow(10);
    Answer(flow, rules, 1, 20 * US_PS, 100 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(flow.Packets(), 10.1, 1e-9, "1 / 10 more");
    Answer(flow, rules, 0, 20 * US_PS, 100 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(flow.Packets(), 10.1, 1e-9, "nothing new");

    FalconFlow late(10);
    Answer(late, rules, 1, 54 * US_PS, 100 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(late.Packets(), 6, 1e-9, "half of it beyond: 0.8 / 2 less");
    Answer(late, rules, 1, 54 * US_PS, 153 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(late.Packets(), 6, 1e-9, "once per round trip");
    Answer(late, rules, 1, 54 * US_PS, 154 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(late.Packets(), 3.6, 1e-9, "now it is over");
    Answer(late, rules, 1, 270 * US_PS, 500 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(late.Packets(), 1.8, 1e-9, "at most half");

    FalconFlow few(0.5);
    Answer(few, rules, 1, 20 * US_PS, 100 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(few.Packets(), 1.5, 1e-9, "below one: a packet for a packet");
    FalconFlow most(256);
    Answer(most, rules, 1, 20 * US_PS, 100 * US_PS);
    NS_TEST_EXPECT_MSG_EQ(most.Packets(), 256, "the most");

    FalconFlow gone(8);
    gone.OnTimeout(rules, 100 * US_PS);
    NS_TEST_EXPECT_MSG_EQ(gone.Packets(), 4, "a timeout");
    gone.OnTimeout(rules, 200 * US_PS);
    NS_TEST_EXPECT_MSG_EQ(gone.Packets(), 4, "the second in a row");
    gone.OnTimeout(rules, 300 * US_PS);
    NS_TEST_EXPECT_MSG_EQ(gone.Packets(), 0.01, "the third");
}

/// Oracle: counting. Windows stay at two packets: the target is met to the ps, or nothing is new.
TEST_CASE(g_suite, "rounds after which a flow takes another path")
{
    FalconRules rules = Plain();
    rules.beta = 0; // the window stays
    FalconFlow flow(2);
    uint64_t nowPs = 1000 * US_PS;
    for (uint32_t answer = 1; answer <= 20; answer++)
    {
        nowPs += US_PS;
        NS_TEST_EXPECT_MSG_EQ(Answer(flow, rules, 1, 28 * US_PS, nowPs),
                              (answer % 10 == 0),
                              "five rounds of two, answer " << answer);
    }
    FalconFlow spared(4);
    for (uint32_t answer = 1; answer <= 40; answer++)
    {
        nowPs += US_PS;
        // One of four is beyond 1.01 times the target in every fifth round, in the others all are.
        const bool isLate = (answer - 1) / 4 % 5 != 4 || answer % 4 == 0;
        const uint64_t rttPs = isLate ? 28 * US_PS : 27 * US_PS;
        NS_TEST_EXPECT_MSG_EQ(Answer(spared, rules, 1, rttPs, nowPs), false, answer);
    }
}

/// Oracle: by hand; a quarter of the smoothed round trip beyond that of the latest.
TEST_CASE(g_suite, "when a packet is late")
{
    const FalconRules rules = Plain();
    FalconFlow flow(10);
    NS_TEST_EXPECT_MSG_EQ(flow.LatePs(0), FalconFlow::NEVER, "nothing has arrived");
    Answer(flow, rules, 1, 1000, 12'000);
    NS_TEST_EXPECT_MSG_EQ(flow.LatePs(10'900), 12'150, "1000 and a quarter");
    NS_TEST_EXPECT_MSG_EQ(flow.LatePs(11'001), FalconFlow::NEVER, "sent later than that");
    Answer(flow, rules, 1, 600, 12'600);
    NS_TEST_EXPECT_MSG_EQ(flow.SmoothedPs(), 900, "three quarters of the old one");
    NS_TEST_EXPECT_MSG_EQ(flow.LatePs(10'900), 11'725, "600 and a quarter of 900");
    Answer(flow, rules, 1, 5000, 13'000);
    NS_TEST_EXPECT_MSG_EQ(flow.LatePs(10'900), 11'725, "an earlier one changes nothing");
}

/// Oracle: by hand; 8 Gb/s empty one byte per ns, and a level has 100 bytes.
TEST_CASE(g_suite, "the memory of an interface, and the window for it")
{
    FalconReceiveBuffer buffer(8'000'000'000, 3200);
    buffer.Add(0, 1000);
    NS_TEST_EXPECT_MSG_EQ(buffer.Level(), 10, "1000 bytes");
    buffer.Add(500'000, 150);
    NS_TEST_EXPECT_MSG_EQ(buffer.Level(), 6, "500 less, 150 more");
    buffer.Add(500'000, 9000);
    NS_TEST_EXPECT_MSG_EQ(buffer.Level(), 31, "the highest");
    buffer.Add(100'000'000, 99);
    NS_TEST_EXPECT_MSG_EQ(buffer.Level(), 0, "empty in between");
    NS_TEST_EXPECT_MSG_EQ(FalconReceiveBuffer().IsSlow(), false, "without a rate");

    FalconNicWindow window;
    window.OnAck(14, 15, US_PS, 10 * US_PS);
    NS_TEST_EXPECT_MSG_EQ(window.Packets(), 65, "one more");
    window.OnAck(30, 15, US_PS, 10 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 39, 1e-9, "half of the level beyond: 0.4 less");
    window.OnAck(30, 15, US_PS, 11 * US_PS - 1);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 39, 1e-9, "once per round trip");
    window.OnAck(31, 1, US_PS, 11 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 19.5, 1e-9, "at most half");
    window.OnAck(15, 15, US_PS, 20 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Packets(), 19.5, 1e-9, "at the target");
}

ADD_CASES(g_suite)
{
    FalconTransport::GetTypeId(); // the library that registers it must be linked
}

} // namespace tests
} // namespace ns3
