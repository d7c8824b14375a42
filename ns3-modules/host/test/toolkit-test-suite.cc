// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/deadlines.h"
#include "ns3/flow-order.h"
#include "ns3/flow-slots.h"
#include "ns3/pacer.h"
#include "ns3/rtt-estimator.h"
#include "ns3/scoreboard.h"
#include "ns3/segmentation.h"
#include "ns3/sent-paths.h"
#include "ns3/test.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <set>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr uint64_t PS_PER_SECOND = 1'000'000'000'000;

/// Oracle: packets of a message fill it exactly, and all but the last are full.
class PacketsFillTheMessage : public TestCase
{
  public:
    PacketsFillTheMessage()
        : TestCase("segmentation")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(1);
        for (int i = 0; i < 2000; i++)
        {
            const auto mtu = static_cast<uint32_t>(1 + random() % 9000);
            const uint64_t bytes = 1 + random() % 100'000;
            const Segmentation cut{mtu, 62, 16};
            const uint32_t packets = cut.Packets(bytes);
            uint64_t sum = 0;
            for (uint32_t packet = 0; packet < packets; packet++)
            {
                const uint32_t payload = cut.PayloadBytes(bytes, packet);
                NS_TEST_ASSERT_MSG_EQ((packet + 1 == packets || payload == mtu), true, "full");
                const uint32_t headers = packet == 0 ? 78 : 62;
                NS_TEST_ASSERT_MSG_EQ(cut.FrameBytes(bytes, packet),
                                      std::max(64U, payload + headers),
                                      "frame of packet " << packet);
                sum += payload;
            }
            NS_TEST_ASSERT_MSG_EQ(sum, bytes, bytes << " bytes in packets of " << mtu);
        }
        const Segmentation bytewise{1, 62, 0};
        NS_TEST_EXPECT_MSG_EQ(bytewise.Packets(0xfffffffe), 0xfffffffe, "as many as there can be");
    }
};

/// Oracle: three sets of packet numbers, kept by hand.
class ScoreboardAgainstSets : public TestCase
{
  public:
    explicit ScoreboardAgainstSets(uint32_t seed)
        : TestCase("scoreboard, seed " + std::to_string(seed)),
          m_random(seed)
    {
    }

  private:
    static constexpr uint32_t PACKETS = 700;

    void DoRun() override
    {
        Scoreboard board;
        board.Reset(PACKETS);
        const uint32_t reorder = 1 + m_random() % 8;
        for (int step = 0; !board.IsComplete(); step++)
        {
            NS_TEST_ASSERT_MSG_LT(step, 200'000, "it ends");
            Step(board, reorder, m_random() % 16);
            Compare(board, step);
        }
        NS_TEST_EXPECT_MSG_EQ(m_arrived.size(), PACKETS, "all");
    }

    void Step(Scoreboard& board, uint32_t reorder, uint32_t kind)
    {
        if (kind < 8 && board.HasMore())
        {
            const auto [packet, again] = board.Take();
            const uint32_t expected = m_lost.empty() ? m_next++ : *m_lost.begin();
            NS_TEST_ASSERT_MSG_EQ(packet, expected, "the first loss, else a new one");
            NS_TEST_ASSERT_MSG_EQ(again, (m_lost.count(packet) > 0), "sent before");
            m_lost.erase(packet);
        }
        else if (kind < 13 && m_next > 0)
        {
            const uint32_t packet = m_random() % m_next;
            NS_TEST_ASSERT_MSG_EQ(board.Arrived(packet), m_arrived.insert(packet).second, "news");
            m_lost.erase(packet);
        }
        else if (kind == 13 && m_next > 0)
        {
            const uint32_t below = m_random() % (std::min(m_next, Base() + 4) + 1);
            uint32_t news = 0;
            for (uint32_t packet = 0; packet < below; packet++)
            {
                news += m_arrived.insert(packet).second;
                m_lost.erase(packet);
            }
            NS_TEST_ASSERT_MSG_EQ(board.ArrivedBelow(below), news, "news below " << below);
        }
        else if (kind == 14)
        {
            board.JudgeOvertaken(reorder, [this, reorder](uint32_t packet) {
                NS_TEST_ASSERT_MSG_LT(packet + reorder, *m_arrived.rbegin() + 1, "overtaken");
                NS_TEST_ASSERT_MSG_EQ(m_lost.insert(packet).second, true, "once");
            });
        }
        else if (kind == 15 && m_random() % 20 == 0)
        {
            std::set<uint32_t> told;
            board.LoseAll([&told](uint32_t packet) { told.insert(packet); });
            for (uint32_t packet = 0; packet < m_next; packet++)
            {
                const bool isNew = !m_arrived.count(packet) && m_lost.insert(packet).second;
                NS_TEST_ASSERT_MSG_EQ(isNew, (told.count(packet) > 0), "lost " << packet);
            }
        }
    }

    uint32_t Base() const
    {
        uint32_t base = 0;
        while (m_arrived.count(base))
        {
            base++;
        }
        return base;
    }

    void Compare(const Scoreboard& board, int step)
    {
        NS_TEST_ASSERT_MSG_EQ(board.Base(), Base(), "base, step " << step);
        NS_TEST_ASSERT_MSG_EQ(board.Next(), m_next, "next, step " << step);
        NS_TEST_ASSERT_MSG_EQ(board.ToResend(), m_lost.size(), "to resend, step " << step);
        NS_TEST_ASSERT_MSG_EQ(board.Next(),
                              m_arrived.size() + board.ToResend() + board.InFlight(),
                              "sent = arrived + lost + in flight, step " << step);
        NS_TEST_ASSERT_MSG_EQ(board.HasMore(), (!m_lost.empty() || m_next < PACKETS), "more");
    }

    std::mt19937 m_random;
    std::set<uint32_t> m_arrived;
    std::set<uint32_t> m_lost;
    uint32_t m_next{0};
};

/// Oracle: written out by hand.
class GoBackNOnTheScoreboard : public TestCase
{
  public:
    GoBackNOnTheScoreboard()
        : TestCase("scoreboard that goes back")
    {
    }

  private:
    void DoRun() override
    {
        Scoreboard board;
        board.Reset(10);
        for (uint32_t packet = 0; packet < 6; packet++)
        {
            NS_TEST_EXPECT_MSG_EQ(board.Take().again, false, "new");
        }
        NS_TEST_EXPECT_MSG_EQ(board.ArrivedBelow(2), 2, "0 and 1");
        board.Rewind(2);
        NS_TEST_EXPECT_MSG_EQ(board.InFlight(), 0, "nothing that is waited for");
        NS_TEST_EXPECT_MSG_EQ(board.HasOut(), true, "but something was sent");
        for (uint32_t packet = 2; packet < 10; packet++)
        {
            const auto [taken, again] = board.Take();
            NS_TEST_EXPECT_MSG_EQ(taken, packet, "in order");
            NS_TEST_EXPECT_MSG_EQ(again, (packet < 6), "sent before");
        }
        board.Rewind(3);
        NS_TEST_EXPECT_MSG_EQ(board.ArrivedBelow(8), 6, "that were on their way after all");
        NS_TEST_EXPECT_MSG_EQ(board.Next(), 8, "they are not sent again");
    }
};

/// Oracle: n frames take n x bits / rate, to the ps, however the division comes out.
class PacerKeepsTheRate : public TestCase
{
  public:
    PacerKeepsTheRate()
        : TestCase("pacer")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint64_t rateBps : {1'000ULL, 33'333'333'333ULL, 399'999'999'999ULL})
        {
            Pacer pacer;
            constexpr uint64_t FRAMES = 1000;
            constexpr uint64_t BYTES = 4178;
            uint64_t nowPs = 7;
            for (uint64_t i = 0; i < FRAMES; i++)
            {
                pacer.Sent(nowPs, BYTES, rateBps);
                nowPs = pacer.NextPs();
            }
            const auto exactPs = static_cast<long double>(FRAMES * BYTES * 8) * PS_PER_SECOND /
                                 static_cast<long double>(rateBps);
            NS_TEST_EXPECT_MSG_EQ(nowPs - 7, static_cast<uint64_t>(exactPs), rateBps << " bit/s");
        }
        Pacer late;
        late.Sent(1'000'000, 1000, 8'000'000'000); // 1 us each
        late.Sent(2'400'000, 1000, 8'000'000'000); // 0.4 us late
        NS_TEST_EXPECT_MSG_EQ(late.NextPs(), 3'000'000, "made up for");
        late.Sent(90'000'000, 1000, 8'000'000'000); // after a long silence
        NS_TEST_EXPECT_MSG_EQ(late.NextPs(), 90'000'000, "by one frame at most");
    }
};

/// Oracle: RFC 6298 in floating point.
class EstimatorFollowsTheRfc : public TestCase
{
  public:
    EstimatorFollowsTheRfc()
        : TestCase("round trip estimator")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937_64 random(3);
        RttEstimator estimator;
        double smoothed = 0;
        double variation = 0;
        uint64_t least = UINT64_MAX;
        for (int i = 0; i < 500; i++)
        {
            const uint64_t rttPs = 1'000'000 + random() % 50'000'000;
            estimator.Sample(rttPs);
            const auto rtt = static_cast<double>(rttPs);
            variation = i ? 0.75 * variation + 0.25 * std::abs(smoothed - rtt) : rtt / 2;
            smoothed = i ? 0.875 * smoothed + 0.125 * rtt : rtt;
            least = std::min(least, rttPs);
            // Each division drops less than 1 ps, and a geometric sum of these stays below 20.
            const auto timeout = static_cast<double>(estimator.TimeoutPs(1));
            NS_TEST_ASSERT_MSG_EQ_TOL(static_cast<double>(estimator.SmoothedPs()),
                                      smoothed,
                                      20,
                                      "smoothed, sample " << i);
            NS_TEST_ASSERT_MSG_EQ_TOL(timeout, smoothed + 4 * variation, 100, "timeout");
            NS_TEST_ASSERT_MSG_EQ(estimator.LeastPs(), least, "least");
        }
        NS_TEST_EXPECT_MSG_EQ(estimator.TimeoutPs(PS_PER_SECOND), PS_PER_SECOND, "not below");
    }
};

/// Oracle: a list of flows in the order of their last service, or sorted by key.
class FlowOrderAgainstList : public TestCase
{
  public:
    FlowOrderAgainstList(FlowOrder::By by, const std::string& what)
        : TestCase("order of flows: " + what),
          m_by(by)
    {
    }

  private:
    using Verdict = FlowOrder::Verdict;

    void Push(FlowOrder& order, uint32_t flow, uint64_t key)
    {
        order.Push(flow, key);
        const auto place = std::find_if(m_list.begin(), m_list.end(), [flow](const auto& entry) {
            return entry.second == flow;
        });
        if (m_by == FlowOrder::By::ROUND_ROBIN)
        {
            if (place == m_list.end())
            {
                m_list.emplace_back(key, flow);
            }
            return;
        }
        if (place != m_list.end())
        {
            m_list.erase(place);
        }
        m_list.insert(std::upper_bound(m_list.begin(), m_list.end(), std::pair{key, flow}),
                      {key, flow});
    }

    void DoRun() override
    {
        std::mt19937 random(5);
        FlowOrder order(m_by);
        for (int step = 0; step < 20'000; step++)
        {
            if (random() % 2)
            {
                Push(order, random() % 40, random() % 100);
                continue;
            }
            std::map<uint32_t, Verdict> verdicts;
            for (uint32_t flow = 0; flow < 40; flow++)
            {
                const uint32_t draw = random() % 8;
                verdicts[flow] = draw == 0   ? Verdict::STOP
                                 : draw < 3  ? Verdict::KEEP
                                 : draw == 3 ? Verdict::DROP
                                             : Verdict::TAKE;
            }
            const bool any = std::any_of(m_list.begin(), m_list.end(), [&](const auto& entry) {
                return verdicts[entry.second] == Verdict::TAKE;
            });
            NS_TEST_ASSERT_MSG_EQ(
                order.Any([&](uint32_t flow) { return verdicts[flow] == Verdict::TAKE; }),
                any,
                "any, step " << step);
            const uint32_t taken =
                order.PopFirst([&](uint32_t flow) { return verdicts[flow]; });
            NS_TEST_ASSERT_MSG_EQ(taken, Expected(verdicts), "step " << step);
        }
    }

    uint32_t Expected(std::map<uint32_t, Verdict>& verdicts)
    {
        for (auto place = m_list.begin(); place != m_list.end();)
        {
            const uint32_t flow = place->second;
            const Verdict verdict = verdicts[flow];
            if (verdict == Verdict::STOP)
            {
                break;
            }
            place = verdict == Verdict::KEEP ? place + 1 : m_list.erase(place);
            if (verdict == Verdict::TAKE)
            {
                return flow;
            }
        }
        return FlowOrder::NOBODY;
    }

    FlowOrder::By m_by;
    std::vector<std::pair<uint64_t, uint32_t>> m_list; ///< Key and flow, the next one first
};

/// Oracle: counting. Serving 70 000 flows in turn asks one flow for each packet.
class ManyFlowsAreServedInTurn : public TestCase
{
  public:
    ManyFlowsAreServedInTurn()
        : TestCase("70 000 flows")
    {
    }

  private:
    void DoRun() override
    {
        constexpr uint32_t FLOWS = 70'000;
        for (const auto by : {FlowOrder::By::ROUND_ROBIN, FlowOrder::By::LEAST_REMAINING})
        {
            FlowOrder order(by);
            std::vector<uint32_t> left(FLOWS, 3);
            for (uint32_t flow = 0; flow < FLOWS; flow++)
            {
                order.Push(flow, left[flow]);
            }
            uint64_t asked = 0;
            uint64_t served = 0;
            const auto judge = [&asked](uint32_t) {
                asked++;
                return FlowOrder::Verdict::TAKE;
            };
            for (uint32_t flow = order.PopFirst(judge); flow != FlowOrder::NOBODY;
                 flow = order.PopFirst(judge))
            {
                served++;
                if (--left[flow] > 0)
                {
                    order.Push(flow, left[flow]);
                }
            }
            NS_TEST_EXPECT_MSG_EQ(served, 3 * FLOWS, "all of all");
            NS_TEST_EXPECT_MSG_EQ(asked, served, "without asking twice");
        }
    }
};

/// Oracle: each deadline kept apart; a timer that is set for every one of them.
class DeadlinesAgainstList : public TestCase
{
  public:
    DeadlinesAgainstList()
        : TestCase("deadlines behind one timer")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(9);
        for (int round = 0; round < 200; round++)
        {
            Deadlines<3> deadlines;
            std::vector<uint64_t> due(3, NEVER_PS);
            std::multiset<uint64_t> timers;
            for (uint64_t nowPs = 0; nowPs < 300; nowPs++)
            {
                const auto which = random() % 3;
                if (random() % 4 == 0)
                {
                    due[which] = nowPs + 1 + random() % 50;
                    const uint64_t setPs = deadlines.Move(which, due[which]);
                    if (setPs != NEVER_PS)
                    {
                        timers.insert(setPs);
                    }
                }
                else if (random() % 16 == 0)
                {
                    due[which] = NEVER_PS;
                    deadlines.Clear(which);
                }
                Advance(deadlines, due, timers, nowPs);
            }
        }
    }

    void Advance(Deadlines<3>& deadlines,
                 std::vector<uint64_t>& due,
                 std::multiset<uint64_t>& timers,
                 uint64_t nowPs)
    {
        uint32_t reached = 0;
        while (timers.count(nowPs))
        {
            timers.erase(timers.find(nowPs));
            const auto fired = deadlines.Fire(nowPs);
            reached |= fired.reached;
            if (fired.againPs != NEVER_PS)
            {
                NS_TEST_ASSERT_MSG_GT(fired.againPs, nowPs, "later");
                timers.insert(fired.againPs);
            }
        }
        for (size_t i = 0; i < due.size(); i++)
        {
            NS_TEST_ASSERT_MSG_EQ(((reached >> i) & 1), (due[i] == nowPs), "in time, " << nowPs);
            due[i] = due[i] == nowPs ? NEVER_PS : due[i];
            NS_TEST_ASSERT_MSG_EQ(deadlines.IsSet(i), (due[i] != NEVER_PS), "set");
        }
    }
};

/// Oracle: doubling in 128 bits, capped.
class BackoffDoesNotWrap : public TestCase
{
  public:
    BackoffDoesNotWrap()
        : TestCase("backoff")
    {
    }

  private:
    void DoRun() override
    {
        for (const uint64_t waitPs : {1ULL, 1000ULL, 17'600'000'000'000ULL, 1ULL << 62, 1ULL << 63})
        {
            for (uint32_t doublings = 0; doublings <= 63; doublings++)
            {
                for (const uint64_t fromPs : {0ULL, 12'345ULL, 1ULL << 63})
                {
                    const auto exact =
                        static_cast<unsigned __int128>(fromPs) +
                        (static_cast<unsigned __int128>(waitPs) << doublings);
                    const uint64_t expected =
                        exact < NEVER_PS ? static_cast<uint64_t>(exact) : NEVER_PS;
                    NS_TEST_ASSERT_MSG_EQ(Later(fromPs, waitPs, doublings),
                                          expected,
                                          waitPs << " ps, " << doublings << " doublings");
                }
            }
        }
    }
};

/// Oracle: a map from slot to what was written there.
class SlotsKeepTheirStates : public TestCase
{
  public:
    SlotsKeepTheirStates()
        : TestCase("slots")
    {
    }

  private:
    struct State
    {
        uint64_t value{0};
    };

    void DoRun() override
    {
        std::mt19937 random(11);
        FlowSlots<State> slots;
        std::map<uint32_t, State*> open;
        for (uint64_t step = 1; step < 5000; step++)
        {
            if (open.empty() || random() % 5 < 3)
            {
                const uint32_t slot = slots.Open();
                NS_TEST_ASSERT_MSG_EQ(open.count(slot), 0, "a slot is open once");
                NS_TEST_ASSERT_MSG_EQ(slots[slot].value, 0, "and fresh");
                open[slot] = &slots[slot];
                slots[slot].value = step;
            }
            else
            {
                const auto any = std::next(open.begin(), random() % open.size());
                slots.Close(any->first);
                open.erase(any);
            }
            NS_TEST_ASSERT_MSG_EQ(slots.Size(), open.size(), "open");
            for (const auto& [slot, state] : open)
            {
                NS_TEST_ASSERT_MSG_EQ(state, &slots[slot], "a state never moves");
            }
        }
    }
};

/// Oracle: a map from packet to path.
class PathsAgainstMap : public TestCase
{
  public:
    PathsAgainstMap()
        : TestCase("paths of packets in flight")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(13);
        SentPaths paths;
        std::map<uint32_t, uint16_t> sent;
        uint32_t base = 0;
        uint32_t next = 0;
        for (int step = 0; step < 20'000; step++)
        {
            base += next > base ? random() % 2 * (random() % (next - base + 1)) : 0;
            sent.erase(sent.begin(), sent.lower_bound(base));
            const bool again = next > base && random() % 4 == 0;
            const uint32_t packet = again ? base + random() % (next - base) : next;
            next += !again;
            const auto entropy = static_cast<uint16_t>(random());
            paths.Put(packet, base, {packet + 1, entropy});
            sent[packet] = entropy;
            for (const auto& [known, value] : sent)
            {
                NS_TEST_ASSERT_MSG_EQ(paths.Get(known).entropy, value, "packet " << known);
                NS_TEST_ASSERT_MSG_EQ(paths.Get(known).port, known + 1, "packet " << known);
            }
        }
    }
};

class HostToolkitTestSuite : public TestSuite
{
  public:
    HostToolkitTestSuite()
        : TestSuite("host-toolkit", Type::UNIT)
    {
        AddTestCase(new PacketsFillTheMessage, Duration::QUICK);
        for (uint32_t seed = 1; seed <= 8; seed++)
        {
            AddTestCase(new ScoreboardAgainstSets(seed), Duration::QUICK);
        }
        AddTestCase(new GoBackNOnTheScoreboard, Duration::QUICK);
        AddTestCase(new PacerKeepsTheRate, Duration::QUICK);
        AddTestCase(new EstimatorFollowsTheRfc, Duration::QUICK);
        AddTestCase(new FlowOrderAgainstList(FlowOrder::By::ROUND_ROBIN, "round robin"),
                    Duration::QUICK);
        AddTestCase(new FlowOrderAgainstList(FlowOrder::By::LEAST_REMAINING, "by key"),
                    Duration::QUICK);
        AddTestCase(new ManyFlowsAreServedInTurn, Duration::QUICK);
        AddTestCase(new DeadlinesAgainstList, Duration::QUICK);
        AddTestCase(new BackoffDoesNotWrap, Duration::QUICK);
        AddTestCase(new SlotsKeepTheirStates, Duration::QUICK);
        AddTestCase(new PathsAgainstMap, Duration::QUICK);
    }
};

HostToolkitTestSuite g_hostToolkitTestSuite; ///< Registers itself

} // namespace

} // namespace tests
} // namespace ns3
