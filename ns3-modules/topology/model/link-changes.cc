// SPDX-License-Identifier: GPL-2.0-only

#include "link-changes.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

LinkChanges::LinkChanges(FabricNetwork& network)
    : m_network(network)
{
}

void
LinkChanges::Build(const std::vector<LinkEventRow>& rows,
                   uint64_t convergencePs,
                   const WorldClock& world,
                   EventQueue& queue)
{
    for (const auto& row : rows)
    {
        const PortId port = m_network.FindPort(row.nodeA, row.nodeB, row.parallel);
        NS_ABORT_MSG_IF(port == NO_PORT,
                        "link_events: there is no link " << row.nodeA << "-" << row.nodeB
                                                         << " (parallel " << row.parallel << ")");
        const auto index = static_cast<uint32_t>(m_ends.size());
        const WorldPs timePs(static_cast<uint64_t>(row.timePs));
        const uint64_t atPs = world.EngineOf(timePs).Ps();
        m_timesPs.push_back(timePs);
        m_ends.push_back(port);
        m_ratesBps.push_back(static_cast<uint64_t>(row.rateBps));
        m_backBps.push_back(static_cast<uint64_t>(row.backBps > 0 ? row.backBps : row.rateBps));
        if (row.rateBps > 0)
        {
            m_network.RateIndex(m_ratesBps.back());
            m_network.RateIndex(m_backBps.back());
        }
        else
        {
            m_lastCutPs = std::max(m_lastCutPs, timePs);
        }
        queue.Push(0, {atPs, EventTarget(EventType::CONTROL, CONTROL_LINK), index});
        queue.Push(0,
                   {atPs + convergencePs, EventTarget(EventType::CONTROL, CONTROL_REROUTE), index});
    }
}

void
LinkChanges::Flipped(uint32_t row)
{
    m_lastFlip[m_ends[row]] = row;
}

void
LinkChanges::Notice(uint32_t row)
{
    const PortId end = m_ends[row];
    if (const auto flip = m_lastFlip.find(end); flip != m_lastFlip.end() && flip->second == row)
    {
        Port& port = m_network.ports[end];
        port.avoided = port.down;
        m_network.ports[port.peer].avoided = port.down;
    }
}

void
LinkChanges::Cut(PortId port)
{
    m_sentBeforeCut[m_network.ports[port].peer] = m_network.ports[port].sentFrames;
    m_network.ports[m_network.ports[port].peer].lossy = true;
}

/**
 * Identity: sent before the cut = received + lost + corrupt, once the last of these has come.
 * Frames keep their order, but for link control, which switches do not delay; of that, PFC sends
 * nothing into a link that is back before a new frame has come.
 */
bool
LinkChanges::LostByCut(PortId port, bool canLose)
{
    const auto sent = m_sentBeforeCut.find(port);
    if (sent == m_sentBeforeCut.end())
    {
        return false;
    }
    PortCounters& counters = m_network.counters[port];
    const uint64_t came =
        m_network.ports[port].receivedFrames + counters.lostFrames + counters.corruptFrames;
    if (came < sent->second)
    {
        counters.lostFrames++;
        return true;
    }
    m_sentBeforeCut.erase(sent);
    m_network.ports[port].lossy = canLose;
    return false;
}

} // namespace fabric
} // namespace ns3
