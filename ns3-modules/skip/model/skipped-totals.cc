// SPDX-License-Identifier: GPL-2.0-only

#include "skipped-totals.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace fabric
{

namespace
{

/// Columns of ports to which a total of what was skipped is added as it is.
constexpr std::pair<const char*, PortTotal> COLUMNS_OF_PORTS[] = {
    {"sent_frames", SENT_FRAMES},
    {"sent_data_packets", SENT_DATA},
    {"received_frames", RECEIVED_FRAMES},
    {"dropped_buffer_frames", DROPPED_BUFFER},
    {"dropped_headroom_frames", DROPPED_HEADROOM},
    {"ecn_marked_packets", MARKED},
    {"trimmed_packets", TRIMMED},
    {"bounced_packets", BOUNCED},
    {"pause_frames_sent", LINK_CONTROL_SENT},
    {"pause_frames_received", LINK_CONTROL_RECEIVED},
    {"paused_ps", PAUSED_PS},
};

/// The same of messages.
constexpr std::pair<const char*, FlowTotals::Count> COLUMNS_OF_FLOWS[] = {
    {"retransmitted_packets", FlowTotals::COPIES},
    {"trimmed_packets", FlowTotals::TRIMMED},
    {"ecn_marked_packets", FlowTotals::MARKED},
    {"naks", FlowTotals::NAKS},
};

} // namespace

SkippedTotals::SkippedTotals(const ObservedRun& run)
    : ports(run.State().network.NumPorts()),
      m_run(run),
      m_engine(run.State())
{
}

FlowTotals&
SkippedTotals::AtMessage(uint32_t message)
{
    m_messages.resize(std::max<size_t>(m_messages.size(), message + 1));
    return m_messages[message];
}

const FlowTotals&
SkippedTotals::OfMessage(size_t message) const
{
    static const FlowTotals NOTHING;
    return message < m_messages.size() ? m_messages[message] : NOTHING;
}

std::vector<SkippedTime::Total>
SkippedTotals::OfPorts() const
{
    std::vector<SkippedTime::Total> totals(ports.size());
    std::ranges::transform(ports, totals.begin(), [this](const PortTotals& port) {
        return SkippedTime::Total{port[SENT_BYTES] + m_engine.framingBytes * port[SENT_FRAMES],
                                  port[PAUSED_PS]};
    });
    return totals;
}

/// Each steady state that was skipped, or part of one.
OutputTable
SkippedTotals::StateTable() const
{
    OutputTable table;
    const auto add = [&](const std::string& name, auto value) {
        table.Add(name, states.size(), [&](size_t i) { return value(states[i]); });
    };
    add("time_ps", [](const SkippedState& skip) { return skip.timePs.Ps(); });
    add("skipped_ps", [](const SkippedState& skip) { return skip.byPs; });
    add("skipped_packets", [](const SkippedState& skip) { return skip.packets; });
    add("measured_ps", [](const SkippedState& skip) { return skip.measuredPs; });
    add("exact", [](const SkippedState& skip) { return skip.isExact; });
    add("flows", [](const SkippedState& skip) { return skip.messages; });
    return table;
}

/// What was skipped of each message.
OutputTable
SkippedTotals::FlowTable() const
{
    OutputTable table;
    const size_t n = m_engine.messages.Size();
    table.Add("flow", n, [&](size_t i) { return m_engine.messages[static_cast<uint32_t>(i)].id; });
    table.Add("skipped_packets", n, [&](size_t i) { return OfMessage(i).arrived; });
    return table;
}

/// The samples of which a part was skipped: totals grow evenly there.
OutputTable
SkippedTotals::SampleTable(uint64_t samplePs) const
{
    std::map<uint64_t, uint64_t> skippedPs; // by the time of the sample, the last one at the end
    for (const SkippedState& skip : states)
    {
        uint64_t leftPs = skip.byPs;
        for (uint64_t timePs = skip.fromPs.Ps(); leftPs > 0;)
        {
            const uint64_t nextPs = (timePs / samplePs + 1) * samplePs;
            const uint64_t partPs = std::min(leftPs, nextPs - timePs);
            skippedPs[std::min(nextPs, m_engine.WorldNowPs().Ps())] += partPs;
            leftPs -= partPs;
            timePs = nextPs;
        }
    }
    OutputTable table{{"time_ps", "skipped_ps"}, {{}, {}}};
    for (const auto& [timePs, partPs] : skippedPs)
    {
        table.columns[0].push_back(static_cast<int64_t>(timePs));
        table.columns[1].push_back(static_cast<int64_t>(partPs));
    }
    return table;
}

void
SkippedTotals::AddTables(OutputTables& tables, std::optional<uint64_t> samplePs) const
{
    OutputTable& flows = tables["flows"];
    for (const auto& [name, count] : COLUMNS_OF_FLOWS)
    {
        flows.Increase(name, [&](size_t i) { return OfMessage(i).counts[count]; });
    }
    flows.Increase("sent_data_packets", [&](size_t i) {
        return OfMessage(i).arrived + OfMessage(i).counts[FlowTotals::COPIES];
    });
    flows.Increase("bytes", [&](size_t i) {
        const uint64_t packets = OfMessage(i).arrived;
        const uint32_t transport = m_engine.messages[static_cast<uint32_t>(i)].transport;
        return packets ? packets * m_run.WireOf(transport).mtuBytes : 0;
    });
    OutputTable& portTable = tables["ports"];
    for (const auto& [name, total] : COLUMNS_OF_PORTS)
    {
        portTable.Increase(name, [&](size_t i) { return ports[i][total]; });
    }
    const auto totals = OfPorts();
    portTable.Increase("sent_bytes", [&](size_t i) { return totals[i].sentBytes; });
    tables["skips"] = StateTable();
    tables["skipped_flows"] = FlowTable();
    if (samplePs)
    {
        tables["skipped_samples"] = SampleTable(*samplePs);
    }
}

} // namespace fabric
} // namespace ns3
