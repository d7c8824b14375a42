// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TASK_GRAPH_H
#define FABRIC_TASK_GRAPH_H

#include "fabric-tables.h"

#include "ns3/clocks.h"

#include <algorithm>
#include <array>
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
    bool decides;   ///< At its end the run pauses, for somebody to give further tables
    bool ended{false};
};

static_assert(sizeof(Task) == 32);

/**
 * @ingroup fabric
 * @brief What waits for what: messages and tasks of a run, whoever moves the bytes.
 *
 * Items are the messages of the table "flows" in the order of their ids from 0, and the tasks in
 * that of theirs from FIRST_TASK. Computations of one node and stream follow each other in that
 * order. A task takes 44 B and 4 B for each dependency, 12 B if any has a delay. Further tables may
 * come while a run goes on; what is in them waits for what is in the same ones.
 */
class TaskGraph
{
  public:
    static constexpr uint32_t NOTHING = 0xffffffff;
    static constexpr uint32_t FIRST_TASK = 0x80000000;

    TaskGraph() = default;

    /// Take what SortAndCheck has put in order. Aborts with one line on what can never run.
    explicit TaskGraph(const FabricTables& tables)
    {
        Append(tables);
    }

    /// Take further tables, whose ids are behind those of all before.
    void Append(const FabricTables& tables);

    uint32_t NumMessages() const
    {
        return m_messages;
    }

    uint32_t NumTasks() const
    {
        return static_cast<uint32_t>(m_tasks.size());
    }

    uint32_t NumItems() const
    {
        return NumMessages() + NumTasks();
    }

    /// @return the item at a place among all, messages first
    uint32_t ItemAt(uint32_t place) const
    {
        return place < m_messages ? place : FIRST_TASK + (place - m_messages);
    }

    static bool IsTask(uint32_t item)
    {
        return item >= FIRST_TASK;
    }

    /// @return place of an item among the messages, or among the tasks
    static uint32_t IndexOf(uint32_t item)
    {
        return item % FIRST_TASK;
    }

    const Task& TaskOf(uint32_t item) const
    {
        return m_tasks[item - FIRST_TASK];
    }

    /// @return whether an item has not begun because of others that it waits for
    bool Waits(uint32_t item) const
    {
        return WaitsFor(item) > 0;
    }

    /// @return so many dependencies of an item are not fulfilled
    uint32_t WaitsFor(uint32_t item) const
    {
        const Kind& kind = KindOf(item);
        const uint32_t index = IndexOf(item);
        return index < kind.waitsFor.size() ? kind.waitsFor[index] : 0;
    }

    /// @return the item whose end has decided when this one started, NOTHING if its own time has
    uint32_t DecidedBy(uint32_t item) const
    {
        const Kind& kind = KindOf(item);
        const uint32_t index = IndexOf(item);
        return index < kind.decidedBy.size() ? kind.decidedBy[index] : NOTHING;
    }

    /// A task is over.
    void EndTask(uint32_t item)
    {
        m_tasks[item - FIRST_TASK].ended = true;
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
        ForEachFollowerOf(item, atSender, [&](uint32_t follower, uint64_t delayPs) {
            const WorldPs knownPs = nowPs + delayPs;
            if (isHere(follower, knownPs) && Fulfil(follower, item, knownPs, startOf))
            {
                mayStart(follower);
            }
        });
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
        WorldPs& startPs = IsTask(item) ? m_tasks[item - FIRST_TASK].startPs : startOf(item);
        Kind& kind = m_kinds[IsTask(item)];
        uint32_t& decidedBy = kind.decidedBy[IndexOf(item)];
        if (knownPs > startPs ||
            (knownPs == startPs && (decidedBy == NOTHING || decidedBy < after)))
        {
            startPs = knownPs;
            decidedBy = after;
        }
        return --kind.waitsFor[IndexOf(item)] == 0;
    }

    /// Visit who waits for an end of an item: (who, delay [ps]). `atSender` as in Release.
    template <typename Visit>
    void ForEachFollowerOf(uint32_t item, bool atSender, Visit&& visit) const
    {
        const Kind& kind = KindOf(item);
        if (IndexOf(item) >= kind.waitsFor.size())
        {
            return;
        }
        const size_t end = EndOf(item, atSender);
        for (uint32_t i = kind.firstFollower[end]; i < kind.firstFollower[end + 1]; i++)
        {
            visit(kind.followers[i], kind.DelayPs(i));
        }
    }

    /// Visit each dependency: (item, at its sender, who waits for that, delay [ps]).
    template <typename Visit>
    void ForEachFollower(Visit&& visit) const
    {
        for (uint32_t place = 0; place < NumItems(); place++)
        {
            const uint32_t item = ItemAt(place);
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
    /// What is kept of all messages, or of all tasks.
    struct Kind
    {
        std::vector<uint32_t> waitsFor;      ///< Dependencies left of each
        std::vector<uint32_t> decidedBy;     ///< Of each an item
        std::vector<uint32_t> firstFollower; ///< By end
        std::vector<uint32_t> followers;     ///< Items, by the end that they wait for
        std::vector<uint64_t> delayPs;       ///< Of the first followers; the others have none [ps]

        uint64_t DelayPs(uint32_t follower) const
        {
            return follower < delayPs.size() ? delayPs[follower] : 0;
        }

        void AddRoom(size_t items, size_t ends); ///< For so many in all
    };

    /// An edge between items.
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

    const Kind& KindOf(uint32_t item) const
    {
        return m_kinds[IsTask(item)];
    }

    /// @return index of an end of an item: a message has two, at the receiver and at the sender
    static size_t EndOf(uint32_t item, bool atSender)
    {
        return IsTask(item) ? IndexOf(item) : 2 * size_t{item} + atSender;
    }

    uint32_t m_messages{0};
    std::vector<Task> m_tasks;
    std::array<Kind, 2> m_kinds;            ///< Messages, tasks
    uint32_t m_firstMessage{0};             ///< Of the tables that were taken last
    uint32_t m_firstTask{0};                ///< Likewise, an item
    std::vector<uint32_t> m_beforeInStream; ///< While building: an item for each task, or NOTHING
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TASK_GRAPH_H
