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
 * type of event that is frequent.
 */
class Instant
{
  public:
    void SetPorts(uint32_t ports); ///< Make room for indices of ports 0 to `ports` - 1

    void Clear()
    {
        transmitted.Clear();
        arrived.Clear();
        others.Clear();
        m_arrivalLists = 0;
    }

    /// @return where a lane puts its events of a type, sorted among themselves if they are arrivals
    KeyList& Of(EventType type)
    {
        m_arrivalLists += type == EventType::ARRIVE;
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
        if (m_arrivalLists > 1 && arrived.Size() > 1)
        {
            SortArrivals(frames);
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
    void SortTransmissions();
    void SortArrivals(const FramePool& frames);

    size_t m_fewTransmissions{0};         ///< Fewer than this are sorted by comparison
    uint32_t m_arrivalLists{0};           ///< Lists, each in order, of which `arrived` is made
    std::vector<uint64_t> m_present;      ///< Bit per port of a TX_DONE
    std::vector<uint64_t> m_presentWords; ///< Bit per word of m_present in use
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_INSTANT_H
