// SPDX-License-Identifier: GPL-2.0-only

// The same programs on the same nodes, once over ns-3's point-to-point links and once over the
// fabric: every packet comes at the same picosecond.

#include "stock-programs.h"

namespace ns3
{
namespace tests
{

namespace
{

// 8000, 125000 and 20000 ps per byte, and delays that no sums of these meet.
const std::vector<int64_t> RATE_BPS{1'000'000'000, 64'000'000, 400'000'000};
const std::vector<int64_t> DELAY_PS{1'000'013, 2'000'000'033, 777'787};

Seen
RunOverFabric(const Program& program)
{
    ResetStock(program);
    NodeNetwork network;
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    StockLinks(network, {{0, 10}, {10, 11}, {11, 1}}, RATE_BPS, DELAY_PS);
    network.Sit(2);
    Seen seen;
    for (uint32_t host = 0; host < 2; host++)
    {
        seen.Observe(network.devices.Get(host), host, 14);
    }
    network.Device(0)->TraceConnectWithoutContext(
        "FabricDrop",
        Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { seen.dropped++; }));
    program.Install(network.nodes.Get(0), network.nodes.Get(1), network.AddressOf(1));
    network.RunTo(STOP_PS);
    return seen;
}

} // namespace

static Suite g_suite{"stock-nodes"};

/**
 * Oracle: ns-3's PointToPointNetDevice and DropTailQueue.
 *
 * A transfer fills a queue between two switches, or routers, until it drops. Hosts see the same
 * packets leave and come at the same picosecond, and both networks drop as many.
 */
TEST_CASES(EveryPacketAsOverStockLinks,
           program.variant.empty() ? "UDP" : program.variant,
           const Program& program)
{
    const Seen ours = RunOverFabric(program);
    const Seen stock = RunOverStockChain(program, RATE_BPS, DELAY_PS);
    Config::Reset();
    NS_TEST_ASSERT_MSG_GT(stock.moments.size(), 3000, "the reference run does something");
    NS_TEST_EXPECT_MSG_GT(stock.dropped, 10, "and its queue overflows");
    NS_TEST_EXPECT_MSG_EQ(ours.dropped, stock.dropped, "dropped packets");
    NS_TEST_EXPECT_MSG_EQ(ours.moments.size(), stock.moments.size(), "packets");
    for (size_t i = 0; i < std::min(ours.moments.size(), stock.moments.size()); i++)
    {
        const Moment& a = ours.moments[i];
        const Moment& b = stock.moments[i];
        NS_TEST_ASSERT_MSG_EQ((a == b),
                              true,
                              "moment " << i << ": " << a.timePs << " ps and " << b.timePs
                                        << " ps, hosts " << a.host << " and " << b.host << ", "
                                        << a.bytes << " and " << b.bytes << " bytes");
    }
}

ADD_CASES(g_suite)
{
    for (const auto* variant : {"ns3::TcpNewReno", "ns3::TcpCubic", "ns3::TcpBbr"})
    {
        suite.Add(new EveryPacketAsOverStockLinks({variant, 1448}));
    }
    suite.Add(new EveryPacketAsOverStockLinks({"", 1000}));
}

} // namespace tests
} // namespace ns3
