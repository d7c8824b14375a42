// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/event-queue.h"
#include "ns3/flow-slots.h"
#include "ns3/test.h"

#include <algorithm>
#include <deque>
#include <random>
#include <tuple>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

using Row = std::tuple<uint64_t, uint32_t, uint32_t>; ///< Time, target, payload

constexpr uint64_t BUCKET_PS = uint64_t{1} << EventWheel::WIDTH_BITS;

/// Pop one instant into rows, whatever else the queue passes to the sink.
std::vector<Row>
PopInstant(EventQueue& queue, uint64_t timePs)
{
    std::vector<Row> rows;
    queue.PopInstant(
        timePs,
        [&rows](const Event& event, auto&&...) {
            rows.emplace_back(event.timePs, event.target, event.payload);
        },
        [](auto&&...) {});
    std::sort(rows.begin(), rows.end());
    return rows;
}

} // namespace

/// Oracle: a sorted list of all events. Each instant must come out whole, and in order of time.
class EventQueueAgainstSort : public TestCase
{
  public:
    EventQueueAgainstSort(uint32_t seed, uint32_t lanes)
        : TestCase("lanes, wheel and heap against a sorted list, seed " + std::to_string(seed) +
                   ", " + std::to_string(lanes) + " lanes"),
          m_random(seed),
          m_lanes(lanes)
    {
    }

  private:
    uint64_t Draw(uint64_t from, uint64_t to)
    {
        return std::uniform_int_distribution<uint64_t>(from, to)(m_random);
    }

    /// A delay: near, far, or within two of an edge of a bucket or of the wheel's horizon.
    uint64_t DrawDelay(uint64_t nowPs)
    {
        const uint64_t horizon = EventWheel::HORIZON_PS;
        switch (Draw(0, 7))
        {
        case 0:
            return 0;
        case 1:
            return Draw(0, 3 * BUCKET_PS);
        case 2:
            return BUCKET_PS - nowPs % BUCKET_PS + Draw(0, 2); // first of the next bucket
        case 3:
            return horizon - nowPs % BUCKET_PS + Draw(0, 4) - 2; // first that the wheel has not
        case 4:
            return horizon + Draw(0, 4) - 2;
        case 5:
            return Draw(0, 3 * horizon);
        case 6:
            return Draw(0, 1'000'000'000'000);
        default:
            return Draw(0, 50'000);
        }
    }

    void PushSome(uint64_t nowPs, uint64_t n)
    {
        for (uint64_t i = 0; i < n; i++)
        {
            const auto target = static_cast<uint32_t>(Draw(0, 0xffffffff));
            const auto payload = static_cast<uint32_t>(Draw(0, 3));
            uint64_t timePs;
            if (!m_laneDelayPs.empty() && Draw(0, 1))
            {
                const auto lane = Draw(0, m_laneDelayPs.size() - 1);
                timePs = nowPs + m_laneDelayPs[lane];
                m_queue.PushLane(static_cast<uint8_t>(lane), {timePs, target, payload});
            }
            else
            {
                timePs = nowPs + DrawDelay(nowPs);
                m_queue.Push(nowPs, {timePs, target, payload});
            }
            m_model.emplace_back(timePs, target, payload);
        }
        std::sort(m_model.begin(), m_model.end());
    }

    void DoRun() override
    {
        for (uint32_t i = 0; i < m_lanes; i++)
        {
            const uint64_t delayPs = i == 0 ? 1 : Draw(1, 2'000'000);
            const uint8_t lane = m_queue.LaneFor(delayPs);
            NS_TEST_ASSERT_MSG_EQ(lane, m_laneDelayPs.size(), "a new delay gets the next lane");
            NS_TEST_ASSERT_MSG_EQ(m_queue.LaneFor(delayPs), lane, "the same delay the same lane");
            m_laneDelayPs.push_back(delayPs);
        }
        PushSome(0, 20);
        uint64_t lastPs = 0;
        for (int round = 0; round < 20'000; round++)
        {
            const uint64_t nowPs = m_queue.NextPs();
            NS_TEST_ASSERT_MSG_EQ(nowPs, std::get<0>(m_model.front()), "earliest, round " << round);
            NS_TEST_ASSERT_MSG_EQ((nowPs >= lastPs), true, "time does not go back");
            lastPs = nowPs;
            const auto end = std::find_if(m_model.begin(), m_model.end(), [nowPs](const Row& row) {
                return std::get<0>(row) != nowPs;
            });
            const std::vector<Row> expected(m_model.begin(), end);
            m_model.erase(m_model.begin(), end);
            NS_TEST_ASSERT_MSG_EQ((PopInstant(m_queue, nowPs) == expected),
                                  true,
                                  "events at " << nowPs << ", round " << round);
            // Keep some hundred events pending; sometimes let it run nearly dry.
            const uint64_t target = round / 1000 % 2 ? 300 : 3;
            PushSome(nowPs, m_model.size() < target ? Draw(1, 4) : Draw(0, 1));
        }
        while (!m_model.empty())
        {
            const uint64_t nowPs = m_queue.NextPs();
            for (const auto& row : PopInstant(m_queue, nowPs))
            {
                NS_TEST_ASSERT_MSG_EQ((row == m_model.front()), true, "the rest in order");
                m_model.pop_front();
            }
        }
        NS_TEST_EXPECT_MSG_EQ(m_queue.NextPs(), NEVER_PS, "empty at the end");
    }

    std::mt19937_64 m_random;
    uint32_t m_lanes;
    EventQueue m_queue;
    std::vector<uint64_t> m_laneDelayPs;
    std::deque<Row> m_model;
};

/// One more delay than there are lanes gets none, and a lane grows beyond its first ring.
class EventLaneLimits : public TestCase
{
  public:
    EventLaneLimits()
        : TestCase("number of lanes, and a lane with 5000 events")
    {
    }

  private:
    void DoRun() override
    {
        EventQueue queue;
        for (uint32_t i = 0; i < EventQueue::MAX_LANES; i++)
        {
            NS_TEST_EXPECT_MSG_EQ(queue.LaneFor(100 + i), i, "lane " << i);
        }
        NS_TEST_EXPECT_MSG_EQ(queue.LaneFor(99), EventQueue::NO_LANE, "all taken");
        for (uint32_t i = 0; i < 5000; i++)
        {
            queue.PushLane(0, {100 + i / 2, i, 0}); // two per instant
        }
        for (uint32_t i = 0; i < 2500; i++)
        {
            const std::vector<Row> expected{{100 + i, 2 * i, 0}, {100 + i, 2 * i + 1, 0}};
            NS_TEST_ASSERT_MSG_EQ((PopInstant(queue, 100 + i) == expected), true, "pair " << i);
        }
        NS_TEST_EXPECT_MSG_EQ(queue.NextPs(), NEVER_PS, "empty");
    }
};

/// Oracle: a deadline by hand; timers are kept in a list as the engine would.
class LazyDeadlineFollowsItsLastMove : public TestCase
{
  public:
    LazyDeadlineFollowsItsLastMove()
        : TestCase("a deadline is reached once, at its last value, whatever timers are out")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(7);
        for (int trial = 0; trial < 2000; trial++)
        {
            LazyDeadline deadline;
            std::vector<uint64_t> timers;
            uint64_t duePs = NEVER_PS; // the model: no more than this number
            uint64_t nowPs = 0;
            for (int step = 0; step < 200; step++)
            {
                nowPs += random() % 8;
                // Timers that are due come first, in order, as the engine's events would.
                while (!timers.empty() && *std::min_element(timers.begin(), timers.end()) <= nowPs)
                {
                    const auto next = std::min_element(timers.begin(), timers.end());
                    const uint64_t atPs = *next;
                    timers.erase(next);
                    const auto [reached, againPs] = deadline.Fire(atPs);
                    NS_TEST_ASSERT_MSG_EQ(reached, (atPs == duePs), "reached at its time only");
                    duePs = reached ? NEVER_PS : duePs;
                    Keep(timers, againPs);
                }
                NS_TEST_ASSERT_MSG_EQ((duePs > nowPs), true, "no deadline is missed");
                if (random() % 3 == 0) // earlier or later than before
                {
                    duePs = nowPs + 1 + random() % 50;
                    Keep(timers, deadline.Move(duePs));
                }
                else if (random() % 8 == 0)
                {
                    duePs = NEVER_PS;
                    deadline.Clear();
                }
                NS_TEST_ASSERT_MSG_EQ(deadline.IsSet(), (duePs != NEVER_PS), "IsSet");
                // At most one timer per value that came earlier than all before it.
                NS_TEST_ASSERT_MSG_LT(timers.size(), 60, "timers do not pile up");
            }
        }
    }

    static void Keep(std::vector<uint64_t>& timers, uint64_t atPs)
    {
        if (atPs != NEVER_PS)
        {
            timers.push_back(atPs);
        }
    }
};

/// Oracle: a deque without duplicates.
class ReadyListIsFirstInFirstOut : public TestCase
{
  public:
    ReadyListIsFirstInFirstOut()
        : TestCase("each slot is in the list at most once, and leaves in order")
    {
    }

  private:
    void DoRun() override
    {
        std::mt19937 random(3);
        ReadyList list;
        std::deque<uint32_t> model;
        for (int i = 0; i < 100'000; i++)
        {
            if (random() % 2)
            {
                const uint32_t slot = random() % 40;
                list.Push(slot);
                if (std::find(model.begin(), model.end(), slot) == model.end())
                {
                    model.push_back(slot);
                }
                continue;
            }
            const uint32_t expected = model.empty() ? NO_SLOT : model.front();
            NS_TEST_ASSERT_MSG_EQ(list.Pop(), expected, "step " << i);
            if (!model.empty())
            {
                model.pop_front();
            }
        }
    }
};

/// Oracle: a deque, and what is decided about each slot.
class ReadyListKeepsWhoMustWait : public TestCase
{
  public:
    ReadyListKeepsWhoMustWait()
        : TestCase("a slot that is passed over keeps its place")
    {
    }

  private:
    void DoRun() override
    {
        using Verdict = ReadyList::Verdict;
        std::mt19937 random(4);
        ReadyList list;
        std::deque<uint32_t> model;
        for (int i = 0; i < 100'000; i++)
        {
            const uint32_t slot = random() % 12;
            list.Push(slot);
            if (std::find(model.begin(), model.end(), slot) == model.end())
            {
                model.push_back(slot);
            }
            std::vector<Verdict> verdicts;
            for (uint32_t j = 0; j < 12; j++)
            {
                const uint32_t draw = random() % 8; // most are kept, so that the list is long
                verdicts.push_back(draw == 0   ? Verdict::TAKE
                                   : draw == 1 ? Verdict::DROP
                                               : Verdict::KEEP);
            }
            uint32_t expected = NO_SLOT;
            for (auto it = model.begin(); it != model.end() && expected == NO_SLOT;)
            {
                const Verdict verdict = verdicts[*it];
                expected = verdict == Verdict::TAKE ? *it : NO_SLOT;
                it = verdict == Verdict::KEEP ? it + 1 : model.erase(it);
            }
            const uint32_t found =
                list.PopFirst([&verdicts](uint32_t waiting) { return verdicts[waiting]; });
            NS_TEST_ASSERT_MSG_EQ(found, expected, "step " << i);
        }
    }
};

/// A slot that was closed comes back fresh.
class FlowSlotsAreFresh : public TestCase
{
  public:
    FlowSlotsAreFresh()
        : TestCase("slots are used again, and then hold a fresh state")
    {
    }

  private:
    void DoRun() override
    {
        FlowSlots<int> slots;
        const uint32_t a = slots.Open();
        const uint32_t b = slots.Open();
        NS_TEST_EXPECT_MSG_NE(a, b, "two slots");
        slots[a] = 5;
        slots[b] = 6;
        slots.Close(a);
        NS_TEST_EXPECT_MSG_EQ(slots.Open(), a, "used again");
        NS_TEST_EXPECT_MSG_EQ(slots[a], 0, "fresh");
        NS_TEST_EXPECT_MSG_EQ(slots[b], 6, "the other untouched");
    }
};

class FabricEventQueueTestSuite : public TestSuite
{
  public:
    FabricEventQueueTestSuite()
        : TestSuite("fabric-event-queue", Type::UNIT)
    {
        for (uint32_t seed = 1; seed <= 4; seed++)
        {
            for (const uint32_t lanes : {0U, 1U, 8U})
            {
                AddTestCase(new EventQueueAgainstSort(seed, lanes), Duration::QUICK);
            }
        }
        AddTestCase(new EventLaneLimits, Duration::QUICK);
        AddTestCase(new LazyDeadlineFollowsItsLastMove, Duration::QUICK);
        AddTestCase(new ReadyListIsFirstInFirstOut, Duration::QUICK);
        AddTestCase(new ReadyListKeepsWhoMustWait, Duration::QUICK);
        AddTestCase(new FlowSlotsAreFresh, Duration::QUICK);
    }
};

static FabricEventQueueTestSuite g_fabricEventQueueTestSuite; ///< Registers itself

} // namespace tests
} // namespace ns3
