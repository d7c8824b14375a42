// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/congestion-control.h"
#include "ns3/inband-telemetry.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

/// No limit, or a window of one packet; keeps what it is told of hops.
class TelemetryListener final : public CongestionControl
{
  public:
    static inline std::vector<std::vector<IntHop>> heard; ///< By answer
    static inline uint64_t windowBytes = NO_LIMIT;

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::TelemetryListener")
                                .SetParent<CongestionControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<TelemetryListener>();
        return tid;
    }

    void Open(uint32_t, const Path&) override
    {
    }

    void OnAck(uint32_t, const Ack& ack) override
    {
        heard.emplace_back(ack.hops.begin(), ack.hops.end());
    }

    uint64_t WindowBytes(uint32_t) const override
    {
        return windowBytes;
    }

    Traits GetTraits() const override
    {
        return {.needsIntHops = true};
    }
};

NS_OBJECT_ENSURE_REGISTERED(TelemetryListener);

namespace
{

const TestNetwork::Attributes LISTENING{{"CongestionControl", "ns3::tests::TelemetryListener"}};

/// Host 0, switches 10 and 11, host 1, over links of 100 Gb/s (80 ps per byte) and 1 us.
void
Chain(TestNetwork& network)
{
    TelemetryListener::heard.clear();
    TelemetryListener::windowBytes = CongestionControl::NO_LIMIT;
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    network.Link(0, 10);
    network.Link(10, 11);
    network.Link(11, 1);
}

} // namespace

static Suite g_suite{"inband-telemetry", TestSuite::Type::SYSTEM};

/// Oracle: one packet at a time, by hand: 2 bytes, 8 for each hop, and the answer has them too.
TEST_CASE(g_suite, "two switches")
{
    constexpr int64_t PACKETS = 5;
    TestNetwork network;
    Chain(network);
    TelemetryListener::windowBytes = 1;
    network.Flow(0, 1, PACKETS * 4096);
    network.Use("program", "ns3::InbandTelemetry");
    network.Transport(LISTENING, "ns3::SprayTransport");
    network.Run();
    NS_TEST_ASSERT_MSG_EQ(TelemetryListener::heard.size(), PACKETS, "answers");
    constexpr int64_t DATA = 4096 + 62 + 20; // on the wire
    constexpr int64_t FORTH_PS = (3 * DATA + 10 + 18) * 80 + 3 * US_PS;
    constexpr int64_t RTT_PS = FORTH_PS + 3 * ((66 + 18 + 20) * 80 + US_PS);
    for (int64_t packet = 0; packet < PACKETS; packet++)
    {
        const auto& hops = TelemetryListener::heard[packet];
        NS_TEST_ASSERT_MSG_EQ(hops.size(), 2, "hops");
        int64_t timePs = packet * RTT_PS;
        const int64_t longer[]{0, 10, 18};
        for (int64_t i = 0; i < 2; i++)
        {
            timePs += (DATA + longer[i]) * 80 + US_PS;
            NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(hops[i].timePs), timePs, "left");
            NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(hops[i].sentBytes),
                                  packet * (DATA + longer[i + 1]),
                                  "sent before");
            NS_TEST_EXPECT_MSG_EQ(hops[i].queuedBytes, 0, "nobody waits");
            NS_TEST_EXPECT_MSG_EQ(hops[i].rateBps, 100 * GBPS, "rate");
        }
        NS_TEST_EXPECT_MSG_NE(hops[0].port, hops[1].port, "two ports");
    }
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "sender_end_ps", 0), PACKETS * RTT_PS, "end");
}

/// Oracle: a link that is never idle sends at its rate: bytes over time are C to 1e-6.
TEST_CASE(g_suite, "two senders into one link")
{
    TelemetryListener::heard.clear();
    TelemetryListener::windowBytes = CongestionControl::NO_LIMIT;
    TestNetwork network;
    network.Star(3);
    network.Flow(0, 2, 500 * 4096);
    network.Flow(1, 2, 500 * 4096);
    network.Use("program", "ns3::InbandTelemetry");
    network.Transport(LISTENING, "ns3::RoceTransport");
    network.Run();
    auto& heard = TelemetryListener::heard;
    NS_TEST_ASSERT_MSG_EQ(heard.size(), 1000, "answers");
    for (size_t i = 10; i < heard.size(); i++)
    {
        const IntHop& before = heard[i - 10][0];
        const IntHop& now = heard[i][0];
        const auto bits = 8.0 * static_cast<double>(now.sentBytes - before.sentBytes);
        const double bps = bits / (static_cast<double>(now.timePs - before.timePs) * 1e-12);
        NS_TEST_ASSERT_MSG_EQ_TOL(bps / 100e9, 1, 1e-6, "answer " << i);
    }
}

/// Oracle: one line that says what to write.
TEST_CASE(g_suite, "a switch that writes nothing")
{
    TestNetwork network;
    Chain(network);
    network.Flow(0, 1, 4096);
    network.Transport(LISTENING, "ns3::RoceTransport");
    NS_TEST_EXPECT_MSG_EQ(
        network.Complaint(),
        "ns3::RoceTransport: its CongestionControl reads in-band telemetry, which switch 10 "
        "does not write; give all switches a program that does: "
        "switch: {programs: [{type: ns3::InbandTelemetry}]}",
        "before the run");
}

ADD_CASES(g_suite)
{
    InbandTelemetry::GetTypeId(); // the library that registers it must be linked
}

} // namespace tests
} // namespace ns3
