// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_FLOW_ORDER_H
#define HOST_FLOW_ORDER_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief Which of the flows that may have something to send is served next.
 *
 * Round robin costs O(1) for each flow that is asked, the other orders O(log n). A flow is listed
 * at most once. What only the others need lies apart: an order is in the way of each packet.
 */
class FlowOrder
{
  public:
    /// What decides.
    enum class By
    {
        ROUND_ROBIN,     ///< Who has waited longest since it was served
        FIRST_COME,      ///< Who began first
        LEAST_REMAINING, ///< Who has the fewest bytes left
    };

    /// What becomes of a flow whose turn it is.
    enum class Verdict
    {
        TAKE, ///< It is the one
        KEEP, ///< It keeps its place; ask the next
        DROP, ///< It leaves the list: there is nothing to send; ask the next
        STOP, ///< It and all behind it keep their places
    };

    static constexpr uint32_t NOBODY = 0xffffffff;

    explicit FlowOrder(By by = By::ROUND_ROBIN)
        : m_sorted(by == By::ROUND_ROBIN ? nullptr : std::make_unique<Sorted>())
    {
    }

    bool IsEmpty() const
    {
        return m_sorted ? m_sorted->places.empty() : m_head == NOBODY;
    }

    /**
     * List a flow, or move it to where it belongs now.
     * @param flow small number of its own
     * @param key FIRST_COME: its number; LEAST_REMAINING: bytes left; the least is first
     */
    void Push(uint32_t flow, uint64_t key)
    {
        if (m_sorted || flow > m_after.size())
        {
            PushRarely(flow, key);
        }
        else if (After(flow) == ABSENT)
        {
            After(flow) = NOBODY;
            (m_tail == NOBODY ? m_head : After(m_tail)) = flow;
            m_tail = flow;
        }
    }

    /**
     * Ask one flow after the other until one is taken.
     * @param judge called with a flow, returns a Verdict
     * @return the flow taken, NOBODY if none is
     */
    template <typename Judge>
    uint32_t PopFirst(Judge&& judge)
    {
        return m_sorted ? PopFromSorted(judge) : PopFromRound(judge);
    }

    /**
     * @param may called with a flow, returns whether it would be taken
     * @return whether any flow would be
     */
    template <typename May>
    bool Any(May&& may) const
    {
        if (m_sorted)
        {
            const auto& places = m_sorted->places;
            return std::any_of(places.begin(), places.end(), [&may](const auto& place) {
                return may(place.second);
            });
        }
        uint32_t flow = m_head;
        while (flow != NOBODY && !may(flow))
        {
            flow = const_cast<FlowOrder*>(this)->After(flow);
        }
        return flow != NOBODY;
    }

  private:
    static constexpr uint32_t ABSENT = 0xfffffffe;
    static constexpr uint64_t NO_KEY = std::numeric_limits<uint64_t>::max();

    /// Flows by their keys.
    struct Sorted
    {
        std::set<std::pair<uint64_t, uint32_t>> places; ///< Key and flow
        std::vector<uint64_t> keys;                     ///< Of each flow in places
    };

    /// Successor of a flow in the round; that of flow 0, often the only one, lies in the object.
    uint32_t& After(uint32_t flow)
    {
        return flow == 0 ? m_afterFirst : m_after[flow - 1];
    }

    /// Sorted, or the first time of a flow.
    void PushRarely(uint32_t flow, uint64_t key);

    template <typename Judge>
    uint32_t PopFromRound(Judge& judge)
    {
        uint32_t before = NOBODY; // the last one that keeps its place
        uint32_t flow = m_head;
        while (flow != NOBODY)
        {
            const uint32_t next = After(flow);
            const Verdict verdict = judge(flow);
            if (verdict == Verdict::STOP)
            {
                return NOBODY;
            }
            if (verdict == Verdict::KEEP)
            {
                before = flow;
            }
            else
            {
                After(flow) = ABSENT;
                (before == NOBODY ? m_head : After(before)) = next;
                m_tail = next == NOBODY ? before : m_tail;
            }
            if (verdict == Verdict::TAKE)
            {
                return flow;
            }
            flow = next;
        }
        return NOBODY;
    }

    template <typename Judge>
    uint32_t PopFromSorted(Judge& judge)
    {
        auto& [places, keys] = *m_sorted;
        auto place = places.begin();
        while (place != places.end())
        {
            const uint32_t flow = place->second;
            const Verdict verdict = judge(flow);
            if (verdict == Verdict::STOP)
            {
                return NOBODY;
            }
            if (verdict == Verdict::KEEP)
            {
                ++place;
                continue;
            }
            place = places.erase(place);
            keys[flow] = NO_KEY;
            if (verdict == Verdict::TAKE)
            {
                return flow;
            }
        }
        return NOBODY;
    }

    std::unique_ptr<Sorted> m_sorted; ///< Null: round robin
    uint32_t m_head{NOBODY};
    uint32_t m_tail{NOBODY};
    uint32_t m_afterFirst{ABSENT};
    std::vector<uint32_t> m_after; ///< Of flow 1 and up
};

} // namespace fabric
} // namespace ns3

#endif // HOST_FLOW_ORDER_H
