// SPDX-License-Identifier: GPL-2.0-only

#include "telemetry.h"

#include <algorithm>
#include <set>

namespace ns3
{
namespace fabric
{

namespace
{

/// @return ports of these nodes, or of all, whose events are executed here
std::vector<PortId>
SampledPorts(const EngineState& state, const std::vector<SampledRow>& rows)
{
    std::set<int64_t> ids;
    for (const auto& row : rows)
    {
        ids.insert(row.node);
    }
    std::vector<PortId> ports;
    for (PortId port = 0; port < state.network.NumPorts(); port++)
    {
        const NodeState& node = state.network.nodes[state.network.ports[port].node];
        if ((ids.empty() || ids.contains(node.id)) && state.IsOwn(port))
        {
            ports.push_back(port);
        }
    }
    return ports;
}

} // namespace

Telemetry::Telemetry(const ObservedRun& run,
                     const TraceOptions& options,
                     const std::vector<SampledRow>& rows)
    : m_state(run.State()),
      m_samplePs(options.samplePs.value_or(0)),
      m_nextSamplePs(m_samplePs ? WorldPs(m_samplePs) : WorldPs::Never()),
      m_logsArrivals(options.arrivals),
      m_logsPauses(options.pauses),
      m_sampled(m_samplePs ? SampledPorts(m_state, rows) : std::vector<PortId>{}),
      m_before(m_sampled.size()),
      m_skipped(m_sampled.size()),
      m_arrived(m_samplePs ? m_state.messages.Size() : 0)
{
}

uint32_t
Telemetry::Wishes() const
{
    uint32_t wishes = 0;
    wishes |= m_logsArrivals || m_samplePs ? uint32_t{ARRIVALS} : 0;
    wishes |= m_logsPauses ? uint32_t{PAUSES} : 0;
    wishes |= m_logsArrivals || m_logsPauses ? uint32_t{ALL} : 0;
    return wishes;
}

EnginePs
Telemetry::NextLookPs() const
{
    return m_samplePs ? m_state.world.EngineOf(m_nextSamplePs) : EnginePs::Never();
}

void
Telemetry::Look(EnginePs nextPs)
{
    SampleUntil(m_state.world.WorldOf(nextPs));
}

void
Telemetry::OnDataArrived(const Frame& frame, uint32_t node)
{
    if (m_logsArrivals)
    {
        m_arrivals.push_back({m_state.WorldNowPs(), frame.message, frame.packet, node});
    }
    if (m_samplePs)
    {
        CountArrived(frame.message, 1, frame.bytes);
    }
}

void
Telemetry::CountArrived(uint32_t message, uint32_t packets, uint64_t bytes)
{
    if (message >= m_arrived.size()) // made at run time
    {
        m_arrived.resize(m_state.messages.Size());
    }
    Arrived& arrived = m_arrived[message];
    if (arrived.packets == 0)
    {
        m_receiving.push_back(message);
    }
    arrived.packets += packets;
    arrived.bytes += bytes;
}

void
Telemetry::OnPauseChanged(PortId port, uint16_t before, uint16_t after, const PauseReason& reason)
{
    const WorldPs nowPs = m_state.WorldNowPs();
    std::optional<WorldPs> sentPs;
    if (reason.sentPs != EnginePs(0))
    {
        sentPs = m_state.world.WorldOf(reason.sentPs);
    }
    for (uint32_t priority = 0; priority < MAX_CLASSES; priority++)
    {
        const bool was = (before >> priority) & 1;
        const bool is = (after >> priority) & 1;
        if (is && !was)
        {
            m_open[{port, priority}] = m_pauses.size();
            m_pauses.push_back({nowPs, std::nullopt, port, priority, sentPs, reason.toward});
        }
        else if (was && !is)
        {
            const auto open = m_open.find({port, priority});
            m_pauses[open->second].endPs = nowPs;
            m_open.erase(open);
        }
    }
}

/// Take the samples that lie before a time.
void
Telemetry::SampleUntil(WorldPs nextPs)
{
    Sample(m_nextSamplePs);
    m_nextSamplePs += m_samplePs;
    // Nothing happens until the next event: what is held stays, and nothing else has a row.
    for (; m_nextSamplePs < nextPs && !m_holding.empty(); m_nextSamplePs += m_samplePs)
    {
        for (const size_t index : m_holding)
        {
            SamplePort(index, m_nextSamplePs, m_state.world.EngineOf(m_nextSamplePs));
        }
    }
    if (m_nextSamplePs < nextPs)
    {
        const uint64_t leftPs = nextPs - m_nextSamplePs;
        m_nextSamplePs += (leftPs + m_samplePs - 1) / m_samplePs * m_samplePs;
    }
}

void
Telemetry::OnSkip(const SkippedTime& piece)
{
    if (!m_samplePs)
    {
        return;
    }
    for (size_t i = 0; i < m_sampled.size(); i++)
    {
        m_skipped[i] = piece.ports[m_sampled[i]];
    }
    for (const auto& [message, packets, frameBytes] : piece.sent)
    {
        if (packets > 0)
        {
            CountArrived(message, static_cast<uint32_t>(packets), packets * frameBytes);
        }
    }
    if (piece.isSampled)
    {
        for (size_t i = 0; i < m_sampled.size(); i++)
        {
            SamplePort(i, piece.untilPs, piece.clockPs);
        }
        SampleFlows(piece.untilPs);
        m_nextSamplePs += m_samplePs;
    }
}

void
Telemetry::Sample(WorldPs timePs)
{
    m_holding.clear();
    for (size_t index = 0; index < m_sampled.size(); index++)
    {
        SamplePort(index, timePs, m_state.world.EngineOf(timePs));
        const Port& port = m_state.network.ports[m_sampled[index]];
        if (port.queuedBytes != 0 || (port.paused != 0 && !port.down))
        {
            m_holding.push_back(index);
        }
    }
    SampleFlows(timePs);
}

void
Telemetry::SampleFlows(WorldPs timePs)
{
    std::sort(m_receiving.begin(), m_receiving.end());
    for (const uint32_t message : m_receiving)
    {
        Arrived& arrived = m_arrived[message];
        m_flowSamples.push_back({timePs, message, arrived.packets, arrived.bytes});
        arrived = Arrived{};
    }
    m_receiving.clear();
}

/// @param executedPs until when there were events [ps]
void
Telemetry::SamplePort(size_t index, WorldPs timePs, EnginePs executedPs)
{
    const PortId id = m_sampled[index];
    const Port& port = m_state.network.ports[id];
    const Totals& skipped = m_skipped[index];
    const Totals now{port.sentBytes + m_state.framingBytes * port.sentFrames + skipped.sentBytes,
                     PausedByClock(m_state.network, id, executedPs) + skipped.pausedPs};
    Totals& before = m_before[index];
    const PortSample sample{timePs,
                            id,
                            port.queuedBytes,
                            now.sentBytes - before.sentBytes,
                            now.pausedPs - before.pausedPs};
    before = now;
    if (sample.queuedBytes != 0 || sample.sentBytes != 0 || sample.pausedPs != 0)
    {
        m_portSamples.push_back(sample);
    }
}

void
Telemetry::Finish()
{
    if (m_samplePs)
    {
        Sample(m_state.WorldNowPs());
    }
}

uint64_t
Telemetry::MemoryBytes() const
{
    return m_arrivals.capacity() * sizeof(Arrival) + m_portSamples.capacity() * sizeof(PortSample) +
           m_flowSamples.capacity() * sizeof(FlowSample) + m_pauses.capacity() * sizeof(Pause);
}

} // namespace fabric
} // namespace ns3
