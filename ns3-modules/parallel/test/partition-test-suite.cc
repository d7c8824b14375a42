// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/partition.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

using namespace ns3;
using namespace ns3::fabric;
using namespace ns3::tests;

namespace
{

constexpr int64_t RATE_BPS = 100'000'000'000;
constexpr int64_t NS_PS = 1000;

void
AddNode(FabricTables& tables, int64_t id, int64_t tier)
{
    tables.nodes.push_back({id, tier != 0, tier, 0, 0, 0});
}

void
AddLink(FabricTables& tables, int64_t a, int64_t b, int64_t delayPs)
{
    tables.links.push_back({a, b, 0, RATE_BPS, delayPs, 0});
}

/// @return leaves from id 10,000 on with hosts from 0 on, and spines from 20,000 on
FabricTables
LeafSpine(int64_t leaves, int64_t hostsPerLeaf, int64_t spines, int64_t delayPs)
{
    FabricTables tables;
    for (int64_t leaf = 0; leaf < leaves; leaf++)
    {
        AddNode(tables, 10'000 + leaf, 1);
        for (int64_t i = 0; i < hostsPerLeaf; i++)
        {
            AddNode(tables, leaf * hostsPerLeaf + i, 0);
            AddLink(tables, leaf * hostsPerLeaf + i, 10'000 + leaf, delayPs);
        }
        for (int64_t spine = 0; spine < spines; spine++)
        {
            AddLink(tables, 10'000 + leaf, 20'000 + spine, delayPs);
        }
    }
    for (int64_t spine = 0; spine < spines; spine++)
    {
        AddNode(tables, 20'000 + spine, 2);
    }
    tables.SortAndCheck();
    return tables;
}

/// @return switches from id 100 on in a row, joined by links of these delays, each with one host
FabricTables
Chain(const std::vector<int64_t>& delaysPs)
{
    FabricTables tables;
    for (int64_t i = 0; i <= static_cast<int64_t>(delaysPs.size()); i++)
    {
        AddNode(tables, i, 0);
        AddNode(tables, 100 + i, 1);
        AddLink(tables, i, 100 + i, NS_PS);
    }
    for (size_t i = 0; i < delaysPs.size(); i++)
    {
        const auto id = static_cast<int64_t>(100 + i);
        AddLink(tables, id, id + 1, delaysPs[i]);
    }
    tables.SortAndCheck();
    return tables;
}

/// @return the domain of each node, by id
std::map<int64_t, uint32_t>
ById(const FabricTables& tables, const std::vector<uint32_t>& domains)
{
    std::map<int64_t, uint32_t> of;
    for (size_t i = 0; i < domains.size(); i++)
    {
        of[tables.nodes[i].id] = domains[i];
    }
    return of;
}

static Suite g_suite{"partition"};

/// Oracle: by hand. Equal switches in numbers that divide have equal shares of each tier.
TEST_CASE(g_suite, "equal shares of every tier, hosts with their switch, and no domain empty")
{
    const FabricTables tables = LeafSpine(16, 4, 8, 500 * NS_PS);
    for (const uint32_t n : {1U, 2U, 4U, 8U})
    {
        const auto of = ById(tables, Partition(tables, n));
        std::map<std::pair<int64_t, uint32_t>, int64_t> count;
        for (const NodeRow& node : tables.nodes)
        {
            count[{node.tier, of.at(node.id)}]++;
        }
        for (uint32_t domain = 0; domain < n; domain++)
        {
            NS_TEST_EXPECT_MSG_EQ((count[{0, domain}]), 64 / n, "hosts of " << domain);
            NS_TEST_EXPECT_MSG_EQ((count[{1, domain}]), 16 / n, "leaves of " << domain);
            NS_TEST_EXPECT_MSG_EQ((count[{2, domain}]), 8 / n, "spines of " << domain);
        }
        for (int64_t host = 0; host < 64; host++)
        {
            NS_TEST_EXPECT_MSG_EQ(of.at(host), of.at(10'000 + host / 4), "host " << host);
        }
    }
    for (const uint32_t n : {3U, 5U, 7U})
    {
        const std::vector<uint32_t> domains = Partition(tables, n);
        const std::set<uint32_t> used(domains.begin(), domains.end());
        NS_TEST_EXPECT_MSG_EQ(used.size(), n, "none is empty");
        NS_TEST_EXPECT_MSG_EQ(*used.rbegin(), n - 1, "and they count from 0");
    }
    const std::vector<uint32_t> few = Partition(LeafSpine(2, 1, 1, NS_PS), 1000);
    NS_TEST_EXPECT_MSG_EQ(*std::ranges::max_element(few), 2, "at most one for each switch");
}

/// Oracle: by hand. Links of 10 us are where domains end, and those of 1 us are not.
TEST_CASE(g_suite, "domains end on long links, and where no news travels fast")
{
    const auto pairs = Chain({1'000, 10'000, 1'000, 10'000, 1'000, 10'000, 1'000});
    const auto ofPair = ById(pairs, Partition(pairs, 4));
    const auto sites = Chain({1'000, 1'000, 1'000, 5'000'000, 1'000, 1'000, 1'000});
    const auto ofSite = ById(sites, Partition(sites, 2));
    for (int64_t i = 0; i < 8; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(ofPair.at(100 + i), i / 2, "pair of " << i);
        NS_TEST_EXPECT_MSG_EQ(ofSite.at(100 + i), i / 4, "site of " << i);
    }
    auto equal = Chain(std::vector<int64_t>(7, 1'000));
    auto of = ById(equal, Partition(equal, 2));
    NS_TEST_EXPECT_MSG_NE(of.at(3), of.at(4), "by links alone these part");
    equal.flows = {{0, 0, 3, 1000, 0, 0}, {1, 4, 7, 1000, 0, 0}};
    equal.dependencies = {{1, 0, false, 1}}; // news from host 3 to host 4 takes 1 ps
    of = ById(equal, Partition(equal, 2));
    NS_TEST_EXPECT_MSG_EQ(of.at(3), of.at(4), "these two stay together");
    NS_TEST_EXPECT_MSG_NE(of.at(0), of.at(7), "and others part");
}

/// Oracle: what a domain may hold. 8192 hosts have 32,768 ends of links of 128 bytes, each with a
/// dozen frames and their events under way: 13 MB at 100 Gb/s over 3 MB.
TEST_CASE(g_suite, "domains are chosen by the size of the network, by threads and by windows")
{
    const auto chosen = [](const FabricTables& tables, uint32_t threads) {
        const std::vector<uint32_t> domains = ChooseDomains(tables, threads);
        return std::ranges::max(domains) + 1;
    };
    const FabricTables small = LeafSpine(16, 8, 16, 500 * NS_PS);
    NS_TEST_EXPECT_MSG_EQ(chosen(small, 1), 1, "128 hosts fit a cache");
    NS_TEST_EXPECT_MSG_EQ(chosen(small, 3), 3, "one for each thread");
    const FabricTables large = LeafSpine(128, 64, 64, 500 * NS_PS);
    NS_TEST_EXPECT_MSG_EQ(chosen(large, 1), 2, "8192 hosts do not");
    const FabricTables near = LeafSpine(16, 8, 16, NS_PS);
    NS_TEST_EXPECT_MSG_EQ(chosen(near, 4), 1, "windows of 1 ns hold next to nothing");
}

} // namespace
