// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/nscc-window.h"
#include "ns3/nscc.h"
#include "ns3/oversubscription-control.h"
#include "ns3/uec-transport.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

// 100 Gb/s and 12 us: a product of 150 000 bytes, the reference. Packets of 4000 without headers.
constexpr uint64_t US = 1'000'000;
constexpr uint64_t BASE_PS = 12 * US;
constexpr double TARGET_PS = 9 * US;
constexpr CongestionControl::Path PATH{100'000'000'000, BASE_PS, 4000, 0, 6};
constexpr NsccWindow::Rules RULES{.networkRttPs = 0,
                                  .targetShare = 0.75,
                                  .mostBdp = 1.5,
                                  .quickGate = 3,
                                  .ignoresLastHopTrims = false};

CongestionControl::Ack
Answer(uint64_t delayPs, bool isMarked, uint64_t bytes = 4000, uint64_t inFlightBytes = 0)
{
    return {.rttPs = BASE_PS + delayPs,
            .arrivedBytes = bytes,
            .markedBytes = isMarked ? bytes : 0,
            .lostBytes = 0,
            .inFlightBytes = inFlightBytes,
            .packet = 0,
            .nextPacket = 0,
            .hops = {},
            .isMarked = isMarked};
}

CongestionControl::Ack
Trimmed(uint64_t bytes, bool atLastHop = false, uint64_t inFlightBytes = 0)
{
    CongestionControl::Ack ack = Answer(0, false, 0, inFlightBytes);
    ack.lostBytes = bytes;
    ack.atLastHop = atLastHop;
    return ack;
}

/// @return a window of one product; it took a loss at 1 ps, which the smoothed delay shows
NsccWindow
OneProduct()
{
    NsccWindow window(RULES, PATH);
    window.OnAck(RULES, Trimmed(75'000), 1);
    return window;
}

} // namespace

static Suite g_suite{"uec"};

/// Oracle: the formulas of the source, put in by hand, MSS 4096, target 0.75 of the round trip.
TEST_CASE(g_suite, "constants at 100, 400 and 800 Gbps")
{
    struct Expected
    {
        uint64_t gbps;
        uint64_t rttUs;
        double scale;      // product / 150 000 B
        double fair;       // 5 MSS a
        double each;       // 0.15 MSS a
        double alphaPerUs; // 4 MSS a b / Q*, with b / Q* = 1 / 12 us
    };

    for (const auto& e : {Expected{100, 12, 1, 20'480, 614.4, 1365.333},
                          Expected{400, 12, 4, 81'920, 2457.6, 5461.333},
                          Expected{800, 12, 8, 163'840, 4915.2, 10922.667},
                          Expected{800, 6, 4, 81'920, 2457.6, 5461.333}})
    {
        const NsccWindow window(RULES, {e.gbps * 1'000'000'000, e.rttUs * US, 4096, 64, 6});
        const auto& is = window.Get();
        const std::string what = std::to_string(e.gbps) + " Gb/s";
        NS_TEST_EXPECT_MSG_EQ_TOL(is.scale, e.scale, 1e-9, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(is.targetPs, 0.75 * e.rttUs * US, 1e-3, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(is.delayScale, 0.75 * e.rttUs / 12, 1e-9, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(is.fair, e.fair, 1e-6, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(is.each, e.each, 1e-6, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(is.proportional * US, e.alphaPerUs, 1e-3, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(is.fast, 0.25 * e.scale, 1e-9, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(is.quickPs, 3.0 * e.rttUs * US, 1e-3, what);
        const double product = static_cast<double>(e.gbps * e.rttUs) * 125;
        NS_TEST_EXPECT_MSG_EQ_TOL(window.Bytes(), 1.5 * product, 1e-6, what);
        NS_TEST_EXPECT_MSG_EQ_TOL(window.PayloadBytes(),
                                  1.5 * product * 4096 / 4160,
                                  1e-6,
                                  "without headers");
    }
}

/// Oracle: by hand, at a window of 150 000 bytes and the reference, where "a" is 1.
TEST_CASE(g_suite, "delay and marks")
{
    NS_TEST_EXPECT_MSG_EQ(OneProduct().Bytes(), 150'000, "225 000 less 75 000");

    // No mark, delay at the target: FI * n = 20 000 * 4000, twice; added over the window when
    // a round trip has passed, with eta = 600.
    NsccWindow fair = OneProduct();
    fair.OnAck(RULES, Answer(9 * US, false), 2);
    NS_TEST_EXPECT_MSG_EQ(fair.Bytes(), 150'000, "owed");
    fair.OnAck(RULES, Answer(9 * US, false), BASE_PS + 1);
    NS_TEST_EXPECT_MSG_EQ_TOL(fair.Bytes(), 150'000 + 1.6e8 / 150'000 + 600, 1e-6, "fair");

    // No mark, half of it: alpha * n * (Q* - d) = 1/750 B/ps * 4000 * 4.5 us.
    NsccWindow less = OneProduct();
    less.OnAck(RULES, Answer(9 * US / 2, false), BASE_PS + 1);
    NS_TEST_EXPECT_MSG_EQ_TOL(less.Bytes(), 150'000 + 2.4e7 / 150'000 + 600, 1e-6, "in part");

    // More than eight packets add what is owed without eta: 9 * 2.4e7 / 150 000.
    NsccWindow eight = OneProduct();
    for (uint32_t i = 0; i < 9; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(eight.Bytes(), 150'000, "not yet, " << i);
        eight.OnAck(RULES, Answer(9 * US / 2, false), 2);
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(eight.Bytes(), 150'000 + 9 * 160, 1e-6, "nine packets");

    // A mark without much delay: nothing.
    NsccWindow path = OneProduct();
    path.OnAck(RULES, Answer(9 * US - 1, true), 2);
    NS_TEST_EXPECT_MSG_EQ(path.Bytes(), 150'000, "left to the path selector");

    // Without delay for more than a window: a quarter of what arrives.
    NsccWindow fast = OneProduct();
    fast.OnAck(RULES, Answer(US - 1, false, 151'000), 2);
    NS_TEST_EXPECT_MSG_EQ_TOL(fast.Bytes(), 150'000 + 151'000 / 4.0, 1e-6, "fast");
}

/**
 * Oracle: the smoothed delay by its own recurrence; as it passes the target the window is cut by
 * 0.8 of the share that is too much, once per round trip, and never by more than half.
 */
TEST_CASE(g_suite, "decrease by the smoothed delay")
{
    NsccWindow window = OneProduct();
    double delay = 0.0125 * BASE_PS; // of the loss
    const uint64_t nowPs = BASE_PS + 2;
    window.OnAck(RULES, Answer(35 * US, true, 1), nowPs);
    delay += 0.0125 * (35.0 * US - delay);
    const double start = window.Bytes(); // eta was added
    while (delay + 0.0125 * (35.0 * US - delay) <= TARGET_PS)
    {
        window.OnAck(RULES, Answer(35 * US, true, 1), nowPs);
        delay += 0.0125 * (35.0 * US - delay);
        NS_TEST_EXPECT_MSG_EQ(window.Bytes(), start, "below the target");
    }
    window.OnAck(RULES, Answer(35 * US, true, 1), nowPs);
    delay += 0.0125 * (35.0 * US - delay);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.DelayPs(), delay, 1e-3, "smoothed");
    const double cut = start * (1 - 0.8 * (delay - TARGET_PS) / delay);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Bytes(), cut, 1e-6, "cut");
    window.OnAck(RULES, Answer(35 * US, true, 1), nowPs);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Bytes(), cut, 1e-6, "once per round trip");

    // A long wait without a mark counts as a quarter of a round trip.
    delay += 0.0125 * (35.0 * US - delay);
    window.OnAck(RULES, Answer(35 * US, false, 1), nowPs);
    delay += 0.0125 * (0.25 * BASE_PS - delay);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.DelayPs(), delay, 1e-3, "about to end");
}

/// Oracle: the share of one of n senders in a round of base round trip and target, 21 us.
TEST_CASES(AdaptsToItsShare,
           "quick adaption, one of " + std::to_string(senders),
           uint32_t senders,
           double expectedBytes)
{
    // A packet takes 320 ns; every n-th is ours, between come headers of trimmed ones.
    NsccWindow window(RULES, PATH);
    uint64_t inFlight = 220'000;
    bool wasSmall = false;
    for (uint64_t i = 0; i * 320'000 <= 21 * US + 640'000; i++)
    {
        inFlight -= 1000;
        const bool isWhole = i % senders == 0;
        window.OnAck(RULES,
                     isWhole ? Answer(8 * US, true, 4000, inFlight) : Trimmed(100, false, inFlight),
                     BASE_PS + i * 320'000);
        wasSmall |= window.Bytes() < 100'000;
    }
    if (expectedBytes == 0)
    {
        NS_TEST_EXPECT_MSG_EQ(wasSmall, false, "too much has arrived");
        return;
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Bytes(), expectedBytes, 4000, "its share");
    const double adapted = window.Bytes();
    window.OnAck(RULES, Trimmed(1000), BASE_PS + 22 * US);
    NS_TEST_EXPECT_MSG_EQ(window.Bytes(), adapted, "what was in flight says nothing");
}

TEST_CASE(g_suite, "an overtaken acknowledgement has a delay and a mark")
{
    // Another has reported its bytes. Smoothed by 1/80: twice the target, which is marked.
    NsccWindow window(RULES, PATH);
    window.OnAck(RULES, Answer(18 * US, true, 0), 20 * US);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.DelayPs(), 0.0125 * 18 * US, 1, "the delay counts");

    // 1 - (79/80)^n of twice the target is above the target from n = 56 on.
    for (int n = 2; n <= 56; n++)
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(window.Bytes(), 225'000, 1e-9, "not yet");
        window.OnAck(RULES, Answer(18 * US, true, 0), 20 * US);
    }
    const double share = 1 - std::pow(1 - 0.0125, 56);
    const double left = 1 - 0.8 * (2 * share - 1) / (2 * share);
    NS_TEST_EXPECT_MSG_EQ_TOL(window.Bytes(), left * 225'000, 1, "the mark counts");
}

TEST_CASE(g_suite, "losses take their bytes")
{
    NsccWindow::Rules ignores = RULES;
    ignores.ignoresLastHopTrims = true;
    NsccWindow window(ignores, PATH);
    window.OnAck(ignores, Trimmed(4000, true), 1);
    NS_TEST_EXPECT_MSG_EQ(window.Bytes(), 225'000, "credit reacts");
    window.OnAck(ignores, Trimmed(4000, false), 2);
    NS_TEST_EXPECT_MSG_EQ(window.Bytes(), 221'000, "elsewhere");
    window.OnSent(21'000);
    window.OnTimeout();
    NS_TEST_EXPECT_MSG_EQ(window.Bytes(), 200'000, "what was in flight");
    window.OnAck(ignores, Trimmed(1'000'000), 3);
    NS_TEST_EXPECT_MSG_EQ(window.Bytes(), 4000, "one packet is left");
}

/// Oracle: by hand, interval after interval.
TEST_CASE(g_suite, "oversubscription control")
{
    OversubscriptionControl control;
    const auto expect = [&](double share,
                            uint32_t whole,
                            uint32_t marked,
                            uint32_t near,
                            uint32_t far,
                            const char* why) {
        for (uint32_t i = 0; i < whole; i++)
        {
            control.OnData(i < marked);
        }
        for (uint32_t i = 0; i < near + far; i++)
        {
            control.OnTrim(i < near);
        }
        control.Update();
        NS_TEST_EXPECT_MSG_EQ_TOL(control.Share(), share, 1e-9, why);
    };
    expect(1, 100, 0, 0, 0, "at most 1");
    expect(1, 80, 0, 20, 0, "its own link is not meant");
    expect(0.9, 90, 0, 0, 10, "a tenth was trimmed");
    // All marked: 0.5 smoothed, 0.2 above 0.3, half of that off.
    expect(0.81, 10, 10, 0, 0, "marked");
    // 0.25: 0.01 more, twice that, four times as long as nothing is marked.
    expect(0.82, 10, 0, 0, 0, "quiet");
    expect(0.84, 10, 0, 0, 0, "doubled");
    expect(0.85, 10, 1, 0, 0, "one mark: a small step");
    expect(0.93, 10, 0, 0, 0, "eight times");
    for (uint32_t i = 0; i < 100; i++)
    {
        control.OnTrim(false);
        control.Update();
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(control.Share(), 0.01, 1e-9, "at least");
    NS_TEST_EXPECT_MSG_EQ(control.Update(), false, "nothing has come");

    OversubscriptionControl fourToOne{0.225}; // 0.9 / 4
    fourToOne.OnTrim(false);
    fourToOne.Update();
    NS_TEST_EXPECT_MSG_EQ_TOL(fourToOne.Share(), 0.225, 1e-9, "all was trimmed");
}

ADD_CASES(g_suite)
{
    Nscc::GetTypeId(); // the library that registers them must be linked
    UecTransport::GetTypeId();
    suite.Add(new AdaptsToItsShare(4, 0));       // above 225 000 / 8
    suite.Add(new AdaptsToItsShare(16, 16'406)); // 262 500 / 16
    suite.Add(new AdaptsToItsShare(128, 4000));  // 2050, but one packet
}

} // namespace tests
} // namespace ns3
