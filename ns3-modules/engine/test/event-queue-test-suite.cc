// SPDX-License-Identifier: GPL-2.0-only

#include "test-case.h"

#include "ns3/event-queue.h"

#include <algorithm>
#include <array>
#include <deque>
#include <random>
#include <set>
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

constexpr uint64_t BUCKET_PS = uint64_t{1} << EventCalendar::WIDTH_BITS;

/// Pop one instant into rows, whatever else the queue passes to the sink.
template <typename Ahead = NothingAhead>
std::vector<Row>
PopInstant(EventQueue& queue, Ahead&& ahead = {})
{
    std::vector<Row> rows;
    const EventQueue::Due due = queue.FindNext();
    if (queue.IsAlone(due, ahead))
    {
        const Event event = queue.PopAlone(due, ahead);
        return {{event.timePs, event.target, event.payload}};
    }
    Instant instant;
    queue.PopInstant(due, instant, ahead);
    for (const KeyList* keys : {&instant.transmitted, &instant.arrived, &instant.others})
    {
        for (size_t i = 0; i < keys->Size(); i++)
        {
            const uint64_t key = (*keys)[i];
            rows.emplace_back(due.timePs, key >> 32, static_cast<uint32_t>(key));
        }
    }
    std::sort(rows.begin(), rows.end());
    return rows;
}

} // namespace

static Suite g_suite{"fabric-event-queue"};

/// Oracle: a sorted list of all events. Each instant must come out whole, and in order of time.
class EventQueueAgainstSort : public TestCase
{
  public:
    EventQueueAgainstSort(uint32_t seed, uint32_t lanes)
        : TestCase("lanes, wires, calendar and heap against a sorted list, seed " +
                   std::to_string(seed) + ", " + std::to_string(lanes) + " lanes"),
          m_random(seed),
          m_lanes(lanes)
    {
    }

  private:
    uint64_t Draw(uint64_t from, uint64_t to)
    {
        return std::uniform_int_distribution<uint64_t>(from, to)(m_random);
    }

    /// A delay: near, far, or within two of an edge of a bucket or of the calendar's horizon.
    uint64_t DrawDelay(uint64_t nowPs)
    {
        const uint64_t horizon = EventCalendar::HORIZON_PS;
        switch (Draw(0, 7))
        {
        case 0:
            return 0;
        case 1:
            return Draw(0, 3 * BUCKET_PS);
        case 2:
            return BUCKET_PS - nowPs % BUCKET_PS + Draw(0, 2); // first of the next bucket
        case 3:
            return horizon - nowPs % BUCKET_PS + Draw(0, 4) - 2; // first that the calendar has not
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
            if (Draw(0, 3) == 0) // a wire: never before what was pushed there last
            {
                uint64_t& lastPs = m_lastOnWirePs[Draw(0, WIRES - 1)];
                const uint64_t gapPs =
                    Draw(0, 1) ? GAPS_PS[Draw(0, GAPS_PS.size() - 1)] : DrawDelay(nowPs) / 4;
                timePs = lastPs = std::max(lastPs, nowPs + Draw(0, 3)) + gapPs;
                const auto wire = static_cast<uint32_t>(&lastPs - m_lastOnWirePs.data());
                m_queue.PushWire(nowPs, wire, {timePs, target, payload});
            }
            else if (!m_laneDelayPs.empty() && Draw(0, 1))
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
        m_queue.SetWires(WIRES);
        for (uint32_t i = 0; i < m_lanes; i++)
        {
            const uint64_t delayPs = i == 0 ? 1 : Draw(1, 2'000'000);
            const uint8_t lane = m_queue.LaneFor(EventType::ARRIVE, delayPs);
            NS_TEST_ASSERT_MSG_EQ(lane, m_laneDelayPs.size(), "a new delay gets the next lane");
            const uint8_t again = m_queue.LaneFor(EventType::ARRIVE, delayPs);
            NS_TEST_ASSERT_MSG_EQ(again, lane, "the same delay the same lane");
            m_laneDelayPs.push_back(delayPs);
        }
        for (const uint64_t gapPs : GAPS_PS)
        {
            m_queue.ExpectGap(gapPs);
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
            NS_TEST_ASSERT_MSG_EQ((PopInstant(m_queue) == expected),
                                  true,
                                  "events at " << nowPs << ", round " << round);
            // Keep some hundred events pending; sometimes let it run nearly dry.
            const uint64_t target = round / 1000 % 2 ? 300 : 3;
            PushSome(nowPs, m_model.size() < target ? Draw(1, 4) : Draw(0, 1));
        }
        while (!m_model.empty())
        {
            for (const auto& row : PopInstant(m_queue))
            {
                NS_TEST_ASSERT_MSG_EQ((row == m_model.front()), true, "the rest in order");
                m_model.pop_front();
            }
        }
        NS_TEST_EXPECT_MSG_EQ(m_queue.NextPs(), NEVER_PS, "empty at the end");
    }

    std::mt19937_64 m_random;
    uint32_t m_lanes;
    static constexpr uint32_t WIRES = 5;
    /// One of them twice, and more than there are lanes for.
    static constexpr std::array<uint64_t, 7> GAPS_PS{10, 5'000, 10, 70, 800, 9'000, 11};
    std::array<uint64_t, WIRES> m_lastOnWirePs{};
    EventQueue m_queue;
    std::vector<uint64_t> m_laneDelayPs;
    std::deque<Row> m_model;
};

/// One more delay than there are lanes gets none, and a lane grows beyond its first stretch.
TEST_CASE(g_suite, "number of lanes, and a lane with 5000 events")
{
    EventQueue queue;
    for (uint32_t i = 0; i < EventQueue::MAX_LANES; i++)
    {
        NS_TEST_EXPECT_MSG_EQ(queue.LaneFor(EventType::ARRIVE, 100 + i), i, "lane " << i);
    }
    const uint8_t more = queue.LaneFor(EventType::ARRIVE, 99);
    NS_TEST_EXPECT_MSG_EQ(more, EventQueue::NO_LANE, "all taken");
    for (uint32_t i = 0; i < 5000; i++)
    {
        queue.PushLane(0, {100 + i / 2, i, 0}); // two per instant
    }
    for (uint32_t i = 0; i < 2500; i++)
    {
        const std::vector<Row> expected{{100 + i, 2 * i, 0}, {100 + i, 2 * i + 1, 0}};
        NS_TEST_ASSERT_MSG_EQ((PopInstant(queue) == expected), true, "pair " << i);
    }
    NS_TEST_EXPECT_MSG_EQ(queue.NextPs(), NEVER_PS, "empty");
    std::vector<Row> expected;
    for (uint32_t i = 0; i < 5000; i++)
    {
        queue.PushLane(0, {3000, i, 0});
        expected.emplace_back(3000, i, 0);
    }
    NS_TEST_EXPECT_MSG_EQ((PopInstant(queue) == expected), true, "all at once");
    NS_TEST_EXPECT_MSG_EQ(queue.NextPs(), NEVER_PS, "empty again");
}

/// Notes which events it is shown.
struct Noted
{
    static constexpr bool NEARS = true;

    void Far(const Event& event) const
    {
        far.insert(event.payload);
    }

    void Near(const Event& event) const
    {
        near.push_back(event);
    }

    std::set<uint32_t>& far;
    std::vector<Event>& near;
};

/// Oracle: a sorted list; and all events of a lane and of buckets but the first ones are shown
/// before their turn, first as Far and then as Near.
TEST_CASE(g_suite, "events of full buckets come in order, and each is shown before its turn")
{
    constexpr uint32_t EVENTS = 20'000;
    constexpr uint64_t DELAY_PS = 5000;
    std::mt19937_64 random(1);
    EventQueue queue;
    queue.LaneFor(EventType::TX_DONE, DELAY_PS);
    std::vector<Row> expected;
    for (uint32_t i = 0; i < EVENTS; i++)
    {
        const bool isInLane = i % 4 == 0;
        const uint64_t timePs = isInLane ? DELAY_PS + i / 4 : random() % (40 * BUCKET_PS);
        const uint32_t target =
            EventTarget(isInLane ? EventType::TX_DONE : EventType::ARRIVE, i % 1000);
        expected.emplace_back(timePs, target, i);
        isInLane ? queue.PushLane(0, {timePs, target, i}) : queue.Push(0, {timePs, target, i});
    }
    std::sort(expected.begin(), expected.end());
    std::set<uint32_t> far;
    std::set<uint32_t> shown;
    std::vector<Event> near;
    auto next = expected.begin();
    while (queue.NextPs() != NEVER_PS)
    {
        const uint64_t nowPs = queue.NextPs();
        for (const Row& row : PopInstant(queue, Noted{far, near}))
        {
            NS_TEST_ASSERT_MSG_EQ((row == *next), true, "in order, at " << std::get<0>(row));
            next++;
        }
        for (const Event& event : near)
        {
            NS_TEST_ASSERT_MSG_GT_OR_EQ(event.timePs, nowPs, "not after its turn");
            if (far.contains(event.payload))
            {
                shown.insert(event.payload);
            }
        }
        near.clear();
    }
    NS_TEST_EXPECT_MSG_EQ((next == expected.end()), true, "all");
    NS_TEST_EXPECT_MSG_GT(shown.size(), EVENTS - 100, "nearly all are shown");
}

/// Oracle: a lane takes the memory of the events it holds, of what it may be short of when it
/// grows by a half, 4096 events at most, and of two stretches that are partly empty.
TEST_CASE(g_suite, "memory of a lane that fills to 100 000 events, and in a steady state")
{
    constexpr uint64_t PENDING = 100'000;
    constexpr size_t STRETCH_BYTES = (4096 + EventLane::LOOK_AHEAD) * sizeof(Event);
    EventLane lane;
    for (uint64_t i = 0; i < PENDING; i++)
    {
        lane.Push({i, 0, 0});
    }
    const size_t full = lane.MemoryBytes();
    NS_TEST_EXPECT_MSG_GT_OR_EQ(full, PENDING * sizeof(Event), "the events");
    NS_TEST_EXPECT_MSG_LT(full, 1.02 * PENDING * sizeof(Event) + STRETCH_BYTES, "full");
    for (uint64_t i = PENDING; i < 10 * PENDING; i++)
    {
        lane.Push({i, 0, 0});
        NS_TEST_ASSERT_MSG_EQ(lane.SecondPs(), i - PENDING + 1, "the second");
        NS_TEST_ASSERT_MSG_EQ(lane.Pop().timePs, i - PENDING, "the first");
    }
    NS_TEST_EXPECT_MSG_LT_OR_EQ(lane.MemoryBytes(), full + STRETCH_BYTES, "steady");
    while (lane.SecondPs() != NEVER_PS)
    {
        lane.Pop();
    }
    NS_TEST_EXPECT_MSG_EQ(lane.Pop().timePs, 10 * PENDING - 1, "the last");
    NS_TEST_EXPECT_MSG_EQ(lane.IsEmpty(), true, "empty");
}

/// Oracle: by hand. Only what happens at times of the world comes earlier, and the order is kept.
TEST_CASE(g_suite, "events of control come earlier, timers and wires when they were to")
{
    constexpr uint64_t FAR_PS = 100 * EventCalendar::HORIZON_PS;
    EventQueue queue;
    queue.SetWires(1);
    const uint32_t control = EventTarget(EventType::CONTROL, CONTROL_MESSAGE);
    const uint32_t timer = EventTarget(EventType::TIMER, 3);
    const uint32_t arrival = EventTarget(EventType::ARRIVE, 0);
    queue.PushWire(0, 0, {FAR_PS / 3, arrival, 6});
    queue.Push(0, {2000, timer, 1});
    queue.Push(0, {FAR_PS, control, 2});
    queue.Push(0, {2 * FAR_PS, control, 3});
    queue.Push(0, {FAR_PS / 2, timer, 4});
    NS_TEST_EXPECT_MSG_EQ(queue.NextControlPs(), FAR_PS, "timers and wires do not count");

    queue.AdvanceControl(FAR_PS - 1000);
    NS_TEST_EXPECT_MSG_EQ(queue.NextControlPs(), 1000, "earlier");
    const std::vector<Row> expected{{1000, control, 2},
                                    {2000, timer, 1},
                                    {FAR_PS / 3, arrival, 6},
                                    {FAR_PS / 2, timer, 4},
                                    {FAR_PS + 1000, control, 3}};
    for (const Row& row : expected)
    {
        NS_TEST_EXPECT_MSG_EQ((PopInstant(queue) == std::vector<Row>{row}),
                              true,
                              "at " << std::get<0>(row));
    }
    NS_TEST_EXPECT_MSG_EQ(queue.NextControlPs(), NEVER_PS, "none is left");
    queue.Push(FAR_PS + 1000, {FAR_PS + 1010, control, 5});
    NS_TEST_EXPECT_MSG_EQ(queue.NextControlPs(), FAR_PS + 1010, "one that is near");
}

ADD_CASES(g_suite)
{
    for (uint32_t seed = 1; seed <= 4; seed++)
    {
        for (const uint32_t lanes : {0U, 1U, EventQueue::MAX_LANES})
        {
            suite.Add(new EventQueueAgainstSort(seed, lanes));
        }
    }
}

} // namespace tests
} // namespace ns3
