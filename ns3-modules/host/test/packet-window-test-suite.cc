// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/packet-window.h"

#include <random>
#include <set>

namespace ns3
{
namespace tests
{

using namespace fabric;

static Suite g_suite{"host-packet-window"};

/// Oracle: the set of all numbers ever added, and a base below which everything counts as added.
class PacketWindowAgainstSet : public TestCase
{
  public:
    PacketWindowAgainstSet(uint32_t seed, uint32_t span, uint32_t first)
        : TestCase("seed " + std::to_string(seed) + ", numbers up to " + std::to_string(span) +
                   " ahead, from " + std::to_string(first)),
          m_random(seed),
          m_span(span),
          m_first(first)
    {
    }

  private:
    uint32_t Base() const
    {
        uint32_t base = m_floor;
        while (m_added.count(base))
        {
            base++;
        }
        return base;
    }

    void Compare(const PacketWindow& window, int step)
    {
        const uint32_t base = Base();
        NS_TEST_ASSERT_MSG_EQ(window.Base(), base, "base, step " << step);
        const auto held = std::distance(m_added.lower_bound(base), m_added.end());
        NS_TEST_ASSERT_MSG_EQ(window.Held(), held, "held, step " << step);
        NS_TEST_ASSERT_MSG_EQ(window.Count(), base + held, "count, step " << step);
        const uint32_t end = std::max(base, m_added.empty() ? 0 : *m_added.rbegin() + 1);
        NS_TEST_ASSERT_MSG_EQ(window.End(), end, "end, step " << step);
        for (uint32_t i = 0; i < 4; i++)
        {
            const uint32_t number = base + m_random() % (m_span + 70);
            NS_TEST_ASSERT_MSG_EQ(window.Contains(number),
                                  (m_added.count(number) > 0),
                                  "contains " << number << ", step " << step);
        }
        NS_TEST_ASSERT_MSG_EQ((base == 0 || window.Contains(base - 1)), true, "below the base");
    }

    void DoRun() override
    {
        PacketWindow window;
        window.AdvanceTo(m_first);
        m_floor = m_first;
        for (int step = 0; step < 20'000; step++)
        {
            const uint32_t base = Base();
            const uint32_t kind = m_random() % 16;
            if (kind == 0) // forget up to a number: all below count as there
            {
                const uint32_t to = base + m_random() % (m_span / 2 + 1);
                window.AdvanceTo(to);
                m_floor = std::max(m_floor, to);
            }
            else
            {
                uint32_t number = kind < 6 ? base : base + m_random() % m_span;
                if (kind == 7 && base > 0) // a copy of what has long been there
                {
                    number = base - 1;
                }
                const bool isNew = number >= base && m_added.count(number) == 0;
                NS_TEST_ASSERT_MSG_EQ(window.Add(number), isNew, "add, step " << step);
                if (number >= base)
                {
                    m_added.insert(number);
                }
            }
            Compare(window, step);
            m_added.erase(m_added.begin(), m_added.lower_bound(Base())); // keeps the model small
            m_floor = std::max(m_floor, window.Base());
        }
    }

    std::mt19937 m_random;
    uint32_t m_span;
    uint32_t m_first;
    uint32_t m_floor{0};
    std::set<uint32_t> m_added;
};

ADD_CASES(g_suite)
{
    for (const uint32_t span : {1U, 2U, 63U, 64U, 65U, 128U, 1000U, 5000U})
    {
        suite.Add(new PacketWindowAgainstSet(span, span, 0));
        suite.Add(new PacketWindowAgainstSet(span + 1, span, 12'345));
    }
}

} // namespace tests
} // namespace ns3
