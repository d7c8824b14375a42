// SPDX-License-Identifier: GPL-2.0-only

// Oracles: closed forms of the receiver's link, and counts of packets and credit.
// Packets are 4096 B and 64 B of headers; the wire adds 20 B; links of 100 Gb/s and 1 us.

#include "../../host/test/pulled-incast.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr int64_t MTU = 4096;
using Times = StarTimes<MTU>;
constexpr int64_t FRAME = Times::FRAME;
constexpr int64_t PACKET_PS = Times::PACKET_PS;
constexpr int64_t RTT_PS = Times::RTT_PS;
constexpr int64_t BDP_PACKETS = Times::BDP_PACKETS;
constexpr int64_t CREDIT_BYTES = 8 * 512;

const std::string TYPE = "ns3::EqdsTransport";
const std::string LIMIT = std::to_string(BDP_PACKETS * FRAME);

/// Credit is for what was asked for; queues of a bandwidth-delay product.
PulledIncast
Of(int64_t senders, int64_t packets, const TestNetwork::Attributes& more = {})
{
    PulledIncast incast{TYPE, senders, packets * MTU, more, {{"LimitBytes", LIMIT}}};
    incast.transport.insert(incast.transport.begin(), {"SlowCredit", "false"});
    return incast;
}

} // namespace

static Suite g_suite{"eqds-transport", TestSuite::Type::SYSTEM};

/// What fits a window needs no credit: n packet times, one more at the switch, and one way.
TEST_CASE(g_suite, "a message of one window arrives at line rate, one way")
{
    TestNetwork network;
    Of(1, BDP_PACKETS).Run(network);
    NS_TEST_EXPECT_MSG_EQ(network.LastPs(), (BDP_PACKETS + 1) * PACKET_PS + 2 * US_PS, "time");
}

/**
 * One sender: the line is full but for the share of credit. Credit pays for frames: n frames less
 * the window, each CREDIT_BYTES of a PULL.
 */
TEST_CASE(g_suite, "one sender: the line is full after the first round trip")
{
    constexpr int64_t PACKETS = 1000;
    TestNetwork network;
    Of(1, PACKETS).Run(network);
    NS_TEST_EXPECT_MSG_LT(network.LastPs(), PACKETS * PACKET_PS / 0.99 + RTT_PS, "no slower");
    NS_TEST_EXPECT_MSG_GT(network.LastPs(),
                          (PACKETS - BDP_PACKETS) * PACKET_PS / 0.99,
                          "no faster than credit");
    const int64_t pulls = Pulls(network, 1);
    NS_TEST_EXPECT_MSG_GT_OR_EQ(pulls,
                                (PACKETS - BDP_PACKETS) * FRAME / CREDIT_BYTES,
                                "what was spent");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(pulls, PACKETS * FRAME / CREDIT_BYTES + 1, "what was wanted");
}

/**
 * Incast: first windows collide, then credit at 0.99 of the line is all that comes. So PULLs never
 * come closer than the rate allows, the end is that of the line, and each trim is repaired once.
 */
class CreditIsSharedInIncast : public PulledIncastTestCase
{
  public:
    explicit CreditIsSharedInIncast(int64_t senders)
        : PulledIncastTestCase("incast of " + std::to_string(senders) + " to 1"),
          m_senders(senders)
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PACKETS = 250;
        TestNetwork network;
        const int64_t trims = RunAndRepair(network, Of(m_senders, PACKETS));
        const int64_t all = m_senders * PACKETS;
        NS_TEST_EXPECT_MSG_LT(network.LastPs(), 1.02 * (all * PACKET_PS + RTT_PS), "time");
        NS_TEST_EXPECT_MSG_GT(trims, 0, "first windows collide");
        // Credit in bytes of frames, at 0.99 of the line without framing; a credit may come early.
        const double ratio = static_cast<double>(FRAME) / (FRAME + 20);
        const double mostBytes = 0.99 * static_cast<double>(network.LastPs()) / 80 * ratio;
        NS_TEST_EXPECT_MSG_LT(static_cast<double>(Pulls(network, m_senders) * CREDIT_BYTES),
                              mostBytes + 2 * CREDIT_BYTES,
                              "sum of all credit");
        int64_t first = network.LastPs();
        for (size_t row = 0; row < network.Rows("flows"); row++)
        {
            first = std::min(first, network.Cell("flows", "receiver_end_ps", row));
        }
        NS_TEST_EXPECT_MSG_GT(first, 95 * network.LastPs() / 100, "in turns");
    }

    int64_t m_senders;
};

namespace
{

int64_t
Us(int64_t senders, int64_t window, bool slow)
{
    TestNetwork network;
    Of(senders,
       1200 / senders,
       {{"WindowPackets", std::to_string(window)}, {"SlowCredit", slow ? "true" : "false"}})
        .Run(network);
    return network.LastPs() / US_PS;
}

} // namespace

/**
 * With a window of a third of the pipe a message may send a window in each round trip: the first,
 * for which it has speculative credit, and then what it asks for ahead. Slow credit gives it as
 * much again, so it is up to twice as fast; of four messages none has any, since others always
 * want.
 */
TEST_CASE(g_suite, "slow credit is a window more, while nobody else wants any")
{
    constexpr int64_t WINDOW = BDP_PACKETS / 3;
    const int64_t rounds = 1200 / WINDOW * RTT_PS / US_PS;
    NS_TEST_EXPECT_MSG_EQ_TOL(Us(1, WINDOW, false), rounds, rounds / 6, "one a round trip");
    NS_TEST_EXPECT_MSG_EQ_TOL(Us(1, WINDOW, true), rounds / 2, rounds / 12, "two of them");
    NS_TEST_EXPECT_MSG_EQ_TOL(Us(4, BDP_PACKETS, true),
                              Us(4, BDP_PACKETS, false),
                              1200 * PACKET_PS / US_PS / 100,
                              "others want it");
}

/**
 * Two links, by which twice as much is under way in a round trip. A message of one window asks for
 * no credit; until it has arrived it has slow credit at the rate of both links, for nearly all of
 * its packets. A window of one link is half of them.
 */
TEST_CASE(g_suite, "slow credit of a host with two links is a window of both")
{
    constexpr int64_t PACKETS = 2 * BDP_PACKETS - 2;
    TestNetwork network;
    network.Switch(HUB);
    for (const int64_t host : {0, 1})
    {
        network.Host(host);
        network.Link(host, HUB);
        network.Link(host, HUB);
    }
    network.Flow(0, 1, PACKETS * MTU);
    network.Use("forwarding", "ns3::EntropyModulo");
    network.Use("queue", "ns3::TrimmingQueue", {{"LimitBytes", LIMIT}});
    network.Transport({{"HeaderBytes", "64"}, {"AckBytes", "64"}}, TYPE);
    network.Run();
    const int64_t pulls = network.Sum("ports", "sent_frames") / 2 - 2 * PACKETS;
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "trimmed_packets"), 0, "no trim");
    NS_TEST_EXPECT_MSG_GT(pulls, 3 * PACKETS / 4, "more than a window of one link");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(pulls, PACKETS + 1, "no faster than the links");
}

/// The switch trims all of one priority: what is sent before the receiver is heard of.
TEST_CASE(g_suite, "speculative packets have a priority of their own, others that of data")
{
    constexpr int64_t WINDOW = 5;
    TestNetwork network;
    network.Use("queue", "ns3::PerPriority", {{"Priority1", "ns3::TrimmingQueue[LimitBytes=64]"}});
    PulledIncast incast =
        Of(1, 50, {{"SpeculativePriority", "1"}, {"WindowPackets", std::to_string(WINDOW)}});
    incast.queue.clear();
    incast.Run(network);
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "trimmed_packets"), WINDOW, "the first window");
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 1, "and all the rest comes");
}

ADD_CASES(g_suite)
{
    for (const int64_t senders : {8, 32, 100})
    {
        suite.Add(new CreditIsSharedInIncast(senders));
    }
    for (const std::string window : {"1", "20"})
    {
        const auto incast = Of(4, 300, {{"Rto", "200us"}, {"WindowPackets", window}});
        suite.Add(new PullsHealLosses(incast, window));
    }
}

} // namespace tests
} // namespace ns3
