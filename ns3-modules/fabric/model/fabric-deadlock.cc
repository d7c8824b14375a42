// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include <algorithm>
#include <map>
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

} // namespace

/**
 * Look for a cycle of egress ports that can never send again.
 *
 * An egress class that is held back goes on when frames that came by the other end's port leave
 * that switch. If all of them wait in classes that are held back themselves, and so on, nobody
 * ever moves: the largest set with that property is what is deadlocked.
 */
std::vector<uint32_t>
Fabric::DeadlockCycle() const
{
    WaitGraph graph;
    for (PortId port = 0; port < m_ports.size() && m_control; port++)
    {
        const PortId ingress = m_ports[port].peer;
        if (m_ports[ingress].isHost || m_ports[port].down)
        {
            continue;
        }
        const NodeState& node = m_nodes[m_ports[ingress].node];
        const uint32_t ingressIndex = ingress - node.firstPort;
        for (uint32_t c = 0; c < NUM_PRIORITIES; c++)
        {
            if (!((m_ports[port].paused >> c) & 1) || !m_control->HoldsBack(ingress, c))
            {
                continue;
            }
            std::set<Waiting> waitsFor;
            bool goesOn = false;
            for (PortId egress = node.firstPort; egress < node.firstPort + node.ports; egress++)
            {
                const Port& queued = m_ports[egress];
                // A frame on its way out will be gone, whatever holds back those behind it.
                goesOn |= queued.current != NO_FRAME && queued.currentPriority == c &&
                          queued.currentIngress == ingressIndex &&
                          queued.currentKind != frame_kind::LINK_CONTROL;
                bool holds = false;
                for (FrameId f = ((queued.queued >> c) & 1) ? queued.Queue(c).head : NO_FRAME;
                     f != NO_FRAME && !holds;
                     f = m_frames[f].next)
                {
                    holds = m_frames[f].ingress == ingressIndex;
                }
                if (holds)
                {
                    waitsFor.insert({egress, c});
                }
            }
            if (!goesOn)
            {
                graph[{port, c}] = std::move(waitsFor);
            }
        }
    }
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
                cycle.push_back(m_ports[it->first].node);
            }
            return cycle;
        }
        walk.push_back(next);
    }
}

} // namespace fabric
} // namespace ns3
