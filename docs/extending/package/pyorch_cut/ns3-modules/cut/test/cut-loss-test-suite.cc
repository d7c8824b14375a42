// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/cut-loss.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

namespace // everything: another module's tests may have the same names
{

static Suite g_suite{"cut-loss", TestSuite::Type::SYSTEM};

/// Oracle: a division of the frames that each port has sent.
TEST_CASE(g_suite, "3 of 53 frames")
{
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 1000 * 4096);
    network.Use("loss_model", "ns3::CutLoss", {{"Every", "50"}, {"Length", "3"}});
    network.Transport({{"Recovery", "SelectiveRepeat"}}, "ns3::RoceTransport");
    network.Run();
    int64_t lost = 0;
    for (size_t row = 0; row < network.Rows("ports"); row++)
    {
        const int64_t sent = network.Cell("ports", "sent_frames", row);
        lost += sent / 53 * 3 + std::max<int64_t>(sent % 53 - 50, 0);
    }
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_loss_frames"), lost, "lost frames");
    NS_TEST_EXPECT_MSG_GT(network.Cell("flows", "retransmitted_packets", 0), 0, "resent");
}

ADD_CASES(g_suite)
{
    CutLoss::GetTypeId(); // the library that registers it must be linked
}

} // namespace

} // namespace tests
} // namespace ns3
