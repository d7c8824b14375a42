// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/deadlines.h"
#include "ns3/pacer.h"
#include "ns3/round-trip-estimator.h"
#include "ns3/segmentation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr uint64_t PS_PER_SECOND = 1'000'000'000'000;

static Suite g_suite{"host-toolkit"};

/// Oracle: packets of a message fill it exactly, and all but the last are full.
TEST_CASE(g_suite, "segmentation")
{
    std::mt19937_64 random(1);
    for (int i = 0; i < 2000; i++)
    {
        const auto mtu = static_cast<uint32_t>(1 + random() % 9000);
        const uint64_t bytes = 1 + random() % 100'000;
        const Segmentation cut{mtu, 62, 16};
        const uint32_t packets = cut.Packets(bytes);
        uint64_t sum = 0;
        for (uint32_t packet = 0; packet < packets; packet++)
        {
            const uint32_t payload = cut.PayloadBytes(bytes, packet);
            NS_TEST_ASSERT_MSG_EQ((packet + 1 == packets || payload == mtu), true, "full");
            const uint32_t headers = packet == 0 ? 78 : 62;
            NS_TEST_ASSERT_MSG_EQ(cut.FrameBytes(bytes, packet),
                                  std::max(64U, payload + headers),
                                  "frame of packet " << packet);
            sum += payload;
        }
        NS_TEST_ASSERT_MSG_EQ(sum, bytes, bytes << " bytes in packets of " << mtu);
    }
    const Segmentation bytewise{1, 62, 0};
    NS_TEST_EXPECT_MSG_EQ(bytewise.Packets(0xfffffffe), 0xfffffffe, "as many as there can be");
}

/// Oracle: n frames take n x bits / rate, to the ps, however the division comes out.
TEST_CASE(g_suite, "pacer")
{
    for (const uint64_t rateBps : {1'000ULL, 33'333'333'333ULL, 399'999'999'999ULL})
    {
        Pacer pacer;
        constexpr uint64_t FRAMES = 1000;
        constexpr uint64_t BYTES = 4178;
        uint64_t nowPs = 7;
        for (uint64_t i = 0; i < FRAMES; i++)
        {
            pacer.Sent(nowPs, BYTES, rateBps);
            nowPs = pacer.NextPs();
        }
        const auto exactPs = static_cast<long double>(FRAMES * BYTES * 8) * PS_PER_SECOND /
                             static_cast<long double>(rateBps);
        NS_TEST_EXPECT_MSG_EQ(nowPs - 7, static_cast<uint64_t>(exactPs), rateBps << " bit/s");
    }
    Pacer late;
    late.Sent(1'000'000, 1000, 8'000'000'000); // 1 us each
    late.Sent(2'400'000, 1000, 8'000'000'000); // 0.4 us late
    NS_TEST_EXPECT_MSG_EQ(late.NextPs(), 3'000'000, "made up for");
    late.Sent(90'000'000, 1000, 8'000'000'000); // after a long silence
    NS_TEST_EXPECT_MSG_EQ(late.NextPs(), 90'000'000, "by one frame at most");
    late.Sent(90'000'000, 1000, 8'000'000'000); // due at 91 us
    late.Change(90'250'000, 1'000'000'000);     // 6000 bits are left, now at 1 Gb/s
    NS_TEST_EXPECT_MSG_EQ(late.NextPs(), 96'250'000, "the rest of a gap at another rate");
    late.Change(97'000'000, 8'000'000'000);
    NS_TEST_EXPECT_MSG_EQ(late.NextPs(), 96'250'000, "nothing is left to wait for");
}

/// Oracle: RFC 6298 in floating point.
TEST_CASE(g_suite, "round trip estimator")
{
    std::mt19937_64 random(3);
    RttEstimator estimator;
    double smoothed = 0;
    double variation = 0;
    uint64_t least = UINT64_MAX;
    for (int i = 0; i < 500; i++)
    {
        const uint64_t rttPs = 1'000'000 + random() % 50'000'000;
        estimator.Sample(rttPs);
        const auto rtt = static_cast<double>(rttPs);
        variation = i ? 0.75 * variation + 0.25 * std::abs(smoothed - rtt) : rtt / 2;
        smoothed = i ? 0.875 * smoothed + 0.125 * rtt : rtt;
        least = std::min(least, rttPs);
        // Each division drops less than 1 ps, and a geometric sum of these stays below 20.
        const auto timeout = static_cast<double>(estimator.TimeoutPs(1));
        NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(estimator.SmoothedPs()),
                                  smoothed,
                                  20,
                                  "smoothed, sample " << i);
        NS_TEST_ASSERT_MSG_EQ_TOL(timeout, smoothed + 4 * variation, 100, "timeout");
        NS_TEST_ASSERT_MSG_EQ(estimator.LeastPs(), least, "least");
    }
    NS_TEST_EXPECT_MSG_EQ(estimator.TimeoutPs(PS_PER_SECOND), PS_PER_SECOND, "not below");
}

/// Oracle: each deadline kept apart; a timer that is set for every one of them.
class DeadlinesAgainstList : public TestCase
{
  public:
    DeadlinesAgainstList()
        : TestCase("deadlines behind one timer")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(9);
        for (int round = 0; round < 200; round++)
        {
            Deadlines<3> deadlines;
            std::vector<uint64_t> due(3, NEVER_PS);
            std::multiset<uint64_t> timers;
            for (uint64_t nowPs = 0; nowPs < 300; nowPs++)
            {
                const auto which = random() % 3;
                if (random() % 4 == 0)
                {
                    due[which] = nowPs + 1 + random() % 50;
                    const uint64_t setPs = deadlines.Move(which, due[which]);
                    if (setPs != NEVER_PS)
                    {
                        timers.insert(setPs);
                    }
                }
                else if (random() % 16 == 0)
                {
                    due[which] = NEVER_PS;
                    deadlines.Clear(which);
                }
                Advance(deadlines, due, timers, nowPs);
            }
        }
    }

    void Advance(Deadlines<3>& deadlines,
                 std::vector<uint64_t>& due,
                 std::multiset<uint64_t>& timers,
                 uint64_t nowPs)
    {
        uint32_t reached = 0;
        while (timers.count(nowPs))
        {
            timers.erase(timers.find(nowPs));
            const auto fired = deadlines.Fire(nowPs);
            reached |= fired.reached;
            if (fired.againPs != NEVER_PS)
            {
                NS_TEST_ASSERT_MSG_GT(fired.againPs, nowPs, "later");
                timers.insert(fired.againPs);
            }
        }
        for (size_t i = 0; i < due.size(); i++)
        {
            NS_TEST_ASSERT_MSG_EQ(((reached >> i) & 1), (due[i] == nowPs), "in time, " << nowPs);
            due[i] = due[i] == nowPs ? NEVER_PS : due[i];
            NS_TEST_ASSERT_MSG_EQ(deadlines.IsSet(i), (due[i] != NEVER_PS), "set");
        }
    }
};

/// Oracle: a timeout that moves with every packet and a pace that is reached by each: two timers.
TEST_CASE(g_suite, "a paced flow has two timers set at most, however many packets it sends")
{
    constexpr uint64_t RTO_PS = 4000;
    constexpr uint64_t PACE_PS = 7;
    Deadlines<2> deadlines;
    std::multiset<uint64_t> timers;
    const auto set = [&timers](uint64_t atPs) {
        if (atPs != NEVER_PS)
        {
            timers.insert(atPs);
        }
    };
    for (uint64_t nowPs = 0; nowPs < 5 * RTO_PS; nowPs++)
    {
        for (; timers.count(nowPs); timers.erase(timers.find(nowPs)))
        {
            set(deadlines.Fire(nowPs).againPs);
        }
        if (nowPs % PACE_PS == 0)
        {
            set(deadlines.Move(0, nowPs + RTO_PS));
            set(deadlines.Move(1, nowPs + PACE_PS));
        }
        NS_TEST_ASSERT_MSG_LT_OR_EQ(timers.size(), 2, "set at " << nowPs);
    }
}

/// Oracle: doubling in 128 bits, capped.
TEST_CASE(g_suite, "backoff")
{
    for (const uint64_t waitPs : {1ULL, 1000ULL, 17'600'000'000'000ULL, 1ULL << 62, 1ULL << 63})
    {
        for (uint32_t doublings = 0; doublings <= 63; doublings++)
        {
            for (const uint64_t fromPs : {0ULL, 12'345ULL, 1ULL << 63})
            {
                const auto exact = static_cast<__uint128_t>(fromPs) +
                                   (static_cast<__uint128_t>(waitPs) << doublings);
                const uint64_t expected =
                    exact < NEVER_PS ? static_cast<uint64_t>(exact) : NEVER_PS;
                NS_TEST_ASSERT_MSG_EQ(Later(fromPs, waitPs, doublings),
                                      expected,
                                      waitPs << " ps, " << doublings << " doublings");
            }
        }
    }
}

ADD_CASES(g_suite)
{
    suite.Add(new DeadlinesAgainstList);
}

} // namespace

} // namespace tests
} // namespace ns3
