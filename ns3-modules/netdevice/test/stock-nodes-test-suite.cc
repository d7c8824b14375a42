// SPDX-License-Identifier: GPL-2.0-only

// The same programs on the same nodes, once over ns-3's point-to-point links and once over the
// fabric: every packet comes at the same picosecond.

#include "node-network.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/global-value.h"
#include "ns3/ipv4-address-generator.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/mac48-address.h"
#include "ns3/node-transport.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace tests
{

namespace
{

// 8000, 125000 and 20000 ps per byte, and delays that no sums of these meet.
constexpr int64_t RATE_BPS[] = {1'000'000'000, 64'000'000, 400'000'000};
constexpr int64_t DELAY_PS[] = {1'000'013, 2'000'000'033, 777'787};
constexpr int64_t QUEUE_BYTES = 30'000;
constexpr int64_t PPP_BYTES = 2;
constexpr int64_t STOP_PS = 3'000'000'000'000;

/// When a packet of how many bytes above the link has begun to leave a host, or come to it.
struct Moment
{
    int64_t timePs;
    uint32_t host;
    bool isArrival;
    uint32_t bytes;

    bool operator==(const Moment&) const = default;
};

/// What one of the two runs has seen.
struct Seen
{
    std::vector<Moment> moments;
    uint64_t sinkBytes{0};
    uint64_t dropped{0};

    void Watch(Ptr<NetDevice> device, uint32_t host, uint32_t headerBytes)
    {
        for (const bool isArrival : {false, true})
        {
            device->TraceConnectWithoutContext(
                isArrival ? "PhyRxEnd" : "PhyTxBegin",
                Callback<void, Ptr<const Packet>>([=, this](Ptr<const Packet> packet) {
                    moments.push_back({Simulator::Now().GetPicoSeconds(),
                                       host,
                                       isArrival,
                                       packet->GetSize() - headerBytes});
                }));
        }
    }
};

/// What the nodes do: TCP of a variant, or UDP at a rate that the bottleneck cannot carry.
struct Program
{
    std::string variant; ///< Empty: UDP
    uint32_t segmentBytes;

    void Install(Ptr<Node> from, Ptr<Node> to, Ipv4Address address) const
    {
        const InetSocketAddress end(address, TEST_PORT);
        PacketSinkHelper sink(variant.empty() ? "ns3::UdpSocketFactory" : "ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), TEST_PORT));
        sink.Install(to);
        if (!variant.empty())
        {
            BulkSendHelper source("ns3::TcpSocketFactory", end);
            source.SetAttribute("MaxBytes", UintegerValue(3'000'000));
            source.Install(from);
            return;
        }
        const auto socket = Socket::CreateSocket(from, UdpSocketFactory::GetTypeId());
        for (int64_t i = 0; i < 2000; i++)
        {
            Simulator::Schedule(PicoSeconds(1'000'000 + i * 100'000'007), [=, this] {
                socket->SendTo(Create<Packet>(segmentBytes - i % 3), 0, end);
            });
        }
    }
};

void
ResetStock(const Program& program)
{
    RngSeedManager::ResetNextStreamIndex();
    Ipv4AddressGenerator::Reset();
    Mac48Address::ResetAllocationIndex();
    Config::Reset();
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(program.segmentBytes));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1'000'000));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1'000'000));
    if (!program.variant.empty())
    {
        Config::SetDefault("ns3::TcpL4Protocol::SocketType", StringValue(program.variant));
    }
}

Seen
RunOverFabric(const Program& program)
{
    ResetStock(program);
    NodeNetwork network;
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    const int64_t ends[3][2] = {{0, 10}, {10, 11}, {11, 1}};
    for (int i = 0; i < 3; i++)
    {
        network.Row("links",
                    {{"node_a", ends[i][0]},
                     {"node_b", ends[i][1]},
                     {"parallel", 0},
                     {"rate_bps", RATE_BPS[i]},
                     {"delay_ps", DELAY_PS[i]}});
    }
    network.GetFacade().Option("framing_bytes", 0);
    network.Use("queue", "ns3::DropTail", {{"LimitBytes", std::to_string(QUEUE_BYTES)}});
    network.Transport({{"HeaderBytes", std::to_string(PPP_BYTES)}, {"MinFrameBytes", "0"}},
                      "ns3::NodeTransport");
    network.Sit(2);
    Seen seen;
    for (uint32_t host = 0; host < 2; host++)
    {
        seen.Watch(network.devices.Get(host), host, 14);
    }
    network.Device(0)->TraceConnectWithoutContext(
        "FabricDrop",
        Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { seen.dropped++; }));
    program.Install(network.nodes.Get(0), network.nodes.Get(1), network.AddressOf(1));
    network.RunTo(STOP_PS);
    return seen;
}

Seen
RunOverStock(const Program& program)
{
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    ResetStock(program);
    NodeContainer nodes(4); // host, two routers, host
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
    Ipv4InterfaceContainer last;
    Seen seen;
    for (uint32_t i = 0; i < 3; i++)
    {
        PointToPointHelper link;
        link.DisableFlowControl();
        link.SetDeviceAttribute("DataRate",
                                DataRateValue(DataRate(static_cast<uint64_t>(RATE_BPS[i]))));
        link.SetChannelAttribute("Delay", TimeValue(PicoSeconds(DELAY_PS[i])));
        link.SetQueue("ns3::DropTailQueue<Packet>");
        const auto devices = link.Install(nodes.Get(i), nodes.Get(i + 1));
        for (uint32_t end = 0; end < 2; end++)
        {
            const auto device = DynamicCast<PointToPointNetDevice>(devices.Get(end));
            const bool isHost = i + end == 0 || i + end == 3;
            device->GetQueue()->SetMaxSize(
                isHost ? QueueSize("1000p") : QueueSize(std::to_string(QUEUE_BYTES) + "B"));
            device->TraceConnectWithoutContext(
                "MacTxDrop",
                Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { seen.dropped++; }));
            if (isHost)
            {
                seen.Watch(device, end, PPP_BYTES);
            }
        }
        last = addresses.Assign(devices);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    program.Install(nodes.Get(0), nodes.Get(3), last.GetAddress(1));
    Simulator::Stop(PicoSeconds(STOP_PS));
    Simulator::Run();
    Simulator::Destroy();
    return seen;
}

} // namespace

/**
 * Oracle: ns-3's PointToPointNetDevice and DropTailQueue.
 *
 * A transfer fills a queue between two switches, or routers, until it drops. Hosts see the same
 * packets leave and come at the same picosecond, and both networks drop as many.
 */
class EveryPacketAsOverStockLinks : public TestCase
{
  public:
    explicit EveryPacketAsOverStockLinks(const Program& program)
        : TestCase(program.variant.empty() ? "UDP" : program.variant),
          m_program(program)
    {
    }

  private:
    void DoRun() override
    {
        const Seen ours = RunOverFabric(m_program);
        const Seen stock = RunOverStock(m_program);
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
                                            << " ps, hosts " << a.host << " and " << b.host
                                            << ", " << a.bytes << " and " << b.bytes
                                            << " bytes");
        }
    }

    Program m_program;
};

class StockNodesTestSuite : public TestSuite
{
  public:
    StockNodesTestSuite()
        : TestSuite("stock-nodes", Type::UNIT)
    {
        for (const auto* variant : {"ns3::TcpNewReno", "ns3::TcpCubic", "ns3::TcpBbr"})
        {
            AddTestCase(new EveryPacketAsOverStockLinks({variant, 1448}));
        }
        AddTestCase(new EveryPacketAsOverStockLinks({"", 1000}));
    }
};

static StockNodesTestSuite g_stockNodesTestSuite;

} // namespace tests
} // namespace ns3
