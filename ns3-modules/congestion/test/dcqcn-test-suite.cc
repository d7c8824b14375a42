// SPDX-License-Identifier: GPL-2.0-only

#include "scripted-control.h"

#include "ns3/boolean.h"
#include "ns3/dcqcn.h"
#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <cmath>

namespace ns3
{
namespace tests
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(ScriptedControl);

namespace
{

constexpr double LINE_BPS = 100e9;
constexpr uint64_t START_PS = 10 * US_PS; ///< Of every script
constexpr uint64_t INTERVAL_PS = 55 * US_PS;
constexpr double GAIN = 1.0 / 256;

} // namespace

static Suite g_suite{"dcqcn"};

/// A script about one flow; expectations are taken down at their times.
class DcqcnCase : public TestCase
{
  protected:
    using TestCase::TestCase;

    void At(uint64_t atPs, std::function<void(Dcqcn&)> step)
    {
        ScriptedControl::script.emplace(atPs, [step](CongestionControl& control) {
            step(dynamic_cast<Dcqcn&>(control));
        });
    }

    void Notify(uint64_t atPs)
    {
        At(atPs, [](Dcqcn& control) { control.OnNotification(0); });
    }

    void ExpectRate(uint64_t atPs, double share)
    {
        At(atPs, [this, share](Dcqcn& control) {
            NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(control.RateBps(0)),
                                      share * LINE_BPS,
                                      2,
                                      "rate at " << share);
        });
    }

    void ExpectAlpha(uint64_t atPs, double alpha)
    {
        At(atPs, [this, alpha](Dcqcn& control) {
            NS_TEST_EXPECT_MSG_EQ_TOL(control.Alpha(0), alpha, 1e-12, "alpha");
        });
    }
};

/**
 * Oracle: section 3.3 of the paper. Alpha is 1 at the first notification, so the rate is halved;
 * five fast recoveries of 55 us each halve what is missing: 1 - 1/2^6 = 98.44 % after 275 us.
 */
class OneNotificationHalvesTheRate : public DcqcnCase
{
  public:
    OneNotificationHalvesTheRate()
        : DcqcnCase("one notification at line rate")
    {
    }

  private:
    void DoRun() override
    {
        ExpectRate(START_PS - 1, 1);
        Notify(START_PS);
        double missing = 0.5;
        for (uint64_t round = 0; round <= 5; round++)
        {
            ExpectRate(START_PS + round * INTERVAL_PS + 1, 1 - missing);
            missing /= 2;
        }
        // The sixth is additive; the target is the line rate already, so it halves once more.
        ExpectRate(START_PS + 6 * INTERVAL_PS + 1, 1 - 1.0 / 128);
        ScriptedControl::Play(CreateObject<Dcqcn>());
    }
};

/// Oracle: closed forms. Idle: (1 - g)^n, half of it after ln 2 / ln(256 / 255) = 177.1
/// intervals; marked: 1 - (1 - g)^n.
class AlphaFollowsItsClosedForms : public DcqcnCase
{
  public:
    AlphaFollowsItsClosedForms()
        : DcqcnCase("alpha")
    {
    }

  private:
    void DoRun() override
    {
        Notify(START_PS);
        for (const uint64_t n : {1, 2, 10, 177, 178})
        {
            ExpectAlpha(START_PS + n * INTERVAL_PS, std::pow(1 - GAIN, n));
        }
        At(START_PS + 177 * INTERVAL_PS,
           [this](Dcqcn& c) { NS_TEST_EXPECT_MSG_GT(c.Alpha(0), 0.5, "not yet"); });
        At(START_PS + 178 * INTERVAL_PS,
           [this](Dcqcn& c) { NS_TEST_EXPECT_MSG_LT(c.Alpha(0), 0.5, "half after 9.79 ms"); });
        const double before = std::pow(1 - GAIN, 178);
        const uint64_t markedPs = START_PS + 178 * INTERVAL_PS + 1;
        for (uint64_t n = 1; n <= 300; n++)
        {
            Notify(markedPs + n * 50 * US_PS); // less than an interval: none is idle
            ExpectAlpha(markedPs + n * 50 * US_PS, 1 - (1 - before) * std::pow(1 - GAIN, n));
        }
        ScriptedControl::Play(CreateObject<Dcqcn>());
    }
};

/// Oracle: by hand; the cut uses alpha as it was before this notification.
class ACutUsesTheOldAlpha : public DcqcnCase
{
  public:
    ACutUsesTheOldAlpha()
        : DcqcnCase("cuts in a row, with a gain of one half")
    {
    }

  private:
    void DoRun() override
    {
        auto control = CreateObject<Dcqcn>();
        control->SetAttribute("Gain", DoubleValue(0.5));
        Notify(START_PS); // rate 1/2, alpha 1
        const uint64_t nextPs = START_PS + 5 * INTERVAL_PS / 2;
        ExpectAlpha(nextPs, 0.25); // two idle intervals
        ExpectRate(nextPs, 0.875); // and two recoveries
        Notify(nextPs);            // by 1/8 of it; alpha 0.625
        ExpectRate(nextPs + 1, 0.875 * 0.875);
        ExpectAlpha(nextPs + 1, 0.625);
        At(nextPs + 2, [this](Dcqcn& c) {
            NS_TEST_EXPECT_MSG_EQ_TOL(c.TargetBps(0), 0.875 * LINE_BPS, 1, "rate before the cut");
        });
        ScriptedControl::Play(control);
    }
};

/// Oracle: by hand; cuts in a row keep the target of the first one, if adapters are set up so.
class ATargetMayBeKept : public DcqcnCase
{
  public:
    ATargetMayBeKept()
        : DcqcnCase("a target that is not clamped")
    {
    }

  private:
    void DoRun() override
    {
        auto control = CreateObject<Dcqcn>();
        control->SetAttribute("ClampTarget", BooleanValue(false));
        control->SetAttribute("AlphaInterval", StringValue("1s")); // alpha stays 1
        Notify(START_PS);
        Notify(START_PS + 1);
        ExpectRate(START_PS + 2, 0.25);
        const uint64_t raisedPs = START_PS + 1 + INTERVAL_PS;
        ExpectRate(raisedPs + 1, 0.625); // half-way back to the line rate
        Notify(raisedPs + 2);
        Notify(raisedPs + 3);
        ExpectRate(raisedPs + 3 + INTERVAL_PS + 1, (0.625 + 0.625 / 4) / 2);
        ScriptedControl::Play(control);
    }
};

/**
 * Oracle: figure 7 by hand, with F = 1, R_AI = 1 %, R_HAI = 2 % and one expiry of each clock after
 * the other. T or BC above 1: additive; both: hyper, i = min(T, BC) - 1 times R_HAI.
 */
class IncreasesGoByBothClocks : public DcqcnCase
{
  public:
    IncreasesGoByBothClocks()
        : DcqcnCase("additive and hyper increase")
    {
    }

  private:
    void DoRun() override
    {
        auto control = CreateObject<Dcqcn>();
        control->SetAttribute("RecoveryRounds", UintegerValue(1));
        control->SetAttribute("RateAiShare", DoubleValue(0.01));
        control->SetAttribute("RateHaiShare", DoubleValue(0.02));
        control->SetAttribute("CounterBytes", UintegerValue(100'000));
        control->SetAttribute("AlphaInterval", StringValue("1s")); // alpha stays 1
        for (uint64_t i = 0; i < 4; i++)
        {
            Notify(START_PS + i); // to 1/16, the target to 1/8
        }
        double target = 0.125;
        double rate = 0.0625;
        uint64_t nowPs = START_PS + 3;
        for (int round = 1; round <= 4; round++)
        {
            // The byte counter runs out first, in the middle of the timer's interval.
            const auto increase = [&](double share, uint64_t atPs) {
                target += share;
                rate = (target + rate) / 2;
                ExpectRate(atPs, rate);
            };
            const uint64_t halfPs = nowPs + INTERVAL_PS / 2;
            At(halfPs, [](Dcqcn& c) { c.OnSent(0, 0, 99'999); });
            At(halfPs + 1, [](Dcqcn& c) { c.OnSent(0, 0, 1); });
            // T = round - 1, BC = round
            increase(round == 1 ? 0 : round == 2 ? 0.01 : (round - 2) * 0.02, halfPs + 2);
            nowPs += INTERVAL_PS;
            // T = BC = round
            increase((round - 1) * 0.02, nowPs + 1);
        }
        Notify(nowPs + 2);
        ExpectRate(nowPs + 3, rate / 2);
        ExpectRate(nowPs + 2 + INTERVAL_PS + 1, rate * 0.75); // recovery begins anew
        ScriptedControl::Play(control);
    }
};

ADD_CASES(g_suite)
{
    suite.Add(new OneNotificationHalvesTheRate);
    suite.Add(new AlphaFollowsItsClosedForms);
    suite.Add(new ACutUsesTheOldAlpha);
    suite.Add(new ATargetMayBeKept);
    suite.Add(new IncreasesGoByBothClocks);
}

} // namespace tests
} // namespace ns3
