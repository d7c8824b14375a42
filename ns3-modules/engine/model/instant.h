// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_INSTANT_H
#define FABRIC_INSTANT_H

#include "event.h"
#include "frame-pool.h"
#include "key-list.h"

#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief The events of one instant in the order in which they are executed: (type, index, payload).
 *
 * Whatever container they waited in, and whenever they were pushed. Lists of keys, one for each
 * type of event that is frequent. Arrivals at different nodes have nothing to do with each other,
 * so of the ports it is enough that those of each node are in order.
 */
class Instant
{
  public:
    /// Make room for ports.
    /// @param peers the port at the other end of each; those of a node are in the same order
    void SetPorts(std::vector<uint32_t> peers);

    void Clear()
    {
        transmitted.Clear();
        arrived.Clear();
        others.Clear();
        m_orders = 0;
    }

    /// Of arrivals that come in no order: two bits.
    static constexpr uint32_t NO_ORDER = 3U << 30;

    /**
     * @param type of the events of a lane
     * @param orders bit of those arrivals with which these are in order, if they come behind them
     * @return where the lane puts them
     */
    KeyList& Of(EventType type, uint32_t orders)
    {
        m_orders |= orders;
        return type == EventType::ARRIVE ? arrived : transmitted;
    }

    /// Add an event that waited elsewhere.
    void Add(const Event& event);

    /// Put the events in order; of two frames at one port, link control comes first: no switch
    /// delays it.
    void Order(const FramePool& frames)
    {
        if (transmitted.Size() < m_fewTransmissions)
        {
            transmitted.Sort();
        }
        else
        {
            SortTransmissions();
        }
        // From one lane they come in order: they were pushed at one earlier instant in the order
        // of their sending ports, and the ports of a node lie in the order of their peers.
        if ((m_orders & (m_orders - 1)) != 0 && arrived.Size() > 1)
        {
            OrderArrivals(frames);
        }
        if (others.Size() > 1)
        {
            others.Sort();
        }
    }

    size_t Size() const
    {
        return transmitted.Size() + arrived.Size() + others.Size();
    }

    KeyList transmitted; ///< TX_DONE
    KeyList arrived;     ///< ARRIVE
    KeyList others;      ///< CONTROL and TIMER

  private:
    /// Arrivals that are in order.
    struct Run
    {
        const uint64_t* next;
        const uint64_t* end;
    };

    void SortTransmissions();
    void OrderArrivals(const FramePool& frames);
    void OrderTwo(const FramePool& frames, uint64_t* keys) const;
    bool FindRuns();
    void SortArrivals(const FramePool& frames);
    void MergeRuns();

    /// @return what puts arrivals in order, but for two at one port
    uint32_t Rank(uint64_t key) const
    {
        return m_peers[IndexOf(key)];
    }

    size_t m_fewTransmissions{0};         ///< Fewer than this are sorted by comparison
    uint32_t m_orders{0};                 ///< Bit per order in which arrivals have come
    std::vector<uint64_t> m_present;      ///< Bit per port of a TX_DONE
    std::vector<uint64_t> m_presentWords; ///< Bit per word of m_present in use
    std::vector<uint32_t> m_peers;        ///< Of each port
    std::vector<Run> m_runs;
    bool m_anyPair{false}; ///< Two frames come to one port
    KeyList m_merged;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_INSTANT_H
