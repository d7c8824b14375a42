// SPDX-License-Identifier: GPL-2.0-only

#include "task-graph.h"

#include "ns3/abort.h"

#include <numeric>
#include <tuple>

namespace ns3
{
namespace fabric
{

TaskGraph::TaskGraph(const FabricTables& tables)
    : m_messages(static_cast<uint32_t>(tables.flows.size()))
{
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
    m_decidedBy.assign(m_waitsFor.size(), NOTHING);
}

void
TaskGraph::BuildTasks(const FabricTables& tables)
{
    m_tasks.reserve(tables.tasks.size());
    for (const auto& row : tables.tasks)
    {
        m_tasks.push_back({WorldPs(static_cast<uint64_t>(row.startPs)),
                           static_cast<uint64_t>(row.durationPs),
                           row.id,
                           *PlaceOf(tables.nodes, row.node),
                           row.isBarrier});
    }
}

/// Find which computation comes before each one on its stream.
void
TaskGraph::AddStreams(const FabricTables& tables)
{
    m_beforeInStream.assign(m_tasks.size(), NOTHING);
    std::vector<uint32_t> order;
    for (uint32_t i = 0; i < m_tasks.size(); i++)
    {
        if (!m_tasks[i].isBarrier)
        {
            order.push_back(i);
        }
    }
    const auto key = [&](uint32_t i) {
        return std::tuple(m_tasks[i].node, tables.tasks[i].stream, i);
    };
    std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) { return key(x) < key(y); });
    for (size_t i = 1; i < order.size(); i++)
    {
        const uint32_t before = order[i - 1];
        const uint32_t task = order[i];
        if (m_tasks[before].node == m_tasks[task].node &&
            tables.tasks[before].stream == tables.tasks[task].stream)
        {
            m_beforeInStream[task] = before;
        }
    }
}

uint32_t
TaskGraph::ItemOf(const FabricTables& tables, int64_t id) const
{
    if (const auto flow = PlaceOf(tables.flows, id))
    {
        return *flow;
    }
    const auto task = PlaceOf(tables.tasks, id);
    return task ? m_messages + *task : NOTHING;
}

std::string
TaskGraph::NameOf(const FabricTables& tables, uint32_t item) const
{
    return IsTask(item) ? "task " + std::to_string(TaskOf(item).id)
                        : "flow " + std::to_string(tables.flows[item].id);
}

void
TaskGraph::CheckIds(const FabricTables& tables) const
{
    for (const auto& row : tables.dependencies)
    {
        for (const auto id : {row.flow, row.after})
        {
            NS_ABORT_MSG_IF(ItemOf(tables, id) == NOTHING,
                            "dependencies: flow " << row.flow << " after flow " << row.after
                                                  << ": there is no flow "
                                                  << (m_tasks.empty() ? "" : "or task ") << id);
        }
    }
}

/// News does not travel by itself: refuse what starts at once where its reason cannot be known.
void
TaskGraph::CheckNews(const FabricTables& tables) const
{
    const auto nodeOf = [&](uint32_t item) {
        return IsTask(item) ? tables.tasks[item - m_messages].node : tables.flows[item].src;
    };
    for (const auto& row : tables.dependencies)
    {
        const uint32_t item = ItemOf(tables, row.flow);
        const uint32_t after = ItemOf(tables, row.after);
        const bool atSender = IsTask(after) || row.atSender;
        const int64_t knownAt = atSender ? nodeOf(after) : tables.flows[after].dst;
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
    for (uint32_t task = 0; task < m_tasks.size(); task++)
    {
        if (m_beforeInStream[task] != NOTHING)
        {
            visit(Edge{m_messages + task, m_messages + m_beforeInStream[task], false, 0});
        }
    }
}

void
TaskGraph::BuildEdges(const FabricTables& tables)
{
    const size_t items = m_messages + m_tasks.size();
    NS_ABORT_MSG_IF(items >= NOTHING || tables.dependencies.size() + m_tasks.size() >= NOTHING,
                    "dependencies: more than " << NOTHING << " in one run");
    bool anyDelay = false;
    m_waitsFor.assign(items, 0);
    m_firstFollower.assign(Place(static_cast<uint32_t>(items), false) + 1, 0);
    ForEachEdge(tables, [&](const Edge& edge) {
        m_waitsFor[edge.item]++;
        m_firstFollower[Place(edge.after, edge.atSender) + 1]++;
        anyDelay |= edge.delayPs > 0;
    });
    std::partial_sum(m_firstFollower.begin(), m_firstFollower.end(), m_firstFollower.begin());
    m_followers.resize(m_firstFollower.back());
    m_delayPs.resize(anyDelay ? m_followers.size() : 0);
    std::vector<uint32_t> next = m_firstFollower;
    ForEachEdge(tables, [&](const Edge& edge) {
        const uint32_t place = next[Place(edge.after, edge.atSender)]++;
        m_followers[place] = edge.item;
        if (anyDelay)
        {
            m_delayPs[place] = edge.delayPs;
        }
    });
}

/// Refuse items that wait for each other, directly or by way of others.
void
TaskGraph::CheckOrder(const FabricTables& tables) const
{
    std::vector<uint32_t> waitsFor = m_waitsFor;
    std::vector<uint32_t> mayStart;
    for (uint32_t item = 0; item < waitsFor.size(); item++)
    {
        if (waitsFor[item] == 0)
        {
            mayStart.push_back(item);
        }
    }
    size_t started = 0;
    while (!mayStart.empty())
    {
        const uint32_t item = mayStart.back();
        mayStart.pop_back();
        started++;
        const size_t end = Place(item, !IsTask(item)) + 1;
        for (uint32_t i = m_firstFollower[Place(item, false)]; i < m_firstFollower[end]; i++)
        {
            if (--waitsFor[m_followers[i]] == 0)
            {
                mayStart.push_back(m_followers[i]);
            }
        }
    }
    if (started == waitsFor.size())
    {
        return;
    }
    ForEachEdge(tables, [&](const Edge& edge) {
        NS_ABORT_MSG_IF(waitsFor[edge.item] != 0 && waitsFor[edge.after] != 0,
                        "dependencies: " << NameOf(tables, edge.item) << " can never start: it "
                                         << "waits for " << NameOf(tables, edge.after)
                                         << ", and that for it or for others that wait for each "
                                         << "other");
    });
}

uint64_t
TaskGraph::MemoryBytes() const
{
    return m_tasks.size() * sizeof(Task) + m_delayPs.size() * sizeof(uint64_t) +
           (m_followers.size() + m_firstFollower.size() + m_waitsFor.size() + m_decidedBy.size()) *
               sizeof(uint32_t);
}

} // namespace fabric
} // namespace ns3
