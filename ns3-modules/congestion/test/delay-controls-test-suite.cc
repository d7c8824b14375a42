// SPDX-License-Identifier: GPL-2.0-only

// Timely and Swift, fed by hand.

#include "scripted-control.h"

#include "ns3/double.h"
#include "ns3/string.h"
#include "ns3/swift.h"
#include "ns3/timely.h"
#include "ns3/uinteger.h"

#include <cmath>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr CongestionControl::Path PATH = ScriptedControl::PATH;

void
Answer(CongestionControl& control,
       double rttUs,
       uint32_t packet,
       uint64_t inFlightBytes = 1'000'000)
{
    const auto rttPs = static_cast<uint64_t>(rttUs * 1e6);
    control.OnAck(0, {rttPs, 1000, 0, 0, inFlightBytes, packet, packet + 1, {}});
}

} // namespace

static Suite g_suite{"delay-controls"};

/**
 * Oracle: algorithm 1 of TIMELY by hand, for round trips in every region: weight 7/8 of the new
 * difference, gradient over 20 us, beta 0.8, steps of 0.1 % of 100 Gb/s, five of them in a row
 * before they are five times as large.
 */
TEST_CASE(g_suite, "timely: a forced trace of round trips")
{
    auto control = CreateObject<Timely>();
    control->Open(0, PATH);
    uint32_t packet = 0;
    double rate = 100e9;
    const auto expect = [&](double rttUs, const char* what) {
        Answer(*control, rttUs, packet++);
        const auto got = static_cast<double>(control->RateBps(0));
        NS_TEST_EXPECT_MSG_EQ_TOL(got, rate, 2, what << ", round trip " << rttUs << " us");
    };
    expect(100, "the first one only begins");
    rate *= 1 - 0.8 * (0.875 * 4) / 20; // difference 3.5 us
    expect(104, "rises");
    rate *= 1 - 0.8 * (0.125 * 3.5 + 0.875 * 8) / 20; // 7.4375 us
    expect(112, "rises on");
    rate += 0.1e9; // 0.125 x 7.4375 - 0.875 x 12 < 0
    expect(100, "falls");
    rate *= 1 - 0.8 * (1 - 500.0 / 1000);
    expect(1000, "above HighRtt");
    for (int i = 0; i < 5; i++)
    {
        rate += 0.1e9;
        expect(30 + i, "below LowRtt, although it rises");
    }
    for (int i = 0; i < 3; i++)
    {
        rate += 0.5e9;
        expect(30, "five times as much after five");
    }
    rate = 0.1e9; // 0.8 x 0.875 x 90 / 20 is more than all of it
    expect(120, "the least rate");
    rate += 0.1e9;
    expect(40, "and the count begins anew");
}

/// Oracle: counting; a completion event is 64 packets of 1000 bytes, one segment.
TEST_CASE(g_suite, "timely: segments")
{
    auto control = CreateObject<Timely>();
    control->SetAttribute("SegmentBytes", UintegerValue(64'000));
    control->SetAttribute("InitialShare", DoubleValue(0.5));
    control->Open(0, PATH);
    for (uint32_t packet = 0; packet < 64 * 4; packet++)
    {
        Answer(*control, 20, packet);
        const double steps = (packet + 1) / 64 < 2 ? 0 : (packet + 1) / 64 - 1;
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(control->RateBps(0)),
                                  50e9 + steps * 0.1e9,
                                  2,
                                  "packet " << packet);
    }
}

/// Oracle: section 3.1 of the paper: the ends of the curve of flow scaling, and hops.
TEST_CASE(g_suite, "swift: targets")
{
    auto control = CreateObject<Swift>();
    ScriptedControl::script.emplace(US_PS, [&](CongestionControl& tested) {
        auto& swift = dynamic_cast<Swift&>(tested);
        const double plainPs = 20e6 + 2 * 3.053e6; // two links
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.TargetPs(0, 100), plainPs, 1e-3, "many packets");
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.TargetPs(0, 1e6), plainPs, 1e-3, "more packets");
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.TargetPs(0, 0.1), plainPs + 100e6, 1e-3, "few");
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.TargetPs(0, 0.01), plainPs + 100e6, 1e-3, "fewer");
        // Between: range (1/sqrt(w) - 1/sqrt(100)) / (1/sqrt(0.1) - 1/sqrt(100)), w = 1
        const double share = (1 - 0.1) / (std::sqrt(10) - 0.1);
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.TargetPs(0, 1), plainPs + share * 100e6, 1, "one");
        CongestionControl::Path path = PATH;
        path.hops = 6;
        swift.Open(1, path);
        NS_TEST_EXPECT_MSG_EQ_TOL(swift.TargetPs(1, 100), plainPs + 4 * 3.053e6, 1e-3, "hops");
    });
    ScriptedControl::Play(control);
}

/// Oracle: algorithm 1 of Swift by hand, with a target of 50 us.
class SwiftFollowsAForcedTrace : public TestCase
{
  public:
    SwiftFollowsAForcedTrace()
        : TestCase("swift: a forced trace of delays and losses")
    {
    }

  private:
    void Expect(uint64_t atUs, std::function<void(Swift&)> step, double packets)
    {
        ScriptedControl::script.emplace(
            atUs * US_PS,
            [this, atUs, step, packets](CongestionControl& control) {
                auto& swift = dynamic_cast<Swift&>(control);
                step(swift);
                NS_TEST_EXPECT_MSG_EQ_TOL(swift.WindowPackets(0), packets, 1e-9, atUs << " us");
            });
    }

    void DoRun() override
    {
        auto control = CreateObject<Swift>();
        control->SetAttribute("BaseTarget", StringValue("50us"));
        control->SetAttribute("HopTarget", StringValue("0us"));
        control->SetAttribute("ScalingRange", StringValue("0us"));
        control->SetAttribute("InitialPackets", DoubleValue(10));
        const auto delay = [](double us, uint64_t inFlight = 1'000'000) {
            return [us, inFlight](Swift& swift) { Answer(swift, us, 0, inFlight); };
        };
        using Loss = CongestionControl::Loss;
        const auto loss = [](Loss how) { return [how](Swift& swift) { swift.OnLoss(0, how); }; };
        Expect(1000, delay(40), 10.1);       // 1 / 10
        Expect(1001, delay(40, 2000), 10.1); // three packets of ten in use
        double packets = 10.1 * (1 - 0.8 * 0.2);
        Expect(1002, delay(62.5), packets); // 12.5 of 62.5 us too long
        Expect(1003, delay(200), packets);  // not within a round trip
        Expect(1201, delay(200), packets);
        packets *= 0.5;
        Expect(1203, delay(200), packets); // 0.8 x 150 / 200 = 0.6, but at most half
        packets *= 0.5;
        Expect(1500, loss(Loss::OVERTAKEN), packets);
        for (int i = 1; i <= 4; i++)
        {
            packets *= 0.5;
            Expect(1500 + i * 300, loss(Loss::TIMEOUT), packets);
        }
        Expect(3000, loss(Loss::TIMEOUT), 0.01); // the fifth in a row
        Expect(
            3001,
            [this](Swift& swift) {
                // A packet of 1048 bytes each 200 us / 0.01
                NS_TEST_EXPECT_MSG_EQ(swift.RateBps(0), 8384 * 50, "paced");
            },
            0.01);
        Expect(3002, delay(40), 1.01); // below one packet: ai for each
        Expect(
            3003,
            [this](Swift& swift) {
                NS_TEST_EXPECT_MSG_EQ(swift.RateBps(0), CongestionControl::NO_LIMIT, "clocked");
            },
            1.01);
        ScriptedControl::Play(control);
    }
};

ADD_CASES(g_suite)
{
    suite.Add(new SwiftFollowsAForcedTrace);
}

} // namespace tests
} // namespace ns3
