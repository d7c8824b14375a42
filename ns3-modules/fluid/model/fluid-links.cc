// SPDX-License-Identifier: GPL-2.0-only

// FluidLoop: links as they change, what they have carried, and what became of messages.

#include "fluid-loop.h"

#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FluidLinks");

using namespace fabric;

// ---- links ------------------------------------------------------------------------------------

/// Count what a message has sent since the last time on the links that it had until now.
void
FluidLoop::Credit(uint32_t flow)
{
    Sending& sending = m_sending[flow];
    const double sent = sending.total - std::max(0.0, sending.left);
    for (const auto& use : m_rates.UsesOf(flow))
    {
        m_linkBytes[use.link] += (sent - sending.credited) * use.share;
    }
    sending.credited = sent;
}

/// Links have new rates, or routes have followed: the fabric knows both. Messages go on from here.
void
FluidLoop::ChangeLinks(WorldPs nowPs)
{
    NS_LOG_FUNCTION(this << nowPs);
    m_events++;
    m_engine.RunUntil(nowPs, std::chrono::steady_clock::time_point::max());
    const auto capacities = m_paths.Capacities();
    for (uint32_t link = 0; link < capacities.size(); link++)
    {
        m_rates.SetCapacity(link, capacities[link]);
    }
    std::vector<std::pair<uint32_t, uint32_t>> moved; // message and flow
    for (uint32_t flow = 0; flow < m_sending.size(); flow++)
    {
        if (m_rates.IsAlive(flow))
        {
            moved.emplace_back(m_sending[flow].message, flow);
        }
    }
    for (const auto& [message, flow] : moved)
    {
        auto uses = m_paths.UsesOf(message);
        if (m_sending[flow].isCut)
        {
            SetTail(m_sending[flow], uses);
        }
        if (uses == m_rates.UsesOf(flow))
        {
            continue;
        }
        Sending& sending = m_sending[flow];
        sending.left -= sending.rate * (m_nowPs - sending.since);
        sending.since = m_nowPs;
        sending.rate = 0;
        sending.version = ++m_versions;
        Credit(flow);
        const Sending kept = sending;
        m_rates.Remove(flow);
        const uint32_t again = m_rates.Add(std::move(uses));
        m_sending[again] = kept;
    }
}

// ---- what became of it ------------------------------------------------------------------------

WorldPs
FluidLoop::NowPs() const
{
    const WorldPs nowPs(static_cast<uint64_t>(m_nowPs));
    return m_decided.empty() ? std::max(nowPs, m_lastEndPs) : nowPs;
}

uint64_t
FluidLoop::Done(WorldPs stopPs) const
{
    return std::count_if(m_messages.begin(), m_messages.end(), [stopPs](const Message& message) {
        return message.senderEndPs <= stopPs && message.senderEndPs != NEVER;
    });
}

uint64_t
FluidLoop::TasksDone(WorldPs stopPs) const
{
    uint64_t done = 0;
    for (uint32_t i = 0; i < m_graph.NumTasks(); i++)
    {
        done += OutcomeOf(TaskGraph::FIRST_TASK + i, stopPs).receiverEndPs.has_value();
    }
    return done;
}

FluidLoop::Outcome
FluidLoop::OutcomeOf(uint32_t item, WorldPs stopPs) const
{
    const auto until = [stopPs](WorldPs ps) {
        return ps == NEVER || ps > stopPs ? std::nullopt : std::optional(ps);
    };
    const auto& known = m_knownPs[TaskGraph::IsTask(item)];
    const uint32_t place = TaskGraph::IndexOf(item);
    const bool isKnown = !m_graph.Waits(item) && (known.empty() || known[place] <= stopPs);
    const auto startPs = isKnown ? std::optional(StartOf(item)) : std::nullopt;
    if (m_graph.IsTask(item))
    {
        const Task& task = m_graph.TaskOf(item);
        const auto endPs = until(task.ended ? task.startPs + task.durationPs : NEVER);
        return {startPs && *startPs <= stopPs ? startPs : std::nullopt, endPs, endPs};
    }
    const Message& message = m_messages[item];
    return {startPs, until(message.receiverEndPs), until(message.senderEndPs)};
}

std::vector<double>
FluidLoop::PortBytes()
{
    for (uint32_t flow = 0; flow < m_sending.size(); flow++)
    {
        if (m_rates.IsAlive(flow))
        {
            Sending& sending = m_sending[flow];
            sending.left -= sending.rate * (m_nowPs - sending.since);
            sending.since = m_nowPs;
            Credit(flow);
        }
    }
    std::vector<double> bytes(m_fabric.Network().NumPorts(), 0);
    for (uint32_t link = 0; link < m_paths.NumLinks(); link++)
    {
        const auto& members = m_paths.Members(link);
        for (const PortId port : members)
        {
            const double ratio = static_cast<double>(m_fabric.Network().RateBps(port)) /
                                 static_cast<double>(m_fabric.Network().RateBps(members[0]));
            bytes[port] = m_linkBytes[link] * ratio;
        }
    }
    return bytes;
}

uint64_t
FluidLoop::MemoryBytes() const
{
    return m_messages.size() * sizeof(Message) + m_sending.size() * sizeof(Sending) +
           (m_knownPs[0].size() + m_knownPs[1].size()) * sizeof(WorldPs) + m_graph.MemoryBytes() +
           m_rates.MemoryBytes();
}

} // namespace ns3
