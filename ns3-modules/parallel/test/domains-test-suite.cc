// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"
#include "../model/window-crew.h"

#include "ns3/nstime.h"
#include "ns3/simulator.h"

#include <map>
#include <thread>
#include <vector>

using namespace ns3;
using namespace ns3::tests;

namespace
{

using Columns = std::map<std::string, std::vector<int64_t>>;

constexpr int64_t LEAVES = 4;
constexpr int64_t HOSTS = 16;
constexpr int64_t SPINES = 2;
constexpr int64_t FIRST_LEAF = 100;
constexpr int64_t FIRST_SPINE = 200;

/// What a stock event has seen of the run: when it happened, and how many packets had arrived.
using Seen = std::vector<std::pair<int64_t, uint64_t>>;

/// Schedule stock events beside the fabric: one every 7 us, and one at the moment of a change.
void
LookEvery7Us(TestNetwork& network, Seen& seen)
{
    const auto look = [&network, &seen] {
        seen.emplace_back(Simulator::Now().GetTimeStep(), network.GetFacade().DataPackets());
    };
    for (int64_t us = 7; us < 70; us += 7)
    {
        Simulator::Schedule(PicoSeconds(us * US_PS), look);
    }
    Simulator::Schedule(PicoSeconds(20 * US_PS), look);
}

/// 16 hosts below four leaves, spread over domains, and messages among them.
void
BuildNetwork(TestNetwork& network, int64_t domains)
{
    const auto node = [&](int64_t id, int64_t tier, int64_t domain) {
        network.Row(
            "nodes",
            {{"node", id}, {"is_switch", tier != 0}, {"tier", tier}, {"domain", domain % domains}});
    };
    for (int64_t host = 0; host < HOSTS; host++)
    {
        node(host, 0, host % LEAVES);
        network.Link(host, FIRST_LEAF + host % LEAVES);
        network.Flow(host, (host + 5) % HOSTS, 200'000);
        network.Flow(host, 0 == host ? 1 : 0, 20'000, 3 * US_PS);
    }
    for (int64_t leaf = 0; leaf < LEAVES; leaf++)
    {
        node(FIRST_LEAF + leaf, 1, leaf);
        for (int64_t spine = 0; spine < SPINES; spine++)
        {
            network.Link(FIRST_LEAF + leaf, FIRST_SPINE + spine);
        }
    }
    for (int64_t spine = 0; spine < SPINES; spine++)
    {
        node(FIRST_SPINE + spine, 2, spine + 1);
    }
}

/// @return every column of a run of 16 hosts with PFC and a link that is cut and comes back
Columns
Outcome(int64_t domains, int64_t threads, Seen& seen)
{
    TestNetwork network;
    LookEvery7Us(network, seen);
    BuildNetwork(network, domains);
    for (const auto& [timePs, rateBps] :
         {std::pair{20 * US_PS, int64_t{0}}, std::pair{60 * US_PS, 100 * GBPS}})
    {
        network.Row("link_events",
                    {{"time_ps", timePs},
                     {"node_a", FIRST_LEAF},
                     {"node_b", FIRST_SPINE + 1},
                     {"rate_bps", rateBps}});
    }
    network.Use("forwarding", "ns3::EcmpHash");
    network.Use("flow_control", "ns3::Pfc", {{"XoffBytes", "20000"}});
    network.Transport({{"Rto", "100us"}}, "ns3::RoceTransport");
    network.Section("ns3::Switch", {{"BufferBytes", "10000000"}});
    network.Section("ns3::Trace", {{"Pauses", "true"}, {"SamplePs", "10000000"}});
    network.Engine("ns3::PacketEngine", {{"Threads", std::to_string(threads)}});
    network.Run();
    Columns columns;
    for (const auto& table : network.GetFacade().Tables())
    {
        if (table == "process")
        {
            continue;
        }
        for (const auto& name : network.GetFacade().Columns(table))
        {
            const int64_t* values = network.GetFacade().Data(table, name);
            columns[table + "." + name].assign(values, values + network.Rows(table));
        }
    }
    return columns;
}

static Suite g_suite{"domains"};

/// Oracle: each domain is executed once in each window, however many threads take part in it.
TEST_CASE(g_suite, "threads that share out the domains of a window")
{
    constexpr uint64_t WINDOWS = 2000;
    for (const auto& [threads, domains] :
         std::vector<std::pair<uint32_t, uint32_t>>{{1, 3}, {2, 2}, {3, 7}, {4, 2}})
    {
        std::vector<uint64_t> executed(domains, 0);
        uint64_t windows = 0;
        uint32_t active = threads;
        bool isWhole = true;
        fabric::WindowCrew crew(threads, domains, active);
        const auto plan = [&, threads = threads] {
            windows++;
            isWhole = isWhole && executed == std::vector<uint64_t>(domains, windows);
            active = windows % 7 == 0 ? 1 + windows / 7 % threads : active;
            return windows == WINDOWS ? 0 : active;
        };
        const auto takePart = [&](uint32_t thread) {
            crew.TakePart(thread, [&](uint32_t domain) { executed[domain]++; }, plan);
        };
        {
            std::vector<std::jthread> others;
            for (uint32_t thread = 1; thread < threads; thread++)
            {
                others.emplace_back(takePart, thread);
            }
            takePart(0);
        }
        NS_TEST_EXPECT_MSG_EQ(windows, WINDOWS, "all windows were executed");
        NS_TEST_EXPECT_MSG_EQ(isWhole, true, "each domain was executed once in each of them");
    }
}

/// Oracle: the same run in one domain.
TEST_CASE(g_suite, "one run in several domains on several threads")
{
    Seen seen;
    const Columns expected = Outcome(1, 1, seen);
    NS_TEST_EXPECT_MSG_EQ(seen.size(), 10, "stock events have happened");
    NS_TEST_EXPECT_MSG_GT(seen.back().second, seen.front().second, "and packets between them");
    NS_TEST_EXPECT_MSG_GT(expected.at("pauses.start_ps").size(), 0, "PFC has paused");
    for (const auto& [domains, threads] :
         std::vector<std::pair<int64_t, int64_t>>{{2, 1}, {2, 2}, {3, 2}, {4, 4}})
    {
        Seen parted;
        const Columns got = Outcome(domains, threads, parted);
        NS_TEST_EXPECT_MSG_EQ((parted == seen), true, "stock events see the same");
        for (const auto& [name, values] : expected)
        {
            NS_TEST_EXPECT_MSG_EQ((got.at(name) == values),
                                  true,
                                  name << " in " << domains << " domains on " << threads
                                       << " threads");
        }
    }
}

} // namespace
