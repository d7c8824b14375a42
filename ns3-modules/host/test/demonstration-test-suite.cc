// SPDX-License-Identifier: GPL-2.0-only

// Families and a congestion control of a user's own that use all that the base offers.

#include "../../facade/test/test-network.h"
#include "credit-transport.h"
#include "everything-control.h"

#include "ns3/message-transport.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace tests
{

using namespace fabric;

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

    Traits GetTraits() const override
    {
        Traits traits = MessageTransport::GetTraits();
        traits.isAcknowledged = false;
        return traits;
    }

  private:
    void Stamp(Outbound& out, FrameId, PortId) override
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

} // namespace

static Suite g_suite{"host-demonstration", TestSuite::Type::SYSTEM};

/**
 * Oracle: credit at 95 % of the link leaves no queue but that of the packets that need none, and
 * the transfer takes 1 / 0.95 of the payload's time and a few round trips.
 */
TEST_CASES(CreditKeepsTheQueueShort,
           std::to_string(senders) + " senders with credit",
           int64_t senders)
{
    CreditTransport::requests = 0;
    TestNetwork network;
    Incast(network, senders);
    network.Transport({}, "ns3::tests::CreditTransport");
    network.Run();
    const auto optimalPs = static_cast<double>(senders * MESSAGE * 80) / 0.95;
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(network.LastPs()),
                              optimalPs,
                              0.02 * optimalPs + 30 * US_PS,
                              "completion");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(network.Port(100, 0, "max_queue_bytes"),
                                senders * 5 * 4158,
                                "queue");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "retransmitted_packets"), 0, "again");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(CreditTransport::requests, senders, "requests");
    for (size_t row = 0; row < network.Rows("flows"); row++)
    {
        const int64_t endPs = network.Cell("flows", "receiver_end_ps", row);
        NS_TEST_EXPECT_MSG_GT(static_cast<double>(endPs), 0.95 * optimalPs, "equal shares");
    }
}

namespace
{

std::vector<int64_t>
Ends(const std::string& order)
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

} // namespace

/// Oracle: the first of two messages of a host is the shorter one, the earlier one, or neither.
TEST_CASE(g_suite, "order of the messages of a host")
{
    const double unitPs = MESSAGE / 4096.0 * (4096 + 82) * 80;
    const std::map<std::string, std::vector<double>> expected{
        {"Fifo", {3, 4, 6}},
        {"Srpt", {6, 1, 3}},
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

/// Oracle: counting; without acknowledgements no frame comes back.
TEST_CASE(g_suite, "messages that nobody acknowledges")
{
    TestNetwork network;
    Incast(network, 3);
    network.Transport({}, "ns3::tests::Datagrams");
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 3, "all are done");
    NS_TEST_EXPECT_MSG_EQ(network.Port(0, 100, "sent_frames"), 0, "no frame comes back");
}

/// Oracle: the link is shared without loss, its queue stays below what line rate would make of it.
TEST_CASES(EverythingControlShares,
           "a congestion control that uses everything, " + transport.substr(5),
           const std::string& transport)
{
    using Control = EverythingControl;
    Control::hops = Control::notifications = Control::marked = Control::losses = 0;
    TestNetwork network;
    Incast(network, 4);
    network.Use("program", "ns3::tests::WriteHops");
    network.Use("queue", "ns3::RedEcn", {{"KminBytes", "100000"}, {"KmaxBytes", "100000"}});
    network.Transport({{"CongestionControl", "ns3::tests::EverythingControl"}}, transport);
    network.Run();
    const auto optimalPs = static_cast<double>(4 * MESSAGE) * 80 * 4178 / 4096;
    NS_TEST_EXPECT_MSG_LT(static_cast<double>(network.LastPs()), 1.35 * optimalPs, "link used");
    NS_TEST_EXPECT_MSG_LT(network.Port(100, 0, "max_queue_bytes"), MESSAGE / 4, "queue");
    const int64_t packets = 4 * ((MESSAGE + 4095) / 4096);
    NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(Control::hops), packets, "a hop in each answer");
    NS_TEST_EXPECT_MSG_EQ(Control::losses, 0, "losses");
    NS_TEST_EXPECT_MSG_GT(Control::notifications, 0, "notifications");
    NS_TEST_EXPECT_MSG_EQ((Control::marked > 0),
                          (network.Sum("flows", "ecn_marked_packets") > 0),
                          "marks are told");
}

ADD_CASES(g_suite)
{
    for (const int64_t senders : {1, 2, 8})
    {
        suite.Add(new CreditKeepsTheQueueShort(senders));
    }
    for (const char* transport : {"ns3::RoceTransport", "ns3::SprayTransport"})
    {
        suite.Add(new EverythingControlShares(transport));
    }
}

} // namespace tests
} // namespace ns3
