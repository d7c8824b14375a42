// SPDX-License-Identifier: GPL-2.0-only

// Whom a receiver grants, and how much.

#include "homa-star.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

static Suite g_suite{"homa-grants", TestSuite::Type::SYSTEM};

/**
 * Two messages that both need grants: the shorter one is granted at a higher priority, so it takes
 * as long as alone but for what the longer one has sent blind, and a round trip.
 */
TEST_CASE(g_suite, "of two granted messages the shorter is as fast as alone")
{
    constexpr int64_t START_PS = 50 * US_PS;
    constexpr int64_t SHORT = 500'000;
    TestNetwork network;
    LongAndShort(network, SHORT, START_PS, {{"RttBytes", "100000"}, {"Overcommitment", "2"}});
    const int64_t endPs = EndPs(network, 1) - START_PS;
    NS_TEST_EXPECT_MSG_LT(endPs, OneWayPs(SHORT) + WirePs(100'000) + 8 * US_PS, "the shorter");
    NS_TEST_EXPECT_MSG_GT(EndPs(network, 0), WirePs(3'000'000 + SHORT), "the longer waits");
}

/**
 * The queue at the receiver's port: what comes blind, and what is granted to several at once, less
 * what leaves. So never more than all first windows and K windows of grants.
 */
TEST_CASES(QueueIsWhatWasLetGo,
           "the queue of an incast, " + std::to_string(overcommitment) + " at a time",
           int64_t overcommitment)
{
    constexpr int64_t SENDERS = 40;
    constexpr int64_t BYTES = 200'000;
    TestNetwork network;
    Star(network,
         SENDERS + 1,
         {{"RttBytes", "100000"}, {"Overcommitment", std::to_string(overcommitment)}});
    for (int64_t host = 0; host < SENDERS; host++)
    {
        network.Flow(host, SENDERS, BYTES);
    }
    network.Run();
    const int64_t window = 100'000 / MTU * FRAME;
    const int64_t blind = SENDERS * window;
    const int64_t queue = network.Port(SWITCH, SENDERS, "max_queue_bytes");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(queue, blind + overcommitment * window, "at most");
    // All come at once while one leaves.
    NS_TEST_EXPECT_MSG_GT(queue, blind * (SENDERS - 1) / SENDERS - window, "at least");
    const int64_t allPs = WirePs(SENDERS * BYTES);
    NS_TEST_EXPECT_MSG_LT(network.LastPs(), 1.02 * allPs + 10 * US_PS, "never idle");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "retransmitted_packets"), 0, "nothing is lost");
}

/**
 * Eight sources send to eight receivers, and all find the messages of source 0 the shortest, then
 * those of source 1, and so on. A source sends one message after the other. One grant at a time:
 * receiver j waits until source 0 has served those before it, then takes the sources in turn, so
 * the last of 8 + 8 - 1 message times is the end, of which each link is busy for 8. Eight at a
 * time: no source waits but for its last messages, so 8 message times are almost enough.
 */
TEST_CASE(g_suite, "one message at a time wastes links, several do not")
{
    constexpr int64_t SOURCES = 8;
    constexpr int64_t RECEIVERS = 8;
    constexpr int64_t BYTES = 400'000;
    constexpr int64_t BLIND = 50'000;
    const auto durationPs = [](int64_t overcommitment) {
        TestNetwork network;
        Star(network,
             SOURCES + RECEIVERS,
             {{"RttBytes", std::to_string(BLIND)},
              {"OldestShare", "0"},
              {"Overcommitment", std::to_string(overcommitment)}});
        for (int64_t src = 0; src < SOURCES; src++)
        {
            for (int64_t dst = SOURCES; dst < SOURCES + RECEIVERS; dst++)
            {
                network.Flow(src, dst, BYTES + src * MTU);
            }
        }
        network.Run();
        return network.LastPs();
    };
    const int64_t messagePs = WirePs(BYTES);
    NS_TEST_EXPECT_MSG_LT(durationPs(8), 5 * RECEIVERS * messagePs / 4, "eight at a time");
    NS_TEST_EXPECT_MSG_EQ_TOL(durationPs(1),
                              (SOURCES + RECEIVERS - 1) * messagePs,
                              messagePs,
                              "one at a time");
}

/**
 * An oldest message of 900 kB, and 80 of 200 kB from 8 hosts, which are granted 8 at a time. Of all
 * grants it gets its share until no more is left of it than of the others, which all have 180 kB
 * when they are first granted; then it is among the shortest. What comes blind comes before.
 * Without a share it ends last.
 */
TEST_CASES(TheOldestHasItsShare,
           "the oldest message gets " + std::to_string(share) + " of all grants",
           double share)
{
    constexpr int64_t SENDERS = 8;
    constexpr int64_t MESSAGES = 80;
    constexpr int64_t BLIND = 20'000;
    constexpr int64_t OTHERS = 200'000;
    constexpr int64_t OLDEST = 900'000;
    TestNetwork network;
    Star(network,
         SENDERS + 2,
         {{"RttBytes", std::to_string(BLIND)},
          {"Overcommitment", "8"},
          {"OldestShare", std::to_string(share)}});
    network.Flow(SENDERS, SENDERS + 1, OLDEST);
    for (int64_t i = 0; i < MESSAGES; i++)
    {
        network.Flow(i % SENDERS, SENDERS + 1, OTHERS, US_PS);
    }
    network.Run();
    if (share == 0)
    {
        NS_TEST_EXPECT_MSG_EQ(EndPs(network, 0), network.LastPs(), "the last");
        return;
    }
    const int64_t blindPs = WirePs((MESSAGES + 1) * (BLIND / MTU) * MTU);
    const auto sharedPs = static_cast<double>(WirePs(OLDEST - OTHERS)) / share;
    const auto expectedPs = blindPs + sharedPs + WirePs(OTHERS - BLIND);
    NS_TEST_EXPECT_MSG_EQ_TOL(EndPs(network, 0), expectedPs, expectedPs / 20, "its share");
}

ADD_CASES(g_suite)
{
    suite.Add(new QueueIsWhatWasLetGo(1));
    suite.Add(new QueueIsWhatWasLetGo(8));
    suite.Add(new TheOldestHasItsShare(0));
    suite.Add(new TheOldestHasItsShare(0.1));
}

} // namespace tests
} // namespace ns3
