// SPDX-License-Identifier: GPL-2.0-only

// Oracles: counts of grants, and closed forms of one link. Packets are 1460 B and 62 B of headers;
// the wire adds 20 B; links of 100 Gb/s and 1 us; RttBytes is 10 000, no whole number of packets.

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
constexpr int64_t MTU = 1460;
constexpr int64_t FRAME = MTU + 62;
constexpr int64_t PACKET_PS = (FRAME + 20) * 80;
constexpr int64_t RTT_BYTES = 10'000;

/// @return time to put all packets of a message on a wire [ps]
int64_t
WirePs(int64_t bytes)
{
    return (bytes + (bytes + MTU - 1) / MTU * (62 + 20)) * 80;
}

/// @return unloaded one-way time of a message over one switch; its link begins a packet later [ps]
int64_t
OneWayPs(int64_t bytes)
{
    return WirePs(bytes) + WirePs(std::min(bytes, MTU)) + 2 * US_PS;
}

/// Hosts 0 to n - 1 around one switch, links of 100 Gb/s and 1 us.
void
Star(TestNetwork& network, int64_t hosts, const TestNetwork::Attributes& more = {})
{
    network.Switch(SWITCH);
    for (int64_t host = 0; host < hosts; host++)
    {
        network.Host(host);
        network.Link(host, SWITCH);
    }
    TestNetwork::Attributes attributes{{"MtuBytes", std::to_string(MTU)},
                                       {"RttBytes", std::to_string(RTT_BYTES)}};
    attributes.insert(attributes.end(), more.begin(), more.end());
    network.Transport(attributes, "ns3::HomaTransport");
}

int64_t
EndPs(const TestNetwork& network, size_t flow)
{
    return network.Cell("flows", "receiver_end_ps", flow);
}

int64_t
LastPs(const TestNetwork& network)
{
    int64_t last = 0;
    for (size_t row = 0; row < network.Rows("flows"); row++)
    {
        last = std::max(last, EndPs(network, row));
    }
    return last;
}

} // namespace

/**
 * Up to RttBytes a message comes in one way and is answered once; a byte more waits for one GRANT.
 * Longer ones have a GRANT for each packet beyond the first six: 50 000 bytes are 35 packets.
 */
class GrantsAreForWhatIsLonger : public TestCase
{
  public:
    GrantsAreForWhatIsLonger(int64_t bytes, int64_t grants)
        : TestCase(std::to_string(bytes) + " bytes need " + std::to_string(grants) + " grants"),
          m_bytes(bytes),
          m_grants(grants)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        Star(network, 2);
        network.Flow(0, 1, m_bytes);
        network.Run();
        NS_TEST_EXPECT_MSG_EQ(network.Port(1, SWITCH, "sent_frames"), m_grants + 1, "and one ACK");
        if (m_grants == 0)
        {
            NS_TEST_EXPECT_MSG_EQ(EndPs(network, 0), OneWayPs(m_bytes), "one way");
        }
        else
        {
            NS_TEST_EXPECT_MSG_GT(EndPs(network, 0), OneWayPs(m_bytes), "and more");
        }
    }

    int64_t m_bytes;
    int64_t m_grants;
};

/**
 * A short message comes while a long one, granted or not, fills the receiver's link: of a higher
 * priority, it waits for the packet that is being sent, at the switch, and for none else.
 */
class TheShortOneGoesFirst : public TestCase
{
  public:
    explicit TheShortOneGoesFirst(int64_t rttBytes)
        : TestCase("a short message waits for one packet of a long one, RttBytes " +
                   std::to_string(rttBytes)),
          m_rttBytes(rttBytes)
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t START_PS = 50 * US_PS;
        for (const int64_t phasePs : {0, 20'000, 40'000, 60'000, 80'000})
        {
            TestNetwork network;
            Star(network, 3, {{"Cutoffs", "5000"}, {"RttBytes", std::to_string(m_rttBytes)}});
            network.Flow(0, 2, 3'000'000);
            network.Flow(1, 2, 3000, START_PS + phasePs);
            network.Run();
            NS_TEST_EXPECT_MSG_LT_OR_EQ(EndPs(network, 1),
                                        START_PS + phasePs + OneWayPs(3000) + PACKET_PS,
                                        "one packet's time");
            NS_TEST_EXPECT_MSG_GT(EndPs(network, 0), 200 * US_PS, "the long one is there");
        }
    }

    int64_t m_rttBytes;
};

/**
 * Two messages that both need grants: the shorter one is granted at a higher priority, so it takes
 * as long as alone but for what the longer one has sent blind, and a round trip.
 */
class GrantsFollowTheLengthLeft : public TestCase
{
  public:
    GrantsFollowTheLengthLeft()
        : TestCase("of two granted messages the shorter is as fast as alone")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t START_PS = 50 * US_PS;
        constexpr int64_t SHORT = 500'000;
        TestNetwork network;
        Star(network, 3, {{"RttBytes", "100000"}, {"Overcommitment", "2"}});
        network.Flow(0, 2, 3'000'000);
        network.Flow(1, 2, SHORT, START_PS);
        network.Run();
        const int64_t endPs = EndPs(network, 1) - START_PS;
        NS_TEST_EXPECT_MSG_LT(endPs, OneWayPs(SHORT) + WirePs(100'000) + 8 * US_PS, "the shorter");
        NS_TEST_EXPECT_MSG_GT(EndPs(network, 0), WirePs(3'000'000 + SHORT), "the longer waits");
    }
};

/// The source has the same order: of two messages to two hosts the shorter is as fast as alone.
class TheSourceHasTheSameOrder : public TestCase
{
  public:
    TheSourceHasTheSameOrder()
        : TestCase("a source sends the shorter of two messages first")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        Star(network, 3, {{"RttBytes", "1000000"}});
        network.Flow(0, 1, 900'000);
        network.Flow(0, 2, 90'000, US_PS);
        network.Run();
        NS_TEST_EXPECT_MSG_LT_OR_EQ(EndPs(network, 1),
                                    US_PS + OneWayPs(90'000) + PACKET_PS,
                                    "the shorter");
    }
};

/// Priorities are for switches. Host 1 grants the message of host 0 above the longer one of host 3;
/// host 2 grants a single, shorter one at the lowest priority, which is as fast as alone.
class PriorityIsNotTheSourcesOrder : public TestCase
{
  public:
    PriorityIsNotTheSourcesOrder()
        : TestCase("a source sends the shorter first although the longer has a higher priority")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t START_PS = 50 * US_PS;
        constexpr int64_t SHORT = 500'000;
        TestNetwork network;
        Star(network, 4, {{"RttBytes", "100000"}, {"Overcommitment", "2"}});
        network.Flow(3, 1, 9'000'000);
        network.Flow(0, 1, 3'000'000);
        network.Flow(0, 2, SHORT, START_PS);
        network.Run();
        const int64_t mostPs = START_PS + OneWayPs(SHORT) + PACKET_PS + 4 * US_PS; // first grants
        NS_TEST_EXPECT_MSG_LT(EndPs(network, 2), mostPs, "the shorter");
    }
};

/**
 * The queue at the receiver's port: what comes blind, and what is granted to several at once, less
 * what leaves. So never more than all first windows and K windows of grants.
 */
class QueueIsWhatWasLetGo : public TestCase
{
  public:
    explicit QueueIsWhatWasLetGo(int64_t overcommitment)
        : TestCase("the queue of an incast, " + std::to_string(overcommitment) + " at a time"),
          m_overcommitment(overcommitment)
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t SENDERS = 40;
        constexpr int64_t BYTES = 200'000;
        TestNetwork network;
        Star(network,
             SENDERS + 1,
             {{"RttBytes", "100000"}, {"Overcommitment", std::to_string(m_overcommitment)}});
        for (int64_t host = 0; host < SENDERS; host++)
        {
            network.Flow(host, SENDERS, BYTES);
        }
        network.Run();
        const int64_t window = 100'000 / MTU * FRAME;
        const int64_t blind = SENDERS * window;
        const int64_t queue = network.Port(SWITCH, SENDERS, "max_queue_bytes");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(queue, blind + m_overcommitment * window, "at most");
        // All come at once while one leaves.
        NS_TEST_EXPECT_MSG_GT(queue, blind * (SENDERS - 1) / SENDERS - window, "at least");
        const int64_t allPs = WirePs(SENDERS * BYTES);
        NS_TEST_EXPECT_MSG_LT(LastPs(network), 1.02 * allPs + 10 * US_PS, "the link is never idle");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "retransmitted_packets"), 0, "nothing is lost");
    }

    int64_t m_overcommitment;
};

/**
 * Eight sources send to eight receivers, and all find the messages of source 0 the shortest, then
 * those of source 1, and so on. A source sends one message after the other. One grant at a time:
 * receiver j waits until source 0 has served those before it, then takes the sources in turn, so
 * the last of 8 + 8 - 1 message times is the end, of which each link is busy for 8. Eight at a
 * time: no source waits but for its last messages, so 8 message times are almost enough.
 */
class SeveralAtATimeFillTheLinks : public TestCase
{
  public:
    SeveralAtATimeFillTheLinks()
        : TestCase("one message at a time wastes links, several do not")
    {
    }

  private:
    void DoRun() override
    {
        constexpr int64_t SOURCES = 8;
        constexpr int64_t RECEIVERS = 8;
        constexpr int64_t BYTES = 400'000;
        constexpr int64_t BLIND = 50'000;
        const auto durationPs = [](int64_t overcommitment) {
            TestNetwork network;
            Star(network,
                 SOURCES + RECEIVERS,
                 {{"RttBytes", std::to_string(BLIND)},
                  {"Overcommitment", std::to_string(overcommitment)}});
            for (int64_t src = 0; src < SOURCES; src++)
            {
                for (int64_t dst = SOURCES; dst < SOURCES + RECEIVERS; dst++)
                {
                    network.Flow(src, dst, BYTES + src * MTU);
                }
            }
            network.Run();
            return LastPs(network);
        };
        const int64_t messagePs = WirePs(BYTES);
        NS_TEST_EXPECT_MSG_LT(durationPs(8), 5 * RECEIVERS * messagePs / 4, "eight at a time");
        NS_TEST_EXPECT_MSG_EQ_TOL(durationPs(1),
                                  (SOURCES + RECEIVERS - 1) * messagePs,
                                  messagePs,
                                  "one at a time");
    }
};

/// Whatever is lost, packets, grants, requests or the ACK, every message ends.
class HomaHealsLosses : public TestCase
{
  public:
    HomaHealsLosses()
        : TestCase("with 2 % of all frames lost every message arrives")
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.Use("loss", "ns3::IndependentLoss", {{"Ratio", "0.02"}});
        Star(network, 6, {{"ResendInterval", "50us"}, {"Rto", "200us"}});
        for (int64_t host = 0; host < 5; host++)
        {
            network.Flow(host, 5, 300'000);
            network.Flow(host, 5, 1000);
        }
        network.Run();
        NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 10, "all are done");
        NS_TEST_EXPECT_MSG_GT(network.Sum("ports", "dropped_loss_frames"), 30, "losses there were");
    }
};

/// What cannot be is refused in one line.
class WrongCutoffsAreRefused : public TestCase
{
  public:
    WrongCutoffsAreRefused()
        : TestCase("cutoffs that cannot be")
    {
    }

  private:
    void DoRun() override
    {
        const auto complaint = [](const std::string& cutoffs, const std::string& levels) {
            TestNetwork network;
            Star(network, 2, {{"Cutoffs", cutoffs}, {"ScheduledLevels", levels}});
            network.Flow(0, 1, 1000);
            return network.Complaint();
        };
        const auto has = [](const std::string& text, const std::string& part) {
            return text.find(part) != std::string::npos;
        };
        for (const char* wrong : {"2000,1000", "0", "a", "1000,,2000", "-1"})
        {
            const std::string text = complaint(wrong, "4");
            NS_TEST_EXPECT_MSG_EQ(has(text, "write rising numbers of bytes"), true, text);
        }
        const std::string text = complaint("1000,2000", "6");
        NS_TEST_EXPECT_MSG_EQ(has(text, "3 unscheduled priorities, which collide with 6"),
                              true,
                              text);
        NS_TEST_EXPECT_MSG_EQ(complaint("1000,2000", "5"), "", "and this is fine");
    }
};

class HomaTransportTestSuite : public TestSuite
{
  public:
    HomaTransportTestSuite()
        : TestSuite("homa-transport", Type::SYSTEM)
    {
        const auto add = [this](TestCase* test) { AddTestCase(test, Duration::QUICK); };
        add(new GrantsAreForWhatIsLonger(RTT_BYTES, 0));
        add(new GrantsAreForWhatIsLonger(RTT_BYTES + 1, 1));
        add(new GrantsAreForWhatIsLonger(RTT_BYTES - 500, 0));
        add(new GrantsAreForWhatIsLonger(5 * RTT_BYTES, 29));
        add(new TheShortOneGoesFirst(100'000));
        add(new TheShortOneGoesFirst(3'000'000));
        add(new GrantsFollowTheLengthLeft);
        add(new TheSourceHasTheSameOrder);
        add(new PriorityIsNotTheSourcesOrder);
        add(new QueueIsWhatWasLetGo(1));
        add(new QueueIsWhatWasLetGo(8));
        add(new SeveralAtATimeFillTheLinks);
        add(new HomaHealsLosses);
        add(new WrongCutoffsAreRefused);
    }
};

static HomaTransportTestSuite g_homaTransportTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3
