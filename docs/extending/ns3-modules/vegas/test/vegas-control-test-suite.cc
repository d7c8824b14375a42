// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/vegas-control.h"

namespace ns3
{
namespace tests
{

namespace // everything: another module's tests may have the same names
{

constexpr int64_t FRAME_BYTES = 4096 + 62; ///< Payload and headers

static Suite g_suite{"vegas-control", TestSuite::Type::SYSTEM};

/**
 * Oracle: the window grows until 2 to 4 packets of a message wait, and then no more; and where
 * packets wait the wire is never idle.
 */
TEST_CASES(FewPacketsWait, std::to_string(senders) + " messages at one link", int64_t senders)
{
    constexpr int64_t PACKETS = 4000;
    TestNetwork network;
    network.Star(senders + 1);
    for (int64_t src = 1; src <= senders; src++)
    {
        network.Flow(src, 0, PACKETS * 4096);
    }
    network.Transport({ {"CongestionControl", "ns3::VegasControl"} }, "ns3::SprayTransport");
    network.Run();
    NS_TEST_EXPECT_MSG_LT_OR_EQ(network.Port(100, 0, "max_queue_bytes"),
                                senders * 6 * FRAME_BYTES,
                                "queue");
    int64_t lastPs = 0;
    for (size_t row = 0; row < network.Rows("flows"); row++)
    {
        lastPs = std::max(lastPs, network.Cell("flows", "receiver_end_ps", row));
    }
    const auto busyPs = static_cast<double>(senders * PACKETS * (FRAME_BYTES + 20) * 80);
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(lastPs), busyPs, 0.03 * busyPs, "busy");
}

ADD_CASES(g_suite)
{
    VegasControl::GetTypeId(); // the library that registers it must be linked
    suite.Add(new FewPacketsWait(2));
    suite.Add(new FewPacketsWait(5));
}

} // namespace

} // namespace tests
} // namespace ns3
