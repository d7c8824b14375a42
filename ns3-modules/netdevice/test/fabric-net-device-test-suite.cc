// SPDX-License-Identifier: GPL-2.0-only

// What becomes of packets of nodes: every fate is seen, marks reach the IP header, devices are
// those that ns-3 knows.

#include "node-network.h"

#include "ns3/config.h"
#include "ns3/ethernet-header.h"
#include "ns3/ipv4-header.h"
#include "ns3/packet-fields.h"
#include "ns3/pcap-file.h"
#include "ns3/string.h"

namespace ns3
{
namespace tests
{

namespace
{

constexpr int64_t BYTE_PS = 80;                  // of links of 100 Gb/s
constexpr int64_t FRAME_OVER_UDP = 20 + 18 + 28; // framing, Ethernet, IPv4 and UDP

/// Counts what a trace source tells.
struct Counter
{
    uint64_t packets{0};
    std::vector<int64_t> timesPs;

    Callback<void, Ptr<const Packet>> Sink()
    {
        return Callback<void, Ptr<const Packet>>([this](Ptr<const Packet>) {
            packets++;
            timesPs.push_back(Simulator::Now().GetPicoSeconds());
        });
    }
};

/// Hosts 0 and 1 (and 2) around switch 100, links of 100 Gb/s and 1 us, nodes on all of them.
void
StarOfNodes(NodeNetwork& network, int64_t hosts)
{
    network.Star(hosts);
    network.Transport({}, "ns3::NodeTransport");
}

/// Node 0 sends packets of 1000 bytes to node 1, one per `gapPs`.
void
SendMany(NodeNetwork& network, uint32_t packets, int64_t gapPs, uint8_t tos = 0)
{
    network.UdpSocket(1, true); // or ICMP would say that nobody listens
    const auto socket = network.UdpSocket(0, false);
    socket->SetIpTos(tos);
    for (uint32_t i = 0; i < packets; i++)
    {
        Simulator::Schedule(PicoSeconds(1000 + i * gapPs),
                            [&network, socket] { network.SendUdp(socket, 1, 1000); });
    }
}

/// Hosts 0 and 1 around switch 100; on the way to host 1 frames end by one fate.
void
LossyStar(NodeNetwork& network, const std::string& fate)
{
    network.Host(0);
    network.Host(1);
    network.Switch(100);
    network.Link(0, 100, fate == "queue" ? 400 : 100);
    network.Row("links",
                {{"node_a", 1},
                 {"node_b", 100},
                 {"parallel", 0},
                 {"rate_bps", 100 * GBPS},
                 {"delay_ps", US_PS},
                 {"class", 0}});
    const double share = 0.25;
    const std::vector<double> ratios{0, share / 8 / 1064};
    const std::vector<double> losses{0, share};
    if (fate == "loss")
    {
        network.GetFacade().RealColumn("links", "loss_ratio", losses.data(), 2);
    }
    if (fate == "bit error")
    {
        network.GetFacade().RealColumn("links", "bit_error_ratio", ratios.data(), 2);
    }
    if (fate == "cut")
    {
        for (const auto& [timePs, gbps] :
             {std::pair<int64_t, int64_t>{5 * US_PS, 0}, {15 * US_PS, 100}})
        {
            network.Row("link_events",
                        {{"time_ps", timePs},
                         {"node_a", 1},
                         {"node_b", 100},
                         {"parallel", 0},
                         {"rate_bps", gbps * GBPS}});
        }
    }
}

} // namespace

static Suite g_suite{"fabric-net-device"};

/**
 * Oracle: conservation. What the device of node 0 took is delivered or told as FabricDrop, whatever
 * becomes of its frame, and a drop of the fabric is one of its counters.
 */
TEST_CASES(EveryFateIsTold, fate, const std::string& fate, const std::string& column)
{
    constexpr int64_t PACKETS = 400;
    NodeNetwork network;
    LossyStar(network, fate);
    network.Use("queue", "ns3::DropTail", {{"LimitBytes", "20000"}});
    network.Transport({}, "ns3::NodeTransport");
    network.Sit(2);
    Counter sent;
    Counter refused;
    Counter received;
    Counter dropped;
    network.Device(0)->TraceConnectWithoutContext("MacTx", sent.Sink());
    network.Device(0)->TraceConnectWithoutContext("MacTxDrop", refused.Sink());
    network.Device(1)->TraceConnectWithoutContext("MacRx", received.Sink());
    network.Device(0)->TraceConnectWithoutContext("FabricDrop", dropped.Sink());
    SendMany(network, PACKETS, fate == "queue" ? 40'000 : 90'000);
    network.RunTo(ALWAYS_PS);

    NS_TEST_EXPECT_MSG_EQ(sent.packets, PACKETS, "sent");
    NS_TEST_EXPECT_MSG_EQ(refused.packets, 0, "the queue of the device is long");
    NS_TEST_EXPECT_MSG_GT(dropped.packets, PACKETS / 10, "some were dropped");
    NS_TEST_EXPECT_MSG_EQ(received.packets + dropped.packets, PACKETS, "each has one fate");
    int64_t counted = network.Sum("ports", column);
    if (fate == "cut") // the rest was on the wire, or routes knew already
    {
        counted += network.Sum("ports", "dropped_loss_frames") +
                   network.Sum("ports", "dropped_no_route_frames");
    }
    NS_TEST_EXPECT_MSG_EQ(counted, static_cast<int64_t>(dropped.packets), "as counted");
}

/// Oracle: marks that queues count are packets that come with CE, and only ECN-capable ones do.
TEST_CASES(MarksReachTheIpHeader,
           isCapable ? "packets that are ECN-capable" : "packets that are not",
           bool isCapable)
{
    NodeNetwork network;
    network.Host(0);
    network.Host(1);
    network.Switch(100);
    network.Link(0, 100, 400);
    network.Link(1, 100, 100);
    network.Use("queue", "ns3::RedEcn", {{"KminBytes", "5000"}, {"KmaxBytes", "5000"}});
    network.Transport({}, "ns3::NodeTransport");
    network.Sit(2);
    uint64_t marked = 0;
    uint64_t received = 0;
    network.Device(1)->TraceConnectWithoutContext(
        "MacRx",
        Callback<void, Ptr<const Packet>>([&](Ptr<const Packet> packet) {
            const auto content = packet->Copy();
            EthernetHeader ethernet(false);
            content->RemoveHeader(ethernet);
            Ipv4Header header;
            header.EnableChecksum();
            content->PeekHeader(header);
            received++;
            marked += header.GetEcn() == Ipv4Header::ECN_CE;
        }));
    SendMany(network, 100, 40'000, isCapable ? 2 : 0);
    network.RunTo(ALWAYS_PS);
    NS_TEST_EXPECT_MSG_EQ(received, 100, "nothing is lost");
    NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(marked),
                          network.Port(100, 1, "ecn_marked_packets"),
                          "what came marked was marked");
    NS_TEST_EXPECT_MSG_EQ((marked > 20), isCapable, "the queue is beyond its threshold");
}

/**
 * Oracle: by hand. Without known neighbours an ARP request goes to each other host and its answer
 * comes back, each in a frame of 64 bytes over two links; the second copy of the request waits for
 * the first. Then the packet goes.
 */
TEST_CASE(g_suite, "ARP goes to each other host")
{
    NodeNetwork network;
    StarOfNodes(network, 3);
    network.Sit(3, false);
    Counter received;
    network.UdpSocket(2, true)->SetRecvCallback(Callback<void, Ptr<Socket>>(
        [&](Ptr<Socket>) { received.timesPs.push_back(Simulator::Now().GetPicoSeconds()); }));
    const auto socket = network.UdpSocket(0, false);
    // ns-3 waits up to RequestJitter before it asks: no time at all here.
    Config::Set("/NodeList/*/$ns3::ArpL3Protocol/RequestJitter",
                StringValue("ns3::ConstantRandomVariable[Constant=0]"));
    Simulator::Schedule(PicoSeconds(1000), [&] { network.SendUdp(socket, 2, 1000); });
    network.RunTo(ALWAYS_PS);
    const int64_t arpPs = 2 * ((64 + 20) * BYTE_PS + US_PS);
    const int64_t dataPs = 2 * ((1000 + FRAME_OVER_UDP) * BYTE_PS + US_PS);
    NS_TEST_ASSERT_MSG_EQ(received.timesPs.size(), 1, "it comes");
    NS_TEST_EXPECT_MSG_EQ(received.timesPs[0],
                          1000 + arpPs + (64 + 20) * BYTE_PS + arpPs + dataPs,
                          "request behind its first copy, answer, packet");
}

/// Oracle: by hand. One frame of a datagram transport and one of a node meet at an egress.
TEST_CASE(g_suite, "packets of nodes wait behind frames of other transports")
{
    NodeNetwork network;
    StarOfNodes(network, 3);
    network.Transport({{"GapPs", "81600"}});
    network.Flow(2, 1, 2000, 0, 1); // two frames of 1000 bytes, 20 of framing
    network.Sit(3);
    Counter received;
    network.Device(1)->TraceConnectWithoutContext("MacRx", received.Sink());
    const auto socket = network.UdpSocket(0, false);
    Simulator::Schedule(PicoSeconds(1), [&] { network.SendUdp(socket, 1, 1000 - 46); });
    network.RunTo(ALWAYS_PS);
    // Both frames are of 1000 bytes. That of the node is at the switch 1 ps after the first of
    // the other host and leaves behind it; the second of the other is there when it leaves.
    const int64_t framePs = 1020 * BYTE_PS;
    NS_TEST_ASSERT_MSG_EQ(received.timesPs.size(), 1, "it comes");
    NS_TEST_EXPECT_MSG_EQ(received.timesPs[0], 3 * framePs + 2 * US_PS, "behind the first");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                          4 * framePs + 2 * US_PS,
                          "behind that of the node");
}

/// Oracle: counts. Trace sources by their path, and a capture that ns-3 reads back.
class NodesAreNodesOfNs3 : public TestCase
{
  public:
    NodesAreNodesOfNs3()
        : TestCase("Config paths and pcap files")
    {
    }

  private:
    void DoRun() override
    {
        NodeNetwork network;
        StarOfNodes(network, 2);
        network.Sit(2);
        Counter begun;
        Counter ended;
        Counter received;
        const std::string path = "/NodeList/*/DeviceList/*/$ns3::FabricNetDevice/";
        Config::ConnectWithoutContext(path + "PhyTxBegin", begun.Sink());
        Config::ConnectWithoutContext(path + "PhyTxEnd", ended.Sink());
        Config::ConnectWithoutContext(path + "MacRx", received.Sink());
        const std::string file = CreateTempDirFilename("node.pcap");
        FabricNetDeviceHelper().EnablePcap(file, network.devices.Get(0), true, true);
        SendMany(network, 7, 100'000);
        network.RunTo(ALWAYS_PS);
        NS_TEST_EXPECT_MSG_EQ(begun.packets, 7, "begun");
        NS_TEST_EXPECT_MSG_EQ(received.packets, 7, "received");
        NS_TEST_ASSERT_MSG_EQ(ended.packets, 7, "ended");
        NS_TEST_EXPECT_MSG_EQ(ended.timesPs[3] - begun.timesPs[3],
                              (1000 + FRAME_OVER_UDP) * BYTE_PS,
                              "time on the wire");
        m_files.push_back(file);
    }

    void DoTeardown() override
    {
        // The file is closed with the devices of the run.
        PcapFile pcap;
        pcap.Open(m_files.at(0), std::ios::in);
        uint32_t packets = 0;
        uint8_t bytes[2000];
        uint32_t s, us, included, original, read;
        for (pcap.Read(bytes, sizeof(bytes), s, us, included, original, read); !pcap.Eof();
             pcap.Read(bytes, sizeof(bytes), s, us, included, original, read))
        {
            packets++;
            NS_TEST_EXPECT_MSG_EQ(original, 1000 + 28 + 14, "Ethernet, IPv4, UDP");
        }
        NS_TEST_EXPECT_MSG_EQ(packets, 7, "captured");
    }

    std::vector<std::string> m_files;
};

ADD_CASES(g_suite)
{
    suite.Add(new EveryFateIsTold("queue", "dropped_buffer_frames"));
    suite.Add(new EveryFateIsTold("loss", "dropped_loss_frames"));
    suite.Add(new EveryFateIsTold("bit error", "dropped_corrupt_frames"));
    suite.Add(new EveryFateIsTold("cut", "dropped_link_down_frames"));
    suite.Add(new MarksReachTheIpHeader(true));
    suite.Add(new MarksReachTheIpHeader(false));
    suite.Add(new NodesAreNodesOfNs3);
}

} // namespace tests
} // namespace ns3
