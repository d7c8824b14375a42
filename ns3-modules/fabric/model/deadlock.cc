// SPDX-License-Identifier: GPL-2.0-only

#include "deadlock.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

namespace ns3
{
namespace fabric
{

namespace
{

/// One class of one egress port.
using Waiting = std::pair<PortId, uint32_t>;

/// For each class of an egress that is held back: the ones at the peer that its account waits for.
using WaitGraph = std::map<Waiting, std::set<Waiting>>;

/// Remove whoever may still go on: it is not held back, or something it waits for may go on.
void
KeepDeadlocked(WaitGraph& graph)
{
    const auto mayGoOn = [&graph](const auto& entry) {
        return entry.second.empty() ||
               std::any_of(entry.second.begin(), entry.second.end(), [&graph](const Waiting& next) {
                   return !graph.contains(next);
               });
    };
    while (std::erase_if(graph, mayGoOn) > 0)
    {
    }
}

/// @return whether a queue holds a frame that came in by a port of its switch
bool
HoldsFrameOf(const FabricParts& parts, PortId egress, uint32_t queueClass, uint32_t ingressIndex)
{
    const bool isQueued = (parts.GetPort(egress).queued >> queueClass) & 1;
    for (FrameId f = isQueued ? parts.QueueOf(egress, queueClass).head : NO_FRAME; f != NO_FRAME;
         f = parts.GetFrame(egress, f).next)
    {
        if (parts.GetFrame(egress, f).ingress == ingressIndex)
        {
            return true;
        }
    }
    return false;
}

/// @return what an account waits for; none if a frame of it is on its way out and will be gone,
/// whatever holds back those behind it
std::optional<std::set<Waiting>>
WaitsFor(const FabricParts& parts, PortId ingress, uint32_t queueClass)
{
    const NodeState& node = parts.GetNode(parts.GetPort(ingress).node);
    const uint32_t ingressIndex = ingress - node.firstPort;
    std::set<Waiting> waitsFor;
    for (PortId egress = node.firstPort; egress < node.firstPort + node.ports; egress++)
    {
        const Port& port = parts.GetPort(egress);
        if (port.current != NO_FRAME && port.currentPriority == queueClass &&
            port.currentIngress == ingressIndex && port.currentKind != frame_kind::LINK_CONTROL)
        {
            return std::nullopt;
        }
        if (HoldsFrameOf(parts, egress, queueClass, ingressIndex))
        {
            waitsFor.insert({egress, queueClass});
        }
    }
    return waitsFor;
}

WaitGraph
BuildGraph(const FabricParts& parts)
{
    WaitGraph graph;
    for (PortId port = 0; port < parts.NumPorts(); port++)
    {
        const PortId ingress = parts.GetPort(port).peer;
        const LinkFlowControl* control = parts.ControlOf(port);
        if (!control || parts.GetPort(ingress).isHost || parts.GetPort(port).down)
        {
            continue;
        }
        for (uint8_t c = 0; c < control->GetTraits().numClasses; c++)
        {
            if (!((parts.GetPort(port).paused >> c) & 1) ||
                !parts.ControlOf(ingress)->GetAccount(ingress, c).holdsBack)
            {
                continue;
            }
            if (auto waitsFor = WaitsFor(parts, ingress, c))
            {
                graph[{port, c}] = std::move(*waitsFor);
            }
        }
    }
    return graph;
}

} // namespace

/**
 * Look for a cycle of egress ports that can never send again.
 *
 * An egress class that is held back goes on when frames that came by the other end's port leave
 * that switch. If all of them wait in classes that are held back themselves, and so on, nobody
 * ever moves: the largest set with that property is what is deadlocked.
 */
std::vector<uint32_t>
FindDeadlock(const FabricParts& parts)
{
    WaitGraph graph = BuildGraph(parts);
    KeepDeadlocked(graph);
    std::vector<uint32_t> cycle;
    if (graph.empty())
    {
        return cycle;
    }
    // Whoever is left waits for somebody who is left: walk until one comes again.
    std::vector<Waiting> walk{graph.begin()->first};
    while (true)
    {
        const Waiting next = *graph.at(walk.back()).begin();
        const auto seen = std::find(walk.begin(), walk.end(), next);
        if (seen != walk.end())
        {
            for (auto it = seen; it != walk.end(); ++it)
            {
                cycle.push_back(parts.GetPort(it->first).node);
            }
            return cycle;
        }
        walk.push_back(next);
    }
}

DeadlockWatch::DeadlockWatch(const RunView& run)
    : m_run(run)
{
}

void
DeadlockWatch::Look(EnginePs nextPs)
{
    m_nextPs = NextDeadlockCheck(nextPs);
    // A link that is cut empties queues; before the last cut nothing is dead for ever.
    m_found = m_run.Changes().LastCutPs() < m_run.State().world.WorldOf(nextPs) &&
              !FindDeadlock(FabricParts({&m_run})).empty();
}

} // namespace fabric
} // namespace ns3
