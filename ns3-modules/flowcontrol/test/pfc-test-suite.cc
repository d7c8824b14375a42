// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

static Suite g_suite{"flowcontrol-pfc", TestSuite::Type::SYSTEM};

/**
 * Oracle, by hand: at 100 Gb/s (80 ps per byte) and 1 us a frame of 1020 bytes, a PAUSE of 84 for
 * each lossless priority and two propagation times are 26 020 + 84 n bytes; with one to round up
 * and two frames of 1000 the headroom is 28 021 + 84 n.
 */
TEST_CASES(HeadroomCountsPausesOfOthers,
           "headroom with " + std::to_string(lossless) + " lossless priorities",
           uint32_t lossless)
{
    constexpr int64_t XOFF_BYTES = 10'000;
    constexpr int64_t PORTS = 3;
    TestNetwork network;
    network.Star(PORTS);
    network.Flow(0, 1, 1000);
    network.Use("flow_control",
                "ns3::Pfc",
                {{"XoffBytes", std::to_string(XOFF_BYTES)},
                 {"XonOffsetBytes", "0"},
                 {"Priorities", std::to_string((1U << lossless) - 1)}});
    network.Transport();
    network.Section("ns3::Switch", {{"BufferBytes", std::to_string(XOFF_BYTES)}});
    const int64_t bytes = PORTS * lossless * (XOFF_BYTES + 28'021 + 84 * lossless);
    const std::string said = network.Complaint();
    const std::string expected = "switch 100 needs " + std::to_string(bytes) + " bytes";
    NS_TEST_EXPECT_MSG_NE(said.find(expected), std::string::npos, said);
}

/// @return when the first pause ends, with a port that drains a frame of 1020 bytes in 816 ns [ps]
int64_t
FirstResumePs(int64_t xonOffsetBytes)
{
    TestNetwork network;
    network.Host(0);
    network.Host(1);
    network.Switch(100);
    network.Link(0, 100);
    network.Link(1, 100, 10);
    network.Flow(0, 1, 100'000);
    network.Use("flow_control",
                "ns3::Pfc",
                {{"XoffBytes", "5000"}, {"XonOffsetBytes", std::to_string(xonOffsetBytes)}});
    network.Transport();
    network.Section("ns3::Trace", {{"Pauses", "true"}});
    network.Run();
    return network.Cell("pauses", "end_ps", 0);
}

/// Oracle: one byte more of hysteresis takes a whole frame more to fall below.
TEST_CASE(g_suite, "RESUME is sent when what is held falls to the threshold, not below")
{
    constexpr int64_t DRAIN_PS = 1020 * 800;
    const int64_t atPs = FirstResumePs(2000);
    NS_TEST_EXPECT_MSG_EQ(FirstResumePs(1001) - atPs, 0, "down to 3000 as well");
    NS_TEST_EXPECT_MSG_EQ(FirstResumePs(2001) - atPs, DRAIN_PS, "down to 2000");
    NS_TEST_EXPECT_MSG_EQ(FirstResumePs(1000) - atPs, -DRAIN_PS, "down to 4000");
}

/**
 * Oracle, by hand: 76 000 frames of 65 535 bytes come at 100 Gb/s and leave at 1 Gb/s, so when the
 * last comes 760 have begun to leave and 759 have left.
 */
TEST_CASE(g_suite, "a switch that holds more than 4 GiB")
{
    constexpr int64_t FRAMES = 76'000;
    TestNetwork network;
    network.Host(0);
    network.Host(1);
    network.Switch(100);
    network.Link(0, 100);
    network.Link(1, 100, 1);
    network.Flow(0, 1, FRAMES * 65'535);
    network.Use("flow_control", "ns3::Pfc", {{"XoffBytes", "10000000000"}});
    network.Transport({{"PacketBytes", "65535"}});
    network.Run(ALWAYS_PS / 2);
    NS_TEST_EXPECT_MSG_EQ(network.Port(100, 1, "max_queue_bytes"),
                          (FRAMES - 760) * 65'535,
                          "queue");
    NS_TEST_EXPECT_MSG_EQ(network.Port(100, 0, "max_ingress_bytes"),
                          (FRAMES - 759) * 65'535,
                          "account");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "pause_frames_sent"), 0, "below Xoff");
}

ADD_CASES(g_suite)
{
    for (const uint32_t lossless : {1, 2, 8})
    {
        suite.Add(new HeadroomCountsPausesOfOthers(lossless));
    }
}

} // namespace

} // namespace tests
} // namespace ns3
