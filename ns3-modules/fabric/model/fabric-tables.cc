// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-tables.h"

#include "ns3/abort.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace ns3
{
namespace fabric
{

namespace
{

using NodeById = std::unordered_map<int64_t, const NodeRow*>;

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
        NS_ABORT_MSG_IF(link.rateBps <= 0, name << ": rate_bps is " << link.rateBps << ", not > 0");
        NS_ABORT_MSG_IF(link.delayPs <= 0,
                        name << ": delay_ps is " << link.delayPs << ", not > 0");
        NS_ABORT_MSG_IF(!(link.lossRatio >= 0 && link.lossRatio < 1),
                        name << ": loss_ratio is " << link.lossRatio << ", not in [0, 1)");
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
        NS_ABORT_MSG_IF(flow.src == flow.dst, name << " goes from host " << flow.src << " to itself");
        NS_ABORT_MSG_IF(flow.bytes <= 0, name << ": bytes is " << flow.bytes << ", not > 0");
        NS_ABORT_MSG_IF(flow.startPs < 0, name << ": start_ps is " << flow.startPs << ", not >= 0");
        before = &flow;
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
                          std::to_string(event.parallel) + ") at " +
                          std::to_string(event.timePs) + " ps";
        NS_ABORT_MSG_IF(event.timePs < 0, name << ": time_ps is not >= 0");
        NS_ABORT_MSG_IF(event.rateBps < 0,
                        name << ": rate_bps is " << event.rateBps << ", not >= 0 (0 cuts the link)");
        NS_ABORT_MSG_IF(before && before->timePs == event.timePs &&
                            before->nodeA == event.nodeA && before->nodeB == event.nodeB &&
                            before->parallel == event.parallel,
                        name << ": two events at the same time; which one holds?");
        before = &event;
    }
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
    for (auto& event : linkEvents)
    {
        if (event.nodeA > event.nodeB)
        {
            std::swap(event.nodeA, event.nodeB);
        }
    }
    std::sort(nodes.begin(), nodes.end(), [](const auto& x, const auto& y) { return x.id < y.id; });
    std::sort(links.begin(), links.end(), [](const auto& x, const auto& y) {
        return std::tie(x.nodeA, x.nodeB, x.parallel) < std::tie(y.nodeA, y.nodeB, y.parallel);
    });
    std::sort(flows.begin(), flows.end(), [](const auto& x, const auto& y) { return x.id < y.id; });
    std::sort(drops.begin(), drops.end(), [](const auto& x, const auto& y) {
        return std::tie(x.node, x.peer, x.parallel, x.ordinal) <
               std::tie(y.node, y.peer, y.parallel, y.ordinal);
    });
    std::sort(linkEvents.begin(), linkEvents.end(), [](const auto& x, const auto& y) {
        return std::tie(x.timePs, x.nodeA, x.nodeB, x.parallel) <
               std::tie(y.timePs, y.nodeA, y.nodeB, y.parallel);
    });
    NodeById byId;
    for (const auto& node : nodes)
    {
        NS_ABORT_MSG_IF(!byId.emplace(node.id, &node).second,
                        "nodes: node " << node.id << " is listed twice");
    }
    CheckLinks(links, byId);
    CheckFlows(flows, byId);
    CheckLinkEvents(linkEvents);
}

} // namespace fabric
} // namespace ns3
