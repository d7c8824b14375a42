// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/flow-order.h"
#include "ns3/flow-slots.h"
#include "ns3/packet-ring.h"

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

static Suite g_suite{"host-flows"};

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
            const uint32_t taken = order.PopFirst([&](uint32_t flow) { return verdicts[flow]; });
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
TEST_CASE(g_suite, "70 000 flows")
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

/// Oracle: a map from packet to note.
TEST_CASE(g_suite, "notes of packets in flight")
{
    std::mt19937 random(13);
    PacketRing<uint64_t> notes;
    std::map<uint32_t, uint64_t> sent;
    uint32_t base = 0;
    uint32_t next = 0;
    for (int step = 0; step < 20'000; step++)
    {
        base += next > base ? random() % 2 * (random() % (next - base + 1)) : 0;
        sent.erase(sent.begin(), sent.lower_bound(base));
        const bool again = next > base && random() % 4 == 0;
        const uint32_t packet = again ? base + random() % (next - base) : next;
        next += !again;
        const uint64_t note = random();
        notes.Put(packet, base, note);
        sent[packet] = note;
        for (const auto& [known, value] : sent)
        {
            NS_TEST_ASSERT_MSG_EQ(notes.Get(known), value, "packet " << known);
        }
    }
}

ADD_CASES(g_suite)
{
    suite.Add(new FlowOrderAgainstList(FlowOrder::By::ROUND_ROBIN, "round robin"));
    suite.Add(new FlowOrderAgainstList(FlowOrder::By::LEAST_REMAINING, "by key"));
    suite.Add(new SlotsKeepTheirStates);
}

} // namespace

} // namespace tests
} // namespace ns3
