// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/fabric-facade.h"
#include "ns3/spray-transport.h"

#include <map>
#include <set>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

constexpr int64_t PACKETS = 3000;
constexpr int64_t SPINES = 4;

using Rows = std::vector<std::vector<int64_t>>;

void
Give(fabric::Facade& facade, const char* table, const std::vector<const char*>& names, Rows rows)
{
    for (size_t column = 0; column < names.size(); column++)
    {
        std::vector<int64_t> values;
        for (const auto& row : rows)
        {
            values.push_back(row[column]);
        }
        facade.Column(table, names[column], values.data(), values.size());
    }
}

/// Host 0 under leaf 10 sends to host 1 under leaf 11, over four spines.
void
Fill(fabric::Facade& facade, const std::string& forwarding, const Rows& drops)
{
    Rows nodes{{0, 0, 0}, {1, 0, 0}, {10, 1, 1}, {11, 1, 1}};
    Rows links{{0, 10, 800'000'000'000, 500'000}, {1, 11, 800'000'000'000, 500'000}};
    for (int64_t spine = 20; spine < 20 + SPINES; spine++)
    {
        nodes.push_back({spine, 1, 2});
        links.push_back({10, spine, 800'000'000'000, 500'000});
        links.push_back({11, spine, 800'000'000'000, 500'000});
    }
    Give(facade, "nodes", {"node", "is_switch", "tier"}, nodes);
    Give(facade, "links", {"node_a", "node_b", "rate_bps", "delay_ps"}, links);
    Give(facade,
         "flows",
         {"flow", "src", "dst", "bytes", "start_ps"},
         {{0, 0, 1, PACKETS * 4096, 0}});
    Give(facade, "drops", {"node", "peer", "ordinal"}, drops);
    const auto trace = facade.Factory("ns3::Trace");
    facade.Attribute(trace, "Arrivals", "true");
    facade.Section(trace);
    facade.Use("forwarding", facade.Factory(forwarding));
    facade.Transport(facade.Factory("ns3::SprayTransport"));
}

} // namespace

static Suite g_suite{"spray-recovery", TestSuite::Type::SYSTEM};

/**
 * Oracle: a window of one packet is one packet a round trip, of two hops there and two back.
 * A frame has 1000 B, an answer 100 B, the wire adds 20 B; 100 Gb/s (80 ps per byte) and 1 us.
 */
TEST_CASE(g_suite, "a window of one packet is never exceeded")
{
    constexpr int64_t THERE_PS = 2 * (1020 * 80 + US_PS);
    constexpr int64_t BACK_PS = 2 * (120 * 80 + US_PS);
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 20 * 900);
    network.Transport(
        {{"MtuBytes", "900"}, {"HeaderBytes", "100"}, {"AckBytes", "100"}, {"WindowBdp", "0.01"}},
        "ns3::SprayTransport");
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                          19 * (THERE_PS + BACK_PS) + THERE_PS,
                          "end");
}

/**
 * Oracle: counting. Each lost data packet is sent once more, nothing else is, and every packet
 * comes to the destination exactly once, on whatever path and in whatever order. (A repair that is
 * lost in turn waits for a timeout.)
 */
TEST_CASES(EachLossIsRepairedOnce,
           "scripted losses on all four paths, " + forwarding.substr(5),
           const std::string& forwarding)
{
    Rows drops;
    for (int64_t spine = 20; spine < 20 + SPINES; spine++)
    {
        for (const int64_t ordinal : {1, 2, 50, 51, 52, 300, 500})
        {
            drops.push_back({10, spine, ordinal});
            drops.push_back({spine, 11, ordinal + 60});
        }
    }
    fabric::Facade facade;
    Fill(facade, forwarding, drops);
    facade.Build();
    while (!facade.RunSlice(1'000'000'000'000, 10))
    {
    }
    facade.Finish();

    const auto losses = static_cast<int64_t>(drops.size());
    NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "retransmitted_packets")[0], losses, "repairs");
    NS_TEST_EXPECT_MSG_EQ(facade.Data("flows", "sent_data_packets")[0], PACKETS + losses, "sent");
    std::set<int64_t> seen;
    for (size_t i = 0; i < facade.Rows("arrivals"); i++)
    {
        seen.insert(facade.Data("arrivals", "packet")[i]);
    }
    NS_TEST_EXPECT_MSG_EQ(facade.Rows("arrivals"), PACKETS, "no packet comes twice");
    NS_TEST_EXPECT_MSG_EQ(seen.size(), PACKETS, "and none is missing");
}

ADD_CASES(g_suite)
{
    SprayTransport::GetTypeId(); // the library that registers it must be linked
    for (const char* forwarding :
         {"ns3::EntropyModulo", "ns3::RandomSpray", "ns3::RoundRobinSpray"})
    {
        suite.Add(new EachLossIsRepairedOnce(forwarding));
    }
}

} // namespace tests
} // namespace ns3
