// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include <cmath>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr uint64_t PS_PER_BYTE = 80; ///< At 100 Gb/s
constexpr uint64_t FRAMING_BYTES = 20;
constexpr int64_t PACKET_BYTES = 1000;
const std::string TRIMMABLE = std::to_string(frame_flag::TRIMMABLE);

/// Hosts 0 to n - 1 send so many packets each to host n at once, all at line rate.
void
Incast(TestNetwork& network,
       int64_t hosts,
       int64_t packets,
       const TestNetwork::Attributes& queue,
       const std::string& flags = TRIMMABLE)
{
    network.Star(hosts + 1);
    for (int64_t host = 0; host < hosts; host++)
    {
        network.Flow(host, hosts, packets * PACKET_BYTES);
    }
    network.Transport({{"Flags", flags}});
    network.Use("queue", "ns3::TrimmingQueue", queue);
    network.Run();
}

bool
Has(const SeenFrame& seen, uint16_t flag)
{
    return (seen.frame.flags & flag) != 0;
}

/// @return frames that came with a flag
int64_t
Count(uint16_t flag)
{
    int64_t n = 0;
    for (const auto& seen : PacedDatagrams::seen)
    {
        n += Has(seen, flag);
    }
    return n;
}

} // namespace

static Suite g_suite{"queueing-trimming", TestSuite::Type::SYSTEM};

/**
 * Oracle: the port is never idle, so the last frame comes when the first one could go plus the time
 * of all frames, each with its framing; headers take no more of the line than their own bytes.
 */
TEST_CASE(g_suite, "10 to 1 at line rate: goodput is the line less its headers")
{
    constexpr int64_t PACKETS = 50;
    constexpr int64_t LIMIT = 8 * PACKET_BYTES;
    TestNetwork network;
    Incast(network,
           10,
           PACKETS,
           {{"LimitBytes", std::to_string(LIMIT)}, {"HeaderLimitBytes", "64000"}});
    const int64_t headers = Count(frame_flag::TRIMMED);
    const int64_t whole = static_cast<int64_t>(PacedDatagrams::seen.size()) - headers;
    NS_TEST_EXPECT_MSG_EQ(whole + headers, 10 * PACKETS, "of each packet something comes");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_buffer_frames"), 0, "no drop");
    const uint64_t firstPs = (PACKET_BYTES + FRAMING_BYTES) * PS_PER_BYTE + US_PS;
    const uint64_t wireBytes =
        whole * (PACKET_BYTES + FRAMING_BYTES) + headers * (64 + FRAMING_BYTES);
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen.back().timePs,
                          firstPs + wireBytes * PS_PER_BYTE + US_PS,
                          "time of the last frame");
    NS_TEST_EXPECT_MSG_GT(headers, 7 * PACKETS, "most have no room");
    // While ten lines come in for PACKETS packets' time, one line goes out, and LIMIT waits.
    NS_TEST_EXPECT_MSG_GT(whole, PACKETS * (PACKET_BYTES - 10 * 84) / PACKET_BYTES, "some do");
}

/// Oracle: with headers always waiting, 10 of them to 1 packet; strictly served, no packet.
TEST_CASES(PacketsAreNotStarved,
           weighted ? "headers at three times line rate leave packets 1 turn of 11"
                    : "headers at three times line rate, strictly first, leave nothing",
           bool weighted)
{
    TestNetwork network;
    network.Star(5);
    for (int64_t host = 0; host < 3; host++)
    {
        network.Flow(host, 4, 64 * 3000, 0, 0);
    }
    network.Flow(3, 4, 200 * PACKET_BYTES, 0, 1);
    network.Transport({{"Priority", "7"}, {"PacketBytes", "64"}});
    network.Transport({{"Priority", "3"}, {"Flags", TRIMMABLE}});
    network.Use("queue", "ns3::TrimmingQueue", {{"LimitBytes", "8000"}});
    if (weighted)
    {
        network.Use("scheduler", "ns3::WeightedRoundRobin", {{"Weights", "7:10,3:1"}});
    }
    network.Run();
    // A packet takes as long as 12 headers, so a few turns pass until both always wait. The 550
    // frames after them take less time than packets come, and that is less than headers do.
    int64_t packets = 0;
    int64_t frames = 0;
    for (const auto& seen : PacedDatagrams::seen)
    {
        frames += seen.host == 4; // not what was sent back
        const bool isCounted = seen.host == 4 && frames > 44 && frames <= 44 + 550;
        packets += isCounted && seen.frame.bytes == PACKET_BYTES;
    }
    NS_TEST_EXPECT_MSG_EQ(packets, weighted ? 50 : 0, "packets of 550 frames");
}

/// Oracle: of each packet one thing comes: all of it, its header, or its header to its source.
TEST_CASES(HeadersWithoutRoomGoBack,
           std::string("a header without room ") + (returns ? "goes back" : "is dropped"),
           bool returns)
{
    TestNetwork network;
    Incast(network,
           20,
           10,
           {{"LimitBytes", "2000"},
            {"HeaderLimitBytes", "640"},
            {"ReturnToSender", returns ? "true" : "false"}});
    const int64_t bounced = Count(frame_flag::BOUNCED);
    const int64_t dropped = network.Sum("ports", "dropped_buffer_frames");
    NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(PacedDatagrams::seen.size()) + dropped,
                          20 * 10,
                          "one thing of each");
    NS_TEST_EXPECT_MSG_GT(returns ? bounced : dropped, 20, "many");
    NS_TEST_EXPECT_MSG_EQ(returns ? dropped : bounced, 0, "never the other");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(network.Port(100, 20, "max_queue_bytes"),
                                2000 + 640,
                                "both limits hold");
    for (const auto& seen : PacedDatagrams::seen)
    {
        NS_TEST_EXPECT_MSG_EQ((seen.host == 20), !Has(seen, frame_flag::BOUNCED), "where");
    }
}

/**
 * Two switches. A line of 1000 Gb/s comes to the first, one of 100 leaves it: nine of ten packets
 * are cut there. The link to the destination has 1 Gb/s, so few of these headers find room at the
 * second switch, which has cut nothing of them itself.
 *
 * Oracle: of each packet one thing comes. What went back and was not cut at the second switch was
 * cut at the first: at least the difference.
 */
TEST_CASE(g_suite, "a header that was cut at an earlier switch goes back, too")
{
    constexpr int64_t PACKETS = 500;
    TestNetwork network;
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11, 2);
    network.Link(0, 10, 1000);
    network.Link(10, 11, 100);
    network.Link(11, 1, 1);
    network.Flow(0, 1, PACKETS * PACKET_BYTES);
    network.Transport({{"Flags", TRIMMABLE}});
    network.Use("queue",
                "ns3::TrimmingQueue",
                {{"LimitBytes", "2000"}, {"HeaderLimitBytes", "640"}});
    network.Run();
    const int64_t bounced = network.Port(11, 1, "bounced_packets");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_buffer_frames"), 0, "no drop");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen.size(), PACKETS, "one thing of each");
    NS_TEST_EXPECT_MSG_EQ(Count(frame_flag::BOUNCED),
                          bounced + network.Port(10, 11, "bounced_packets"),
                          "all of them");
    NS_TEST_EXPECT_MSG_GT(bounced - network.Port(11, 1, "trimmed_packets"), 100, "cut before");
}

/**
 * Oracle: at twice the line rate two packets come for each that leaves, and headers wait for all of
 * them: the first takes the place that is free, the second has none. So of each pair one is
 * trimmed: the second one, or by the coin the first, which is the tail. Number of heads in n
 * throws: n p, with a standard deviation of sqrt(n p (1 - p)); 5 of them are wrong once in 10^6.
 */
TEST_CASES(CoinDecides,
           "the tail is trimmed with probability " + std::to_string(tailShare),
           double tailShare)
{
    TestNetwork network;
    network.Switch(100);
    network.Host(0);
    network.Host(1);
    network.Link(0, 100, 200);
    network.Link(1, 100, 100);
    network.Flow(0, 1, 4000 * PACKET_BYTES);
    network.Transport({{"Flags", TRIMMABLE}});
    network.Use("queue",
                "ns3::TrimmingQueue",
                {{"LimitBytes", "4000"},
                 {"HeaderLimitBytes", "1000000"},
                 {"TrimPriority", "0"},
                 {"TailShare", std::to_string(tailShare)}});
    network.Run();
    int64_t trimmed[2] = {0, 0};
    for (const auto& seen : PacedDatagrams::seen)
    {
        trimmed[seen.frame.packet % 2] += Has(seen, frame_flag::TRIMMED);
    }
    const double throws = static_cast<double>(trimmed[0] + trimmed[1]);
    NS_TEST_EXPECT_MSG_GT(throws, 1900, "about every second packet");
    // Which of a pair is odd depends on how full it was at first; the arrival is never the
    // rarer one in these cases.
    const auto tails = static_cast<double>(std::min(trimmed[0], trimmed[1]));
    NS_TEST_EXPECT_MSG_EQ_TOL(tails,
                              throws * tailShare,
                              5 * std::sqrt(throws * tailShare * (1 - tailShare)),
                              "tails");
}

/// Oracle: with Kmin and Kmax 0 a packet is marked unless it leaves nothing behind; no header is.
TEST_CASE(g_suite, "packets are marked as they leave, headers never")
{
    TestNetwork network;
    network.Use("scheduler", "ns3::WeightedRoundRobin", {{"Weights", "7:10,3:1"}});
    Incast(network,
           10,
           10,
           {{"LimitBytes", "4000"}, {"KminBytes", "0"}, {"KmaxBytes", "0"}},
           std::to_string(frame_flag::TRIMMABLE | frame_flag::ECN_CAPABLE));
    int64_t unmarked = 0;
    int64_t markedHeaders = 0;
    for (const auto& seen : PacedDatagrams::seen)
    {
        const bool isHeader = Has(seen, frame_flag::TRIMMED);
        markedHeaders += isHeader && Has(seen, frame_flag::ECN_MARKED);
        unmarked += !isHeader && !Has(seen, frame_flag::ECN_MARKED);
    }
    NS_TEST_EXPECT_MSG_EQ(markedHeaders, 0, "no header");
    NS_TEST_EXPECT_MSG_EQ(unmarked, 2, "the first packet, which did not wait, and the last");
    NS_TEST_EXPECT_MSG_GT(Count(frame_flag::TRIMMED), 20, "headers waited for each other");
}

/// A trimming queue that never trims is a mistake.
TEST_CASE(g_suite, "without a limit it is refused")
{
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 1000);
    network.Transport();
    network.Use("queue", "ns3::TrimmingQueue");
    const std::string complaint = network.Complaint();
    NS_TEST_EXPECT_MSG_NE(complaint.find("LimitBytes is 0, so nothing would ever be trimmed"),
                          std::string::npos,
                          complaint);
}

ADD_CASES(g_suite)
{
    suite.Add(new PacketsAreNotStarved(true));
    suite.Add(new PacketsAreNotStarved(false));
    suite.Add(new HeadersWithoutRoomGoBack(true));
    suite.Add(new HeadersWithoutRoomGoBack(false));
    for (const double tailShare : {0.0, 0.25, 0.5})
    {
        suite.Add(new CoinDecides(tailShare));
    }
}

} // namespace tests
} // namespace ns3
