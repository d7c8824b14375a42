// SPDX-License-Identifier: GPL-2.0-only

// Nodes with several devices on the fabric: each sits on a host of its own.

#include "stock-programs.h"

namespace ns3
{
namespace tests
{

namespace
{

// The first queue overflows; no sums of delays and serialisations meet.
const std::vector<int64_t> RATE_BPS{1'000'000'000, 64'000'000, 400'000'000, 100'000'000};
const std::vector<int64_t> DELAY_PS{1'000'013, 2'000'000'033, 777'787, 31'000'003};

/// Hosts 0 to 3; 0 - switch 10 - 1 and 2 - switch 11 - 3, which the fabric does not join.
void
TwoNetworks(NodeNetwork& network)
{
    for (int64_t host = 0; host < 4; host++)
    {
        network.Host(host);
    }
    network.Switch(10);
    network.Switch(11);
    StockLinks(network, {{0, 10}, {10, 1}, {2, 11}, {11, 3}}, RATE_BPS, DELAY_PS);
    network.Build();
}

/// @return devices of two nodes on two hosts, an Ethernet of their own
NetDeviceContainer
Ethernet(NodeNetwork& network, Ptr<Node> a, Ptr<Node> b, int64_t hostA)
{
    FabricNetDeviceHelper helper(network.GetFacade(), 0);
    helper.SetQueueAttribute("MaxSize", QueueSizeValue(QueueSize("1000p")));
    helper.DisableFlowControl();
    return helper.Install(NodeContainer(a, b), {hostA, hostA + 1});
}

Seen
RunThroughRouter(const Program& program)
{
    ResetStock(program);
    NodeNetwork network;
    TwoNetworks(network);
    NodeContainer nodes(3); // host, router, host
    const auto left = Ethernet(network, nodes.Get(0), nodes.Get(1), 0);
    const auto right = Ethernet(network, nodes.Get(1), nodes.Get(2), 2);
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
    addresses.Assign(left);
    addresses.NewNetwork();
    const auto last = addresses.Assign(right);
    NeighborCacheHelper().PopulateNeighborCache();
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    Seen seen;
    seen.Observe(left.Get(0), 0, 14);
    seen.Observe(right.Get(1), 1, 14);
    for (const auto& device : {left.Get(0), left.Get(1), right.Get(0), right.Get(1)})
    {
        device->TraceConnectWithoutContext(
            "FabricDrop",
            Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { seen.dropped++; }));
    }
    program.Install(nodes.Get(0), nodes.Get(2), last.GetAddress(1));
    network.RunTo(STOP_PS);
    return seen;
}

} // namespace

static Suite g_suite{"stock-router"};

/**
 * Oracle: ns-3's own chain of point-to-point links, whose nodes are a host, three routers and a
 * host. In ours the router in the middle is a node of ns-3 on two hosts of the fabric, the others
 * are switches: the ends see the same packets at the same picosecond.
 */
TEST_CASES(RouterBetweenTwoNetworks,
           "through a router: " + (program.variant.empty() ? "UDP" : program.variant),
           const Program& program)
{
    const Seen ours = RunThroughRouter(program);
    const Seen stock = RunOverStockChain(program, RATE_BPS, DELAY_PS);
    Config::Reset();
    NS_TEST_ASSERT_MSG_GT(stock.moments.size(), 3000, "the reference run does something");
    NS_TEST_EXPECT_MSG_GT(stock.dropped, 10, "and its queue overflows");
    NS_TEST_EXPECT_MSG_EQ(ours.dropped, stock.dropped, "dropped packets");
    NS_TEST_EXPECT_MSG_EQ((ours.moments == stock.moments), true, "the same moments");
}

/// Oracle: conservation. A node with two devices has what was sent to either of its addresses.
TEST_CASE(g_suite, "a node with two devices in one network")
{
    NodeNetwork network;
    network.Star(3);
    network.Transport({}, "ns3::NodeTransport");
    network.Build();
    NodeContainer nodes(2); // one on host 0, one on hosts 1 and 2
    FabricNetDeviceHelper helper(network.GetFacade(), 0);
    const auto devices =
        helper.Install(NodeContainer(nodes.Get(0), nodes.Get(1), nodes.Get(1)), {0, 1, 2});
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    const auto interfaces = Ipv4AddressHelper("10.1.0.0", "255.255.0.0").Assign(devices);
    NeighborCacheHelper().PopulateNeighborCache();
    uint64_t received[2] = {0, 0};
    for (const uint32_t i : {0, 1})
    {
        devices.Get(1 + i)->TraceConnectWithoutContext(
            "MacRx",
            Callback<void, Ptr<const Packet>>(
                [&received, i](Ptr<const Packet>) { received[i]++; }));
    }
    const auto listens = Socket::CreateSocket(nodes.Get(1), UdpSocketFactory::GetTypeId());
    listens->Bind(InetSocketAddress(Ipv4Address::GetAny(), TEST_PORT));
    const auto sends = Socket::CreateSocket(nodes.Get(0), UdpSocketFactory::GetTypeId());
    sends->Bind();
    for (int64_t i = 0; i < 50; i++)
    {
        Simulator::Schedule(PicoSeconds(1'000'000 + i * 1'000'000), [&, i] {
            const InetSocketAddress to(interfaces.GetAddress(i % 5 == 0 ? 2 : 1), TEST_PORT);
            sends->SendTo(Create<Packet>(1000), 0, to);
        });
    }
    network.RunTo(100'000'000);
    NS_TEST_EXPECT_MSG_EQ(received[0], 40, "on host 1");
    NS_TEST_EXPECT_MSG_EQ(received[1], 10, "on host 2");
    NS_TEST_EXPECT_MSG_EQ(network.Port(100, 2, "sent_data_packets"), 10, "by its own port");
}

ADD_CASES(g_suite)
{
    suite.Add(new RouterBetweenTwoNetworks({"ns3::TcpCubic", 1448}));
    suite.Add(new RouterBetweenTwoNetworks({"", 1000}));
}

} // namespace tests
} // namespace ns3
