// SPDX-License-Identifier: GPL-2.0-only

// Families and a congestion control of a user's own that use all that the base offers.

#include "../../fabric/test/test-network.h"

#include "ns3/credit-pacer.h"
#include "ns3/message-transport.h"
#include "ns3/rtt-estimator.h"
#include "ns3/switch-program.h"
#include "ns3/test.h"

#include <algorithm>
#include <map>
#include <optional>

namespace ns3
{
namespace tests
{

using namespace fabric;

/// State of a CreditTransport's message at its source.
struct CreditOutbound : Outbound
{
    uint64_t creditBytes{0}; ///< Granted and not used [byte]
    uint64_t freeBytes{0};   ///< May be sent without credit, at a low priority [byte]
};

/// State of a CreditTransport's message at its destination.
struct CreditInbound : Inbound
{
    bool wants{false}; ///< The request has come
};

/**
 * @brief Receiver-driven: a request, one window without credit, the rest as it is granted.
 *
 * In the manner of EQDS (Olteanu et al., NSDI 2022); made to use every part of the base.
 */
class CreditTransport final : public MessageTransport<CreditOutbound, CreditInbound>
{
  public:
    static constexpr uint8_t REQUEST = FAMILY;
    static constexpr uint8_t CREDIT = FAMILY + 1;
    static constexpr uint8_t LOW_PRIORITY = 2;
    static constexpr uint64_t REQUEST_AGAIN_PS = 200'000'000;

    static inline uint32_t requests = 0;

    static TypeId GetTypeId()
    {
        static TypeId tid =
            AddAttributes(TypeId("ns3::tests::CreditTransport")
                              .SetParent<PacketTransport>()
                              .SetGroupName("Tests")
                              .AddConstructor<CreditTransport>(),
                          {.entropy = "ns3::FlowEntropy", .rto = "4ms", .reorderPackets = 100});
        return tid;
    }

    bool VariesUrgency() const override
    {
        return true;
    }

  private:
    void DoAttach() override
    {
        MessageTransport::DoAttach();
        m_credit.emplace(CreditPacer::Rules{.quantumBytes = m_mtuBytes,
                                            .order = FlowOrder::By::ROUND_ROBIN,
                                            .rateBps = 95 * GBPS,
                                            .mostFlows = 0,
                                            .mostOutstandingBytes = 0});
    }

    void Begin(CreditOutbound& out) override
    {
        out.freeBytes = 4 * m_mtuBytes;
        Request(out);
    }

    void Request(CreditOutbound& out)
    {
        requests++;
        const FrameId request = MakeControl(out.message, REQUEST, m_ackBytes);
        Host().Note(request).words[0] = RemainingBytes(out);
        Host().SendControl(request, out.port);
        SetDeadline(out, FAMILY_DEADLINE, Host().NowPs() + REQUEST_AGAIN_PS);
    }

    void OnDeadline(CreditOutbound& out) override
    {
        if (out.creditBytes == 0 && out.packets.InFlight() == 0)
        {
            Request(out);
        }
    }

    bool MaySend(const CreditOutbound& out) const override
    {
        return out.creditBytes > 0 || out.freeBytes > 0;
    }

    uint8_t PriorityOf(const CreditOutbound& out) const override
    {
        return out.creditBytes > 0 ? m_priority : LOW_PRIORITY;
    }

    void Stamp(CreditOutbound& out, FrameId data) override
    {
        const Frame& frame = Host().GetFrame(data);
        const uint64_t bytes =
            Cut().PayloadBytes(Host().GetMessage(out.message).bytes, frame.packet);
        uint64_t& purse = frame.priority == m_priority ? out.creditBytes : out.freeBytes;
        purse -= std::min(bytes, purse);
    }

    void OnControl(CreditOutbound& out, FrameId control) override
    {
        out.creditBytes += Host().FindNote(control)->words[0];
        SetDeadline(out, FAMILY_DEADLINE, Host().NowPs() + REQUEST_AGAIN_PS);
        Wake(out);
    }

    void OnRequest(CreditInbound& in, FrameId control, PortId port) override
    {
        m_portOf[in.slot] = port;
        m_messageOf[in.slot] = in.message;
        if (!in.wants)
        {
            in.wants = true;
            m_credit->Want(in.slot, Host().FindNote(control)->words[0]);
            HandOut();
        }
    }

    void OnTrimmed(CreditInbound& in, FrameId header, PortId port) override
    {
        m_credit->Want(in.slot, m_mtuBytes); // it has to come once more
        MessageTransport::OnTrimmed(in, header, port);
        HandOut();
    }

    void OnPayload(CreditInbound& in, FrameId data, PortId port, uint32_t expected) override
    {
        if (in.wants)
        {
            m_credit->Received(in.slot, m_mtuBytes);
        }
        MessageTransport::OnPayload(in, data, port, expected);
    }

    void OnDelivered(CreditInbound& in) override
    {
        if (in.wants)
        {
            m_credit->Forget(in.slot);
        }
    }

    void OnHostTimer() override
    {
        HandOut();
    }

    void HandOut()
    {
        while (const auto credit = m_credit->Take(Host().NowPs()))
        {
            const FrameId grant = MakeControl(m_messageOf[credit->flow], CREDIT, m_ackBytes);
            Host().Note(grant).words[0] = credit->bytes;
            Host().SendControl(grant, m_portOf[credit->flow]);
        }
        if (const uint64_t nextPs = m_credit->NextPs(); nextPs != NEVER_PS)
        {
            SetHostTimer(std::max(nextPs, Host().NowPs() + 1));
        }
    }

    std::optional<CreditPacer> m_credit;
    std::map<uint32_t, PortId> m_portOf;      ///< By slot at the destination
    std::map<uint32_t, uint32_t> m_messageOf; ///< By slot at the destination
};

NS_OBJECT_ENSURE_REGISTERED(CreditTransport);

/// Messages that nobody acknowledges.
class Datagrams final : public MessageTransport<Outbound, Inbound>
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = AddAttributes(TypeId("ns3::tests::Datagrams")
                                              .SetParent<PacketTransport>()
                                              .SetGroupName("Tests")
                                              .AddConstructor<Datagrams>(),
                                          {.entropy = "ns3::FlowEntropy", .rto = "1s"});
        return tid;
    }

    bool IsAcknowledged() const override
    {
        return false;
    }

  private:
    void Stamp(Outbound& out, FrameId) override
    {
        if (!out.packets.HasMore())
        {
            SetDeadline(out, FAMILY_DEADLINE, Host().NowPs() + 1);
        }
    }

    void OnDeadline(Outbound& out) override
    {
        Retire(out);
    }

    void OnPayload(Inbound&, FrameId data, PortId, uint32_t) override
    {
        Host().FreeFrame(data);
    }
};

NS_OBJECT_ENSURE_REGISTERED(Datagrams);

/// In-band telemetry: each switch writes what it knows into data.
class WriteHops final : public SwitchProgram
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::WriteHops")
                                .SetParent<SwitchProgram>()
                                .SetGroupName("Tests")
                                .AddConstructor<WriteHops>();
        return tid;
    }

    void Attach(ProgramDoor& door) override
    {
        m_door = &door;
    }

    uint32_t Hooks() const override
    {
        return DEPARTURE;
    }

    void OnDeparture(PortId egress, FrameId frame, uint64_t queuedBytes) override
    {
        if (m_door->GetFrame(frame).kind == frame_kind::DATA)
        {
            m_door->AddHop(frame,
                           {m_door->NowPs(),
                            m_door->GetPort(egress).sentBytes,
                            queuedBytes,
                            m_door->RateBps(egress)});
        }
    }

  private:
    ProgramDoor* m_door{nullptr};
};

NS_OBJECT_ENSURE_REGISTERED(WriteHops);

/**
 * @brief A congestion control that looks at everything: hops, round trips, marks, notifications,
 * losses; and sets a window and a rate.
 *
 * Once per round trip the rate is set so that the fullest queue of the path drains within one
 * (a plain form of HPCC, Li et al., SIGCOMM 2019).
 */
class EverythingControl final : public CongestionControl
{
  public:
    static inline uint64_t hops = 0;
    static inline uint64_t notifications = 0;
    static inline uint64_t marked = 0;
    static inline uint64_t losses = 0;

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::EverythingControl")
                                .SetParent<CongestionControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<EverythingControl>();
        return tid;
    }

    void Open(uint32_t slot, const Path& path) override
    {
        m_flows[slot] = {.path = path, .rateBps = path.lineRateBps, .updatePs = NEVER_PS};
    }

    void Close(uint32_t slot) override
    {
        m_flows.erase(slot);
    }

    void OnSent(uint32_t slot, uint32_t, uint32_t) override
    {
        Flow& flow = m_flows[slot];
        if (flow.updatePs == NEVER_PS)
        {
            flow.updatePs = Host().NowPs() + flow.path.baseRttPs;
        }
    }

    void OnAck(uint32_t slot, const Ack& ack) override
    {
        Flow& flow = m_flows[slot];
        hops += ack.hops.size();
        marked += ack.markedBytes;
        flow.rtt.Sample(ack.rttPs);
        for (const IntHop& hop : ack.hops)
        {
            flow.queuedBytes = std::max(flow.queuedBytes, hop.queuedBytes);
        }
    }

    void OnNotification(uint32_t slot) override
    {
        notifications++;
        m_flows[slot].rateBps = m_flows[slot].rateBps * 9 / 10;
    }

    void OnLoss(uint32_t, Loss) override
    {
        losses++;
    }

    uint64_t NextUpdatePs(uint32_t slot) const override
    {
        return m_flows.at(slot).updatePs;
    }

    void OnUpdate(uint32_t slot) override
    {
        Flow& flow = m_flows[slot];
        const double lineBytes = static_cast<double>(flow.path.lineRateBps) / 8e12 *
                                 static_cast<double>(flow.path.baseRttPs);
        const double load = 0.9 + static_cast<double>(flow.queuedBytes) / lineBytes;
        const double step = static_cast<double>(flow.path.lineRateBps) / 50;
        flow.rateBps = std::min<uint64_t>(
            flow.path.lineRateBps,
            static_cast<uint64_t>(static_cast<double>(flow.rateBps) * (load > 1 ? 0.9 / load : 1) +
                                  step));
        flow.queuedBytes = 0;
        flow.updatePs = Host().NowPs() + std::max(flow.rtt.SmoothedPs(), flow.path.baseRttPs);
    }

    uint64_t WindowBytes(uint32_t slot) const override
    {
        const Flow& flow = m_flows.at(slot);
        return static_cast<uint64_t>(2.0 * static_cast<double>(flow.rateBps) / 8e12 *
                                     static_cast<double>(flow.path.baseRttPs));
    }

    uint64_t RateBps(uint32_t slot) const override
    {
        return m_flows.at(slot).rateBps;
    }

    bool NeedsIntHops() const override
    {
        return true;
    }

    bool NeedsNotifications() const override
    {
        return true;
    }

  private:
    struct Flow
    {
        Path path;
        uint64_t rateBps;
        uint64_t updatePs;
        uint64_t queuedBytes{0}; ///< Of the fullest hop since the last update [byte]
        RttEstimator rtt{};
    };

    std::map<uint32_t, Flow> m_flows;
};

NS_OBJECT_ENSURE_REGISTERED(EverythingControl);

namespace
{

constexpr int64_t MESSAGE = 2'000'000;

/// `senders` hosts send a message each to host 0.
void
Incast(TestNetwork& network, int64_t senders)
{
    network.Star(senders + 1);
    for (int64_t src = 1; src <= senders; src++)
    {
        network.Flow(src, 0, MESSAGE);
    }
}

int64_t
LastPs(const TestNetwork& network)
{
    int64_t lastPs = 0;
    for (size_t row = 0; row < network.Rows("flows"); row++)
    {
        lastPs = std::max(lastPs, network.Cell("flows", "receiver_end_ps", row));
    }
    return lastPs;
}

} // namespace

/**
 * Oracle: credit at 95 % of the link leaves no queue but that of the packets that need none, and
 * the transfer takes 1 / 0.95 of the payload's time and a few round trips.
 */
class CreditKeepsTheQueueShort : public TestCase
{
  public:
    explicit CreditKeepsTheQueueShort(int64_t senders)
        : TestCase(std::to_string(senders) + " senders with credit"),
          m_senders(senders)
    {
    }

  private:
    void DoRun() override
    {
        CreditTransport::requests = 0;
        TestNetwork network;
        Incast(network, m_senders);
        network.Transport({}, "ns3::tests::CreditTransport");
        network.Run();
        const auto optimalPs = static_cast<double>(m_senders * MESSAGE * 80) / 0.95;
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(LastPs(network)),
                                  optimalPs,
                                  0.02 * optimalPs + 30 * US_PS,
                                  "completion");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(network.Port(100, 0, "max_queue_bytes"),
                                    m_senders * 5 * 4158,
                                    "queue");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "retransmitted_packets"), 0, "again");
        NS_TEST_EXPECT_MSG_GT_OR_EQ(CreditTransport::requests, m_senders, "requests");
        for (size_t row = 0; row < network.Rows("flows"); row++)
        {
            NS_TEST_EXPECT_MSG_GT(static_cast<double>(network.Cell("flows", "receiver_end_ps", row)),
                                  0.95 * optimalPs,
                                  "equal shares");
        }
    }

    int64_t m_senders;
};

/// Oracle: the first of two messages of a host is the shorter one, the earlier one, or neither.
class OrderOfMessages : public TestCase
{
  public:
    OrderOfMessages()
        : TestCase("order of the messages of a host")
    {
    }

  private:
    static std::vector<int64_t> Ends(const std::string& order)
    {
        TestNetwork network;
        network.Star(4);
        network.Flow(0, 1, 3 * MESSAGE);
        network.Flow(0, 2, MESSAGE, 1);
        network.Flow(0, 3, 2 * MESSAGE, 2);
        network.Transport({{"Order", order}}, "ns3::tests::Datagrams");
        network.Run();
        std::vector<int64_t> ends;
        for (size_t row = 0; row < 3; row++)
        {
            ends.push_back(network.Cell("flows", "receiver_end_ps", row));
        }
        return ends;
    }

    void DoRun() override
    {
        const double unitPs = MESSAGE / 4096.0 * (4096 + 82) * 80;
        const std::map<std::string, std::vector<double>> expected{
            {"FirstCome", {3, 4, 6}},
            {"LeastRemaining", {6, 1, 3}},
            {"RoundRobin", {6, 3, 5}},
        };
        for (const auto& [order, units] : expected)
        {
            const auto ends = Ends(order);
            for (size_t i = 0; i < 3; i++)
            {
                NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(ends[i]),
                                          units[i] * unitPs,
                                          0.02 * unitPs,
                                          order << ", message " << i);
            }
        }
    }
};

/// Oracle: counting; without acknowledgements no frame comes back.
class NobodyAcknowledges : public TestCase
{
  public:
    NobodyAcknowledges()
        : TestCase("messages that nobody acknowledges")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        Incast(network, 3);
        network.Transport({}, "ns3::tests::Datagrams");
        network.Run();
        NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 3, "all are done");
        NS_TEST_EXPECT_MSG_EQ(network.Port(0, 100, "sent_frames"), 0, "no frame comes back");
    }
};

/// Oracle: the link is shared without loss, its queue stays below what line rate would make of it.
class EverythingControlShares : public TestCase
{
  public:
    explicit EverythingControlShares(const std::string& transport)
        : TestCase("a congestion control that uses everything, " + transport.substr(5)),
          m_transport(transport)
    {
    }

  private:
    void DoRun() override
    {
        using Control = EverythingControl;
        Control::hops = Control::notifications = Control::marked = Control::losses = 0;
        TestNetwork network;
        Incast(network, 4);
        network.Use("program", "ns3::tests::WriteHops");
        network.Use("queue", "ns3::RedEcn", {{"KminBytes", "100000"}, {"KmaxBytes", "100000"}});
        network.Transport({{"CongestionControl", "ns3::tests::EverythingControl"}}, m_transport);
        network.Run();
        const auto optimalPs = static_cast<double>(4 * MESSAGE) * 80 * 4178 / 4096;
        NS_TEST_EXPECT_MSG_LT(static_cast<double>(LastPs(network)), 1.35 * optimalPs, "link used");
        NS_TEST_EXPECT_MSG_LT(network.Port(100, 0, "max_queue_bytes"), MESSAGE / 4, "queue");
        const int64_t packets = 4 * ((MESSAGE + 4095) / 4096);
        NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(Control::hops), packets, "a hop in each answer");
        NS_TEST_EXPECT_MSG_EQ(Control::losses, 0, "losses");
        NS_TEST_EXPECT_MSG_GT(Control::notifications, 0, "notifications");
        NS_TEST_EXPECT_MSG_EQ((Control::marked > 0),
                              (network.Sum("flows", "ecn_marked_packets") > 0),
                              "marks are told");
    }

    std::string m_transport;
};

class HostDemonstrationTestSuite : public TestSuite
{
  public:
    HostDemonstrationTestSuite()
        : TestSuite("host-demonstration", Type::SYSTEM)
    {
        for (const int64_t senders : {1, 2, 8})
        {
            AddTestCase(new CreditKeepsTheQueueShort(senders), Duration::QUICK);
        }
        AddTestCase(new OrderOfMessages, Duration::QUICK);
        AddTestCase(new NobodyAcknowledges, Duration::QUICK);
        for (const char* transport : {"ns3::RoceTransport", "ns3::SprayTransport"})
        {
            AddTestCase(new EverythingControlShares(transport), Duration::QUICK);
        }
    }
};

static HostDemonstrationTestSuite g_hostDemonstrationTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3
