// SPDX-License-Identifier: GPL-2.0-only

// Oracles: closed forms of the receiver's link, and counts of packets and credit.
// Packets are 4096 B and 64 B of headers; the wire adds 20 B; links of 100 Gb/s and 1 us.

#include "../../fabric/test/test-network.h"

#include "ns3/test.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr int64_t SWITCH = 1000;
constexpr int64_t MTU = 4096;
constexpr int64_t FRAME = MTU + 64;
constexpr int64_t PACKET_PS = (FRAME + 20) * 80;
constexpr int64_t RTT_PS = 2 * (PACKET_PS + (64 + 20) * 80) + 4 * US_PS;
constexpr int64_t BDP_PACKETS = RTT_PS / PACKET_PS + 1;
constexpr int64_t CREDIT_BYTES = 8 * 512;

/// Hosts 0 to n - 1 send a message each to host n, over one switch that trims.
void
Incast(TestNetwork& network,
       int64_t senders,
       int64_t packets,
       const TestNetwork::Attributes& more = {},
       bool trims = true)
{
    network.Switch(SWITCH);
    for (int64_t host = 0; host <= senders; host++)
    {
        network.Host(host);
        network.Link(host, SWITCH);
    }
    for (int64_t host = 0; host < senders; host++)
    {
        network.Flow(host, senders, packets * MTU);
    }
    TestNetwork::Attributes attributes{{"HeaderBytes", "64"}, {"AckBytes", "64"}};
    attributes.insert(attributes.end(), more.begin(), more.end());
    network.Transport(attributes, "ns3::EqdsTransport");
    if (trims)
    {
        network.Use("queue",
                    "ns3::TrimmingQueue",
                    {{"LimitBytes", std::to_string(BDP_PACKETS * FRAME)}});
    }
    network.Run();
}

/// @return when the last message has arrived [ps]
int64_t
LastPs(const TestNetwork& network)
{
    int64_t last = 0;
    for (size_t row = 0; row < network.Rows("flows"); row++)
    {
        last = std::max(last, network.Cell("flows", "receiver_end_ps", row));
    }
    return last;
}

/// @return PULLs: what a receiver sent beside one answer for all that came
int64_t
Pulls(const TestNetwork& network, int64_t receiver)
{
    const int64_t came = network.Port(SWITCH, receiver, "sent_frames");
    return network.Port(receiver, SWITCH, "sent_frames") - came;
}

} // namespace

/// What fits a window needs no credit: n packet times, one more at the switch, and one way.
class AWindowNeedsNoCredit : public TestCase
{
  public:
    AWindowNeedsNoCredit()
        : TestCase("a message of one window arrives at line rate, one way")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        Incast(network, 1, BDP_PACKETS);
        NS_TEST_EXPECT_MSG_EQ(LastPs(network), (BDP_PACKETS + 1) * PACKET_PS + 2 * US_PS, "time");
    }
};

/**
 * One sender: the line is full but for the share of credit. Credit pays for frames: n frames less
 * the window, each CREDIT_BYTES of a PULL.
 */
class CreditFillsTheLine : public TestCase
{
  public:
    CreditFillsTheLine()
        : TestCase("one sender: the line is full after the first round trip")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PACKETS = 1000;
        TestNetwork network;
        Incast(network, 1, PACKETS);
        NS_TEST_EXPECT_MSG_LT(LastPs(network), PACKETS * PACKET_PS / 0.99 + RTT_PS, "no slower");
        NS_TEST_EXPECT_MSG_GT(LastPs(network),
                              (PACKETS - BDP_PACKETS) * PACKET_PS / 0.99,
                              "no faster than credit");
        const int64_t pulls = Pulls(network, 1);
        NS_TEST_EXPECT_MSG_GT_OR_EQ(pulls,
                                    (PACKETS - BDP_PACKETS) * FRAME / CREDIT_BYTES,
                                    "what was spent");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(pulls, PACKETS * FRAME / CREDIT_BYTES + 1, "what was wanted");
    }
};

/**
 * Incast: first windows collide, then credit at 0.99 of the line is all that comes. So PULLs never
 * come closer than the rate allows, the end is that of the line, and each trim is repaired once.
 */
class CreditIsSharedInIncast : public TestCase
{
  public:
    explicit CreditIsSharedInIncast(int64_t senders)
        : TestCase("incast of " + std::to_string(senders) + " to 1"),
          m_senders(senders)
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t PACKETS = 250;
        TestNetwork network;
        Incast(network, m_senders, PACKETS);
        const int64_t all = m_senders * PACKETS;
        const int64_t trims = network.Sum("flows", "trimmed_packets");
        NS_TEST_EXPECT_MSG_LT(LastPs(network), 1.02 * (all * PACKET_PS + RTT_PS), "time");
        NS_TEST_EXPECT_MSG_GT(trims, 0, "first windows collide");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "naks"), trims, "a NACK for each header");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "retransmitted_packets"), trims, "once again");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "timeouts"), 0, "no timeout");
        // Credit in bytes of frames, at 0.99 of the line without framing; a credit may come early.
        const double ratio = static_cast<double>(FRAME) / (FRAME + 20);
        const double mostBytes = 0.99 * static_cast<double>(LastPs(network)) / 80 * ratio;
        NS_TEST_EXPECT_MSG_LT(static_cast<double>(Pulls(network, m_senders) * CREDIT_BYTES),
                              mostBytes + 2 * CREDIT_BYTES,
                              "sum of all credit");
        int64_t first = LastPs(network);
        for (size_t row = 0; row < network.Rows("flows"); row++)
        {
            first = std::min(first, network.Cell("flows", "receiver_end_ps", row));
        }
        NS_TEST_EXPECT_MSG_GT(first, 95 * LastPs(network) / 100, "in turns");
    }

    int64_t m_senders;
};

/// The switch trims all of one priority: what is sent before the receiver is heard of.
class SpeculationHasItsPriority : public TestCase
{
  public:
    SpeculationHasItsPriority()
        : TestCase("speculative packets have a priority of their own, others that of data")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t WINDOW = 5;
        TestNetwork network;
        network.Use("queue",
                    "ns3::PerPriority",
                    {{"Priority1", "ns3::TrimmingQueue[LimitBytes=64]"}});
        Incast(network,
               1,
               50,
               {{"SpeculativePriority", "1"}, {"WindowPackets", std::to_string(WINDOW)}},
               false);
        NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "trimmed_packets"), WINDOW, "the first window");
        NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 1, "and all the rest comes");
    }
};

/// Whatever is lost, packets, headers, answers or PULLs, every message ends.
class EqdsHealsLosses : public TestCase
{
  public:
    explicit EqdsHealsLosses(int64_t window)
        : TestCase("with 2 % of all frames lost every message arrives, window " +
                   std::to_string(window)),
          m_window(window)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.Use("loss", "ns3::IndependentLoss", {{"Ratio", "0.02"}});
        Incast(network, 4, 300, {{"Rto", "200us"}, {"WindowPackets", std::to_string(m_window)}});
        NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 4, "all are done");
        NS_TEST_EXPECT_MSG_GT(network.Sum("ports", "dropped_loss_frames"), 50, "losses there were");
    }

    int64_t m_window;
};

class EqdsTransportTestSuite : public TestSuite
{
  public:
    EqdsTransportTestSuite()
        : TestSuite("eqds-transport", Type::SYSTEM)
    {
        AddTestCase(new AWindowNeedsNoCredit, Duration::QUICK);
        AddTestCase(new CreditFillsTheLine, Duration::QUICK);
        for (const int64_t senders : {8, 32, 100})
        {
            AddTestCase(new CreditIsSharedInIncast(senders), Duration::QUICK);
        }
        AddTestCase(new SpeculationHasItsPriority, Duration::QUICK);
        AddTestCase(new EqdsHealsLosses(1), Duration::QUICK);
        AddTestCase(new EqdsHealsLosses(20), Duration::QUICK);
    }
};

static EqdsTransportTestSuite g_eqdsTransportTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3
