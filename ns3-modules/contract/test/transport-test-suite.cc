// SPDX-License-Identifier: GPL-2.0-only

// The battery of the contract Transport: datagrams that keep time beside stock ns-3, and endpoints
// that hold frames, make messages and vary their urgency.

#include "../../facade/test/scripted-transports.h"

#include "ns3/pcap-file.h"
#include "ns3/simulator.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr int64_t DATA_PS = 1020 * 80;
constexpr int64_t ACK_PS = 84 * 80;
constexpr int64_t START_PS = 777;

/// Two hosts, two switches, three links of 100 Gb/s (80 ps per byte) and 1 us.
void
Line(TestNetwork& network, int64_t packets, int64_t gapPs)
{
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    network.Link(0, 10);
    network.Link(10, 11);
    network.Link(11, 1);
    network.Flow(0, 1, packets * 1000, START_PS);
    network.Transport({{"GapPs", std::to_string(gapPs)}});
}

} // namespace

static Suite g_suite{"fabric-transport", TestSuite::Type::SYSTEM};

/// Oracle: n packets, one per gap, cross three links: start + (n - 1) gap + 3 (d + 1 us), and back.
TEST_CASES(TransportKeepsTime,
           std::to_string(packets) + " packets, one per " + std::to_string(gapPs) + " ps",
           int64_t packets,
           int64_t gapPs)
{
    TestNetwork network;
    Line(network, packets, gapPs);
    network.Run();
    // A gap shorter than the packet is stretched to it: the timer's frame waits for the wire.
    const int64_t stepPs = std::max(gapPs, DATA_PS);
    const int64_t endPs = START_PS + (packets - 1) * stepPs + 3 * (DATA_PS + US_PS);
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0), endPs, "receiver");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "sender_end_ps", 0),
                          endPs + 3 * (ACK_PS + US_PS),
                          "sender");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "sent_data_packets", 0), packets, "counted");
    NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(network.GetFacade().DataPackets()),
                          packets,
                          "delivered");
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 1, "done");
}

/// Oracle: the same times as without the other; one clock for stock events and the engine's.
TEST_CASE(g_suite, "events of stock ns-3 between those of the engine")
{
    constexpr int64_t PACKETS = 50;
    constexpr int64_t GAP_PS = 100'000;
    constexpr int64_t END_PS = START_PS + (PACKETS - 1) * GAP_PS + 3 * (DATA_PS + US_PS);
    TestNetwork network;
    Line(network, PACKETS, GAP_PS);
    network.Build();
    Facade& facade = network.GetFacade();
    std::vector<int64_t> expected;
    std::vector<int64_t> seen;
    uint64_t deliveredBefore = 0;
    uint64_t deliveredAt = 0;
    for (int64_t i = 0; i < 100; i++)
    {
        expected.push_back(i * 77'777);
        Simulator::Schedule(PicoSeconds(i * 77'777),
                            [&seen] { seen.push_back(Simulator::Now().GetPicoSeconds()); });
    }
    // The last packet arrives at END_PS; at one instant the engine comes first.
    Simulator::Schedule(PicoSeconds(END_PS - 1), [&] { deliveredBefore = facade.DataPackets(); });
    Simulator::Schedule(PicoSeconds(END_PS), [&] { deliveredAt = facade.DataPackets(); });
    while (!facade.RunSlice(100'000'000, 1))
    {
    }
    facade.Finish();
    NS_TEST_EXPECT_MSG_EQ((seen == expected), true, "stock events at their times");
    NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "receiver_end_ps")[0], END_PS, "the flow");
    NS_TEST_EXPECT_MSG_EQ(deliveredBefore, PACKETS - 1, "one picosecond before the last");
    NS_TEST_EXPECT_MSG_EQ(deliveredAt, PACKETS, "at the last");
}

/**
 * Oracle: ns-3's contract. An event that has not been executed is pending and can be cancelled,
 * also by the engine at the very time at which it lies, whatever was executed before.
 */
TEST_CASE(g_suite, "the engine cancels a stock event of the same instant")
{
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 1000);
    network.Flow(0, 1, 1000, 100 * US_PS); // so that the run goes on
    network.Transport({}, "ns3::tests::Cancelling");
    network.Build();
    bool isExecuted = false;
    // Scheduled first, for when the first message has arrived, so others have larger numbers.
    Cancelling::event =
        Simulator::Schedule(PicoSeconds(2 * DATA_PS + 2 * US_PS), [&] { isExecuted = true; });
    Simulator::Schedule(PicoSeconds(1), [] {});
    while (!network.GetFacade().RunSlice(ALWAYS_PS, 1))
    {
    }
    NS_TEST_EXPECT_MSG_EQ(Cancelling::wasPending, true, "pending as the engine saw it");
    NS_TEST_EXPECT_MSG_EQ(isExecuted, false, "and cancelled");
}

/// Oracle: by hand, 50 us and one way; both clocks agree; a frame that is kept is no error.
TEST_CASE(g_suite, "a stock event kicks a transport; a frame that a host holds at the end")
{
    StockDriven::clocks.clear();
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 1000);
    network.Transport({}, "ns3::tests::StockDriven");
    NS_TEST_EXPECT_MSG_EQ(network.Complaint(100 * US_PS), "", "identities");
    NS_TEST_ASSERT_MSG_EQ(StockDriven::clocks.size(), 2, "sent and received");
    for (const auto& [stockPs, enginePs] : StockDriven::clocks)
    {
        NS_TEST_EXPECT_MSG_EQ(static_cast<uint64_t>(stockPs), enginePs, "one clock");
    }
    NS_TEST_EXPECT_MSG_EQ(StockDriven::receivedPs, 52 * US_PS + 2 * DATA_PS, "received");
}

/// Oracle, by hand: the reply starts 1 us after the first message is there.
TEST_CASE(g_suite, "a message made at run time")
{
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 3000);
    network.Transport({}, "ns3::tests::Replying");
    network.Run();
    const int64_t firstPs = 4 * DATA_PS + 2 * US_PS;
    NS_TEST_ASSERT_MSG_EQ(network.Rows("flows"), 2, "two messages");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0), firstPs, "first");
    NS_TEST_EXPECT_MSG_GT(network.Cell("flows", "flow", 1), 0, "an id of its own");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "src", 1), 1, "from");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "dst", 1), 0, "to");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "start_ps", 1), firstPs + US_PS, "start");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 1),
                          firstPs + US_PS + 3 * DATA_PS + 2 * US_PS,
                          "second");
}

/// Oracle: a message of a transport without answers is over when it is delivered.
TEST_CASE(g_suite, "Delivered ends a message whose source is not told")
{
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 3000);
    network.Transport({{"Answers", "false"}});
    network.Run();
    const int64_t endPs = 4 * DATA_PS + 2 * US_PS;
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 1, "done");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0), endPs, "receiver");
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().NowPs(), endPs, "the run is over");
}

TEST_CASE(g_suite, "messages under way have a limit only where their source learns of their end")
{
    for (const bool answers : {true, false})
    {
        TestNetwork network;
        network.Star(2);
        network.Flow(0, 1, 1000);
        network.Transport({{"Answers", answers ? "true" : "false"}});
        network.Section("ns3::Host", {{"Outstanding", "1"}});
        const std::string said = network.Complaint();
        const bool isRefused = said.ends_with("does not learn of its end; leave outstanding out");
        NS_TEST_EXPECT_MSG_EQ(said.empty(), answers, said);
        NS_TEST_EXPECT_MSG_EQ(isRefused, !answers, said);
        NS_TEST_EXPECT_MSG_EQ(said.find('\n'), std::string::npos, "one line");
    }
}

/// Oracle, by hand: up to 200 ns, three frames, the one is urgent; then the other, of priority 3.
TEST_CASE(g_suite, "of two transports the one that is more urgent now is asked")
{
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 5000, 0, 0);
    network.Flow(0, 1, 5000, 0, 1);
    network.Transport({{"Priority", "1"}}, "ns3::tests::Moody");
    network.Transport({{"Priority", "3"}});
    network.Run();
    std::vector<uint32_t> order;
    for (const auto& seen : PacedDatagrams::seen)
    {
        if (seen.frame.kind == frame_kind::DATA)
        {
            order.push_back(seen.frame.message);
        }
    }
    const std::vector<uint32_t> expected{0, 0, 0, 1, 1, 1, 1, 1, 0, 0};
    NS_TEST_EXPECT_MSG_EQ((order == expected), true, "order");
}

/// A transport found by its TypeId is described with its attributes, for the scenario's checks.
TEST_CASE(g_suite, "a transport of one's own is listed, and its attributes are checked")
{
    const auto text = DescribeTypeIds();
    NS_TEST_EXPECT_MSG_NE(text.find("ns3::tests::PacedDatagrams"), std::string::npos, "listed");
    NS_TEST_EXPECT_MSG_NE(text.find("GapPs"), std::string::npos, "with its attribute");
    TestNetwork network;
    std::string said;
    try
    {
        network.Transport({{"GapPs", "-1"}});
    }
    catch (const std::runtime_error& error)
    {
        said = error.what();
    }
    NS_TEST_EXPECT_MSG_NE(said.find("GapPs cannot be '-1'"), std::string::npos, said);
}

/// Oracle: stock ns-3 reads the capture; each frame is a datagram of its size to port 1021.
class TransportIsCapturedAsDatagrams : public TestCase
{
  public:
    TransportIsCapturedAsDatagrams()
        : TestCase("a transport that does not describe its frames in a capture")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PACKETS = 3;
        constexpr int64_t GAP_PS = 3'000'000;
        const std::string path = CreateTempDirFilename("host_1.pcap");
        TestNetwork network;
        Line(network, PACKETS, GAP_PS);
        network.GetFacade().Capture(1, path);
        network.Run();
        PcapFile file;
        file.Open(path, std::ios::in);
        NS_TEST_ASSERT_MSG_EQ(file.Fail(), false, "read");
        NS_TEST_EXPECT_MSG_EQ(file.IsNanoSecMode(), true, "nanoseconds");
        NS_TEST_EXPECT_MSG_EQ(file.GetDataLinkType(), 1, "Ethernet");
        for (int64_t i = 0; i <= PACKETS; i++)
        {
            CheckRecord(file, i, i == PACKETS, std::min(i, PACKETS - 1) * GAP_PS);
        }
        uint8_t beyond;
        uint32_t unused[5];
        file.Read(&beyond, 1, unused[0], unused[1], unused[2], unused[3], unused[4]);
        NS_TEST_EXPECT_MSG_EQ(file.Eof(), true, "nothing else");
    }

    /// The answer leaves when the last packet is in.
    void CheckRecord(PcapFile& file, int64_t i, bool isAnswer, int64_t sentPs)
    {
        uint8_t data[2000];
        uint32_t seconds;
        uint32_t nanoseconds;
        uint32_t captured;
        uint32_t frameBytes;
        uint32_t read;
        file.Read(data, sizeof(data), seconds, nanoseconds, captured, frameBytes, read);
        NS_TEST_ASSERT_MSG_EQ(file.Fail(), false, "record " << i);
        const int64_t timePs = START_PS + sentPs + 3 * (DATA_PS + US_PS);
        const uint32_t bytes = isAnswer ? MIN_FRAME_BYTES : 1000;
        NS_TEST_EXPECT_MSG_EQ(nanoseconds, timePs / 1000, "time " << i);
        NS_TEST_EXPECT_MSG_EQ(frameBytes, bytes, "size " << i);
        NS_TEST_EXPECT_MSG_EQ(captured, bytes - 4, "no FCS " << i);
        NS_TEST_EXPECT_MSG_EQ((data[36] << 8) + data[37], 1021, "port " << i);
        NS_TEST_EXPECT_MSG_EQ((data[38] << 8) + data[39], static_cast<int>(bytes) - 38, "datagram");
    }
};

ADD_CASES(g_suite)
{
    for (const int64_t gapPs : {1, 80'000, 81'600, 81'601, 3'000'000, 50'000'000})
    {
        suite.Add(new TransportKeepsTime(1, gapPs));
        suite.Add(new TransportKeepsTime(100, gapPs));
    }
    suite.Add(new TransportIsCapturedAsDatagrams);
}

} // namespace tests
} // namespace ns3
