// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/leaf-spine.h"
#include "ns3/switch-program.h"

#include <map>
#include <set>

namespace ns3
{
namespace tests
{

using namespace fabric;

/// Notes what LeafSpine says of a network, and does nothing.
class LeafSpineNotes final : public SwitchProgram
{
  public:
    static inline std::map<std::pair<int64_t, int64_t>, std::set<int64_t>> spines; ///< To a host
    static inline std::multiset<size_t> places;
    static inline std::multiset<size_t> pairs;
    static inline size_t numPlaces = 0;
    static inline size_t numPairs = 0;

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::LeafSpineNotes")
                                .SetParent<SwitchProgram>()
                                .SetGroupName("Tests")
                                .AddConstructor<LeafSpineNotes>();
        return tid;
    }

    void Attach(ProgramContext& context) override
    {
        const LeafSpine network(context, "it");
        numPlaces = network.Places();
        numPairs = network.Pairs();
        for (uint32_t node = 0; node < context.NumNodes(); node++)
        {
            for (uint32_t dst = 0; context.GetNode(node).isSwitch && dst < context.NumHosts();
                 dst++)
            {
                auto& found = spines[{context.GetNode(node).id, dst}];
                for (const PortId port : network.UplinksTo(node, dst))
                {
                    found.insert(context.PeerOf(port).first);
                }
            }
            for (uint32_t other = 0; other < context.NumNodes(); other++)
            {
                if (network.IsLeaf(node) && network.IsLeaf(other))
                {
                    NoteTables(network, node, other);
                }
            }
        }
    }

  private:
    static void NoteTables(const LeafSpine& network, uint32_t leaf, uint32_t other)
    {
        pairs.insert(network.Pair(leaf, other));
        for (uint32_t uplink = 0; uplink < network.MostUplinks(); uplink++)
        {
            places.insert(network.Place(leaf, other, uplink));
        }
    }
};

NS_OBJECT_ENSURE_REGISTERED(LeafSpineNotes);

static Suite g_suite{"fabric-leaf-spine"};

/**
 * Oracle: hand. Hosts 0, 1, 2 below leaves 10, 11, 12; spine 20 is joined to all leaves, 21 to 10
 * and 11: between these there are two paths, elsewhere one, which is no choice.
 */
TEST_CASE(g_suite, "uplinks to choose from, and tables about other leaves")
{
    TestNetwork network;
    for (const int64_t host : {0, 1, 2})
    {
        network.Host(host);
        network.Switch(10 + host);
        network.Link(host, 10 + host);
    }
    for (const int64_t spine : {20, 21})
    {
        network.Switch(spine, 2);
        network.Link(10, spine);
        network.Link(11, spine);
    }
    network.Link(12, 20);
    network.Use("forwarding", "ns3::tests::CountingForwarding");
    network.Use("program", "ns3::tests::LeafSpineNotes");
    network.Flow(0, 1, 1000);
    network.Transport();
    network.Run();
    for (const auto& [path, found] : LeafSpineNotes::spines)
    {
        const bool isChoice = path == std::pair<int64_t, int64_t>(10, 1) ||
                              path == std::pair<int64_t, int64_t>(11, 0);
        const auto expected = isChoice ? std::set<int64_t>{20, 21} : std::set<int64_t>{};
        NS_TEST_EXPECT_MSG_EQ((found == expected), true, path.first << " to " << path.second);
    }
    NS_TEST_EXPECT_MSG_EQ(LeafSpineNotes::spines.size(), 5 * 3, "switches and hosts");
    std::multiset<size_t> all;
    for (size_t place = 0; place < 3 * 3 * 2; place++)
    {
        all.insert(place);
    }
    NS_TEST_EXPECT_MSG_EQ((LeafSpineNotes::places == all), true, "each place once");
    NS_TEST_EXPECT_MSG_EQ(LeafSpineNotes::numPlaces, 3 * 3 * 2, "places");
    NS_TEST_EXPECT_MSG_EQ(LeafSpineNotes::numPairs, 3 * 3, "pairs");
    NS_TEST_EXPECT_MSG_EQ(*LeafSpineNotes::pairs.rbegin(), 3 * 3 - 1, "the last pair");
    const std::set<size_t> unlike(LeafSpineNotes::pairs.begin(), LeafSpineNotes::pairs.end());
    NS_TEST_EXPECT_MSG_EQ(unlike.size(), 3 * 3, "each pair once");
}

} // namespace tests
} // namespace ns3
