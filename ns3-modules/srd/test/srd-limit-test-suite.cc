// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/srd-transport.h"

namespace ns3
{
namespace tests
{

static Suite g_suite{"srd"};

namespace
{

constexpr uint64_t US_PS = 1'000'000; ///< The unloaded round trip

/// A limit of ten packets whose first round has begun at 1 us, with a packet sent at 0.
struct Begun
{
    SrdLimit limit{10, 20, US_PS, 0, 0.1};
    uint64_t sentPs{0};
    uint64_t nowPs{US_PS};

    Begun()
    {
        limit.OnAnswer({1, sentPs, nowPs, false});
    }

    /// End a round: so many packets, sent in a time, answered in a time.
    void Round(uint32_t packets, uint64_t sendingPs, uint64_t answeringPs, bool isMostSlow = false)
    {
        limit.OnAnswer({packets - 1, nowPs - 1, nowPs, false}); // of the round trip before
        sentPs = std::max(sentPs + sendingPs, nowPs);
        nowPs += answeringPs;
        limit.OnAnswer({1, sentPs, nowPs, isMostSlow});
    }
};

} // namespace

/// Oracle: by hand. Packets are sent a round trip before they are answered.
TEST_CASE(g_suite, "a limit that nothing holds back")
{
    SrdLimit limit(10, 20, US_PS, 0, 0.1);
    NS_TEST_EXPECT_MSG_EQ(limit.OnAnswer({1, 0, US_PS, false}), true, "the first begins a round");
    NS_TEST_EXPECT_MSG_EQ(limit.OnAnswer({1, US_PS - 1, US_PS + 9, false}),
                          false,
                          "sent before it");
    NS_TEST_EXPECT_MSG_EQ(limit.Packets(), 10, "nothing is known yet");
    NS_TEST_EXPECT_MSG_EQ(limit.OnAnswer({1, US_PS, 2 * US_PS, false}), true, "sent in it");
    NS_TEST_EXPECT_MSG_EQ(limit.Packets(), 10.125, "an eighth of a packet more");
    NS_TEST_EXPECT_MSG_EQ(limit.IntervalPs(), US_PS * 1000 / 10125, "its rate");

    NS_TEST_EXPECT_MSG_EQ(SrdLimit(10, 20, US_PS, 0.5, 0.1).Packets(), 15, "with headroom");

    Begun quiet;
    // 1, 2, 4, 8 and 16 eighths, a quarter, the most
    const double limits[] = {10.125, 10.375, 10.875, 11.875, 13.875, 17.34375, 20, 20};
    for (const double expected : limits)
    {
        quiet.Round(10, US_PS, US_PS);
        NS_TEST_EXPECT_MSG_EQ_TOL(quiet.limit.Packets(), expected, 1e-9, "quiet");
    }
}

/// Oracle: by hand; the rate of the round over an unloaded round trip.
TEST_CASE(g_suite, "a limit after congestion")
{
    Begun slow;
    slow.Round(10, 2 * US_PS, 2 * US_PS, true);
    NS_TEST_EXPECT_MSG_EQ_TOL(slow.limit.Packets(), 4.5, 1e-9, "ten in two round trips");
    slow.Round(10, US_PS, US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(slow.limit.Packets(), 4.625, 1e-9, "again by an eighth");

    Begun tolerated;
    tolerated.Round(12, US_PS, 1.1 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(tolerated.limit.Packets(), 10.125, 1e-9, "what is tolerated");
    Begun faster;
    faster.Round(12, US_PS, 1.2 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(faster.limit.Packets(), 9, 1e-9, "12 in 1.2 round trips");

    Begun few;
    few.Round(1, 4 * US_PS, 4 * US_PS, true);
    NS_TEST_EXPECT_MSG_EQ_TOL(few.limit.Packets(), 0.225, 1e-9, "nine tenths of a quarter");
    NS_TEST_EXPECT_MSG_EQ(few.limit.IntervalPs(), US_PS * 1000 / 225, "its rate");
    few.Round(1, 4 * US_PS, 4 * US_PS);
    NS_TEST_EXPECT_MSG_EQ_TOL(few.limit.Packets(), 0.45, 1e-9, "a quarter for each of four");

    Begun lost;
    lost.limit.OnTimeout();
    lost.limit.OnTimeout();
    NS_TEST_EXPECT_MSG_EQ(lost.limit.Packets(), 5, "half, once for a round");
    NS_TEST_EXPECT_MSG_EQ(lost.limit.OnAnswer({1, 9 * US_PS, 10 * US_PS, false}), true, "begins");
    NS_TEST_EXPECT_MSG_EQ(lost.limit.OnAnswer({1, 10 * US_PS, 11 * US_PS, false}), true, "ends");
    NS_TEST_EXPECT_MSG_EQ_TOL(lost.limit.Packets(), 5.125, 1e-9, "the silence says nothing");
    lost.limit.OnTimeout();
    NS_TEST_EXPECT_MSG_EQ_TOL(lost.limit.Packets(), 2.5625, 1e-9, "half of it in another round");
}

ADD_CASES(g_suite)
{
    SrdTransport::GetTypeId(); // the library that registers it must be linked
}

} // namespace tests
} // namespace ns3
