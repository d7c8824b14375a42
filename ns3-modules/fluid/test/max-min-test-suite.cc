// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/counter-random.h"
#include "ns3/max-min.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace ns3
{
namespace tests
{

namespace
{

using Uses = std::vector<MaxMin::Use>;

static Suite g_suite{"max-min"};

/// Rates of a few flows over a few links against numbers found by hand.
TEST_CASE(g_suite, "progressive filling by hand")
{
    // Links of 1; flow 0 crosses both, 1 the first, 2 and 3 the second. The second gives 1/3
    // each and is full; the first leaves 2/3 to flow 1.
    MaxMin network({1.0, 1.0});
    const auto both = network.Add({{0, 1.0}, {1, 1.0}});
    const auto first = network.Add({{0, 1.0}});
    const auto third = network.Add({{1, 1.0}});
    network.Add({{1, 1.0}});
    network.Solve();
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(both), 1.0 / 3, 1e-12, "held back by link 1");
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(first), 2.0 / 3, 1e-12, "what flow 0 leaves");
    NS_TEST_EXPECT_MSG_EQ(network.BottleneckOf(first), 0, "of flow 1");

    // Flow 2 ends: link 1 gives 1/2 each, and flow 1 has 1/2 too.
    network.Remove(third);
    network.Solve();
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(both), 0.5, 1e-12, "two are left on link 1");
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(first), 0.5, 1e-12, "two are left on link 0");

    // Link 1 grows to 4: now link 0 holds both back, and 1 - 1/2 ... 4 - 1/2 is for flow 3.
    network.SetCapacity(1, 4.0);
    network.Solve();
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(both), 0.5, 1e-12, "link 0 is full");
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(3), 3.5, 1e-12, "what flow 0 leaves of link 1");

    // A link that is cut stops those that cross it, and nobody else.
    network.SetCapacity(0, 0.0);
    network.Solve();
    NS_TEST_EXPECT_MSG_EQ(network.RateOf(both), 0.0, "link 0 is cut");
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(3), 4.0, 1e-12, "alone on link 1");
}

/// A flow that is split takes a part of each link: shares weigh.
TEST_CASE(g_suite, "a flow that is split over links")
{
    // Flow 0 takes half of its rate of links 0 and 1, flow 1 all of its rate of link 0. All
    // rates are equal as they rise: r / 2 + r = 1 on link 0, so r = 2/3.
    MaxMin network({1.0, 1.0});
    const auto split = network.Add({{0, 0.5}, {1, 0.5}});
    const auto whole = network.Add({{0, 1.0}});
    network.Solve();
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(split), 2.0 / 3, 1e-12, "split");
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(whole), 2.0 / 3, 1e-12, "whole");
    network.Remove(whole);
    network.Solve();
    NS_TEST_EXPECT_MSG_EQ_TOL(network.RateOf(split), 2.0, 1e-12, "both links are full");
}

/// Thousands of changes at random: after each the allocation is the max-min fair one.
class Properties : public TestCase
{
  public:
    Properties()
        : TestCase("feasible, and a bottleneck for every flow, after every change")
    {
    }

  private:
    static constexpr uint32_t LINKS = 24;

    uint64_t Draw(uint64_t n)
    {
        return m_random.Bits(m_drawn++) % n;
    }

    Uses DrawUses()
    {
        std::map<uint32_t, double> shares;
        for (uint64_t left = 1 + Draw(4); left > 0; left--)
        {
            shares[static_cast<uint32_t>(Draw(LINKS))] = 1.0 / static_cast<double>(1 + Draw(3));
        }
        Uses uses;
        for (const auto& [link, share] : shares)
        {
            uses.push_back({link, share});
        }
        return uses;
    }

    /// The definition, not the algorithm: sums and comparisons over all flows and links.
    void Check(const MaxMin& network, const std::vector<uint32_t>& flows, uint32_t step)
    {
        std::vector<double> load(LINKS, 0);
        std::vector<double> fastest(LINKS, 0);
        for (const auto flow : flows)
        {
            for (const auto& use : network.UsesOf(flow))
            {
                load[use.link] += use.share * network.RateOf(flow);
                fastest[use.link] = std::max(fastest[use.link], network.RateOf(flow));
            }
        }
        for (uint32_t link = 0; link < LINKS; link++)
        {
            NS_TEST_ASSERT_MSG_EQ((load[link] <= network.Capacity(link) * (1 + 1e-9)),
                                  true,
                                  "step " << step << ": link " << link << " has " << load[link]);
        }
        for (const auto flow : flows)
        {
            const double rate = network.RateOf(flow);
            const auto& uses = network.UsesOf(flow);
            const bool held = std::any_of(uses.begin(), uses.end(), [&](const auto& use) {
                return load[use.link] >= network.Capacity(use.link) * (1 - 1e-9) &&
                       fastest[use.link] <= rate * (1 + 1e-9);
            });
            NS_TEST_ASSERT_MSG_EQ(held, true, "step " << step << ": flow " << flow);
        }
    }

    void DoRun() override
    {
        std::vector<double> capacities;
        for (uint32_t link = 0; link < LINKS; link++)
        {
            capacities.push_back(static_cast<double>(1 + Draw(8)));
        }
        MaxMin network(capacities);
        std::vector<uint32_t> flows;
        std::map<uint32_t, double> before;
        for (uint32_t step = 0; step < 4000; step++)
        {
            const uint64_t what = Draw(20);
            if (what == 0)
            {
                const auto link = static_cast<uint32_t>(Draw(LINKS));
                network.SetCapacity(link, static_cast<double>(Draw(5)));
            }
            else if (what < 10 && !flows.empty())
            {
                const size_t place = Draw(flows.size());
                network.Remove(flows[place]);
                flows.erase(flows.begin() + static_cast<std::ptrdiff_t>(place));
            }
            else
            {
                flows.push_back(network.Add(DrawUses()));
            }
            const auto changed = network.Solve();
            Check(network, flows, step);
            if (step % 100 == 0)
            {
                CheckAnew(network, capacities, flows, step);
            }
        }
        NS_TEST_EXPECT_MSG_EQ((network.Filled() > 4000), true, "flows were filled");
    }

    /// The same flows in the opposite order, all at once: the same rates.
    void CheckAnew(const MaxMin& network,
                   std::vector<double> capacities,
                   const std::vector<uint32_t>& flows,
                   uint32_t step)
    {
        for (uint32_t link = 0; link < LINKS; link++)
        {
            capacities[link] = network.Capacity(link);
        }
        MaxMin again(capacities);
        std::vector<uint32_t> handles;
        for (auto flow = flows.rbegin(); flow != flows.rend(); ++flow)
        {
            handles.push_back(again.Add(network.UsesOf(*flow)));
        }
        again.Solve();
        for (size_t i = 0; i < flows.size(); i++)
        {
            const double rate = network.RateOf(flows[i]);
            NS_TEST_ASSERT_MSG_EQ_TOL(again.RateOf(handles[flows.size() - 1 - i]),
                                      rate,
                                      1e-9 * rate,
                                      "step " << step << ": order changes nothing");
        }
    }

    fabric::CounterRandom m_random{7, fabric::RandomUse::FLOW_TUPLE, 0};
    uint64_t m_drawn{0};
};

/// Far from a change nothing is filled anew.
TEST_CASE(g_suite, "a change costs what is near it")
{
    // A thousand islands of two flows on one link: one flow less is one flow to fill.
    constexpr uint32_t ISLANDS = 1000;
    MaxMin network(std::vector<double>(ISLANDS, 1.0));
    uint32_t last = 0;
    for (uint32_t island = 0; island < ISLANDS; island++)
    {
        network.Add({{island, 1.0}});
        last = network.Add({{island, 1.0}});
    }
    network.Solve();
    const uint64_t before = network.Filled();
    network.Remove(last);
    const auto changed = network.Solve();
    NS_TEST_EXPECT_MSG_EQ(network.Filled() - before, 1, "flows filled");
    NS_TEST_EXPECT_MSG_EQ(changed.size(), 1, "flows with another rate");
}

ADD_CASES(g_suite)
{
    suite.Add(new Properties);
}

} // namespace

} // namespace tests
} // namespace ns3
