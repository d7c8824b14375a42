// SPDX-License-Identifier: GPL-2.0-only

#include "test-case.h"

#include "ns3/event-queue.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

std::vector<uint64_t>
Copy(KeyList& keys)
{
    return {keys.begin(), keys.end()};
}

} // namespace

static Suite g_suite{"fabric-instant"};

/// Two frames reach one port at one instant: data that a switch took its time for, and a PAUSE,
/// which none delays. Oracle: the PAUSE is first, whichever frame was allocated first.
/// @param hasThird another frame comes to another port
TEST_CASES(LinkControlIsFirst,
           std::string("data and a PAUSE at one port, ") + (hasThird ? "and a third frame, " : "") +
               "the PAUSE allocated " + (isAllocatedFirst ? "first" : "last"),
           bool isAllocatedFirst,
           bool hasThird)
{
    FramePool frames;
    const FrameId a = frames.Allocate();
    const FrameId b = frames.Allocate();
    const FrameId pause = isAllocatedFirst ? a : b;
    const FrameId data = isAllocatedFirst ? b : a;
    frames[pause].kind = frame_kind::LINK_CONTROL;
    const uint32_t port = EventTarget(EventType::ARRIVE, 7);
    const uint32_t before = EventTarget(EventType::ARRIVE, 6);
    for (const bool isPauseFirst : {true, false})
    {
        Instant instant;
        instant.SetPorts({0, 1, 2, 3, 4, 5, 6, 7});
        instant.Add({0, port, isPauseFirst ? pause : data});
        instant.Add({0, port, isPauseFirst ? data : pause});
        std::vector<uint64_t> expected{Event{0, port, pause}.Key(), Event{0, port, data}.Key()};
        if (hasThird)
        {
            instant.Add({0, before, data});
            expected.insert(expected.begin(), Event{0, before, data}.Key());
        }
        instant.Order(frames);
        NS_TEST_EXPECT_MSG_EQ((Copy(instant.arrived) == expected), true, "order");
    }
}

/// Oracle: std::sort. Few ends of transmission and many are put in order by different means.
TEST_CASE(g_suite, "ends of transmission of up to 300 ports among 10000")
{
    constexpr uint32_t PORTS = 10'000;
    std::mt19937 random(1);
    std::vector<uint32_t> ports(PORTS);
    for (uint32_t port = 0; port < PORTS; port++)
    {
        ports[port] = port;
    }
    FramePool frames;
    Instant instant;
    instant.SetPorts(ports);
    for (const size_t n : {0, 1, 2, 3, 5, 7, 8, 9, 10, 20, 64, 300})
    {
        std::shuffle(ports.begin(), ports.end(), random);
        instant.Clear();
        std::vector<uint64_t> expected;
        for (size_t i = 0; i < n; i++)
        {
            const Event event{0, EventTarget(EventType::TX_DONE, ports[i]), 0};
            instant.Add(event);
            expected.push_back(event.Key());
        }
        std::sort(expected.begin(), expected.end());
        instant.Order(frames);
        NS_TEST_EXPECT_MSG_EQ((Copy(instant.transmitted) == expected), true, n << " ports");
    }
}

/// Oracle: a stable sort by the port at the other end, link control before what it overtakes.
TEST_CASE(g_suite, "arrivals from up to 9 lanes, each in order or in none, at 500 ports")
{
    constexpr uint32_t PORTS = 500;
    std::mt19937 random(2);
    std::vector<uint32_t> peers(PORTS);
    std::iota(peers.begin(), peers.end(), 0);
    std::shuffle(peers.begin(), peers.end(), random);
    FramePool frames;
    Instant instant;
    instant.SetPorts(peers);
    for (size_t trial = 0; trial < 200; trial++)
    {
        const size_t lanes = 1 + trial % 9;
        const bool isOrdered = trial % 3 != 0 || lanes == 1;
        const uint32_t few = trial < 100 ? 1 : 128; // one or two frames then
        const auto rank = [&](uint64_t key) {
            const auto kind = frames[static_cast<FrameId>(key)].kind;
            return std::pair(peers[IndexOf(key)], kind != frame_kind::LINK_CONTROL);
        };
        const auto before = [&](uint64_t a, uint64_t b) { return rank(a) < rank(b); };
        std::vector<std::vector<uint64_t>> lists(lanes);
        for (uint32_t port = 0; port < PORTS; port++)
        {
            for (const uint8_t kind : {frame_kind::DATA, frame_kind::LINK_CONTROL})
            {
                const FrameId frame = frames.Allocate();
                frames[frame].kind = kind;
                const Event event{0, EventTarget(EventType::ARRIVE, port), frame};
                if (random() % (few * (kind == frame_kind::DATA ? 2 : 16)) == 0)
                {
                    lists[random() % lanes].push_back(event.Key());
                }
            }
        }
        instant.Clear();
        std::vector<uint64_t> expected;
        for (size_t i = 0; i < lanes; i++)
        {
            auto& list = lists[i];
            if (isOrdered)
            {
                std::sort(list.begin(), list.end(), before);
            }
            KeyList& keys = instant.Of(EventType::ARRIVE, isOrdered ? 1U << i : Instant::NO_ORDER);
            std::for_each(list.begin(), list.end(), [&](uint64_t key) { keys.Push(key); });
            expected.insert(expected.end(), list.begin(), list.end());
        }
        std::sort(expected.begin(), expected.end(), before);
        instant.Order(frames);
        auto got = Copy(instant.arrived);
        if (!isOrdered) // by ports of arrival then, each with link control first
        {
            std::stable_sort(got.begin(), got.end(), [&](uint64_t a, uint64_t b) {
                return peers[IndexOf(a)] < peers[IndexOf(b)];
            });
        }
        NS_TEST_EXPECT_MSG_EQ((got == expected), true, "trial " << trial);
    }
}

/// Oracle: the port at the other end, whichever lane an arrival was in. Each lane is in order; the
/// two of them, of unlike delays, are not.
TEST_CASE(g_suite, "arrivals of one instant by lanes of 10 and of 20 ps")
{
    EventQueue queue;
    const uint8_t lanes[]{queue.LaneFor(EventType::ARRIVE, 10),
                          queue.LaneFor(EventType::ARRIVE, 20)};
    FramePool frames;
    Instant instant;
    instant.SetPorts({0, 1, 2, 3, 4, 5});
    uint64_t nowPs = 0;
    for (const bool isSlowFirst : {true, false})
    {
        for (const bool isSlow : {true, false}) // 20 ps before, then 10 ps before
        {
            for (const uint32_t port : {0, 2, 4})
            {
                queue.PushLane(lanes[isSlow],
                               {nowPs + 20,
                                EventTarget(EventType::ARRIVE, port + (isSlow != isSlowFirst)),
                                frames.Allocate()});
            }
        }
        nowPs += 20;
        queue.PopInstant(queue.FindNext(), instant, NothingAhead());
        instant.Order(frames);
        NS_TEST_ASSERT_MSG_EQ(instant.arrived.Size(), 6, "all of them");
        for (uint32_t port = 0; port < 6; port++)
        {
            NS_TEST_EXPECT_MSG_EQ(IndexOf(instant.arrived[port]), port, "by port");
        }
    }
}

/// Oracle: by hand. What is in use keeps its place, what is not takes no memory: it reads zero.
TEST_CASE(g_suite, "memory of frames is given back when none is in use")
{
    FramePool frames;
    const FrameId a = frames.Allocate();
    const FrameId b = frames.Allocate();
    frames[a].packet = 1;
    frames[b].packet = 2;
    frames.Note(b).stampPs = 3;
    frames.Free(a);
    frames.GiveBack();
    NS_TEST_EXPECT_MSG_EQ(frames[b].packet, 2, "one is in use");
    NS_TEST_EXPECT_MSG_EQ(frames.Note(b).stampPs, 3, "so is its note");
    frames.Free(b);
    frames.GiveBack();
    NS_TEST_EXPECT_MSG_EQ(frames[b].packet, 0, "none is");
    frames[b].noted = true; // to read what its note was
    NS_TEST_EXPECT_MSG_EQ(frames.FindNote(b)->stampPs, 0, "nor is a note");
    NS_TEST_EXPECT_MSG_EQ(frames.Peak(), 2, "the most ever");
    NS_TEST_EXPECT_MSG_EQ(frames.Allocate(), b, "the last one that was freed");
    NS_TEST_EXPECT_MSG_EQ(frames[b].next, NO_FRAME, "a fresh frame");
    NS_TEST_EXPECT_MSG_EQ(frames.Note(b).stampPs, 0, "a fresh note");
    NS_TEST_EXPECT_MSG_EQ(frames.Allocated(), 1, "in use");
}

ADD_CASES(g_suite)
{
    for (const bool hasThird : {false, true})
    {
        suite.Add(new LinkControlIsFirst(true, hasThird));
        suite.Add(new LinkControlIsFirst(false, hasThird));
    }
}

} // namespace tests
} // namespace ns3
