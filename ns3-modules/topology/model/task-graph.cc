// SPDX-License-Identifier: GPL-2.0-only

#include "task-graph.h"

#include "ns3/abort.h"

#include <tuple>

namespace ns3
{
namespace fabric
{

void
TaskGraph::Append(const FabricTables& tables)
{
    m_firstMessage = m_messages;
    m_firstTask = FIRST_TASK + NumTasks();
    NS_ABORT_MSG_IF(m_messages + tables.flows.size() >= FIRST_TASK ||
                        NumTasks() + tables.tasks.size() >= FIRST_TASK,
                    "tasks: more than " << FIRST_TASK << " in one run");
    m_messages += static_cast<uint32_t>(tables.flows.size());
    if (tables.dependencies.empty() && tables.tasks.empty())
    {
        return;
    }
    BuildTasks(tables);
    AddStreams(tables);
    CheckIds(tables);
    BuildEdges(tables);
    CheckOrder(tables);
    CheckNews(tables);
    m_beforeInStream = {};
}

void
TaskGraph::Kind::AddRoom(size_t items, size_t ends)
{
    waitsFor.resize(items, 0);
    decidedBy.resize(items, NOTHING);
    firstFollower.resize(ends + 1, static_cast<uint32_t>(followers.size()));
}

void
TaskGraph::BuildTasks(const FabricTables& tables)
{
    m_tasks.reserve(m_tasks.size() + tables.tasks.size());
    for (const auto& row : tables.tasks)
    {
        const auto node = PlaceOf(tables.nodes, row.node);
        m_tasks.push_back({WorldPs(static_cast<uint64_t>(row.startPs)),
                           static_cast<uint64_t>(row.durationPs),
                           row.id,
                           *node,
                           row.isBarrier,
                           row.decides});
    }
}

/// Find which computation comes before each one on its stream.
void
TaskGraph::AddStreams(const FabricTables& tables)
{
    m_beforeInStream.assign(tables.tasks.size(), NOTHING);
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < tables.tasks.size(); i++)
    {
        if (!tables.tasks[i].isBarrier)
        {
            order.push_back(i);
        }
    }
    const auto key = [&](uint32_t i) {
        return std::tuple(tables.tasks[i].node, tables.tasks[i].stream, i);
    };
    std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) { return key(x) < key(y); });
    for (size_t i = 1; i < order.size(); i++)
    {
        const TaskRow& before = tables.tasks[order[i - 1]];
        const TaskRow& task = tables.tasks[order[i]];
        if (before.node == task.node && before.stream == task.stream)
        {
            m_beforeInStream[order[i]] = m_firstTask + order[i - 1];
        }
    }
}

uint32_t
TaskGraph::ItemOf(const FabricTables& tables, int64_t id) const
{
    if (const auto flow = PlaceOf(tables.flows, id))
    {
        return m_firstMessage + *flow;
    }
    const auto task = PlaceOf(tables.tasks, id);
    return task ? m_firstTask + *task : NOTHING;
}

std::string
TaskGraph::NameOf(const FabricTables& tables, uint32_t item) const
{
    return IsTask(item) ? "task " + std::to_string(TaskOf(item).id)
                        : "flow " + std::to_string(tables.flows[item - m_firstMessage].id);
}

void
TaskGraph::CheckIds(const FabricTables& tables) const
{
    for (const auto& row : tables.dependencies)
    {
        for (const auto id : {row.flow, row.after})
        {
            NS_ABORT_MSG_IF(ItemOf(tables, id) == NOTHING,
                            "dependencies: flow "
                                << row.flow << " after flow " << row.after << ": there is no flow "
                                << (tables.tasks.empty() ? "" : "or task ") << id);
        }
    }
}

/// News does not travel by itself: refuse what starts at once where its reason cannot be known.
void
TaskGraph::CheckNews(const FabricTables& tables) const
{
    const auto nodeOf = [&](uint32_t item) {
        return IsTask(item) ? tables.tasks[item - m_firstTask].node
                            : tables.flows[item - m_firstMessage].src;
    };
    for (const auto& row : tables.dependencies)
    {
        const uint32_t item = ItemOf(tables, row.flow);
        const uint32_t after = ItemOf(tables, row.after);
        const bool atSender = IsTask(after) || row.atSender;
        const int64_t knownAt = atSender ? nodeOf(after) : tables.flows[after - m_firstMessage].dst;
        const auto name = [&] {
            return "dependencies: " + NameOf(tables, item) + " after " + NameOf(tables, after);
        };
        NS_ABORT_MSG_IF(row.delayPs < 0, name() << ": delay_ps is " << row.delayPs << ", not >= 0");
        NS_ABORT_MSG_IF(row.delayPs == 0 && knownAt != nodeOf(item),
                        name() << ": it starts at host " << nodeOf(item) << ", but host " << knownAt
                               << " learns of that end; give delay_ps, or a flow that carries the "
                               << "news");
    }
}

template <typename Visit>
void
TaskGraph::ForEachEdge(const FabricTables& tables, Visit&& visit) const
{
    for (const auto& row : tables.dependencies)
    {
        const uint32_t after = ItemOf(tables, row.after);
        visit(Edge{ItemOf(tables, row.flow),
                   after,
                   row.atSender && !IsTask(after),
                   static_cast<uint64_t>(row.delayPs)});
    }
    for (uint32_t i = 0; i < m_beforeInStream.size(); i++)
    {
        if (m_beforeInStream[i] != NOTHING)
        {
            visit(Edge{m_firstTask + i, m_beforeInStream[i], false, 0});
        }
    }
}

void
TaskGraph::BuildEdges(const FabricTables& tables)
{
    NS_ABORT_MSG_IF(tables.dependencies.size() + NumItems() >= NOTHING,
                    "dependencies: more than " << NOTHING << " in one run");
    const std::array<size_t, 2> before{m_kinds[0].followers.size(), m_kinds[1].followers.size()};
    m_kinds[0].AddRoom(m_messages, 2 * size_t{m_messages});
    m_kinds[1].AddRoom(NumTasks(), NumTasks());
    std::array<bool, 2> anyDelay{};
    ForEachEdge(tables, [&](const Edge& edge) {
        m_kinds[IsTask(edge.item)].waitsFor[IndexOf(edge.item)]++;
        m_kinds[IsTask(edge.after)].firstFollower[EndOf(edge.after, edge.atSender) + 1]++;
        anyDelay[IsTask(edge.after)] |= edge.delayPs > 0;
    });
    std::array<std::vector<uint32_t>, 2> next;
    const std::array<size_t, 2> firstEnd{2 * size_t{m_firstMessage}, IndexOf(m_firstTask)};
    for (size_t i = 0; i < m_kinds.size(); i++)
    {
        Kind& kind = m_kinds[i];
        uint32_t more = 0; // the ends of these tables have so far what was there, and their own
        for (size_t end = firstEnd[i] + 1; end < kind.firstFollower.size(); end++)
        {
            more += kind.firstFollower[end] - static_cast<uint32_t>(before[i]);
            kind.firstFollower[end] = static_cast<uint32_t>(before[i]) + more;
        }
        kind.followers.resize(kind.firstFollower.back());
        kind.delayPs.resize(anyDelay[i] ? kind.followers.size() : kind.delayPs.size());
        next[i].assign(kind.firstFollower.begin() + static_cast<std::ptrdiff_t>(firstEnd[i]),
                       kind.firstFollower.end());
    }
    ForEachEdge(tables, [&](const Edge& edge) {
        const bool isTask = IsTask(edge.after);
        const size_t end = EndOf(edge.after, edge.atSender) - firstEnd[isTask];
        const uint32_t place = next[isTask][end]++;
        m_kinds[isTask].followers[place] = edge.item;
        if (anyDelay[isTask])
        {
            m_kinds[isTask].delayPs[place] = edge.delayPs;
        }
    });
}

/// Refuse items that wait for each other, directly or by way of others.
void
TaskGraph::CheckOrder(const FabricTables& tables) const
{
    const uint32_t messages = m_messages - m_firstMessage;
    const auto placeOf = [&](uint32_t item) {
        return IsTask(item) ? messages + (item - m_firstTask) : item - m_firstMessage;
    };
    const auto itemAt = [&](uint32_t place) {
        return place < messages ? m_firstMessage + place : m_firstTask + (place - messages);
    };
    std::vector<uint32_t> waitsFor(messages + tables.tasks.size());
    std::vector<uint32_t> mayStart;
    for (uint32_t place = 0; place < waitsFor.size(); place++)
    {
        waitsFor[place] = WaitsFor(itemAt(place));
        if (waitsFor[place] == 0)
        {
            mayStart.push_back(place);
        }
    }
    size_t started = 0;
    const auto pass = [&](uint32_t follower, uint64_t) {
        if (--waitsFor[placeOf(follower)] == 0)
        {
            mayStart.push_back(placeOf(follower));
        }
    };
    while (!mayStart.empty())
    {
        const uint32_t item = itemAt(mayStart.back());
        mayStart.pop_back();
        started++;
        ForEachFollowerOf(item, false, pass);
        if (!IsTask(item))
        {
            ForEachFollowerOf(item, true, pass);
        }
    }
    if (started == waitsFor.size())
    {
        return;
    }
    ForEachEdge(tables, [&](const Edge& edge) {
        NS_ABORT_MSG_IF(waitsFor[placeOf(edge.item)] != 0 && waitsFor[placeOf(edge.after)] != 0,
                        "dependencies: " << NameOf(tables, edge.item) << " can never start: it "
                                         << "waits for " << NameOf(tables, edge.after)
                                         << ", and that for it or for others that wait for each "
                                         << "other");
    });
}

uint64_t
TaskGraph::MemoryBytes() const
{
    uint64_t bytes = m_tasks.size() * sizeof(Task);
    for (const Kind& kind : m_kinds)
    {
        bytes += kind.delayPs.size() * sizeof(uint64_t);
        bytes += (kind.followers.size() + kind.firstFollower.size() + kind.waitsFor.size() +
                  kind.decidedBy.size()) *
                 sizeof(uint32_t);
    }
    return bytes;
}

} // namespace fabric
} // namespace ns3
