// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/aimd-transport.h"
#include "ns3/fabric-facade.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

namespace // everything: another module's tests may have the same names
{

using Attributes = std::map<std::string, std::string>;
using Column = std::vector<int64_t>;

// Two hosts, two switches, three links of 100 Gb/s (80 ps per byte) and 1 us.
constexpr int64_t DELAY_PS = 1'000'000;
constexpr int64_t DATA_PS = (4096 + 62 + 20) * 80; ///< Payload, headers, framing
constexpr int64_t ACK_PS = (66 + 20) * 80;
constexpr int64_t FORTH_PS = 3 * (DATA_PS + DELAY_PS);
constexpr int64_t RTT_PS = FORTH_PS + 3 * (ACK_PS + DELAY_PS);

void
Give(fabric::Facade& facade, const char* table, const char* name, const Column& values)
{
    facade.Column(table, name, values.data(), values.size());
}

void
RunToTheEnd(fabric::Facade& facade)
{
    facade.Build();
    while (!facade.RunSlice(1'000'000'000'000, 10))
    {
    }
    facade.Finish();
}

/// Run one message of full packets; `lost` counts data frames on the link between the switches.
void
RunMessage(fabric::Facade& facade,
           int64_t packets,
           const Attributes& attributes,
           const Column& lost = {})
{
    Give(facade, "nodes", "node", {0, 1, 10, 11});
    Give(facade, "nodes", "is_switch", {0, 0, 1, 1});
    Give(facade, "nodes", "tier", {0, 0, 1, 1});
    Give(facade, "links", "node_a", {0, 10, 11});
    Give(facade, "links", "node_b", {10, 11, 1});
    Give(facade, "links", "rate_bps", Column(3, 100'000'000'000));
    Give(facade, "links", "delay_ps", Column(3, DELAY_PS));
    Give(facade, "flows", "flow", {0});
    Give(facade, "flows", "src", {0});
    Give(facade, "flows", "dst", {1});
    Give(facade, "flows", "bytes", {packets * 4096});
    Give(facade, "flows", "start_ps", {0});
    Give(facade, "drops", "node", Column(lost.size(), 10));
    Give(facade, "drops", "peer", Column(lost.size(), 11));
    Give(facade, "drops", "ordinal", lost);
    const auto transport = facade.Factory("ns3::AimdTransport");
    for (const auto& [name, value] : attributes)
    {
        facade.Attribute(transport, name, value);
    }
    facade.Transport(transport);
    RunToTheEnd(facade);
}

static Suite g_suite{"aimd-transport", TestSuite::Type::SYSTEM};

/**
 * Oracle: windows of 1, 2, ... k packets hold k (k + 1) / 2 packets. Each window starts one round
 * trip after the one before, and its packets follow each other without a gap.
 */
TEST_CASE(g_suite, "additive increase")
{
    for (const int64_t windows : {1, 2, 5, 15})
    {
        fabric::Facade facade;
        RunMessage(facade, windows * (windows + 1) / 2, {});
        NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "receiver_end_ps")[0],
                              (windows - 1) * (RTT_PS + DATA_PS) + FORTH_PS,
                              windows << " windows");
    }
}

/// Oracle: the first link is busy for n packets, then the last one crosses the two others.
TEST_CASE(g_suite, "a window that holds the message")
{
    for (const int64_t packets : {1, 2, 500})
    {
        fabric::Facade facade;
        RunMessage(facade, packets, {{"InitialPackets", "1000"}});
        NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "receiver_end_ps")[0],
                              (packets - 1) * DATA_PS + FORTH_PS,
                              packets << " packets");
    }
}

/// Oracle: counting. Each lost packet is sent once more, and nothing else is.
TEST_CASES(EachLossIsRepairedOnce,
           "lost: " + what,
           const std::string& what,
           Column lost,
           int64_t timeouts)
{
    constexpr int64_t PACKETS = 100;
    const auto losses = static_cast<int64_t>(lost.size());
    fabric::Facade facade;
    RunMessage(facade, PACKETS, {}, lost);
    NS_TEST_EXPECT_MSG_EQ(facade.FlowsDone(), 1, "the message is done");
    NS_TEST_EXPECT_MSG_EQ(facade.DataPackets(), PACKETS, "every packet arrives once");
    NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "sent_data_packets")[0],
                          PACKETS + losses,
                          "sent");
    NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "retransmitted_packets")[0], losses, "again");
    NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "timeouts")[0], timeouts, "timeouts");
}

/**
 * Two senders and one receiver around one switch that marks what leaves a queue of more than K.
 * Oracle: each window grows by one packet per round trip, and one round trip passes from the mark
 * to the cut, so the queue overshoots K by a few packets per flow. K is more than the
 * bandwidth-delay product (15 packets), so half a window keeps the link busy: what is lost is the
 * first growth, some 10 round trips, at both ends of the run.
 */
class MarksHoldTheQueue : public TestCase
{
  public:
    MarksHoldTheQueue()
        : TestCase("two flows at a link that marks")
    {
    }

  private:
    static constexpr int64_t FRAME_BYTES = 4096 + 62;
    static constexpr int64_t THRESHOLD_BYTES = 20 * FRAME_BYTES;
    static constexpr int64_t PACKETS = 3000;

    void DoRun() override
    {
        fabric::Facade facade;
        Run(facade);
        int64_t deepest = 0;
        for (size_t port = 0; port < facade.Rows("ports"); port++)
        {
            if (facade.Data("ports", "node")[port] == 10)
            {
                deepest = std::max(deepest, facade.Data("ports", "max_queue_bytes")[port]);
            }
        }
        NS_TEST_EXPECT_MSG_GT(deepest, THRESHOLD_BYTES, "the queue reaches the threshold");
        NS_TEST_EXPECT_MSG_LT_OR_EQ(deepest, THRESHOLD_BYTES + 6 * FRAME_BYTES, "and stays there");
        const int64_t busyPs = 2 * PACKETS * DATA_PS;
        const int64_t* endPs = facade.Data("flows", "receiver_end_ps");
        NS_TEST_EXPECT_MSG_GT(std::max(endPs[0], endPs[1]), busyPs, "no faster than the link");
        NS_TEST_EXPECT_MSG_LT(std::max(endPs[0], endPs[1]), busyPs + 20 * RTT_PS, "link busy");
        NS_TEST_EXPECT_MSG_GT(std::min(endPs[0], endPs[1]), busyPs * 9 / 10, "equal shares");
    }

    static void Run(fabric::Facade& facade)
    {
        Give(facade, "nodes", "node", {0, 1, 2, 10});
        Give(facade, "nodes", "is_switch", {0, 0, 0, 1});
        Give(facade, "nodes", "tier", {0, 0, 0, 1});
        Give(facade, "links", "node_a", {0, 1, 2});
        Give(facade, "links", "node_b", {10, 10, 10});
        Give(facade, "links", "rate_bps", Column(3, 100'000'000'000));
        Give(facade, "links", "delay_ps", Column(3, DELAY_PS));
        Give(facade, "flows", "flow", {0, 1});
        Give(facade, "flows", "src", {0, 1});
        Give(facade, "flows", "dst", {2, 2});
        Give(facade, "flows", "bytes", Column(2, PACKETS * 4096));
        Give(facade, "flows", "start_ps", {0, 0});
        const auto queue = facade.Factory("ns3::RedEcn");
        facade.Attribute(queue, "KminBytes", std::to_string(THRESHOLD_BYTES));
        facade.Attribute(queue, "KmaxBytes", std::to_string(THRESHOLD_BYTES));
        facade.Use("queue", queue);
        facade.Transport(facade.Factory("ns3::AimdTransport"));
        RunToTheEnd(facade);
    }
};

/**
 * One sender, a link of half the rate behind the switch, and a mark as soon as three packets wait.
 * Oracle: without a queue to live on, a window that is halved at W and grows by one per round trip
 * is 3/4 W on average, and W fills the link; so the link is busy 3/4 of the time.
 */
TEST_CASE(g_suite, "share of a link without a queue")
{
    constexpr int64_t PACKETS = 40'000;
    fabric::Facade facade;
    Give(facade, "nodes", "node", {0, 1, 10});
    Give(facade, "nodes", "is_switch", {0, 0, 1});
    Give(facade, "nodes", "tier", {0, 0, 1});
    Give(facade, "links", "node_a", {0, 1});
    Give(facade, "links", "node_b", {10, 10});
    Give(facade, "links", "rate_bps", {100'000'000'000, 50'000'000'000});
    Give(facade, "links", "delay_ps", Column(2, 10 * DELAY_PS));
    Give(facade, "flows", "flow", {0});
    Give(facade, "flows", "src", {0});
    Give(facade, "flows", "dst", {1});
    Give(facade, "flows", "bytes", {PACKETS * 4096});
    Give(facade, "flows", "start_ps", {0});
    const auto queue = facade.Factory("ns3::RedEcn");
    facade.Attribute(queue, "KminBytes", std::to_string(2 * 4158));
    facade.Attribute(queue, "KmaxBytes", std::to_string(2 * 4158));
    facade.Use("queue", queue);
    const auto transport = facade.Factory("ns3::AimdTransport");
    facade.Attribute(transport, "InitialPackets", "60"); // about the product: no slow beginning
    facade.Transport(transport);
    RunToTheEnd(facade);
    const double share = static_cast<double>(PACKETS * 2 * DATA_PS) /
                         static_cast<double>(facade.Data("flows", "receiver_end_ps")[0]);
    NS_TEST_EXPECT_MSG_EQ_TOL(share, 0.75, 0.05, "busy share of the slower link");
}

ADD_CASES(g_suite)
{
    AimdTransport::GetTypeId(); // the library that registers it must be linked
    suite.Add(new MarksHoldTheQueue);
    suite.Add(new EachLossIsRepairedOnce("nothing", {}, 0));
    suite.Add(new EachLossIsRepairedOnce("a few", {7, 40, 41, 60}, 0));
    // Behind the last packet nothing comes that could overtake it, and the first is alone.
    suite.Add(new EachLossIsRepairedOnce("the first", {1}, 1));
    suite.Add(new EachLossIsRepairedOnce("the last", {100}, 1));
}

} // namespace

} // namespace tests
} // namespace ns3
