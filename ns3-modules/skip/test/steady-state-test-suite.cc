// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/steady-state.h"

#include <cmath>
#include <functional>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr uint64_t WINDOW_PS = 1'000'000;
constexpr double TOLERANCE = 0.01;
constexpr uint64_t FAR_PS = 1'000'000'000'000;

/// Packets sent and arrived until the end of window i.
using Course = std::function<FlowTotals(uint64_t)>;

/// @return a state that was told of so many windows of one message
SteadyState
After(uint64_t windows, const Course& course)
{
    SteadyState state(TOLERANCE);
    state.Restart(WINDOW_PS);
    EnginePs timePs;
    for (uint64_t i = 0; i <= windows; i++)
    {
        state.Add({timePs, {course(i)}, {{}}, {}});
        timePs += WINDOW_PS;
    }
    return state;
}

/// 100 packets in each window, 10 of them under way.
FlowTotals
Even(uint64_t i)
{
    return {.sent = 100 * i + 10, .arrived = 100 * i};
}

/**
 * Oracle: of counts that are alike the error is one packet in what was measured, and in x times
 * that it is the root of x + x^2. It may be half of a budget b, and as much of the other half as is
 * skipped of what is left to be sent, of which `share` was measured:
 * x + x^2 = (b / 2 + b / 2 share x)^2, a quadratic equation.
 */
double
EvenTimes(double budget, double share)
{
    const double half = budget / 2;
    const double a = 1 - half * half * share * share;
    const double b = 1 - 2 * half * half * share;
    return (-b + std::sqrt(b * b + 4 * a * half * half)) / (2 * a);
}

/// The same, and more of them late in the fourth window.
FlowTotals
Late(uint64_t i, uint64_t packets)
{
    const uint64_t late = i == 4 ? packets : 0;
    return {.sent = 100 * i + 10 + late, .arrived = 100 * i + late};
}

} // namespace

static Suite g_suite{"fabric-steady-state"};

/**
 * Oracle: by hand. A message of n packets may be wrong by half of 1 % of n; EvenTimes says for how
 * long it may be skipped; or until 16 packets and those of two windows are left.
 */
TEST_CASE(g_suite, "how long is skipped of even rates, by the tolerance and by what is left")
{
    const SteadyState state = After(4, Even);
    constexpr double share = 400 / 1e6; // of what is left
    auto jump = state.Judge({{4000, 1'000'000, 0, 0}}, FAR_PS, 0);
    NS_TEST_ASSERT_MSG_EQ(jump.has_value(), true, "even rates are steady");
    const auto inWindows = [&jump] { return static_cast<double>(jump->byPs) / WINDOW_PS; };
    const double times = EvenTimes(20, share);
    NS_TEST_EXPECT_MSG_EQ_TOL(inWindows(), 4 * times, 0.1, "by the tolerance");
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(jump->Grown(0, 400)),
                              100 * inWindows(),
                              1,
                              "100 packets in each window");
    NS_TEST_EXPECT_MSG_EQ_TOL(jump->errorPackets.at(0),
                              std::sqrt(times + times * times),
                              0.1,
                              "of 20 that are allowed");
    jump = state.Judge({{4000, 1'000'000, 0, 12}}, FAR_PS, 0);
    NS_TEST_EXPECT_MSG_EQ_TOL(inWindows(), 4 * EvenTimes(8, share), 0.1, "8 are left");
    jump = state.Judge({{4000, 4000, 0, 0}}, FAR_PS, 0);
    NS_TEST_EXPECT_MSG_EQ_TOL(inWindows(),
                              (4000 - 216) / 100.0,
                              1e-6,
                              "all but its end: after it there is nothing to be wrong");
    NS_TEST_EXPECT_MSG_EQ(state.Judge({{4000, 1'000'000, 0, 20}}, FAR_PS, 0).has_value(),
                          false,
                          "half of the tolerance is used up");
    jump = state.Judge({{1'000'000, 5216, 0, 0}}, FAR_PS, 0);
    NS_TEST_EXPECT_MSG_EQ(jump->byPs, 50 * WINDOW_PS, "5000 packets are left to be skipped");
    jump = state.Judge({{1'000'000, 1'000'000, 0, 0}}, 7 * WINDOW_PS, 0);
    NS_TEST_EXPECT_MSG_EQ(jump->byPs, 7 * WINDOW_PS, "then something happens");
    NS_TEST_EXPECT_MSG_EQ(state.Judge({{4000, 217, 0, 0}}, FAR_PS, 0).has_value(),
                          false,
                          "nothing worth while");
    NS_TEST_EXPECT_MSG_EQ(After(3, Even).Judge({{4000, 4000, 0, 0}}, FAR_PS, 0).has_value(),
                          false,
                          "three windows are too few");
}

/// @return windows that are skipped
static double
Jump(const Course& course, uint64_t slowestPs = 0)
{
    const auto jump = After(4, course).Judge({{40'000, 1'000'000, 0, 0}}, FAR_PS, slowestPs);
    return jump ? static_cast<double>(jump->byPs) / WINDOW_PS : 0;
}

/// Oracle: by hand, from what each course is.
TEST_CASE(g_suite, "what is not steady, and what a doubt costs")
{
    NS_TEST_EXPECT_MSG_EQ_TOL(Jump(Even), 4 * EvenTimes(200, 400 / 1e6), 0.1, "of error 1");
    NS_TEST_EXPECT_MSG_EQ(Jump(Even, 2 * WINDOW_PS), 0, "a clock turns less than every window");
    // 1, 1, 1 and 3 off their mean, 12 squared; the line through them has a slope of 6 / 5 and
    // leaves 12 - 6^2 / 5 = 4.8, so a variance of 4.8 / (4 - 2). As a median of such it stands
    // for a mean of 1 / (1 - 2 / (9 * 2))^3 of it; half of each is taken. Half as much again as
    // the four windows scatter by is more than the 4 by which halves differ.
    const double error = 1.5 * std::sqrt(4 * 2.4 * (1 + std::pow(9 / 8.0, 3)) / 2);
    NS_TEST_EXPECT_MSG_EQ_TOL(Jump([](uint64_t i) { return Late(i, 4); }),
                              4 * EvenTimes(200 / error, 404 / 1e6),
                              0.1,
                              "a window of 104");
    // On a line, so nothing is chance but 4 of the 8 by which halves differ: with s the root of
    // x + x^2, 8 s + 2 * 4 s^2 is 100 packets and 200 / 2 * 412 / 10^6 x more.
    const double s = (-1 + std::sqrt(1 + 4 * 12.513)) / 2;
    NS_TEST_EXPECT_MSG_EQ_TOL(Jump([](uint64_t i) -> FlowTotals {
                                  return {.sent = 99 * i + i * i, .arrived = 99 * i + i * i};
                              }),
                              2 * (std::sqrt(1 + 4 * s * s) - 1),
                              0.02,
                              "windows of 100, 102, 104, 106");
    // 10 more are under way after each window: 40, of 400 packets that is more than 2 %.
    NS_TEST_EXPECT_MSG_EQ(
        Jump([](uint64_t i) -> FlowTotals { return {.sent = 110 * i, .arrived = 100 * i}; }),
        0,
        "a queue that grows");
    NS_TEST_EXPECT_MSG_EQ(
        Jump([](uint64_t i) -> FlowTotals { return {.sent = 7 * i, .arrived = 7 * i}; }),
        0,
        "too few packets to tell");
    NS_TEST_EXPECT_MSG_EQ(Jump([](uint64_t i) -> FlowTotals {
                              return {.sent = 100 * i, .arrived = 100 * i, .timeouts = i / 4};
                          }),
                          0,
                          "a timeout");
}

namespace
{

double
Jump(size_t messages)
{
    SteadyState state(TOLERANCE);
    state.Restart(WINDOW_PS);
    for (uint64_t i = 0; i <= 4; i++)
    {
        std::vector<FlowTotals> flows(messages, Even(i));
        flows[0] = Late(i, 4);
        state.Add({EnginePs(i * WINDOW_PS), flows, std::vector<SourceTotals>(flows.size()), {}});
    }
    const std::vector<FlowAhead> ahead(messages, {40'000, 1'000'000, 0, 0});
    return static_cast<double>(state.Judge(ahead, FAR_PS, 0)->byPs) / WINDOW_PS;
}

} // namespace

/// Oracle: of 400 messages one may be wrong by more than is allowed; of 399 none.
TEST_CASE(g_suite, "one of 400 messages does not hold back the others")
{
    NS_TEST_EXPECT_MSG_EQ_TOL(Jump(400), 4 * EvenTimes(200, 400 / 1e6), 0.1, "as the others");
    // Its halves differ by 4; what all scatter by makes half of its own scatter no more.
    NS_TEST_EXPECT_MSG_EQ_TOL(Jump(399), 4 * EvenTimes(200 / 4.0, 404 / 1e6), 0.1, "as it");
}

/// Oracle: by hand. After 8 windows of 1 us every other snapshot is kept and windows are of 2 us.
TEST_CASE(g_suite, "windows become longer, and a jump corrects the one before")
{
    SteadyState state = After(8, Even);
    NS_TEST_EXPECT_MSG_EQ(state.WindowPs(), 2 * WINDOW_PS, "doubled");
    state.Add({EnginePs(10 * WINDOW_PS), {Even(10)}, {{}}, {}});
    state.Skipped(100 * WINDOW_PS);
    // 9990 packets were skipped where the rate, as it is known now, says 10 000.
    const auto jump = state.Judge({{40'000, 1'000'000, 9990, 0}}, 20 * WINDOW_PS, 0);
    NS_TEST_ASSERT_MSG_EQ(jump.has_value(), true, "steady");
    NS_TEST_EXPECT_MSG_EQ(jump->byPs, 20 * WINDOW_PS, "until something happens");
    NS_TEST_EXPECT_MSG_EQ(jump->sincePs, 120 * WINDOW_PS, "with the jump before");
    const uint64_t packets = jump->Grown(jump->from->flows[0].arrived, jump->to->flows[0].arrived);
    NS_TEST_EXPECT_MSG_EQ(packets, 12'000, "of both jumps");
}

constexpr uint64_t PACKET_PS = 7000;

/// @return packets of 4 windows; at their end `restPs` were idle and `others` were sent, too
static double
Packets(uint64_t restPs, uint64_t others)
{
    SteadyState state(TOLERANCE);
    state.Restart(WINDOW_PS);
    for (uint64_t i = 0; i <= 4; i++)
    {
        const uint64_t begun = (i * WINDOW_PS - (i == 4 ? restPs : 0)) / PACKET_PS + 1;
        const uint64_t late = i % 2;
        state.Add({EnginePs(i * WINDOW_PS),
                   {{.sent = begun, .arrived = begun - late}},
                   {{PACKET_PS, begun * PACKET_PS, begun + i * others}},
                   {}});
    }
    return state.Judge({{40'000, 39'000, 0, 0}}, FAR_PS, 0)->packets[0];
}

/**
 * Oracle: a source that is never idle sends a packet every 7000 ps, so in 4 windows of 1 us 4000/7
 * packets, whatever part of them is counted and however they arrive. One that rests for a packet
 * and a half is not such a one, nor one that sends something else: then the mean of what was sent
 * and what has arrived is its count.
 */
TEST_CASE(g_suite, "what a source sends that is never idle is known to the part of a packet")
{
    NS_TEST_EXPECT_MSG_EQ_TOL(Packets(0, 0), 4000.0 / 7, 1e-9, "busy");
    NS_TEST_EXPECT_MSG_EQ_TOL(Packets(10'500, 0), 569, 1e-9, "idle for 10.5 ns");
    NS_TEST_EXPECT_MSG_EQ_TOL(Packets(0, 1), 571, 1e-9, "others, too: 571 begun");
}

} // namespace tests
} // namespace ns3
