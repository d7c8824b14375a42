// SPDX-License-Identifier: GPL-2.0-only

// The lanes of the delays that most events wait for, and what goes to other domains.

#include "fabric.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace fabric
{

namespace
{

using Origin = EventQueue::Origin;

/// Links take no more lanes than this to hear of other domains in order.
constexpr size_t LINK_LANES = 8;

/// A delay has a lane if it is that of one in this many ports: each lane costs every instant.
constexpr size_t PORTS_PER_LANE = 16;

} // namespace

// ---- links ------------------------------------------------------------------------------------

/// The delays that most events wait for get lanes: propagation first, then full frames,
/// acknowledgements and, if there is room, the shortest frames: trimmed ones, PULLs, credit. What
/// finds no lane waits on its wire, or goes through the wheel.
void
Fabric::BuildLanes()
{
    std::map<uint64_t, size_t> uses;
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        uses[ArrivalDelayPs(port)]++;
    }
    std::vector<std::pair<size_t, uint64_t>> delays;
    for (const auto& [delayPs, n] : uses)
    {
        if (n * PORTS_PER_LANE >= m_state.network.NumPorts())
        {
            delays.emplace_back(n, delayPs);
        }
    }
    std::sort(delays.rbegin(), delays.rend());
    std::map<uint64_t, uint32_t> listOf; // of the mail: the same in all domains
    for (uint32_t i = 0; i < std::min<size_t>(delays.size(), DomainMail::LANES); i++)
    {
        listOf[delays[i].second] = i;
    }
    bool anyWire = false;
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        const auto list = listOf.find(ArrivalDelayPs(port));
        if (m_ports[port].crosses)
        {
            BuildOutbox(port, list == listOf.end() ? DomainMail::LANES : list->second);
        }
        // What cuts through is on its way for other times than a lane's.
        const NodeClass& next = m_nodeClasses[m_ports[m_ports[port].peer].nodeClass];
        anyWire |= list == listOf.end() || (next.cutThroughBytes != 0 &&
                                            ArrivalDelayPs(port) >= EventWheel::HORIZON_PS);
        m_ports[port].lane = EventQueue::NO_LANE;
    }
    m_state.queue.SetWires(anyWire ? m_state.network.NumPorts() : 0);
    if (!BuildLinkLanes(listOf, HearsInOrder()))
    {
        BuildLinkLanes(listOf, false);
    }
    BuildFrameLanes();
    if (m_state.queue.HasWires())
    {
        BuildWires();
    }
}

/// What has no lane waits on its wire.
void
Fabric::BuildWires()
{
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        if (m_ports[port].lane == EventQueue::NO_LANE && !m_ports[port].crosses)
        {
            m_ports[port].lane = EventQueue::ON_WIRE;
            m_state.queue.SetWireDelay(port, ArrivalDelayPs(port));
        }
    }
    constexpr uint32_t SIZES = 2; // full frames and acknowledgements
    for (const auto& rate : m_state.network.rates)
    {
        for (uint32_t size = 0; size < std::min(SIZES, rate.lanes); size++)
        {
            m_state.queue.ExpectGap(rate.lanePs[size]);
        }
    }
}

/// @return from the end of a transmission until the peer acts [ps]
uint64_t
Fabric::ArrivalDelayPs(PortId port) const
{
    return m_ports[port].delayPs + m_state.LatencyPs(m_ports[m_ports[port].peer]);
}

uint32_t
Fabric::DomainOf(PortId port) const
{
    return m_state.network.nodes[m_ports[port].node].domain;
}

/// @return the first port of a node here that hears of another domain; past its last if none does
PortId
Fabric::FirstToHearOfOthers(const NodeState& node) const
{
    PortId port = node.firstPort;
    while (port < node.firstPort + node.ports && !m_ports[port].crosses)
    {
        port++;
    }
    return port;
}

/// @return whether every node here hears, port after port, of nodes here and then of one domain
/// after the other; what comes of each in order need not be put in order then
bool
Fabric::HearsInOrder() const
{
    return std::ranges::all_of(m_state.network.nodes, [this](const NodeState& node) {
        uint32_t last = 0;
        bool isOrdered = true;
        for (PortId port = FirstToHearOfOthers(node); port < node.firstPort + node.ports; port++)
        {
            isOrdered &= node.domain != m_state.domain || DomainOf(m_ports[port].peer) >= last;
            last = DomainOf(m_ports[port].peer);
        }
        return isOrdered;
    });
}

/**
 * Make the lanes of the arrivals here.
 * @param listOf delays that have lanes, and their lists of the mail
 * @param isOrdered see HearsInOrder
 * @return whether they are few enough; if not, there are none
 */
bool
Fabric::BuildLinkLanes(const std::map<uint64_t, uint32_t>& listOf, bool isOrdered)
{
    std::map<std::pair<uint32_t, Origin>, std::vector<PortId>> senders;
    for (PortId to = 0; to < m_state.network.NumPorts(); to++)
    {
        const PortId from = m_ports[to].peer;
        const auto list = listOf.find(ArrivalDelayPs(from));
        if (!IsOwn(to) || list == listOf.end())
        {
            continue;
        }
        const bool isFirst = to < FirstToHearOfOthers(m_state.network.nodes[m_ports[to].node]);
        const Origin here = isOrdered && isFirst ? Origin::FIRST : Origin::HERE;
        const Origin other = DomainOf(from) < m_state.domain ? Origin::LOWER : Origin::HIGHER;
        const Origin crossing = isOrdered ? other : Origin::ELSEWHERE;
        senders[{list->second, m_ports[to].crosses ? crossing : here}].push_back(from);
    }
    if (isOrdered && senders.size() > LINK_LANES)
    {
        return false;
    }
    for (const auto& [place, ports] : senders)
    {
        const auto [list, origin] = place;
        const uint8_t lane =
            m_state.queue.LaneFor(EventType::ARRIVE, ArrivalDelayPs(ports[0]), origin);
        for (const PortId port : ports)
        {
            (m_ports[port].crosses ? m_inLanes[list][DomainOf(port) > m_state.domain]
                                   : m_ports[port].lane) = lane;
        }
    }
    return true;
}

/// What crosses by a port is put there.
void
Fabric::BuildOutbox(PortId portId, uint32_t list)
{
    Port& port = m_ports[portId];
    const uint32_t domain = DomainOf(port.peer);
    const auto box = std::ranges::find_if(m_outboxes, [domain, list](const Outbox& other) {
        return other.domain == domain && other.list == list;
    });
    port.outbox = static_cast<uint16_t>(box - m_outboxes.begin());
    if (box == m_outboxes.end())
    {
        m_outboxes.push_back({{&m_mail[domain][0], &m_mail[domain][1]},
                              domain,
                              list,
                              ArrivalDelayPs(portId)});
    }
}

// ---- frames -----------------------------------------------------------------------------------

void
Fabric::BuildFrameLanes()
{
    std::vector<uint32_t> sizes;
    for (const auto& wire : m_wires)
    {
        const uint32_t fullBytes = wire.mtuBytes + wire.headerBytes;
        for (const auto bytes : {fullBytes, wire.ackBytes, fullBytes + wire.firstHeaderBytes})
        {
            const uint32_t frameBytes = std::max(MIN_FRAME_BYTES, bytes);
            if (std::find(sizes.begin(), sizes.end(), frameBytes) == sizes.end())
            {
                sizes.push_back(frameBytes);
            }
        }
    }
    if (std::find(sizes.begin(), sizes.end(), MIN_FRAME_BYTES) == sizes.end())
    {
        sizes.push_back(MIN_FRAME_BYTES);
    }
    for (const auto bytes : sizes)
    {
        m_state.largestFrameBytes = std::max(m_state.largestFrameBytes, bytes);
        for (auto& rate : m_state.network.rates)
        {
            if (rate.lanes == RateClass::LANES)
            {
                continue;
            }
            const uint64_t ps = rate.Ps(bytes + m_state.framingBytes);
            const uint8_t lane = m_state.queue.LaneFor(EventType::TX_DONE, ps);
            if (lane != EventQueue::NO_LANE)
            {
                rate.laneBytes[rate.lanes] = bytes;
                rate.lanePs[rate.lanes] = ps;
                rate.lane[rate.lanes] = lane;
                rate.lanes++;
            }
        }
    }
}

} // namespace fabric
} // namespace ns3
