// SPDX-License-Identifier: GPL-2.0-only

#include "event-lanes.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

namespace
{

using Origin = EventQueue::Origin;

/// Links take no more lanes than this to hear of other engines in order.
constexpr size_t LINK_LANES = 8;

/// A delay has a lane if it is that of one in this many ports: each lane costs every instant.
constexpr size_t PORTS_PER_LANE = 16;

} // namespace

EventLanes::EventLanes(EngineState& state, const Wires& wires, Boundary* boundary)
    : m_state(state),
      m_ports(state.network.ports.Data()),
      m_wires(wires),
      m_boundary(boundary)
{
}

// ---- links ------------------------------------------------------------------------------------

/// The delays that most events wait for get lanes: propagation first, then full frames,
/// acknowledgements and, if there is room, the shortest frames: trimmed ones, PULLs, credit. What
/// finds no lane waits on its wire, if that is long, or in the calendar.
void
EventLanes::Build(const std::vector<Transport::Traits>& transports)
{
    std::map<uint64_t, size_t> uses;
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        uses[m_wires.ArrivalDelayPs(port)]++;
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
    Lists listOf; // the same in all engines
    for (uint32_t i = 0; i < std::min<size_t>(delays.size(), Boundary::LISTS); i++)
    {
        listOf[delays[i].second] = i;
    }
    bool anyWire = false;
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        const auto list = listOf.find(m_wires.ArrivalDelayPs(port));
        if (m_ports[port].crosses && m_state.IsOwn(port))
        {
            m_boundary->AddPort(port,
                                list == listOf.end() ? Boundary::LISTS : list->second,
                                m_wires.ArrivalDelayPs(port));
        }
        // What cuts through is on its way for other times than a lane's.
        const SwitchModel& next = m_state.switches[m_ports[m_ports[port].peer].nodeClass];
        anyWire |= (list == listOf.end() || next.cutThroughBytes) && IsLong(port);
    }
    m_state.queue.SetWires(anyWire ? m_state.network.NumPorts() : 0);
    if (!BuildLinkLanes(listOf, HearsInOrder()))
    {
        BuildLinkLanes(listOf, false);
    }
    BuildFrameLanes(transports);
    if (m_state.queue.HasWires())
    {
        ExpectGaps();
    }
}

/// @return whether what is on a link is too far away for the calendar
bool
EventLanes::IsLong(PortId port) const
{
    return m_wires.ArrivalDelayPs(port) >= EventCalendar::HORIZON_PS;
}

/// What has no lane waits on its wire, if that is long, mostly for the frame before it.
void
EventLanes::ExpectGaps()
{
    constexpr uint32_t SIZES = 2; // full frames and acknowledgements
    for (const auto& rate : m_state.network.rates)
    {
        for (uint32_t size = 0; size < std::min(SIZES, rate.lanes); size++)
        {
            m_state.queue.ExpectGap(rate.lanePs[size]);
        }
    }
}

uint32_t
EventLanes::EngineOf(PortId port) const
{
    return m_state.network.nodes[m_ports[port].node].engine;
}

/// @return the first port of a node here that hears of another engine; past its last if none does
PortId
EventLanes::FirstToHearOfOthers(const NodeState& node) const
{
    PortId port = node.firstPort;
    while (port < node.firstPort + node.ports && !m_ports[port].crosses)
    {
        port++;
    }
    return port;
}

/// @return whether every node here hears, port after port, of nodes here and then of one engine
/// after the other; what comes of each in order need not be put in order then
bool
EventLanes::HearsInOrder() const
{
    return std::ranges::all_of(m_state.network.nodes, [this](const NodeState& node) {
        uint32_t last = 0;
        bool isOrdered = true;
        for (PortId port = FirstToHearOfOthers(node); port < node.firstPort + node.ports; port++)
        {
            isOrdered &= node.engine != m_state.engine || EngineOf(m_ports[port].peer) >= last;
            last = EngineOf(m_ports[port].peer);
        }
        return isOrdered;
    });
}

/**
 * Make the lanes of the arrivals here.
 * @param listOf delays that have lanes, and their lists
 * @param isOrdered see HearsInOrder
 * @return whether they are few enough; if not, there are none
 */
bool
EventLanes::BuildLinkLanes(const Lists& listOf, bool isOrdered)
{
    std::map<std::pair<uint32_t, Origin>, std::vector<PortId>> senders;
    for (PortId to = 0; to < m_state.network.NumPorts(); to++)
    {
        const PortId from = m_ports[to].peer;
        const auto list = listOf.find(m_wires.ArrivalDelayPs(from));
        if (!m_state.IsOwn(to) || list == listOf.end())
        {
            continue;
        }
        const bool isFirst = to < FirstToHearOfOthers(m_state.network.nodes[m_ports[to].node]);
        const Origin here = isOrdered && isFirst ? Origin::FIRST : Origin::HERE;
        const Origin other = EngineOf(from) < m_state.engine ? Origin::LOWER : Origin::HIGHER;
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
            m_state.queue.LaneFor(EventType::ARRIVE, m_wires.ArrivalDelayPs(ports[0]), origin);
        for (const PortId port : ports)
        {
            if (m_ports[port].crosses)
            {
                m_boundary->UseLane(port, list, lane);
            }
            else
            {
                m_ports[port].lane = lane;
            }
        }
    }
    return true;
}

// ---- frames -----------------------------------------------------------------------------------

void
EventLanes::BuildFrameLanes(const std::vector<Transport::Traits>& transports)
{
    std::vector<uint32_t> sizes;
    for (const auto& traits : transports)
    {
        const WireProfile& wire = traits.wire;
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
