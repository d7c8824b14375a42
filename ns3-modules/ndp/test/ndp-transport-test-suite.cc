// SPDX-License-Identifier: GPL-2.0-only

// Oracles: closed forms of the receiver's link, and counts of packets, headers, answers and PULLs.
// Packets are 9000 B and 64 B of headers; the wire adds 20 B; links of 100 Gb/s and 1 us.

#include "../../host/test/pulled-incast.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr int64_t MTU = 9000;
using Times = StarTimes<MTU>;
constexpr int64_t PACKET_PS = Times::PACKET_PS;
constexpr int64_t CONTROL_PS = Times::CONTROL_PS;
constexpr int64_t RTT_PS = Times::RTT_PS;
constexpr int64_t BDP_PACKETS = Times::BDP_PACKETS;

const std::string TYPE = "ns3::NdpTransport";

/// Packets of 9000 B, queues of 8 of them.
PulledIncast
Of(int64_t senders,
   int64_t packets,
   const TestNetwork::Attributes& more = {},
   const TestNetwork::Attributes& queue = {},
   int64_t gapPs = 0)
{
    PulledIncast incast{TYPE, senders, packets * MTU, more, queue, gapPs};
    incast.transport.insert(incast.transport.begin(), {"MtuBytes", "9000"});
    incast.queue.insert(incast.queue.begin(), {"LimitBytes", std::to_string(8 * Times::FRAME)});
    return incast;
}

} // namespace

static Suite g_suite{"ndp-transport", TestSuite::Type::SYSTEM};

/**
 * With a first window that fills the pipe the line is full for as long as PULLs come at 0.99 of its
 * rate. So a message of n packets takes n packet times, or n / 0.99, and one way.
 */
TEST_CASE(g_suite, "one sender: the line is full after the first round trip")
{
    constexpr int64_t PACKETS = 500;
    TestNetwork network;
    Of(1, PACKETS).Run(network);
    const int64_t wayPs = PACKET_PS + 2 * US_PS; // behind the last packet's own time
    NS_TEST_EXPECT_MSG_GT_OR_EQ(network.LastPs(), PACKETS * PACKET_PS + wayPs, "no faster");
    NS_TEST_EXPECT_MSG_LT(network.LastPs(), PACKETS * PACKET_PS / 0.99 + wayPs, "no slower");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "trimmed_packets"), 0, "nothing is trimmed");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "sent_data_packets", 0), PACKETS, "once each");
}

/// A window of one packet: a packet per round trip, of which a PULL is the second half.
TEST_CASE(g_suite, "a first window of one packet: one packet per round trip")
{
    constexpr int64_t PACKETS = 10;
    TestNetwork network;
    Of(1, PACKETS, {{"InitialPackets", "1"}}).Run(network);
    // The PULL waits for the ACK before it at the receiver's port.
    NS_TEST_EXPECT_MSG_EQ(network.LastPs(),
                          (PACKETS - 1) * (RTT_PS + CONTROL_PS) + 2 * (PACKET_PS + US_PS),
                          "time");
    NS_TEST_EXPECT_MSG_EQ(Pulls(network, 1), PACKETS - 1, "the last packet wants none");
}

/**
 * Incast. The receiver's link carries each packet once and a header for each trim, while PULLs come
 * at 0.99 of its rate; of the first round trip, headers take the place of packets.
 *
 * Counts: what comes is a packet or a header, each gives one answer and wants one PULL; each header
 * is sent again; each packet beyond the first windows was pulled.
 */
class IncastTakesTheReceiversTime : public PulledIncastTestCase
{
  public:
    explicit IncastTakesTheReceiversTime(int64_t senders)
        : PulledIncastTestCase("incast of " + std::to_string(senders) + " to 1"),
          m_senders(senders)
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PACKETS = 100;
        TestNetwork network;
        const int64_t trims = RunAndRepair(network, Of(m_senders, PACKETS));
        const int64_t all = m_senders * PACKETS;
        NS_TEST_EXPECT_MSG_LT(network.LastPs(), 1.02 * (all * PACKET_PS + RTT_PS), "time");
        NS_TEST_EXPECT_MSG_GT(trims, m_senders * (BDP_PACKETS - 1) - 20, "first windows collide");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_buffer_frames"), 0, "no loss");
        const int64_t sent = network.Sum("flows", "sent_data_packets");
        NS_TEST_EXPECT_MSG_EQ(sent, all + trims, "nothing else");
        const int64_t pulls = Pulls(network, m_senders);
        NS_TEST_EXPECT_MSG_GT_OR_EQ(pulls, sent - m_senders * BDP_PACKETS, "what was pulled");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(pulls, sent - m_senders, "one for each but the last");
    }

    int64_t m_senders;
};

/**
 * Messages of 3 packets and a first window of many: what is sent again comes one by one, behind
 * PULLs at 0.99 of the rate, so nothing is trimmed twice.
 */
class ShortMessagesWaitForPulls : public PulledIncastTestCase
{
  public:
    ShortMessagesWaitForPulls()
        : PulledIncastTestCase("what is left of a first window pays for no packet sent again")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t SENDERS = 20;
        constexpr int64_t PACKETS = 3;
        TestNetwork network;
        const int64_t trims = RunAndRepair(network, Of(SENDERS, PACKETS));
        NS_TEST_EXPECT_MSG_GT(trims, SENDERS, "most of the first packets");
        NS_TEST_EXPECT_MSG_LT(trims, SENDERS * PACKETS, "none of the second ones");
    }
};

/**
 * The first of two messages has all PULLs, or every second one. Its window is several times the
 * pipe, so that a PULL of its own always waits.
 */
TEST_CASE(g_suite, "Fifo: the first message is served as if it were alone")
{
    constexpr int64_t PACKETS = 400;
    constexpr int64_t WINDOW = 30;
    for (const bool first : {true, false})
    {
        TestNetwork network;
        Of(2,
           PACKETS,
           {{"PullOrder", first ? "Fifo" : "RoundRobin"},
            {"InitialPackets", std::to_string(WINDOW)}},
           {},
           10 * PACKET_PS)
            .Run(network);
        const int64_t endPs = network.Cell("flows", "receiver_end_ps", 0);
        // Alone, and behind all of the other's first window; or as slow as both together.
        const auto alonePs = static_cast<int64_t>((PACKETS + WINDOW) * PACKET_PS / 0.99) + RTT_PS;
        NS_TEST_EXPECT_MSG_EQ((endPs < alonePs), first, "the first message");
        NS_TEST_EXPECT_MSG_EQ((endPs > 19 * PACKETS * PACKET_PS / 10), !first, "or shared");
    }
}

/// One packet each: most find no room even for a header, and come home instead of being lost.
TEST_CASES(BouncedPacketsAreSentAgain,
           returns ? "packets that come back are sent again without a timeout"
                   : "packets that do not come back need a timeout",
           bool returns)
{
    TestNetwork network;
    Of(100, 1, {}, {{"HeaderLimitBytes", "640"}, {"ReturnToSender", returns ? "true" : "false"}})
        .Run(network);
    const int64_t bounced = network.Sum("ports", "bounced_packets");
    NS_TEST_EXPECT_MSG_EQ((bounced > 50), returns, "most come back");
    NS_TEST_EXPECT_MSG_EQ((network.Sum("flows", "timeouts") == 0), returns, "timeouts");
    NS_TEST_EXPECT_MSG_EQ((network.LastPs() < 5000 * US_PS), returns, "before a timeout");
}

/**
 * Two paths, one of 1 Gb/s: most of what takes it comes back, while what takes the other arrives.
 * Each that comes back is sent again at once. If it waited for a PULL, which nobody owes, the
 * window would empty.
 *
 * Oracle, Little's law: until the last new packet has left, a full window is under way, so the time
 * is at most what all copies are under way together, over the window. That is a round trip on the
 * fast path; one more link and back for what returns; on the slow path a full packet in the making
 * and ten headers before a header, and three full packets for a full one.
 */
TEST_CASE(g_suite, "what comes back from a bad path does not wait for a PULL")
{
    constexpr int64_t PACKETS = 600;
    constexpr int64_t WINDOW = 16;
    constexpr int64_t SLOWER = 100;
    TestNetwork network;
    network.Host(0);
    network.Host(1);
    for (const int64_t leaf : {10, 11})
    {
        network.Switch(leaf);
        network.Link(leaf - 10, leaf);
    }
    for (const int64_t spine : {20, 21})
    {
        network.Switch(spine, 2);
        network.Link(10, spine, spine == 20 ? 100 / SLOWER : 100);
        network.Link(spine, 11);
    }
    network.Flow(0, 1, PACKETS * MTU);
    // Answers are not among the headers, of which hardly any find room.
    network.Transport({{"MtuBytes", "9000"},
                       {"ControlPriority", "6"},
                       {"InitialPackets", std::to_string(WINDOW)}},
                      TYPE);
    network.Use("forwarding", "ns3::EntropyModulo");
    network.Use("queue",
                "ns3::TrimmingQueue",
                {{"LimitBytes", "20000"}, {"HeaderLimitBytes", "640"}});
    network.Run();
    const int64_t bounced = network.Sum("ports", "bounced_packets");
    const int64_t trimmed = network.Sum("flows", "trimmed_packets");
    NS_TEST_EXPECT_MSG_GT(bounced, PACKETS / 8, "it is bad");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "timeouts"), 0, "no timeout");
    constexpr int64_t ROUND_PS = 4 * (PACKET_PS + CONTROL_PS) + 8 * US_PS;
    constexpr int64_t BOUNCE_PS = PACKET_PS + CONTROL_PS + 2 * US_PS;
    constexpr int64_t HEADER_PS = ROUND_PS + SLOWER * (PACKET_PS + 10 * CONTROL_PS);
    constexpr int64_t SLOW_PS = ROUND_PS + 3 * SLOWER * PACKET_PS;
    const int64_t slow = network.Port(10, 20, "sent_data_packets") - trimmed;
    const int64_t underWayPs =
        (PACKETS - slow) * ROUND_PS + bounced * BOUNCE_PS + trimmed * HEADER_PS + slow * SLOW_PS;
    NS_TEST_EXPECT_MSG_LT(network.LastPs(), underWayPs / WINDOW + SLOW_PS, "no wait");
}

/**
 * PULLs come so slowly that one of the oldest message always waits: each of its packets beyond the
 * first window is pulled, and nothing else. Messages that fit their first window want PULLs, too,
 * until they have arrived.
 */
TEST_CASE(g_suite, "the last packet removes the PULLs that wait")
{
    constexpr int64_t PACKETS = 30;
    constexpr int64_t OLDER = 100;
    TestNetwork network;
    network.Flow(0, 2, OLDER * MTU);
    Of(2,
       PACKETS,
       {{"PullOrder", "Fifo"}, {"InitialPackets", std::to_string(PACKETS)}, {"PullShare", "0.1"}},
       {{"LimitBytes", "10000000"}},
       10 * PACKET_PS)
        .Run(network);
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "trimmed_packets"), 0, "no trim");
    NS_TEST_EXPECT_MSG_EQ(Pulls(network, 2), OLDER - PACKETS, "beyond its first window");
}

/**
 * The timeout is a little shorter than a round trip, so both packets are sent twice; the second is
 * lost each time, and PULLs are too rare to count. Its copy leaves behind that of the first and is
 * sent again a timeout later, although both copies of the first are answered meanwhile.
 */
TEST_CASE(g_suite, "answers to others do not put off the timeout of a packet, nor double it")
{
    constexpr int64_t RTO_PS = 5 * US_PS;
    static_assert(RTO_PS < RTT_PS && RTT_PS < 2 * RTO_PS);
    TestNetwork network;
    for (const int64_t ordinal : {2, 4})
    {
        network.Row("drops", {{"node", 0}, {"peer", HUB}, {"ordinal", ordinal}});
    }
    Of(1, 2, {{"InitialPackets", "2"}, {"Rto", "5us"}, {"PullShare", "0.01"}}).Run(network);
    NS_TEST_EXPECT_MSG_EQ(network.LastPs(),
                          RTO_PS + PACKET_PS + RTO_PS + 2 * (PACKET_PS + US_PS),
                          "time");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "timeouts"), 2, "timeouts");
}

ADD_CASES(g_suite)
{
    for (const int64_t senders : {8, 32, 100})
    {
        suite.Add(new IncastTakesTheReceiversTime(senders));
    }
    suite.Add(new ShortMessagesWaitForPulls);
    suite.Add(new BouncedPacketsAreSentAgain(true));
    suite.Add(new BouncedPacketsAreSentAgain(false));
    for (const std::string window : {"1", "20"})
    {
        const auto incast = Of(4, 300, {{"Rto", "200us"}, {"InitialPackets", window}});
        suite.Add(new PullsHealLosses(incast, window));
    }
}

} // namespace tests
} // namespace ns3
