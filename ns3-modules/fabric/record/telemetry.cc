// SPDX-License-Identifier: GPL-2.0-only

#include "telemetry.h"

#include "ns3/fabric.h"
#include "ns3/steady-skip.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

Telemetry::Telemetry(const Fabric& fabric, std::vector<PortId> sampled)
    : m_fabric(fabric),
      m_samplePs(fabric.Options().samplePs),
      m_nextSamplePs(m_samplePs ? m_samplePs : NEVER_PS),
      m_logsArrivals(fabric.Options().traceArrivals),
      m_logsPauses(fabric.Options().tracePauses),
      m_sampled(std::move(sampled)),
      m_before(m_sampled.size()),
      m_skipped(m_sampled.size()),
      m_arrived(m_samplePs ? fabric.Messages().Size() : 0)
{
}

void
Telemetry::DataArrived(const Frame& frame, uint32_t node)
{
    if (m_logsArrivals)
    {
        m_arrivals.push_back({m_fabric.NowPs(), frame.message, frame.packet, node});
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
        m_arrived.resize(m_fabric.Messages().Size());
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
Telemetry::PauseChanged(PortId port, uint16_t before, uint16_t after, const PauseReason& reason)
{
    const uint64_t nowPs = m_fabric.NowPs();
    for (uint32_t priority = 0; priority < MAX_CLASSES; priority++)
    {
        const bool was = (before >> priority) & 1;
        const bool is = (after >> priority) & 1;
        if (is && !was)
        {
            m_open[{port, priority}] = m_pauses.size();
            m_pauses.push_back({nowPs, std::nullopt, port, priority, reason});
        }
        else if (was && !is)
        {
            const auto open = m_open.find({port, priority});
            m_pauses[open->second].endPs = nowPs;
            m_open.erase(open);
        }
    }
}

void
Telemetry::SampleBefore(uint64_t nextPs)
{
    Sample(m_nextSamplePs);
    m_nextSamplePs += m_samplePs;
    // Nothing happens until the next event: what is held stays, and nothing else has a row.
    for (; m_nextSamplePs < nextPs && !m_holding.empty(); m_nextSamplePs += m_samplePs)
    {
        for (const size_t index : m_holding)
        {
            SamplePort(index, m_nextSamplePs, m_nextSamplePs);
        }
    }
    if (m_nextSamplePs < nextPs)
    {
        m_nextSamplePs += (nextPs - m_nextSamplePs + m_samplePs - 1) / m_samplePs * m_samplePs;
    }
}

/// What was sent and how long was paused grows evenly; queues are at its end what they were before.
void
Telemetry::Skip(const Skipped& skipped)
{
    const std::vector<Totals> before = m_skipped;
    std::vector<uint64_t> counted(skipped.packets.size());
    const auto growUntil = [&](uint64_t timePs) {
        const auto between = [&](uint64_t from, uint64_t to) {
            const auto all = static_cast<unsigned __int128>(to - from);
            return from + static_cast<uint64_t>(all * (timePs - skipped.fromPs) / skipped.byPs);
        };
        for (size_t i = 0; i < m_sampled.size(); i++)
        {
            const Totals after = SkippedOf(i);
            m_skipped[i] = {between(before[i].sentBytes, after.sentBytes),
                            between(before[i].pausedPs, after.pausedPs)};
        }
        for (size_t i = 0; i < counted.size(); i++)
        {
            const auto [message, packets] = skipped.packets[i];
            const auto more = static_cast<uint32_t>(between(0, packets) - counted[i]);
            counted[i] += more;
            const WireProfile wire = m_fabric.WireOf(m_fabric.Messages()[message].transport);
            if (more > 0)
            {
                CountArrived(message, more, uint64_t{more} * (wire.mtuBytes + wire.headerBytes));
            }
        }
    };
    uint64_t sincePs = skipped.fromPs;
    const uint64_t untilPs = skipped.fromPs + skipped.byPs;
    for (; m_nextSamplePs < untilPs; m_nextSamplePs += m_samplePs)
    {
        m_skippedSincePs += m_nextSamplePs - sincePs;
        sincePs = m_nextSamplePs;
        growUntil(sincePs);
        for (size_t i = 0; i < m_sampled.size(); i++)
        {
            SamplePort(i, sincePs, skipped.fromPs);
        }
        SampleFlows(sincePs);
        MarkSkipped(sincePs);
    }
    growUntil(untilPs);
    m_skippedSincePs += untilPs - sincePs;
}

void
Telemetry::MarkSkipped(uint64_t timePs)
{
    if (m_skippedSincePs > 0)
    {
        m_skippedSamples.push_back({timePs, m_skippedSincePs});
        m_skippedSincePs = 0;
    }
}

/// @return what was skipped of a port until now
Telemetry::Totals
Telemetry::SkippedOf(size_t index) const
{
    const PortTotals& totals = m_fabric.GetSkip()->OfPort(m_sampled[index]);
    return {totals[SENT_BYTES] + m_fabric.Options().framingBytes * totals[SENT_FRAMES],
            totals[PAUSED_PS]};
}

void
Telemetry::Sample(uint64_t timePs)
{
    m_holding.clear();
    for (size_t index = 0; index < m_sampled.size(); index++)
    {
        SamplePort(index, timePs, timePs);
        const Port& port = m_fabric.Network().ports[m_sampled[index]];
        if (port.queuedBytes != 0 || (port.paused != 0 && !port.down))
        {
            m_holding.push_back(index);
        }
    }
    SampleFlows(timePs);
    MarkSkipped(timePs);
}

void
Telemetry::SampleFlows(uint64_t timePs)
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
Telemetry::SamplePort(size_t index, uint64_t timePs, uint64_t executedPs)
{
    const PortId id = m_sampled[index];
    const Port& port = m_fabric.Network().ports[id];
    const Totals& skipped = m_skipped[index];
    const uint64_t allSkippedPs = m_fabric.GetSkip() ? SkippedOf(index).pausedPs : 0;
    const Totals now{port.sentBytes + m_fabric.Options().framingBytes * port.sentFrames +
                         skipped.sentBytes,
                     m_fabric.PausedPs(id, executedPs) - allSkippedPs + skipped.pausedPs};
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
        Sample(m_fabric.NowPs());
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
