// SPDX-License-Identifier: GPL-2.0-only

// Messages over TCP: what the table of flows says of them.

#include "wan-pair.h"

namespace ns3
{
namespace tests
{

static Suite g_suite{"tcp-transport"};

/// Oracle: conservation. Every variant delivers every byte, over any number of connections.
TEST_CASES(EveryVariantDelivers,
           variant + ", connections: " + std::to_string(connections),
           const std::string& variant,
           int64_t connections)
{
    constexpr int64_t BYTES = 3'000'001;
    TestNetwork network;
    Wan(network, 1'000'000'000);
    network.Row("drops", {{"node", 10}, {"peer", 11}, {"parallel", 0}, {"ordinal", 40}});
    network.Transport({{"Variant", variant},
                       {"Connections", std::to_string(connections)},
                       {"SegmentBytes", "1460"}},
                      "ns3::TcpTransport");
    network.Flow(0, 1, BYTES);
    network.Flow(1, 0, BYTES, 777);
    network.Flow(0, 1, 1, 2 * US_PS);
    network.Run(20 * ALWAYS_PS);
    for (size_t row = 0; row < 3; row++)
    {
        const int64_t endPs = network.Cell("flows", "receiver_end_ps", row);
        NS_TEST_EXPECT_MSG_GT(endPs, 3'000'000'000, "a handshake and one way at least");
        NS_TEST_EXPECT_MSG_GT(network.Cell("flows", "sender_end_ps", row),
                              endPs,
                              "the sender knows later");
    }
    // Full segments and a last one on each connection, and the copy of what was dropped.
    const int64_t packets = (BYTES / connections + 1459) / 1460 * connections;
    NS_TEST_EXPECT_MSG_GT(network.Cell("flows", "sent_data_packets", 0), packets - 1, "sent");
    NS_TEST_EXPECT_MSG_EQ((network.Cell("flows", "retransmitted_packets", 0) > 0),
                          true,
                          "the drop is repaired");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "sent_data_packets", 2), 1, "one byte");
    NS_TEST_EXPECT_MSG_EQ(network.Port(10, 11, "sent_data_packets"),
                          network.Cell("flows", "sent_data_packets", 0) + 1,
                          "data is what carries payload");
}

/// Oracle: by hand. Handshake, segment, acknowledgement: the first data of a connection gets its
/// own at once (as in Linux), however long others would wait.
TEST_CASE(g_suite, "one segment to the picosecond")
{
    constexpr int64_t START_PS = 12'345;
    constexpr int64_t BYTES = 1000;
    TestNetwork network;
    Wan(network);
    network.Transport({{"DelayedAckTimeout", "40ms"}}, "ns3::TcpTransport");
    network.Flow(0, 1, BYTES, START_PS);
    network.Run();
    // Frames: Ethernet 18 and framing 20, IPv4 20, TCP 20; options of SYN and SYN-ACK (window
    // scale 3, SACK permitted 2, timestamps 10) are padded to 16, of others (timestamps) to 12.
    const int64_t wayPs = ONE_WAY_PS + 2 * 1000;
    const int64_t synPs = 3 * (20 + 18 + 40 + 16) * WAN_BYTE_PS + wayPs;
    const int64_t dataPs = 3 * (20 + 18 + 40 + 12 + BYTES) * WAN_BYTE_PS + wayPs;
    const int64_t ackPs = 3 * (20 + 18 + 40 + 12) * WAN_BYTE_PS + wayPs;
    // The ACK of the handshake leaves before the segment: one serialisation of waiting.
    const int64_t behindAckPs = (20 + 18 + 40 + 12) * WAN_BYTE_PS;
    const int64_t endPs = START_PS + 2 * synPs + behindAckPs + dataPs;
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0), endPs, "receiver");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "sender_end_ps", 0), endPs + ackPs, "sender");
}

/**
 * Oracle: closed form. 57.13 MB at 5 Gb/s are 91.4 ms of payload, and 30 ms to get there. TCP with
 * windows that hold all from the start adds headers and two round trips: the handshake, and the
 * 65535 bytes of each connection that its window in the handshake, never scaled, allows (RFC 7323
 * section 2.2).
 */
TEST_CASE(g_suite, "57.13 MB at 5 Gbps take 91.4 ms and 30 ms")
{
    constexpr int64_t BYTES = 57'130'000;
    constexpr int64_t SEGMENT = 8948;
    TestNetwork network;
    Wan(network);
    network.Transport({{"InitialWindowSegments", "1000"}, {"Connections", "7"}},
                      "ns3::TcpTransport");
    network.Flow(0, 1, BYTES);
    network.Run();
    const int64_t takenPs = network.Cell("flows", "receiver_end_ps", 0);
    const double idealPs = BYTES * 8.0 / RATE_BPS * 1e12 + ONE_WAY_PS; // 121.4 ms
    NS_TEST_EXPECT_MSG_EQ_TOL(idealPs, 121.4e9, 0.02e9, "the sum by hand");
    const double headersPs = BYTES * 1.0 / SEGMENT * 90 * WAN_BYTE_PS;
    const double carriedPs = 7 * 65535.0 * WAN_BYTE_PS; // in the second round trip
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(takenPs),
                              idealPs + headersPs + 4 * ONE_WAY_PS - carriedPs,
                              0.2e9,
                              "two round trips and headers more");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "retransmitted_packets", 0), 0, "none");
}

/**
 * Oracle: rate and bytes. A message that is admitted to a rate takes a handshake, one way, and its
 * frames at that rate; a window that is halved by nothing is never what it waits for.
 */
TEST_CASES(AdmittedRateIsKept,
           variant + " keeps to the rate of its message",
           const std::string& variant)
{
    constexpr int64_t BYTES = 20'000'000;
    constexpr int64_t ADMITTED_BPS = 100'000'000;
    TestNetwork network;
    Wan(network, 1'000'000'000);
    network.Transport({{"Variant", variant}, {"Connections", "2"}}, "ns3::TcpTransport");
    network.Row("flows",
                {{"flow", 0},
                 {"src", 0},
                 {"dst", 1},
                 {"bytes", BYTES},
                 {"start_ps", 0},
                 {"transport", 0},
                 {"rate_bps", ADMITTED_BPS}});
    network.Run(20 * ALWAYS_PS);
    const double wireBits = BYTES * 8.0 * (8948 + 70 + 20) / 8948;
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(network.Cell("flows", "receiver_end_ps", 0)),
                              wireBits / ADMITTED_BPS * 1e12 + 3e9,
                              0.03e12,
                              "2 percent of 1.6 s");
}

/// Oracle: RFC 6298 and 5681. The last segment is lost: nothing tells of it but a timeout.
TEST_CASE(g_suite, "a lost tail costs a round trip and more")
{
    int64_t endPs[2];
    for (const int lost : {0, 1})
    {
        TestNetwork network;
        Wan(network);
        if (lost)
        {
            network.Row("drops", {{"node", 10}, {"peer", 11}, {"parallel", 0}, {"ordinal", 10}});
        }
        network.Transport({}, "ns3::TcpTransport");
        network.Flow(0, 1, 10 * 8948);
        network.Run();
        endPs[lost] = network.Cell("flows", "receiver_end_ps", 0);
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "timeouts", 0), lost, "timeouts");
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "retransmitted_packets", 0), lost, "copies");
    }
    NS_TEST_EXPECT_MSG_GT(endPs[1] - endPs[0], 2 * ONE_WAY_PS, "a round trip at least");
    NS_TEST_EXPECT_MSG_LT(endPs[1] - endPs[0], 400'000'000'000, "and one timeout");
}

namespace
{

int64_t
EndPs(const std::string& seed)
{
    TestNetwork network;
    Wan(network, 10'000'000'000, 100'000'000);
    network.Use("queue", "ns3::DropTail", {{"LimitBytes", "300000"}});
    network.GetFacade().Seed(std::stoull(seed));
    network.Transport({{"Variant", "Bbr"}}, "ns3::TcpTransport");
    network.Flow(0, 1, 5'000'000);
    network.Run();
    return network.Cell("flows", "sender_end_ps", 0);
}

} // namespace

/// Oracle: a run repeated in the same process, with random numbers of BBR, is the same.
TEST_CASE(g_suite, "a second run in one process")
{
    const int64_t first = EndPs("1");
    NS_TEST_EXPECT_MSG_EQ(EndPs("1"), first, "the same");
    bool differs = false;
    for (const auto* seed : {"2", "3", "4", "5"}) // phases of its cycle: 1 in 4096 all alike
    {
        differs |= EndPs(seed) != first;
    }
    NS_TEST_EXPECT_MSG_EQ(differs, true, "another seed, another phase of its cycle");
}

ADD_CASES(g_suite)
{
    for (const auto* variant : {"Cubic",
                                "Bbr",
                                "LinuxReno",
                                "Dctcp",
                                "NewReno",
                                "HighSpeed",
                                "Htcp",
                                "Scalable",
                                "Bic",
                                "Illinois"})
    {
        suite.Add(new EveryVariantDelivers(variant, 1));
    }
    suite.Add(new EveryVariantDelivers("Cubic", 4));
    suite.Add(new AdmittedRateIsKept("Cubic"));
}

} // namespace tests
} // namespace ns3
