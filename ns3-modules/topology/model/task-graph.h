// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TASK_GRAPH_H
#define FABRIC_TASK_GRAPH_H

#include "fabric-tables.h"

#include "ns3/clocks.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

/// A computation or a barrier: one row of "tasks".
struct Task
{
    WorldPs startPs;     ///< [ps]; of one that waits, the least that is known so far
    uint64_t durationPs; ///< 0 of a barrier [ps]
    int64_t id;
    uint32_t node;  ///< Where it stands in the table of nodes
    bool isBarrier; ///< Otherwise a computation
    bool ended{false};
};

static_assert(sizeof(Task) == 32);

/**
 * @ingroup fabric
 * @brief What waits for what: messages and tasks of a run, whoever moves the bytes.
 *
 * Items are the messages of the table "flows" in the order of their ids, then the tasks in that of
 * theirs. Computations of one node and stream follow each other in that order. A task takes 44 B
 * and 4 B for each dependency, 12 B if any has a delay.
 */
class TaskGraph
{
  public:
    static constexpr uint32_t NOTHING = 0xffffffff;

    TaskGraph() = default;

    /// Take what SortAndCheck has put in order. Aborts with one line on what can never run.
    explicit TaskGraph(const FabricTables& tables);

    uint32_t NumMessages() const
    {
        return m_messages;
    }

    uint32_t NumTasks() const
    {
        return static_cast<uint32_t>(m_tasks.size());
    }

    bool IsTask(uint32_t item) const
    {
        return item >= m_messages;
    }

    const Task& TaskOf(uint32_t item) const
    {
        return m_tasks[item - m_messages];
    }

    /// @return whether an item has not begun because of others that it waits for
    bool Waits(uint32_t item) const
    {
        return item < m_waitsFor.size() && m_waitsFor[item] > 0;
    }

    /// @return so many dependencies of an item are not fulfilled
    uint32_t WaitsFor(uint32_t item) const
    {
        return item < m_waitsFor.size() ? m_waitsFor[item] : 0;
    }

    /// @return the item whose end has decided when this one started, NOTHING if its own time has
    uint32_t DecidedBy(uint32_t item) const
    {
        return item < m_decidedBy.size() ? m_decidedBy[item] : NOTHING;
    }

    /// A task is over.
    void EndTask(uint32_t item)
    {
        m_tasks[item - m_messages].ended = true;
    }

    /**
     * An end that others wait for has come.
     * @param atSender of a message: its sender knows; false also for tasks
     * @param startOf called with a message, returns a reference to its start [ps]
     * @param mayStart called with each item for which this was the last
     * @param isHere called with each item and the time that it knows; false: it is no item of this
     *        engine, which has been told
     */
    template <typename StartOf, typename MayStart, typename IsHere>
    void Release(uint32_t item,
                 bool atSender,
                 WorldPs nowPs,
                 StartOf&& startOf,
                 MayStart&& mayStart,
                 IsHere&& isHere)
    {
        if (m_firstFollower.empty() || item >= m_waitsFor.size())
        {
            return;
        }
        const size_t place = Place(item, atSender);
        for (uint32_t i = m_firstFollower[place]; i < m_firstFollower[place + 1]; i++)
        {
            const uint32_t follower = m_followers[i];
            const WorldPs knownPs = nowPs + (m_delayPs.empty() ? 0 : m_delayPs[i]);
            if (!isHere(follower, knownPs))
            {
                continue;
            }
            if (Fulfil(follower, item, knownPs, startOf))
            {
                mayStart(follower);
            }
        }
    }

    /**
     * A dependency of an item is fulfilled. Of two at one time the item with the higher place
     * decides, whichever is known first.
     * @param item that waits
     * @param after the item that it waits for
     * @param knownPs before this it cannot start [ps]
     * @param startOf called with a message, returns a reference to its start [ps]
     * @return whether it waits for nothing else
     */
    template <typename StartOf>
    bool Fulfil(uint32_t item, uint32_t after, WorldPs knownPs, StartOf&& startOf)
    {
        WorldPs& startPs = IsTask(item) ? m_tasks[item - m_messages].startPs : startOf(item);
        uint32_t& decidedBy = m_decidedBy[item];
        if (knownPs > startPs ||
            (knownPs == startPs && (decidedBy == NOTHING || decidedBy < after)))
        {
            startPs = knownPs;
            decidedBy = after;
        }
        return --m_waitsFor[item] == 0;
    }

    /// Visit who waits for an end of an item: (who, delay [ps]). `atSender` as in Release.
    template <typename Visit>
    void ForEachFollowerOf(uint32_t item, bool atSender, Visit&& visit) const
    {
        if (m_firstFollower.empty() || item >= m_waitsFor.size())
        {
            return;
        }
        const size_t place = Place(item, atSender);
        for (uint32_t i = m_firstFollower[place]; i < m_firstFollower[place + 1]; i++)
        {
            visit(m_followers[i], m_delayPs.empty() ? 0 : m_delayPs[i]);
        }
    }

    /// Visit each dependency: (item, at its sender, who waits for that, delay [ps]).
    template <typename Visit>
    void ForEachFollower(Visit&& visit) const
    {
        for (uint32_t item = 0; item < m_waitsFor.size(); item++)
        {
            for (const bool atSender : {false, true})
            {
                ForEachFollowerOf(item, atSender, [&](uint32_t other, uint64_t delayPs) {
                    visit(item, atSender, other, delayPs);
                });
                if (IsTask(item))
                {
                    break; // it has one end
                }
            }
        }
    }

    uint64_t MemoryBytes() const;

  private:
    /// An edge between items, as places in the arrays.
    struct Edge
    {
        uint32_t item;
        uint32_t after;
        bool atSender;
        uint64_t delayPs;
    };

    void BuildTasks(const FabricTables& tables);
    void BuildEdges(const FabricTables& tables);
    void AddStreams(const FabricTables& tables);
    void CheckIds(const FabricTables& tables) const;
    void CheckNews(const FabricTables& tables) const;
    void CheckOrder(const FabricTables& tables) const;
    template <typename Visit>
    void ForEachEdge(const FabricTables& tables, Visit&& visit) const;
    uint32_t ItemOf(const FabricTables& tables, int64_t id) const;
    std::string NameOf(const FabricTables& tables, uint32_t item) const;

    /// @return index of the followers of an end of an item
    size_t Place(uint32_t item, bool atSender) const
    {
        return IsTask(item) ? size_t{m_messages} + item : 2 * size_t{item} + atSender;
    }

    uint32_t m_messages{0};
    std::vector<Task> m_tasks;
    std::vector<uint32_t> m_followers;      ///< By place
    std::vector<uint64_t> m_delayPs;        ///< Of each follower; empty if none has any [ps]
    std::vector<uint32_t> m_firstFollower;  ///< Per message twice: of the receiver, of the sender
    std::vector<uint32_t> m_waitsFor;       ///< Dependencies left of each item
    std::vector<uint32_t> m_decidedBy;      ///< Of each item
    std::vector<uint32_t> m_beforeInStream; ///< While building: of each task, NOTHING if the first
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TASK_GRAPH_H
