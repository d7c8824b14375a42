// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-tables.h"

#include "ns3/abort.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace ns3
{
namespace fabric
{

namespace
{

/// Look up a node or abort, naming who asked.
template <typename Who>
const NodeRow&
Find(const NodeById& nodes, int64_t id, const Who& who)
{
    const auto found = nodes.find(id);
    NS_ABORT_MSG_IF(found == nodes.end(), who << ": there is no node " << id << " in nodes");
    return *found->second;
}

void
CheckLinks(const std::vector<LinkRow>& links, const NodeById& nodes)
{
    const LinkRow* before = nullptr;
    for (const auto& link : links)
    {
        const auto name = "links: " + std::to_string(link.nodeA) + "-" +
                          std::to_string(link.nodeB) + " (parallel " +
                          std::to_string(link.parallel) + ")";
        NS_ABORT_MSG_IF(link.nodeA == link.nodeB, name << " joins a node to itself");
        const auto& a = Find(nodes, link.nodeA, name);
        const auto& b = Find(nodes, link.nodeB, name);
        NS_ABORT_MSG_IF(!a.isSwitch && !b.isSwitch,
                        name << " joins two hosts; one end must be a switch");
        NS_ABORT_MSG_IF(link.linkClass < 0 || link.linkClass > 255,
                        name << ": class is " << link.linkClass << ", not 0 to 255");
        NS_ABORT_MSG_IF(link.rateBps <= 0, name << ": rate_bps is " << link.rateBps << ", not > 0");
        NS_ABORT_MSG_IF(link.delayPs <= 0, name << ": delay_ps is " << link.delayPs << ", not > 0");
        NS_ABORT_MSG_IF(!(link.lossRatio >= 0 && link.lossRatio < 1),
                        name << ": loss_ratio is " << link.lossRatio << ", not in [0, 1)");
        NS_ABORT_MSG_IF(!(link.bitErrorRatio >= 0 && link.bitErrorRatio < 1),
                        name << ": bit_error_ratio is " << link.bitErrorRatio << ", not in [0, 1)");
        NS_ABORT_MSG_IF(before && before->nodeA == link.nodeA && before->nodeB == link.nodeB &&
                            before->parallel == link.parallel,
                        name << " is listed twice");
        before = &link;
    }
}

void
CheckFlows(const std::vector<FlowRow>& flows, const NodeById& nodes)
{
    const FlowRow* before = nullptr;
    for (const auto& flow : flows)
    {
        const auto name = "flows: flow " + std::to_string(flow.id);
        NS_ABORT_MSG_IF(before && before->id == flow.id, name << " is listed twice");
        for (const auto end : {flow.src, flow.dst})
        {
            NS_ABORT_MSG_IF(Find(nodes, end, name).isSwitch,
                            name << ": node " << end << " is a switch, not a host");
        }
        NS_ABORT_MSG_IF(flow.src == flow.dst && flow.bytes != 0,
                        name << " goes from host " << flow.src << " to itself");
        NS_ABORT_MSG_IF(flow.bytes < 0, name << ": bytes is " << flow.bytes << ", not >= 0");
        NS_ABORT_MSG_IF(flow.startPs < 0, name << ": start_ps is " << flow.startPs << ", not >= 0");
        NS_ABORT_MSG_IF(flow.rateBps < 0, name << ": rate_bps is " << flow.rateBps << ", not >= 0");
        NS_ABORT_MSG_IF(flow.connection < 0,
                        name << ": connection is " << flow.connection << ", not >= 0");
        NS_ABORT_MSG_IF(flow.transport < 0 || flow.transport > 65535,
                        name << ": transport is " << flow.transport << ", not 0 to 65535");
        before = &flow;
    }
}

/// Name the end of a link with the lower id first.
void
OrderEnds(LinkEventRow& event)
{
    if (event.nodeA < event.nodeB)
    {
        return;
    }
    std::swap(event.nodeA, event.nodeB);
    if (event.backBps > 0)
    {
        std::swap(event.rateBps, event.backBps);
    }
}

void
CheckLinkEvents(const std::vector<LinkEventRow>& events)
{
    const LinkEventRow* before = nullptr;
    for (const auto& event : events)
    {
        const auto name = "link_events: link " + std::to_string(event.nodeA) + "-" +
                          std::to_string(event.nodeB) + " (parallel " +
                          std::to_string(event.parallel) + ") at " + std::to_string(event.timePs) +
                          " ps";
        NS_ABORT_MSG_IF(event.timePs < 0, name << ": time_ps is not >= 0");
        NS_ABORT_MSG_IF(event.rateBps < 0,
                        name << ": rate_bps is " << event.rateBps
                             << ", not >= 0 (0 cuts the link)");
        NS_ABORT_MSG_IF(event.backBps < 0 || (event.rateBps == 0 && event.backBps > 0),
                        name << ": rate_back_bps is " << event.backBps
                             << ", not >= 0, or 0 where the link is cut");
        NS_ABORT_MSG_IF(before && before->timePs == event.timePs && before->nodeA == event.nodeA &&
                            before->nodeB == event.nodeB && before->parallel == event.parallel,
                        name << ": two events at the same time; which one holds?");
        before = &event;
    }
}

void
CheckLossChanges(const std::vector<LossChangeRow>& changes)
{
    const LossChangeRow* before = nullptr;
    for (const auto& row : changes)
    {
        const auto name = "loss_changes: node " + std::to_string(row.node) + " to " +
                          std::to_string(row.peer) + " (parallel " + std::to_string(row.parallel) +
                          ") at " + std::to_string(row.timePs) + " ps";
        NS_ABORT_MSG_IF(row.timePs < 0, name << ": time_ps is not >= 0");
        NS_ABORT_MSG_IF(!(row.lossRatio >= 0 && row.lossRatio <= 1),
                        name << ": loss_ratio is " << row.lossRatio << ", not in [0, 1]");
        NS_ABORT_MSG_IF(!(row.bitErrorRatio >= 0 && row.bitErrorRatio < 1),
                        name << ": bit_error_ratio is " << row.bitErrorRatio << ", not in [0, 1)");
        NS_ABORT_MSG_IF(before && before->timePs == row.timePs && before->node == row.node &&
                            before->peer == row.peer && before->parallel == row.parallel,
                        name << ": two changes at the same time; which one holds?");
        before = &row;
    }
}

void
CheckTasks(const std::vector<TaskRow>& tasks,
           const std::vector<FlowRow>& flows,
           const NodeById& nodes)
{
    const TaskRow* before = nullptr;
    for (const auto& task : tasks)
    {
        const auto name = [&task] { return "tasks: task " + std::to_string(task.id); };
        NS_ABORT_MSG_IF(before && before->id == task.id, name() << " is listed twice");
        NS_ABORT_MSG_IF(PlaceOf(flows, task.id), name() << " has the id of a flow");
        const auto node = nodes.find(task.node);
        NS_ABORT_MSG_IF(node == nodes.end() || node->second->isSwitch,
                        name() << ": node " << task.node << " is no host");
        NS_ABORT_MSG_IF(task.durationPs < 0,
                        name() << ": duration_ps is " << task.durationPs << ", not >= 0");
        NS_ABORT_MSG_IF(task.isBarrier && task.durationPs > 0,
                        name() << " is a barrier, so duration_ps is 0, not " << task.durationPs);
        NS_ABORT_MSG_IF(task.decides && !task.isBarrier,
                        name() << " is a computation; only a barrier decides");
        NS_ABORT_MSG_IF(task.startPs < 0,
                        name() << ": start_ps is " << task.startPs << ", not >= 0");
        before = &task;
    }
}

/// Refuse what is listed twice.
void
CheckDependencies(const std::vector<DependencyRow>& dependencies)
{
    const DependencyRow* before = nullptr;
    for (const auto& row : dependencies)
    {
        NS_ABORT_MSG_IF(before && before->flow == row.flow && before->after == row.after &&
                            before->atSender == row.atSender,
                        "dependencies: flow " << row.flow << " after flow " << row.after
                                              << " is listed twice");
        before = &row;
    }
}

void
CheckRoutes(const std::vector<RouteRow>& routes, const NodeById& nodes)
{
    const RouteRow* before = nullptr;
    for (const auto& row : routes)
    {
        const auto name = "routes: flow " + std::to_string(row.flow);
        NS_ABORT_MSG_IF(!Find(nodes, row.node, name).isSwitch,
                        name << ": node " << row.node << " is a host; hosts do not forward");
        NS_ABORT_MSG_IF(before && before->flow == row.flow && before->node == row.node &&
                            before->reverse == row.reverse && before->fromPs == row.fromPs,
                        name << ": node " << row.node << " is listed twice");
        NS_ABORT_MSG_IF(row.fromPs < 0, name << ": from_ps is " << row.fromPs << ", not >= 0");
        before = &row;
    }
}

void
CheckRateChanges(const std::vector<RateChangeRow>& changes, const std::vector<FlowRow>& flows)
{
    const RateChangeRow* before = nullptr;
    for (const auto& row : changes)
    {
        const auto name = "rate_changes: flow " + std::to_string(row.flow) + " at " +
                          std::to_string(row.timePs) + " ps";
        NS_ABORT_MSG_IF(!PlaceOf(flows, row.flow), name << ": there is no such flow");
        NS_ABORT_MSG_IF(row.timePs < 0, name << ": time_ps is not >= 0");
        NS_ABORT_MSG_IF(row.rateBps <= 0, name << ": rate_bps is " << row.rateBps << ", not > 0");
        NS_ABORT_MSG_IF(before && before->flow == row.flow && before->timePs == row.timePs,
                        name << ": two rates at the same time; which one holds?");
        before = &row;
    }
}

/// @return the nodes by their ids, which are of one each
NodeById
CheckNodes(const std::vector<NodeRow>& rows)
{
    NodeById byId;
    for (const auto& node : rows)
    {
        NS_ABORT_MSG_IF(!byId.emplace(node.id, &node).second,
                        "nodes: node " << node.id << " is listed twice");
        NS_ABORT_MSG_IF(node.tier < 0 || node.tier > std::numeric_limits<uint32_t>::max(),
                        "nodes: node " << node.id << ": tier is " << node.tier
                                       << ", not 0 to 4294967295");
        NS_ABORT_MSG_IF(node.nodeClass < 0 || node.nodeClass > 255,
                        "nodes: node " << node.id << ": class is " << node.nodeClass
                                       << ", not 0 to 255");
        NS_ABORT_MSG_IF(node.engine < 0 || node.engine >= MAX_ENGINES,
                        "nodes: node " << node.id << ": domain is " << node.engine << ", not 0 to "
                                       << MAX_ENGINES - 1);
    }
    return byId;
}

} // namespace

void
FabricTables::SortAndCheck()
{
    NS_ABORT_MSG_IF(nodes.empty(), "nodes: the table is empty");
    for (auto& link : links)
    {
        if (link.nodeA > link.nodeB)
        {
            std::swap(link.nodeA, link.nodeB);
        }
    }
    std::ranges::for_each(linkEvents, OrderEnds);
    std::sort(nodes.begin(), nodes.end(), [](const auto& x, const auto& y) { return x.id < y.id; });
    std::sort(links.begin(), links.end(), [](const auto& x, const auto& y) {
        return std::tie(x.nodeA, x.nodeB, x.parallel) < std::tie(y.nodeA, y.nodeB, y.parallel);
    });
    std::sort(drops.begin(), drops.end(), [](const auto& x, const auto& y) {
        return std::tie(x.node, x.peer, x.parallel, x.ordinal) <
               std::tie(y.node, y.peer, y.parallel, y.ordinal);
    });
    std::sort(linkEvents.begin(), linkEvents.end(), [](const auto& x, const auto& y) {
        return std::tie(x.timePs, x.nodeA, x.nodeB, x.parallel) <
               std::tie(y.timePs, y.nodeA, y.nodeB, y.parallel);
    });
    std::sort(lossChanges.begin(), lossChanges.end(), [](const auto& x, const auto& y) {
        return std::tie(x.node, x.peer, x.parallel, x.timePs) <
               std::tie(y.node, y.peer, y.parallel, y.timePs);
    });
    std::sort(routes.begin(), routes.end(), [](const auto& x, const auto& y) {
        return std::tie(x.flow, x.reverse, x.node, x.fromPs) <
               std::tie(y.flow, y.reverse, y.node, y.fromPs);
    });
    std::sort(rateChanges.begin(), rateChanges.end(), [](const auto& x, const auto& y) {
        return std::tie(x.flow, x.timePs) < std::tie(y.flow, y.timePs);
    });
    const NodeById byId = CheckNodes(nodes);
    CheckLinks(links, byId);
    SortAndCheckFurther(byId);
    CheckLinkEvents(linkEvents);
    CheckLossChanges(lossChanges);
    for (const auto& row : sampled)
    {
        Find(byId, row.node, "sampled");
    }
    CheckRoutes(routes, byId);
    CheckRateChanges(rateChanges, flows);
}

void
FabricTables::SortAndCheckFurther(const NodeById& known)
{
    std::sort(flows.begin(), flows.end(), [](const auto& x, const auto& y) { return x.id < y.id; });
    std::sort(tasks.begin(), tasks.end(), [](const auto& x, const auto& y) { return x.id < y.id; });
    std::sort(dependencies.begin(), dependencies.end(), [](const auto& x, const auto& y) {
        return std::tie(x.flow, x.after, x.atSender) < std::tie(y.flow, y.after, y.atSender);
    });
    CheckFlows(flows, known);
    CheckTasks(tasks, flows, known);
    CheckDependencies(dependencies);
}

bool
FabricTables::MayGrow() const
{
    return isOpen || std::ranges::any_of(flows, &FlowRow::decides) ||
           std::ranges::any_of(tasks, &TaskRow::decides);
}

} // namespace fabric
} // namespace ns3
