// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/congestion-control.h"
#include "ns3/hops-program.h"

#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

/// A window of one packet that keeps what it is told of hops.
class HopsListener final : public CongestionControl
{
  public:
    static inline std::vector<std::vector<IntHop>> heard; ///< By packet

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::HopsListener")
                                .SetParent<CongestionControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<HopsListener>();
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
        return 1;
    }

    Traits GetTraits() const override
    {
        return {.needsIntHops = true};
    }
};

NS_OBJECT_ENSURE_REGISTERED(HopsListener);

static Suite g_suite{"hops-program", TestSuite::Type::SYSTEM};

/// Oracle: one packet at a time over two switches, by hand; each hop adds 8 bytes.
TEST_CASE(g_suite, "two switches")
{
    constexpr int64_t PACKETS = 5;
    HopsListener::heard.clear();
    TestNetwork network;
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    network.Link(0, 10);
    network.Link(10, 11);
    network.Link(11, 1);
    network.Flow(0, 1, PACKETS * 4096);
    network.Use("program", "ns3::HopsProgram");
    network.Transport({ {"CongestionControl", "ns3::tests::HopsListener"} },
                      "ns3::SprayTransport");
    network.Run();
    NS_TEST_ASSERT_MSG_EQ(HopsListener::heard.size(), PACKETS, "answers");
    const int64_t forthPs = (4178 + 4186 + 4194) * 80 + 3 * US_PS;
    // An acknowledgement takes back what two switches wrote, 8 bytes each.
    const int64_t rttPs = forthPs + 3 * ((86 + 16) * 80 + US_PS);
    for (int64_t packet = 0; packet < PACKETS; packet++)
    {
        const auto& hops = HopsListener::heard[packet];
        NS_TEST_ASSERT_MSG_EQ(hops.size(), 2, "hops");
        int64_t timePs = packet * rttPs;
        for (int64_t i = 0; i < 2; i++)
        {
            timePs += (4178 + 8 * i) * 80 + US_PS;
            NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(hops[i].timePs), timePs, "left");
            NS_TEST_EXPECT_MSG_EQ(hops[i].queuedBytes, 0, "nobody waits");
            NS_TEST_EXPECT_MSG_EQ(hops[i].rateBps, 100 * GBPS, "rate");
        }
    }
}

ADD_CASES(g_suite)
{
    HopsProgram::GetTypeId(); // the library that registers it must be linked
}

} // namespace tests
} // namespace ns3
