// SPDX-License-Identifier: GPL-2.0-only

// The battery of the contract QueueDiscipline: a fake that counts its calls and says what it is
// told to say.

#include "../../facade/test/counting-queue.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr uint32_t ADMIT = 0;
constexpr uint32_t DROP = 1;
constexpr uint32_t TRIM = 2;
constexpr uint32_t TRIM_TAIL = 3;
constexpr uint32_t BOUNCE = 4;
const std::string TRIMMABLE = std::to_string(frame_flag::TRIMMABLE);

/// Hosts 0 and 1 send four packets each to host 2 at once: two come for each that leaves.
void
TwoToOne(TestNetwork& network, const TestNetwork::Attributes& queue)
{
    CountingQueue::Clear();
    network.Star(3);
    network.Flow(0, 2, 4000);
    network.Flow(1, 2, 4000);
    network.Use("queue", "ns3::tests::CountingQueue", queue);
    network.Transport({{"Flags", TRIMMABLE}});
}

/// Host 0 sends three packets to host 1 over a switch, or two.
void
OneToOne(TestNetwork& network, const TestNetwork::Attributes& queue, const std::string& flags)
{
    CountingQueue::Clear();
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    network.Link(0, 10);
    network.Link(10, 11);
    network.Link(11, 1);
    network.Flow(0, 1, 3000);
    network.Use("queue", "ns3::tests::CountingQueue", queue);
    network.Transport({{"Flags", flags}});
}

/// @return queuedBytes of the calls about data
std::vector<uint64_t>
QueuedBytes(const std::vector<CountingQueue::Call>& calls)
{
    std::vector<uint64_t> bytes;
    for (const auto& call : calls)
    {
        if (call.kind == frame_kind::DATA)
        {
            bytes.push_back(call.queuedBytes);
        }
    }
    return bytes;
}

/// @return frames of data with all of these flags that came to a host
uint32_t
Seen(int64_t host, uint16_t flags)
{
    uint32_t n = 0;
    for (const auto& seen : PacedDatagrams::seen)
    {
        n += seen.host == host && seen.frame.kind == frame_kind::DATA &&
             (seen.frame.flags & flags) == flags;
    }
    return n;
}

} // namespace

static Suite g_suite{"fabric-queue-discipline", TestSuite::Type::SYSTEM};

/// Oracle, by hand: at the k-th instant one frame is done, one goes, and two come.
TEST_CASE(g_suite, "each frame is admitted once and departs once")
{
    TestNetwork network;
    TwoToOne(network, {});
    network.Run();
    const std::vector<uint64_t> before{0, 0, 0, 1000, 1000, 2000, 2000, 3000};
    const std::vector<uint64_t> behind{0, 0, 1000, 2000, 3000, 2000, 1000, 0};
    NS_TEST_EXPECT_MSG_EQ(CountingQueue::attached, 1, "attached");
    NS_TEST_EXPECT_MSG_EQ((QueuedBytes(CountingQueue::admits) == before), true, "admit");
    NS_TEST_EXPECT_MSG_EQ((QueuedBytes(CountingQueue::departs) == behind), true, "depart");
    NS_TEST_EXPECT_MSG_EQ(CountingQueue::admits.size(), 10, "with two answers");
    NS_TEST_EXPECT_MSG_EQ(CountingQueue::departs.size(), 10, "with two answers");
}

/// Oracle: of the same calls those beyond the quiet sizes.
TEST_CASE(g_suite, "a queue up to its quiet sizes is not asked")
{
    TestNetwork network;
    TwoToOne(network, {{"QuietAdmit", "2000"}, {"QuietDepart", "1000"}});
    network.Run();
    const std::vector<uint64_t> before{2000, 2000, 3000};
    const std::vector<uint64_t> behind{2000, 3000, 2000};
    NS_TEST_EXPECT_MSG_EQ((QueuedBytes(CountingQueue::admits) == before), true, "admit");
    NS_TEST_EXPECT_MSG_EQ((QueuedBytes(CountingQueue::departs) == behind), true, "depart");
    NS_TEST_EXPECT_MSG_EQ(CountingQueue::admits.size(), 3, "answers are quiet");
}

/// What a verdict may do, and to what.
class VerdictsAreHeld : public TestCase
{
  public:
    /// What is to come of the three packets.
    struct Outcome
    {
        uint32_t whole;   ///< Came with payload
        uint32_t trimmed; ///< Came without
        uint32_t dropped; ///< Frames, the answer included
        uint32_t admits;  ///< Calls about data at both switches
        uint32_t refused; ///< Verdicts
    };

    VerdictsAreHeld(const std::string& name,
                    const TestNetwork::Attributes& queue,
                    const std::string& flags,
                    const Outcome& outcome,
                    bool lossless = false)
        : TestCase(name),
          m_queue(queue),
          m_flags(flags),
          m_outcome(outcome),
          m_lossless(lossless)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        OneToOne(network, m_queue, m_flags);
        network.AllowRefusals();
        if (m_lossless)
        {
            network.Use("flow_control", "ns3::tests::LosslessThree");
        }
        network.Run();
        const uint32_t trimmed = Seen(1, frame_flag::TRIMMED);
        NS_TEST_EXPECT_MSG_EQ(Seen(1, 0) - trimmed, m_outcome.whole, "whole");
        NS_TEST_EXPECT_MSG_EQ(trimmed, m_outcome.trimmed, "trimmed");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_buffer_frames"),
                              m_outcome.dropped,
                              "dropped");
        NS_TEST_EXPECT_MSG_EQ(QueuedBytes(CountingQueue::admits).size(), m_outcome.admits, "asked");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "refused_verdicts"),
                              m_outcome.refused,
                              "refused");
    }

    TestNetwork::Attributes m_queue;
    std::string m_flags;
    Outcome m_outcome;
    bool m_lossless;
};

/// Drops are counted at the egress that was full.
TEST_CASE(g_suite, "a dropped frame is counted at the egress that it wanted")
{
    TestNetwork network;
    TwoToOne(network, {{"Says", std::to_string(DROP)}, {"LimitBytes", "2000"}});
    network.Run();
    // By hand: the last of those that come at the third and at the fourth instant.
    NS_TEST_EXPECT_MSG_EQ(network.Port(100, 2, "dropped_buffer_frames"), 2, "egress");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_buffer_frames"), 2, "nowhere else");
}

/// Oracle, by hand: what a frame looks like that a switch has trimmed.
TEST_CASE(g_suite, "a trimmed frame: size, priority, flags, and who was next to the destination")
{
    TestNetwork network;
    OneToOne(network, {{"Says", std::to_string(TRIM)}}, TRIMMABLE);
    network.Run();
    for (const auto& seen : PacedDatagrams::seen)
    {
        NS_TEST_EXPECT_MSG_EQ(seen.frame.bytes, 100, "size");
        NS_TEST_EXPECT_MSG_EQ(+seen.frame.priority, 7, "priority");
        NS_TEST_EXPECT_MSG_EQ((seen.frame.flags & frame_flag::TRIMMED_LAST_HOP), 0, "first hop");
    }
    NS_TEST_EXPECT_MSG_EQ(PacedDatagrams::seen.size(), 3, "all came");
    NS_TEST_EXPECT_MSG_EQ(network.Port(10, 11, "trimmed_packets"), 3, "counted there");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "trimmed_packets", 0), 3, "counted at the end");

    TestNetwork star;
    TwoToOne(star, {{"Says", std::to_string(TRIM)}});
    star.Run();
    NS_TEST_EXPECT_MSG_EQ(Seen(2, frame_flag::TRIMMED_LAST_HOP), 8, "last hop");
}

/**
 * Oracle, by hand: with room for two, [1.1, 0.2] when 1.2 comes, [1.1, 1.2] when 0.3 comes, and
 * [1.1, 0.3] when 1.3 comes; 0.2, 1.2 and 0.3 are trimmed (flow.packet).
 */
TEST_CASE(g_suite, "TRIM_TAIL: the last of the queue is trimmed and the arrival takes its place")
{
    TestNetwork network;
    TwoToOne(network, {{"Says", std::to_string(TRIM_TAIL)}, {"LimitBytes", "2000"}});
    network.Run();
    using Packets = std::vector<std::pair<uint32_t, uint32_t>>;
    Packets whole;
    Packets headers;
    for (const auto& seen : PacedDatagrams::seen)
    {
        auto& list = (seen.frame.flags & frame_flag::TRIMMED) ? headers : whole;
        list.emplace_back(seen.frame.message, seen.frame.packet);
    }
    const Packets expectedHeaders{{0, 2}, {1, 2}, {0, 3}};
    const Packets expectedWhole{{0, 0}, {1, 0}, {0, 1}, {1, 1}, {1, 3}};
    NS_TEST_EXPECT_MSG_EQ((headers == expectedHeaders), true, "headers");
    NS_TEST_EXPECT_MSG_EQ((whole == expectedWhole), true, "whole");
    NS_TEST_EXPECT_MSG_EQ(network.Port(100, 2, "trimmed_packets"), 3, "counted");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_buffer_frames"), 0, "no drop");
}

/// Oracle: the source gets back what it sent, without payload, at a time by hand.
TEST_CASE(g_suite, "BOUNCE: the frame goes back to its source without its payload")
{
    CountingQueue::Clear();
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, 1000);
    // Of data: the bounced frame itself is no longer than the limit.
    network.Use("queue",
                "ns3::tests::CountingQueue",
                {{"Says", std::to_string(BOUNCE)}, {"LimitBytes", "999"}});
    network.Transport({{"Flags", TRIMMABLE}});
    network.Run();
    NS_TEST_ASSERT_MSG_EQ(PacedDatagrams::seen.size(), 1, "one frame came somewhere");
    const auto& seen = PacedDatagrams::seen[0];
    NS_TEST_EXPECT_MSG_EQ(seen.host, 0, "at its source");
    NS_TEST_EXPECT_MSG_EQ(seen.frame.bytes, 100, "size");
    NS_TEST_EXPECT_MSG_EQ(+seen.frame.priority, 7, "priority");
    NS_TEST_EXPECT_MSG_NE((seen.frame.flags & frame_flag::BOUNCED), 0, "flag");
    NS_TEST_EXPECT_MSG_EQ(seen.timePs, (1020 + 120) * 80 + 2 * US_PS, "time");
}

ADD_CASES(g_suite)
{
    const auto says = [](uint32_t verdict) {
        return std::pair<std::string, std::string>("Says", std::to_string(verdict));
    };
    const std::pair<std::string, std::string> dataOnly("LimitBytes", "64");
    suite.Add(new VerdictsAreHeld("ADMIT", {says(ADMIT)}, "0", {3, 0, 0, 6, 0}));
    suite.Add(new VerdictsAreHeld("DROP", {says(DROP)}, "0", {0, 0, 3, 3, 0}));
    // At the first switch: asked for the packet, and again for its header; then at the second.
    suite.Add(new VerdictsAreHeld("TRIM", {says(TRIM)}, TRIMMABLE, {0, 3, 0, 9, 0}));
    suite.Add(new VerdictsAreHeld("TRIM and TRIM again",
                                  {says(TRIM), {"Headers", "true"}},
                                  TRIMMABLE,
                                  {0, 0, 3, 6, 3}));
    suite.Add(new VerdictsAreHeld("TRIM of what is not trimmable",
                                  {says(TRIM), dataOnly},
                                  "0",
                                  {0, 0, 3, 3, 3}));
    suite.Add(new VerdictsAreHeld("TRIM of what is no larger",
                                  {says(TRIM), dataOnly, {"TrimBytes", "1000"}},
                                  TRIMMABLE,
                                  {0, 0, 3, 3, 3}));
    suite.Add(new VerdictsAreHeld("TRIM_TAIL of what is not trimmable",
                                  {says(TRIM_TAIL), dataOnly},
                                  "0",
                                  {0, 0, 3, 3, 3}));
    suite.Add(new VerdictsAreHeld("BOUNCE of what is not trimmable",
                                  {says(BOUNCE), dataOnly},
                                  "0",
                                  {0, 0, 3, 3, 3}));
    for (const uint32_t verdict : {DROP, TRIM, TRIM_TAIL, BOUNCE})
    {
        // The answer, of priority 6, is no data: it is lost.
        suite.Add(new VerdictsAreHeld("lossless: verdict " + std::to_string(verdict),
                                      {says(verdict)},
                                      TRIMMABLE,
                                      {3, 0, 1, 6, verdict == DROP ? 0U : 1U},
                                      true));
    }
}

} // namespace tests
} // namespace ns3
