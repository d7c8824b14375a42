// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/fabric-facade.h"
#include "ns3/fabric.h"
#include "ns3/link-flow-control.h"
#include "ns3/pcap-file.h"
#include "ns3/queue-discipline.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/transport.h"
#include "ns3/uinteger.h"

#include <map>
#include <stdexcept>

namespace ns3
{
namespace tests
{

using namespace fabric;

/**
 * @brief A user's own transport, made for this test of the contract alone: one packet per gap.
 *
 * Not modelled: losses; the acknowledgement is of the last packet only.
 */
class PacedDatagrams final : public Transport
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::PacedDatagrams")
                                .SetParent<Transport>()
                                .SetGroupName("Tests")
                                .AddConstructor<PacedDatagrams>()
                                .AddAttribute("GapPs",
                                              "Time from one packet to the next [ps]",
                                              UintegerValue(1'000'000),
                                              MakeUintegerAccessor(&PacedDatagrams::m_gapPs),
                                              MakeUintegerChecker<uint64_t>())
                                .AddAttribute("Priority",
                                              "Priority of data",
                                              UintegerValue(3),
                                              MakeUintegerAccessor(&PacedDatagrams::m_priority),
                                              MakeUintegerChecker<uint8_t>(0, 7));
        return tid;
    }

    static constexpr uint32_t PACKET_BYTES = 1000;

    void StartMessage(uint32_t message) override
    {
        m_sent[message] = 0;
        OnTimer(message);
    }

    void OnTimer(uint32_t message) override
    {
        m_due.push_back(message);
        Kick();
    }

    FrameId NextFrame(PortId, uint32_t pausedPriorities) override
    {
        if (m_due.empty() || ((pausedPriorities >> DataPriority()) & 1))
        {
            return NO_FRAME;
        }
        const uint32_t message = m_due.back();
        m_due.pop_back();
        const FrameId id = Net().Frames().Allocate();
        Frame& frame = Net().Frames()[id];
        frame.message = message;
        frame.dst = Net().GetMessage(message).dst;
        frame.packet = m_sent[message]++;
        frame.bytes = PACKET_BYTES;
        frame.kind = frame_kind::DATA;
        frame.priority = DataPriority();
        Net().GetMessage(message).sentPackets++;
        if (m_sent[message] < Packets(message))
        {
            SetTimer(Net().NowPs() + m_gapPs, message);
        }
        return id;
    }

    void Receive(FrameId id, PortId port) override
    {
        Frame& frame = Net().Frames()[id];
        if (frame.kind != frame_kind::DATA)
        {
            Net().MessageAcknowledged(frame.message);
            Net().Frames().Free(id);
            return;
        }
        if (++m_received[frame.message] < Packets(frame.message))
        {
            Net().Frames().Free(id);
            return;
        }
        Net().MessageDelivered(frame.message);
        frame.kind = frame_kind::CONTROL;
        frame.dst = Net().GetMessage(frame.message).src;
        frame.bytes = MIN_FRAME_BYTES;
        frame.priority = 6;
        frame.flags = frame_flag::REVERSE;
        SendControl(id, port);
    }

    std::vector<uint32_t> CommonFrameBytes() const override
    {
        return {PACKET_BYTES};
    }

    uint8_t DataPriority() const override
    {
        return m_priority;
    }

    int32_t SinglePathEntropy(uint32_t) override
    {
        return 0;
    }

  private:
    uint32_t Packets(uint32_t message) const
    {
        return static_cast<uint32_t>(Net().GetMessage(message).bytes / PACKET_BYTES);
    }

    uint64_t m_gapPs{0};
    uint8_t m_priority{0};
    std::vector<uint32_t> m_due;           ///< Messages whose gap is over
    std::map<uint32_t, uint32_t> m_sent;     ///< Packets, by message
    std::map<uint32_t, uint32_t> m_received; ///< Packets, by message
};

NS_OBJECT_ENSURE_REGISTERED(PacedDatagrams);

/// A user's own queue: whatever is larger is trimmed to a size and a priority.
class TrimAll final : public QueueDiscipline
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::TrimAll")
                                .SetParent<QueueDiscipline>()
                                .SetGroupName("Tests")
                                .AddConstructor<TrimAll>()
                                .AddAttribute("Bytes",
                                              "Size of what is left [byte]",
                                              UintegerValue(64),
                                              MakeUintegerAccessor(&TrimAll::m_bytes),
                                              MakeUintegerChecker<uint32_t>())
                                .AddAttribute("To",
                                              "Its priority",
                                              UintegerValue(7),
                                              MakeUintegerAccessor(&TrimAll::m_priority),
                                              MakeUintegerChecker<uint8_t>(0, 7));
        return tid;
    }

    void Attach(Fabric&) override
    {
    }

    Verdict Admit(PortId, Frame& frame, uint32_t) override
    {
        return frame.bytes > m_bytes ? Verdict::TRIM : Verdict::ADMIT;
    }

    void Depart(PortId, Frame&, uint32_t) override
    {
    }

    uint32_t TrimBytes(uint8_t) const override
    {
        return m_bytes;
    }

    uint8_t TrimPriority(uint8_t) const override
    {
        return m_priority;
    }

  private:
    uint32_t m_bytes{0};
    uint8_t m_priority{0};
};

NS_OBJECT_ENSURE_REGISTERED(TrimAll);

/// A user's own flow control: each frame that leaves a switch stops its sender for a moment.
class StopAndGo final : public LinkFlowControl
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::StopAndGo")
                                .SetParent<LinkFlowControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<StopAndGo>();
        return tid;
    }

    void Attach(Fabric& fabric) override
    {
        m_fabric = &fabric;
    }

    bool IsLossless(uint8_t) const override
    {
        return true;
    }

    bool OnArrival(PortId ingress, const Frame& frame) override
    {
        m_held[ingress] += frame.bytes;
        return true;
    }

    void OnDeparture(PortId ingress, uint8_t, uint32_t bytes) override
    {
        m_held[ingress] -= bytes;
        m_fabric->SendLinkControl(ingress, 1U << 3, MIN_FRAME_BYTES);
        m_fabric->SendLinkControl(ingress, 0, MIN_FRAME_BYTES);
    }

    void OnLinkControl(PortId port, const Frame& frame) override
    {
        m_fabric->SetPaused(port, static_cast<uint16_t>(frame.aux));
    }

    void OnLinkDown(PortId) override
    {
    }

    bool HoldsBack(PortId, uint8_t) const override
    {
        return false;
    }

    uint64_t ReservedBytes(PortId) const override
    {
        return 0;
    }

    uint32_t PeakBytes(PortId) const override
    {
        return 0;
    }

    uint64_t HeldBytes(PortId ingress) const override
    {
        const auto held = m_held.find(ingress);
        return held == m_held.end() ? 0 : held->second;
    }

  private:
    Fabric* m_fabric{nullptr};
    std::map<PortId, uint64_t> m_held; ///< [byte]
};

NS_OBJECT_ENSURE_REGISTERED(StopAndGo);

namespace
{

/// Two hosts, two switches, three links of 100 Gb/s (80 ps per byte) and 1 us.
void
Fill(Facade& facade, int64_t bytes, const std::string& gapPs, uint32_t priority = 3)
{
    const auto column =
        [&facade](const char* table, const char* name, std::vector<int64_t> values) {
            facade.Column(table, name, values.data(), values.size());
        };
    column("nodes", "node", {0, 1, 10, 11});
    column("nodes", "is_switch", {0, 0, 1, 1});
    column("nodes", "tier", {0, 0, 1, 1});
    column("links", "node_a", {0, 10, 11});
    column("links", "node_b", {10, 11, 1});
    column("links", "rate_bps", {100'000'000'000, 100'000'000'000, 100'000'000'000});
    column("links", "delay_ps", {1'000'000, 1'000'000, 1'000'000});
    column("flows", "flow", {5});
    column("flows", "src", {0});
    column("flows", "dst", {1});
    column("flows", "bytes", {bytes});
    column("flows", "start_ps", {777});
    const auto transport = facade.Factory("ns3::tests::PacedDatagrams");
    facade.Attribute(transport, "GapPs", gapPs);
    facade.Attribute(transport, "Priority", std::to_string(priority));
    facade.Transport(transport);
}

constexpr int64_t DATA_PS = 1020 * 80;
constexpr int64_t ACK_PS = 84 * 80;

} // namespace

/// Oracle: n packets, one per gap, cross three links: 777 + (n - 1) gap + 3 (d + 1 us), and back.
class OwnTransportKeepsTime : public TestCase
{
  public:
    OwnTransportKeepsTime(int64_t packets, int64_t gapPs)
        : TestCase(std::to_string(packets) + " packets, one per " + std::to_string(gapPs) + " ps"),
          m_packets(packets),
          m_gapPs(gapPs)
    {
    }

  private:
    void DoRun() override
    {
        Facade facade;
        Fill(facade, m_packets * PacedDatagrams::PACKET_BYTES, std::to_string(m_gapPs));
        facade.Build();
        while (!facade.RunSlice(1'000'000'000'000, 1))
        {
        }
        facade.Finish();
        // A gap shorter than the packet is stretched to it: the timer's frame waits for the wire.
        const int64_t stepPs = std::max(m_gapPs, DATA_PS);
        const int64_t endPs = 777 + (m_packets - 1) * stepPs + 3 * (DATA_PS + 1'000'000);
        NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "receiver_end_ps")[0], endPs, "receiver");
        NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "sender_end_ps")[0],
                              endPs + 3 * (ACK_PS + 1'000'000),
                              "sender");
        NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "sent_data_packets")[0], m_packets, "packets");
        NS_TEST_EXPECT_MSG_EQ(facade.DataPackets(), m_packets, "delivered");
        NS_TEST_EXPECT_MSG_EQ(facade.FlowsDone(), 1, "done");
    }

    int64_t m_packets;
    int64_t m_gapPs;
};

/// Oracle: the same times as without the other; one clock for stock events and the engine's.
class StockEventsRunBesideTheEngine : public TestCase
{
  public:
    StockEventsRunBesideTheEngine()
        : TestCase("events of stock ns-3 between those of the engine")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PACKETS = 50;
        constexpr int64_t GAP_PS = 100'000;
        constexpr int64_t END_PS = 777 + (PACKETS - 1) * GAP_PS + 3 * (DATA_PS + 1'000'000);
        Facade facade;
        Fill(facade, PACKETS * PacedDatagrams::PACKET_BYTES, std::to_string(GAP_PS));
        facade.Build();
        std::vector<int64_t> expected;
        std::vector<int64_t> seen;
        uint64_t deliveredBefore = 0;
        uint64_t deliveredAt = 0;
        for (int64_t i = 0; i < 100; i++)
        {
            expected.push_back(i * 77'777);
            Simulator::Schedule(PicoSeconds(i * 77'777), [&seen] {
                seen.push_back(Simulator::Now().GetPicoSeconds());
            });
        }
        // The last packet arrives at END_PS; at one instant the engine comes first.
        Simulator::Schedule(PicoSeconds(END_PS - 1),
                            [&] { deliveredBefore = facade.DataPackets(); });
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
};

/// A transport found by its TypeId is described with its attributes, for the scenario's checks.
class OwnTransportIsDescribed : public TestCase
{
  public:
    OwnTransportIsDescribed()
        : TestCase("a transport of one's own is listed, and its attributes are checked")
    {
    }

  private:
    void DoRun() override
    {
        const auto text = DescribeTypeIds();
        NS_TEST_EXPECT_MSG_NE(text.find("ns3::tests::PacedDatagrams"), std::string::npos, "listed");
        NS_TEST_EXPECT_MSG_NE(text.find("GapPs"), std::string::npos, "with its attribute");
        Facade facade;
        const auto factory = facade.Factory("ns3::tests::PacedDatagrams");
        std::string said;
        try
        {
            facade.Attribute(factory, "GapPs", "-1");
        }
        catch (const std::runtime_error& error)
        {
            said = error.what();
        }
        NS_TEST_EXPECT_MSG_NE(said.find("GapPs cannot be '-1'"), std::string::npos, said);
    }
};

/// Oracle: stock ns-3 reads the capture; each frame is a datagram of its size to port 1021.
class OwnTransportIsCapturedAsDatagrams : public TestCase
{
  public:
    OwnTransportIsCapturedAsDatagrams()
        : TestCase("a transport that does not describe its frames in a capture")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PACKETS = 3;
        constexpr int64_t GAP_PS = 3'000'000;
        const std::string path = CreateTempDirFilename("host_1.pcap");
        Facade facade;
        Fill(facade, PACKETS * PacedDatagrams::PACKET_BYTES, std::to_string(GAP_PS));
        facade.Capture(1, path, 65535);
        facade.Build();
        while (!facade.RunSlice(1'000'000'000'000, 1))
        {
        }
        facade.Finish();
        PcapFile file;
        file.Open(path, std::ios::in);
        NS_TEST_ASSERT_MSG_EQ(file.Fail(), false, "read");
        NS_TEST_EXPECT_MSG_EQ(file.IsNanoSecMode(), true, "nanoseconds");
        NS_TEST_EXPECT_MSG_EQ(file.GetDataLinkType(), 1, "Ethernet");
        for (int64_t i = 0; i <= PACKETS; i++)
        {
            uint8_t data[2000];
            uint32_t seconds;
            uint32_t nanoseconds;
            uint32_t captured;
            uint32_t frameBytes;
            uint32_t read;
            file.Read(data, sizeof(data), seconds, nanoseconds, captured, frameBytes, read);
            NS_TEST_ASSERT_MSG_EQ(file.Fail(), false, "record " << i);
            const bool isAnswer = i == PACKETS; // it leaves when the last packet is in
            const int64_t packet = isAnswer ? PACKETS - 1 : i;
            const int64_t timePs = 777 + packet * GAP_PS + 3 * (DATA_PS + 1'000'000);
            const uint32_t bytes = isAnswer ? MIN_FRAME_BYTES : PacedDatagrams::PACKET_BYTES;
            NS_TEST_EXPECT_MSG_EQ(nanoseconds, timePs / 1000, "time " << i);
            NS_TEST_EXPECT_MSG_EQ(frameBytes, bytes, "size " << i);
            NS_TEST_EXPECT_MSG_EQ(captured, bytes - 4, "no FCS " << i);
            NS_TEST_EXPECT_MSG_EQ((data[36] << 8) + data[37], 1021, "port " << i);
            NS_TEST_EXPECT_MSG_EQ((data[38] << 8) + data[39], bytes - 38, "datagram " << i);
        }
        uint8_t beyond;
        uint32_t unused[5];
        file.Read(&beyond, 1, unused[0], unused[1], unused[2], unused[3], unused[4]);
        NS_TEST_EXPECT_MSG_EQ(file.Eof(), true, "nothing else");
    }
};

/// Oracle: of each priority what its own queue leaves of a frame, as stock ns-3 reads it.
class OwnQueuesTrimTheirOwnPriority : public TestCase
{
  public:
    OwnQueuesTrimTheirOwnPriority(uint32_t priority, uint32_t bytes, uint32_t to)
        : TestCase("frames of priority " + std::to_string(priority) + " are trimmed to " +
                   std::to_string(bytes) + " bytes of priority " + std::to_string(to)),
          m_priority(priority),
          m_bytes(bytes),
          m_to(to)
    {
    }

  private:
    void DoRun() override
    {
        const std::string path = CreateTempDirFilename("host_1.pcap");
        Facade facade;
        Fill(facade, PacedDatagrams::PACKET_BYTES, "1", m_priority);
        const auto queue = facade.Factory("ns3::PerPriority");
        facade.Attribute(queue, "Priority3", "ns3::tests::TrimAll[Bytes=200|To=5]");
        facade.Attribute(queue, "Priority4", "ns3::tests::TrimAll[Bytes=300|To=6]");
        facade.Use("queue", queue);
        facade.Capture(1, path, 65535);
        facade.Build();
        while (!facade.RunSlice(1'000'000'000'000, 1))
        {
        }
        facade.Finish();
        PcapFile file;
        file.Open(path, std::ios::in);
        uint8_t data[2000];
        uint32_t seconds;
        uint32_t nanoseconds;
        uint32_t captured;
        uint32_t frameBytes;
        uint32_t read;
        file.Read(data, sizeof(data), seconds, nanoseconds, captured, frameBytes, read);
        NS_TEST_ASSERT_MSG_EQ(file.Fail(), false, "read");
        NS_TEST_EXPECT_MSG_EQ(frameBytes, m_bytes, "size");
        NS_TEST_EXPECT_MSG_EQ((data[15] >> 5), m_to, "class selector");
        NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "trimmed_packets")[0], 1, "trimmed once");
    }

    uint32_t m_priority;
    uint32_t m_bytes;
    uint32_t m_to;
};

/// A pause that a departure has caused is for the sake of no egress.
class OwnFlowControlPausesForNobody : public TestCase
{
  public:
    OwnFlowControlPausesForNobody()
        : TestCase("pauses of a flow control of one's own that are for no frame in particular")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PACKETS = 5;
        Facade facade;
        Fill(facade, PACKETS * PacedDatagrams::PACKET_BYTES, "1");
        facade.Use("flow_control", facade.Factory("ns3::tests::StopAndGo"));
        facade.Option("trace_pauses", 1);
        facade.Build();
        while (!facade.RunSlice(1'000'000'000'000, 1))
        {
        }
        facade.Finish();
        // Two switches; each departure, of data and of the acknowledgement, pauses once. The last
        // PAUSE is still under way when the acknowledgement has come and the run ends.
        NS_TEST_ASSERT_MSG_EQ(facade.Rows("pauses"), 2 * (PACKETS + 1) - 1, "pauses");
        for (size_t i = 0; i < facade.Rows("pauses"); i++)
        {
            NS_TEST_EXPECT_MSG_EQ(facade.Data("pauses", "toward")[i], -1, "pause " << i);
        }
    }
};

class FabricOwnTransportTestSuite : public TestSuite
{
  public:
    FabricOwnTransportTestSuite()
        : TestSuite("fabric-own-transport", Type::SYSTEM)
    {
        for (const int64_t gapPs : {1, 80'000, 81'600, 81'601, 3'000'000, 50'000'000})
        {
            AddTestCase(new OwnTransportKeepsTime(1, gapPs), Duration::QUICK);
            AddTestCase(new OwnTransportKeepsTime(100, gapPs), Duration::QUICK);
        }
        AddTestCase(new StockEventsRunBesideTheEngine, Duration::QUICK);
        AddTestCase(new OwnTransportIsDescribed, Duration::QUICK);
        AddTestCase(new OwnTransportIsCapturedAsDatagrams, Duration::QUICK);
        AddTestCase(new OwnQueuesTrimTheirOwnPriority(3, 200, 5), Duration::QUICK);
        AddTestCase(new OwnQueuesTrimTheirOwnPriority(4, 300, 6), Duration::QUICK);
        AddTestCase(new OwnFlowControlPausesForNobody, Duration::QUICK);
    }
};

static FabricOwnTransportTestSuite g_fabricOwnTransportTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3
