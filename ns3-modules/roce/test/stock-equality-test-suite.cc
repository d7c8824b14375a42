// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/data-rate.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/fabric-facade.h"
#include "ns3/global-value.h"
#include "ns3/node.h"
#include "ns3/packet.h"
#include "ns3/point-to-point-channel.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/roce-transport.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <array>
#include <cstring>
#include <map>
#include <random>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

constexpr int64_t GBPS = 1'000'000'000;
constexpr int64_t HOSTS_PER_LEAF = 6;
constexpr int64_t SPINES = 3;
constexpr int64_t FIRST_LEAF = 100;
constexpr int64_t FIRST_SPINE = 200;
constexpr int64_t HEADER_BYTES = 62;
constexpr int64_t FRAMING_BYTES = 20;
constexpr int64_t PPP_BYTES = 2; ///< What PointToPointNetDevice adds itself
constexpr std::array<int64_t, 2> MTU_BYTES{4096, 1000};

struct Link
{
    int64_t a, b, rateBps, delayPs;
};

struct Flow
{
    int64_t id, src, dst, bytes, startPs, transport;
};

/// One packet: flow and number within the flow.
using PacketKey = std::pair<int64_t, int64_t>;
/// When each packet was with its destination [ps].
using Arrivals = std::map<PacketKey, int64_t>;
/// Next node of a flow at each node.
using Paths = std::map<std::pair<int64_t, int64_t>, int64_t>;

/// Hosts 0.. under two leaves, all of the first leaf send to the second; at most one flow each.
struct Case
{
    std::vector<Link> links;
    std::vector<Flow> flows;
};

Case
MakeCase(uint32_t seed, int64_t hostRateBps, int64_t uplinkRateBps)
{
    std::mt19937_64 random(seed);
    Case made;
    for (int64_t host = 0; host < 2 * HOSTS_PER_LEAF; host++)
    {
        const int64_t leaf = FIRST_LEAF + host / HOSTS_PER_LEAF;
        made.links.push_back({host, leaf, hostRateBps, int64_t(100'000 + random() % 900'000)});
    }
    for (int64_t leaf = FIRST_LEAF; leaf < FIRST_LEAF + 2; leaf++)
    {
        for (int64_t spine = FIRST_SPINE; spine < FIRST_SPINE + SPINES; spine++)
        {
            made.links.push_back(
                {leaf, spine, uplinkRateBps, int64_t(100'000 + random() % 900'000)});
        }
    }
    for (int64_t src = 0; src < HOSTS_PER_LEAF; src++)
    {
        // Some receivers get several flows. Starts differ by odd picoseconds: no exact ties.
        const auto dst = HOSTS_PER_LEAF + static_cast<int64_t>(random() % HOSTS_PER_LEAF);
        const auto bytes = static_cast<int64_t>(100'000 + random() % 900'000);
        const auto startPs = static_cast<int64_t>(random() % 5'000'000);
        made.flows.push_back({src, src, dst, bytes, startPs, src % 2});
    }
    return made;
}

/// Tell the engine the nodes, links and flows of a case.
void
FillTables(fabric::Facade& facade, const Case& given)
{
    const auto column =
        [&facade](const char* table, const char* name, const auto& rows, auto field) {
            std::vector<int64_t> values;
            for (const auto& row : rows)
            {
                values.push_back(field(row));
            }
            facade.Column(table, name, values.data(), values.size());
        };
    std::vector<int64_t> nodes;
    for (int64_t host = 0; host < 2 * HOSTS_PER_LEAF; host++)
    {
        nodes.push_back(host);
    }
    nodes.insert(nodes.end(), {FIRST_LEAF, FIRST_LEAF + 1});
    for (int64_t spine = 0; spine < SPINES; spine++)
    {
        nodes.push_back(FIRST_SPINE + spine);
    }
    column("nodes", "node", nodes, [](int64_t n) { return n; });
    column("nodes", "is_switch", nodes, [](int64_t n) { return int64_t{n >= FIRST_LEAF}; });
    column("nodes", "tier", nodes, [](int64_t n) { return n / 100; });
    column("links", "node_a", given.links, [](const Link& l) { return l.a; });
    column("links", "node_b", given.links, [](const Link& l) { return l.b; });
    column("links", "rate_bps", given.links, [](const Link& l) { return l.rateBps; });
    column("links", "delay_ps", given.links, [](const Link& l) { return l.delayPs; });
    column("flows", "flow", given.flows, [](const Flow& f) { return f.id; });
    column("flows", "src", given.flows, [](const Flow& f) { return f.src; });
    column("flows", "dst", given.flows, [](const Flow& f) { return f.dst; });
    column("flows", "bytes", given.flows, [](const Flow& f) { return f.bytes; });
    column("flows", "start_ps", given.flows, [](const Flow& f) { return f.startPs; });
    column("flows", "transport", given.flows, [](const Flow& f) { return f.transport; });
}

/// Run a case in the engine.
Arrivals
RunFabric(const Case& given, uint32_t seed, Paths& paths)
{
    fabric::Facade facade;
    facade.Seed(seed);
    const auto wire = facade.Factory("ns3::Wire");
    facade.Attribute(wire, "FramingBytes", std::to_string(FRAMING_BYTES));
    facade.Section(wire);
    const auto trace = facade.Factory("ns3::Trace");
    facade.Attribute(trace, "Arrivals", "true");
    facade.Section(trace);
    facade.Use("forwarding", facade.Factory("ns3::EcmpHash"));
    for (const auto mtu : MTU_BYTES)
    {
        const auto factory = facade.Factory("ns3::RoceTransport");
        facade.Attribute(factory, "MtuBytes", std::to_string(mtu));
        facade.Attribute(factory, "RethBytes", "0");
        facade.Transport(factory);
    }
    FillTables(facade, given);
    facade.Build();
    while (!facade.RunSlice(1'000'000'000'000, 60))
    {
    }
    facade.Finish();
    for (size_t i = 0; i < facade.Rows("paths"); i++)
    {
        paths[{facade.Data("paths", "flow")[i], facade.Data("paths", "node")[i]}] =
            facade.Data("paths", "peer")[i];
    }
    Arrivals arrivals;
    for (size_t i = 0; i < facade.Rows("arrivals"); i++)
    {
        arrivals[{facade.Data("arrivals", "flow")[i], facade.Data("arrivals", "packet")[i]}] =
            facade.Data("arrivals", "time_ps")[i];
    }
    return arrivals;
}

/// The same network of ns-3's own nodes, devices and channels; forwarding is one look-up.
class StockNetwork
{
  public:
    StockNetwork(const Case& given, const Paths& paths)
        : m_paths(paths)
    {
        for (const auto& link : given.links)
        {
            auto channel = CreateObject<PointToPointChannel>();
            channel->SetAttribute("Delay", TimeValue(PicoSeconds(link.delayPs)));
            m_devices[{link.a, link.b}] = MakeDevice(link.a, link, channel);
            m_devices[{link.b, link.a}] = MakeDevice(link.b, link, channel);
        }
    }

    /// Hand all packets of a flow to its host's device at its start.
    void Start(const Flow& flow)
    {
        Simulator::Schedule(PicoSeconds(flow.startPs), [this, flow] {
            const int64_t mtu = MTU_BYTES[flow.transport];
            for (int64_t packet = 0; packet * mtu < flow.bytes; packet++)
            {
                const int64_t payload = std::min(mtu, flow.bytes - packet * mtu);
                const std::array<int64_t, 3> content{flow.id, packet, flow.dst};
                std::vector<uint8_t> bytes(std::max<int64_t>(payload + HEADER_BYTES, 64) +
                                           FRAMING_BYTES - PPP_BYTES);
                std::memcpy(bytes.data(), content.data(), sizeof(content));
                Forward(flow.src, Create<Packet>(bytes.data(), bytes.size()));
            }
        });
    }

    Arrivals arrivals; ///< What came to its destination

  private:
    Ptr<Node> NodeOf(int64_t id)
    {
        auto& node = m_nodes[id];
        if (!node)
        {
            node = CreateObject<Node>();
        }
        return node;
    }

    Ptr<PointToPointNetDevice> MakeDevice(int64_t node,
                                          const Link& link,
                                          Ptr<PointToPointChannel> channel)
    {
        auto device = CreateObject<PointToPointNetDevice>();
        device->SetAddress(Mac48Address::Allocate());
        device->SetDataRate(DataRate(link.rateBps));
        auto queue = CreateObject<DropTailQueue<Packet>>();
        queue->SetMaxSize(QueueSize("1000000p"));
        device->SetQueue(queue);
        NodeOf(node)->AddDevice(device);
        device->Attach(channel);
        device->SetReceiveCallback(NetDevice::ReceiveCallback(
            [this, node](Ptr<NetDevice>, Ptr<const Packet> packet, uint16_t, const Address&) {
                Forward(node, packet->Copy());
                return true;
            }));
        return device;
    }

    void Forward(int64_t node, Ptr<Packet> packet)
    {
        std::array<int64_t, 3> content;
        packet->CopyData(reinterpret_cast<uint8_t*>(content.data()), sizeof(content));
        const auto [flow, number, dst] = content;
        if (node == dst)
        {
            arrivals[{flow, number}] = Simulator::Now().GetPicoSeconds();
            return;
        }
        const auto device = m_devices.at({node, m_paths.at({flow, node})});
        device->Send(packet, device->GetBroadcast(), 0x0800);
    }

    const Paths& m_paths;
    std::map<int64_t, Ptr<Node>> m_nodes;
    std::map<std::pair<int64_t, int64_t>, Ptr<PointToPointNetDevice>> m_devices;
};

} // namespace

static Suite g_suite{"roce-stock-equality", TestSuite::Type::SYSTEM};

/**
 * Oracle: ns-3's PointToPointNetDevice.
 *
 * Several flows share uplinks and receivers, with full and short packets of two sizes and links
 * of two rates; both simulators know the same paths. Every packet arrives at the same picosecond.
 */
TEST_CASES(EveryPacketArrivesAsInStock,
           "seed " + std::to_string(seed) + ", hosts at " + std::to_string(hostRateBps / GBPS) +
               " Gbps, uplinks at " + std::to_string(uplinkRateBps / GBPS),
           uint32_t seed,
           int64_t hostRateBps,
           int64_t uplinkRateBps)
{
    const Case given = MakeCase(seed, hostRateBps, uplinkRateBps);
    Paths paths;
    const Arrivals ours = RunFabric(given, seed, paths);

    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    StockNetwork network(given, paths);
    for (const auto& flow : given.flows)
    {
        network.Start(flow);
    }
    Simulator::Run();
    Simulator::Destroy();

    NS_TEST_ASSERT_MSG_GT(network.arrivals.size(), 500, "the reference run does something");
    NS_TEST_ASSERT_MSG_EQ(ours.size(), network.arrivals.size(), "number of packets");
    uint32_t waited = 0;
    for (const auto& [key, timePs] : network.arrivals)
    {
        NS_TEST_ASSERT_MSG_EQ(ours.at(key),
                              timePs,
                              "flow " << key.first << ", packet " << key.second);
        const auto before = network.arrivals.find({key.first, key.second - 1});
        if (before != network.arrivals.end())
        {
            // In an empty network packets follow each other as they left the source.
            const int64_t wire = MTU_BYTES[key.first % 2] + HEADER_BYTES + FRAMING_BYTES;
            waited += timePs - before->second > 8'000 * wire / (hostRateBps / GBPS);
        }
    }
    NS_TEST_EXPECT_MSG_GT(waited, 100, "packets had to wait for those of other flows");
}

ADD_CASES(g_suite)
{
    RoceTransport::GetTypeId(); // the library that registers it must be linked
    for (uint32_t seed = 1; seed <= 5; seed++)
    {
        suite.Add(new EveryPacketArrivesAsInStock(seed, 100 * GBPS, 100 * GBPS));
        suite.Add(new EveryPacketArrivesAsInStock(seed, 800 * GBPS, 400 * GBPS));
    }
}

} // namespace tests
} // namespace ns3
