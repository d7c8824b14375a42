// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/queue-discipline.h"
#include "ns3/switch-context.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

static Suite g_suite{"queueing-queues", TestSuite::Type::SYSTEM};

/// Oracle: of each priority what its own queue leaves of a frame.
TEST_CASES(PrioritiesHaveTheirOwnQueues,
           "frames of priority " + std::to_string(priority) + " are trimmed to " +
               std::to_string(bytes) + " bytes of priority " + std::to_string(to),
           uint32_t priority,
           uint32_t bytes,
           uint32_t to)
{
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 1000);
    network.Use("queue",
                "ns3::PerPriority",
                {{"Priority3", "ns3::TrimmingQueue[LimitBytes=999|TrimBytes=200|TrimPriority=5]"},
                 {"Priority4", "ns3::TrimmingQueue[LimitBytes=999|TrimBytes=300|TrimPriority=6]"}});
    network.Transport(
        {{"Priority", std::to_string(priority)}, {"Flags", std::to_string(frame_flag::TRIMMABLE)}});
    network.Run();
    NS_TEST_ASSERT_MSG_EQ(PacedDatagrams::seen.empty(), false, "it came");
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen[0].frame.bytes, bytes, "size");
    NS_TEST_EXPECT_MSG_EQ(+PacedDatagrams::seen[0].frame.priority, to, "priority");
}

/**
 * Oracle, by hand: two packets come for each that leaves, and room is for two. Of 1.2, 0.3, 1.3
 * (flow.packet), for which there is none, each is trimmed, or the packet before it.
 */
TEST_CASES(HeadOrTailIsTrimmed,
           tail ? "the last of the queue is trimmed" : "the arrival is trimmed",
           bool tail)
{
    TestNetwork network;
    network.Star(3);
    network.Flow(0, 2, 4000);
    network.Flow(1, 2, 4000);
    network.Use("queue",
                "ns3::TrimmingQueue",
                {{"LimitBytes", "2000"}, {"TailShare", tail ? "1" : "0"}});
    network.Transport({{"Flags", std::to_string(frame_flag::TRIMMABLE)}});
    network.Run();
    std::vector<std::pair<uint32_t, uint32_t>> trimmed;
    for (const auto& seen : PacedDatagrams::seen)
    {
        if (seen.frame.flags & frame_flag::TRIMMED)
        {
            trimmed.emplace_back(seen.frame.message, seen.frame.packet);
        }
    }
    // A header goes before the packets, so the queue is as long when the next two come.
    const decltype(trimmed) arrivals{{1, 2}, {0, 3}, {1, 3}};
    const decltype(trimmed) before{{0, 2}, {1, 2}, {0, 3}};
    NS_TEST_EXPECT_MSG_EQ((trimmed == (tail ? before : arrivals)), true, "which");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_buffer_frames"), 0, "no drop");
}

/**
 * Oracle, by hand: three lines into one of that rate, and into one of a quarter of it. The queue
 * of each grows until it is full; that of the slow one is full with a quarter of the packets.
 */
TEST_CASE(g_suite, "sizes are a quarter at a quarter of the rate")
{
    TestNetwork network;
    network.Star(4);
    network.Host(4);
    network.Link(4, 100, 25);
    for (int64_t sender = 0; sender < 3; sender++)
    {
        network.Flow(sender, 3, 20 * 1000);
        network.Flow(sender, 4, 20 * 1000);
    }
    network.Use("queue",
                "ns3::DropTail",
                {{"LimitBytes", "8000"}, {"ReferenceRateBps", std::to_string(100 * GBPS)}});
    network.Transport();
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Port(100, 3, "max_queue_bytes"), 8000, "full");
    NS_TEST_EXPECT_MSG_EQ(network.Port(100, 4, "max_queue_bytes"), 2000, "a quarter");
}

/// Keeps the first random number of port 0.
class DrawsOnce final : public QueueDiscipline
{
  public:
    static inline std::vector<uint64_t> drawn;

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::DrawsOnce")
                                .SetParent<QueueDiscipline>()
                                .SetGroupName("Tests")
                                .AddConstructor<DrawsOnce>()
                                .AddAttribute("Tag",
                                              "What makes two of them different",
                                              UintegerValue(0),
                                              MakeUintegerAccessor(&DrawsOnce::m_tag),
                                              MakeUintegerChecker<uint32_t>());
        return tid;
    }

    void Attach(SwitchContext& context) override
    {
        drawn.push_back(context.CursorOfPort(0, RandomUse::ECN_MARK).Bits());
    }

    Verdict Admit(PortId, Frame&, uint64_t) override
    {
        return Verdict::ADMIT;
    }

  private:
    uint32_t m_tag{0};
};

NS_OBJECT_ENSURE_REGISTERED(DrawsOnce);

namespace
{

std::vector<uint64_t>
Draws(const std::string& type, const TestNetwork::Attributes& attributes)
{
    DrawsOnce::drawn.clear();
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 1000);
    network.Transport();
    network.Use("queue", type, attributes);
    network.Run();
    return DrawsOnce::drawn;
}

} // namespace

/// Oracle: two marks are drawn independently; one profile alone draws what it always did.
TEST_CASE(g_suite, "two profiles of one type at one port")
{
    const auto two = Draws("ns3::PerPriority",
                           {{"Priority3", "ns3::tests::DrawsOnce[Tag=1]"},
                            {"Priority5", "ns3::tests::DrawsOnce[Tag=2]"}});
    const auto alone = Draws("ns3::tests::DrawsOnce", {});
    NS_TEST_ASSERT_MSG_EQ(two.size(), 2, "one object each");
    NS_TEST_ASSERT_MSG_EQ(alone.size(), 1, "one object");
    NS_TEST_EXPECT_MSG_EQ(two[0], alone[0], "the first is as if alone");
    NS_TEST_EXPECT_MSG_NE(two[1], two[0], "the second has draws of its own");
}

/// C++ sees what a scenario sees: what cannot be is refused in one line.
TEST_CASE(g_suite, "queues that cannot be")
{
    const auto complaint = [](const std::string& type,
                              const TestNetwork::Attributes& attributes) -> std::string {
        try
        {
            TestNetwork network;
            network.Star(2);
            network.Flow(0, 1, 1000);
            network.Transport();
            network.Use("queue", type, attributes);
            return network.Complaint();
        }
        catch (const std::runtime_error& error)
        {
            return error.what();
        }
    };
    const auto contains = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    const auto kmin = complaint("ns3::RedEcn", {{"KminBytes", "2"}, {"KmaxBytes", "1"}});
    NS_TEST_EXPECT_MSG_EQ(contains(kmin, "KminBytes is 2, more than KmaxBytes, 1"), true, kmin);
    const auto alpha = complaint("ns3::DropTail", {{"Alpha", "1"}});
    NS_TEST_EXPECT_MSG_EQ(contains(alpha, "switch 100 has none"), true, alpha);
    const auto itself = complaint("ns3::PerPriority", {{"DefaultQueue", "ns3::PerPriority"}});
    NS_TEST_EXPECT_MSG_EQ(contains(itself, "DefaultQueue cannot be ns3::PerPriority"),
                          true,
                          itself);
    const auto kind = complaint("ns3::PerPriority", {{"Priority2", "ns3::tests::PacedDatagrams"}});
    NS_TEST_EXPECT_MSG_EQ(contains(kind, "Priority2 cannot be 'ns3::tests::PacedDatagrams'"),
                          true,
                          kind);
}

ADD_CASES(g_suite)
{
    suite.Add(new PrioritiesHaveTheirOwnQueues(3, 200, 5));
    suite.Add(new PrioritiesHaveTheirOwnQueues(4, 300, 6));
    suite.Add(new PrioritiesHaveTheirOwnQueues(2, 1000, 2));
    suite.Add(new HeadOrTailIsTrimmed(false));
    suite.Add(new HeadOrTailIsTrimmed(true));
}

} // namespace

} // namespace tests
} // namespace ns3
