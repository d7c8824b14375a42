// SPDX-License-Identifier: GPL-2.0-only

#ifndef STOCK_PROGRAMS_H
#define STOCK_PROGRAMS_H

// The same programs for nodes of ns-3, over its own links and over the fabric; and what they see.

#include "node-network.h"

#include "ns3/bulk-send-helper.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/global-value.h"
#include "ns3/ipv4-address-generator.h"
#include "ns3/ipv4-global-routing-helper.h"
#include "ns3/mac48-address.h"
#include "ns3/packet-sink-helper.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

namespace ns3
{
namespace tests
{

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

    void Observe(Ptr<NetDevice> device, uint32_t host, uint32_t headerBytes)
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

inline void
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

/// Links of the fabric that frame and queue as RunOverStockChain does.
inline void
StockLinks(NodeNetwork& network,
           const std::vector<std::pair<int64_t, int64_t>>& ends,
           const std::vector<int64_t>& ratesBps,
           const std::vector<int64_t>& delaysPs)
{
    for (size_t i = 0; i < ends.size(); i++)
    {
        network.Row("links",
                    {{"node_a", ends[i].first},
                     {"node_b", ends[i].second},
                     {"parallel", 0},
                     {"rate_bps", ratesBps[i]},
                     {"delay_ps", delaysPs[i]}});
    }
    network.Section("ns3::Wire", {{"FramingBytes", "0"}});
    network.Use("queue", "ns3::DropTail", {{"LimitBytes", std::to_string(QUEUE_BYTES)}});
    network.Transport({{"HeaderBytes", std::to_string(PPP_BYTES)}, {"MinFrameBytes", "0"}},
                      "ns3::NodeTransport");
}

/// A chain of nodes of ns-3, links of these rates and delays between them.
inline Seen
RunOverStockChain(const Program& program,
                  const std::vector<int64_t>& ratesBps,
                  const std::vector<int64_t>& delaysPs)
{
    GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::DefaultSimulatorImpl"));
    ResetStock(program);
    const auto links = static_cast<uint32_t>(ratesBps.size());
    NodeContainer nodes(links + 1); // host, routers, host
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.Install(nodes);
    Ipv4AddressHelper addresses("10.1.1.0", "255.255.255.0");
    Ipv4InterfaceContainer last;
    Seen seen;
    for (uint32_t i = 0; i < links; i++)
    {
        PointToPointHelper link;
        link.DisableFlowControl();
        link.SetDeviceAttribute("DataRate",
                                DataRateValue(DataRate(static_cast<uint64_t>(ratesBps[i]))));
        link.SetChannelAttribute("Delay", TimeValue(PicoSeconds(delaysPs[i])));
        link.SetQueue("ns3::DropTailQueue<Packet>");
        const auto devices = link.Install(nodes.Get(i), nodes.Get(i + 1));
        for (uint32_t end = 0; end < 2; end++)
        {
            const auto device = DynamicCast<PointToPointNetDevice>(devices.Get(end));
            const bool isHost = i + end == 0 || i + end == links;
            device->GetQueue()->SetMaxSize(isHost ? QueueSize("1000p")
                                                  : QueueSize(std::to_string(QUEUE_BYTES) + "B"));
            device->TraceConnectWithoutContext(
                "MacTxDrop",
                Callback<void, Ptr<const Packet>>([&](Ptr<const Packet>) { seen.dropped++; }));
            if (isHost)
            {
                seen.Observe(device, end, PPP_BYTES);
            }
        }
        last = addresses.Assign(devices);
        addresses.NewNetwork();
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();
    program.Install(nodes.Get(0), nodes.Get(links), last.GetAddress(1));
    Simulator::Stop(PicoSeconds(STOP_PS));
    Simulator::Run();
    Simulator::Destroy();
    return seen;
}

} // namespace tests
} // namespace ns3

#endif // STOCK_PROGRAMS_H
