// SPDX-License-Identifier: GPL-2.0-only

// The battery of the contract LossModel: a fake that counts the frames of each direction and loses
// some of them by their number.

#include "../../facade/test/test-network.h"

#include "ns3/loss-model.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

/// Of each direction every third frame is lost and every fifth corrupt.
class EveryThird final : public LossModel
{
  public:
    static inline uint32_t attached = 0;
    static inline uint32_t linkControl = 0;
    static inline std::map<std::pair<int64_t, int64_t>, std::vector<uint32_t>>
        packets; ///< Of data, by sender and receiver

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::EveryThird")
                                .SetParent<LossModel>()
                                .SetGroupName("Tests")
                                .AddConstructor<EveryThird>();
        return tid;
    }

    void Attach(SwitchContext& context) override
    {
        attached++;
        linkControl = 0;
        packets.clear();
        m_context = &context;
    }

    Fate Judge(PortId receiver, const Frame& frame) override
    {
        linkControl += frame.kind == frame_kind::LINK_CONTROL;
        if (frame.kind != frame_kind::DATA)
        {
            return Fate::ARRIVES;
        }
        const int64_t node = m_context->GetNode(m_context->GetPort(receiver).node).id;
        auto& seen = packets[{m_context->PeerOf(receiver).first, node}];
        seen.push_back(frame.packet);
        return seen.size() % 3 == 0   ? Fate::LOST
               : seen.size() % 5 == 0 ? Fate::CORRUPT
                                      : Fate::ARRIVES;
    }

  private:
    const SwitchContext* m_context{nullptr};
};

NS_OBJECT_ENSURE_REGISTERED(EveryThird);

static Suite g_suite{"fabric-loss-model", TestSuite::Type::SYSTEM};

/**
 * Oracle, by hand: of 15 packets the first link loses 3, 6, 9, 12, 15 and spoils 5, 10, so 1, 2, 4,
 * 7, 8, 11, 13, 14 are left, counted from one; the second loses the third and sixth of these and
 * spoils the fifth.
 */
TEST_CASES(LossIsAskedOncePerFrame,
           hasLinkControl ? "beside link control" : "frames of two links",
           bool hasLinkControl)
{
    EveryThird::attached = 0;
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 15'000);
    network.Use("loss_model", "ns3::tests::EveryThird");
    if (hasLinkControl)
    {
        network.Use("flow_control",
                    "ns3::tests::CountingFlowControl",
                    {{"Stops", "true"}, {"Watches", "false"}});
    }
    network.Transport();
    network.Run();
    std::vector<uint32_t> sent;
    for (uint32_t packet = 0; packet < 15; packet++)
    {
        sent.push_back(packet);
    }
    const std::vector<uint32_t> left{0, 1, 3, 6, 7, 10, 12, 13};
    std::vector<uint32_t> arrived;
    for (const auto& seen : PacedDatagrams::seen)
    {
        arrived.push_back(seen.frame.packet);
    }
    const std::vector<uint32_t> expected{0, 1, 6, 12, 13};
    NS_TEST_EXPECT_MSG_EQ(EveryThird::attached, 1, "attached");
    NS_TEST_EXPECT_MSG_EQ(EveryThird::packets.size(), 2, "directions with data");
    NS_TEST_EXPECT_MSG_EQ((EveryThird::packets[{0, 100}] == sent), true, "first link");
    NS_TEST_EXPECT_MSG_EQ((EveryThird::packets[{100, 1}] == left), true, "second link");
    NS_TEST_EXPECT_MSG_EQ((arrived == expected), true, "at the host");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_loss_frames"), 7, "lost");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_corrupt_frames"), 3, "corrupt");
    NS_TEST_EXPECT_MSG_EQ(EveryThird::linkControl, 0, "link control is never lost");
}

ADD_CASES(g_suite)
{
    suite.Add(new LossIsAskedOncePerFrame(false));
    suite.Add(new LossIsAskedOncePerFrame(true));
}

} // namespace tests
} // namespace ns3
