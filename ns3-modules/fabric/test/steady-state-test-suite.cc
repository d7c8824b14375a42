// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/steady-state.h"
#include "ns3/test.h"

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
    uint64_t timePs = 0;
    for (uint64_t i = 0; i <= windows; i++)
    {
        state.Add({timePs, {course(i)}, {}});
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

} // namespace

/**
 * Oracle: by hand. A message of n packets may be wrong by half of 1 % of n, and in one state by
 * half of what is left of that. With counts that are alike the error is one packet in the m windows
 * that were measured, so n / 400 times m windows may be skipped; or until 16 packets and those of
 * two windows are left.
 */
class JumpLengths : public TestCase
{
  public:
    JumpLengths()
        : TestCase("how long is skipped of even rates, by the tolerance and by what is left")
    {
    }

  private:
    void DoRun() override
    {
        const SteadyState state = After(4, Even);
        auto jump = state.Judge({{4000, 1'000'000, 0, 0}}, FAR_PS, 0);
        NS_TEST_ASSERT_MSG_EQ(jump.has_value(), true, "even rates are steady");
        NS_TEST_EXPECT_MSG_EQ(jump->byPs, 4000 / 400 * 4 * WINDOW_PS, "by the tolerance");
        NS_TEST_EXPECT_MSG_EQ(jump->Grown(0, 400), 4000, "100 packets in each of 40 windows");
        NS_TEST_EXPECT_MSG_EQ_TOL(jump->errorPackets.at(0), 10, 1e-9, "a quarter of 1 % of 4000");
        jump = state.Judge({{4000, 1'000'000, 0, 12}}, FAR_PS, 0);
        NS_TEST_EXPECT_MSG_EQ(jump->byPs, (20 - 12) / 2 * 4 * WINDOW_PS, "half of what is left");
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
};

/// Oracle: by hand, from what each course is.
class UnsteadyCourses : public TestCase
{
  public:
    UnsteadyCourses()
        : TestCase("what is not steady, and what a doubt costs")
    {
    }

  private:
    uint64_t Jump(const Course& course, uint64_t slowestPs = 0)
    {
        const auto jump = After(4, course).Judge({{40'000, 1'000'000, 0, 0}}, FAR_PS, slowestPs);
        return jump ? jump->byPs : 0;
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_EQ(Jump(Even), 400 * WINDOW_PS, "100 packets for 4 windows of error 1");
        NS_TEST_EXPECT_MSG_EQ(Jump(Even, 2 * WINDOW_PS), 0, "a clock turns less than every window");
        const auto more = [](uint64_t packets) -> Course {
            return [packets](uint64_t i) -> FlowTotals {
                const uint64_t late = i == 4 ? packets : 0;
                return {.sent = 100 * i + 10 + late, .arrived = 100 * i + late};
            };
        };
        // The last window is 3 off the mean, the halves 4, which may be chance: 100 windows.
        NS_TEST_EXPECT_MSG_EQ(Jump(more(4)), 100 * WINDOW_PS, "halves of 200 and 204");
        // 6 of the halves, 2 of them a trend: 6 x + 4 (x + x^2) = 100 packets, x = 3.9039 times 4.
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(Jump(more(6))) / WINDOW_PS,
                                  (std::sqrt(1700.0) - 10) / 2,
                                  1e-3,
                                  "halves of 200 and 206");
        // 10 more are under way after each window: 40, of 400 packets that is more than 2 %.
        NS_TEST_EXPECT_MSG_EQ(Jump([](uint64_t i) -> FlowTotals {
                                  return {.sent = 110 * i, .arrived = 100 * i};
                              }),
                              0,
                              "a queue that grows");
        NS_TEST_EXPECT_MSG_EQ(Jump([](uint64_t i) -> FlowTotals {
                                  return {.sent = 7 * i, .arrived = 7 * i};
                              }),
                              0,
                              "too few packets to tell");
        NS_TEST_EXPECT_MSG_EQ(Jump([](uint64_t i) -> FlowTotals {
                                  return {.sent = 100 * i, .arrived = 100 * i, .timeouts = i / 4};
                              }),
                              0,
                              "a timeout");
    }
};

/// Oracle: by hand. After 8 windows of 1 us every other snapshot is kept and windows are of 2 us.
class LongerWindows : public TestCase
{
  public:
    LongerWindows()
        : TestCase("windows become longer, and a jump corrects the one before")
    {
    }

  private:
    void DoRun() override
    {
        SteadyState state = After(8, Even);
        NS_TEST_EXPECT_MSG_EQ(state.WindowPs(), 2 * WINDOW_PS, "doubled");
        state.Add({10 * WINDOW_PS, {Even(10)}, {}});
        state.Skipped(100 * WINDOW_PS);
        // 9990 packets were skipped where the rate, as it is known now, says 10 000.
        const auto jump = state.Judge({{40'000, 1'000'000, 9990, 0}}, 20 * WINDOW_PS, 0);
        NS_TEST_ASSERT_MSG_EQ(jump.has_value(), true, "steady");
        NS_TEST_EXPECT_MSG_EQ(jump->byPs, 20 * WINDOW_PS, "until something happens");
        NS_TEST_EXPECT_MSG_EQ(jump->sincePs, 120 * WINDOW_PS, "with the jump before");
        const uint64_t packets = jump->Grown(jump->from->flows[0].arrived,
                                             jump->to->flows[0].arrived);
        NS_TEST_EXPECT_MSG_EQ(packets, 12'000, "of both jumps");
    }
};

class SteadyStateTestSuite : public TestSuite
{
  public:
    SteadyStateTestSuite()
        : TestSuite("fabric-steady-state", Type::UNIT)
    {
        AddTestCase(new JumpLengths, Duration::QUICK);
        AddTestCase(new UnsteadyCourses, Duration::QUICK);
        AddTestCase(new LongerWindows, Duration::QUICK);
    }
};

static SteadyStateTestSuite g_steadyStateTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3
