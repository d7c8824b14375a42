// SPDX-License-Identifier: GPL-2.0-only

// Telemetry: what the engines of a run have recorded, as tables.

#include "telemetry.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

namespace
{

/// Name the links that rows are about: node, peer and index among parallel links.
template <typename Port>
void
AddLink(OutputTable& table, const FabricNetwork& network, size_t rows, Port&& port)
{
    table.Add("node", rows, [&](size_t i) {
        return network.nodes[network.ports[port(i)].node].id;
    });
    table.Add("peer", rows, [&](size_t i) { return network.PeerOf(port(i)).first; });
    table.Add("parallel", rows, [&](size_t i) { return network.PeerOf(port(i)).second; });
}

} // namespace

/// @return rows that the engines have recorded, in one order
template <typename Row, typename Key>
std::vector<Row>
Telemetry::Merged(const ByEngine& all, std::vector<Row> Telemetry::*rows, Key&& key)
{
    std::vector<Row> merged;
    for (const auto& one : all)
    {
        merged.insert(merged.end(), (*one.*rows).begin(), (*one.*rows).end());
    }
    std::stable_sort(merged.begin(), merged.end(), [&key](const Row& a, const Row& b) {
        return key(a) < key(b);
    });
    return merged;
}

OutputTable
Telemetry::ArrivalTable(const ByEngine& all)
{
    const auto rows = Merged(all, &Telemetry::m_arrivals, [](auto& row) {
        return std::pair(row.timePs, row.node);
    });
    const EngineState& state = all[0]->m_state;
    OutputTable table;
    table.Add("flow", rows.size(), [&](size_t i) { return state.messages[rows[i].message].id; });
    table.Add("packet", rows.size(), [&](size_t i) { return rows[i].packet; });
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs.Ps(); });
    table.Add("node", rows.size(), [&](size_t i) { return state.network.nodes[rows[i].node].id; });
    return table;
}

OutputTable
Telemetry::PortTable(const ByEngine& all)
{
    const auto rows = Merged(all, &Telemetry::m_portSamples, [](auto& row) {
        return std::pair(row.timePs, row.port);
    });
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs.Ps(); });
    AddLink(table, all[0]->m_state.network, rows.size(), [&](size_t i) { return rows[i].port; });
    table.Add("queue_bytes", rows.size(), [&](size_t i) { return rows[i].queuedBytes; });
    table.Add("sent_bytes", rows.size(), [&](size_t i) { return rows[i].sentBytes; });
    table.Add("paused_ps", rows.size(), [&](size_t i) { return rows[i].pausedPs; });
    return table;
}

OutputTable
Telemetry::FlowTable(const ByEngine& all)
{
    const auto rows = Merged(all, &Telemetry::m_flowSamples, [](auto& row) {
        return std::pair(row.timePs, row.message);
    });
    const MessageTable& messages = all[0]->m_state.messages;
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs.Ps(); });
    table.Add("flow", rows.size(), [&](size_t i) { return messages[rows[i].message].id; });
    table.Add("arrived_packets", rows.size(), [&](size_t i) { return rows[i].packets; });
    table.Add("arrived_bytes", rows.size(), [&](size_t i) { return rows[i].bytes; });
    return table;
}

OutputTable
Telemetry::PauseTable(const ByEngine& all)
{
    const auto rows = Merged(all, &Telemetry::m_pauses, [](auto& row) {
        return std::pair(row.startPs, row.port);
    });
    const FabricNetwork& network = all[0]->m_state.network;
    OutputTable table;
    table.Add("sent_ps", rows.size(), [&](size_t i) { return TimeOrNone(rows[i].sentPs); });
    table.Add("start_ps", rows.size(), [&](size_t i) { return rows[i].startPs.Ps(); });
    table.Add("end_ps", rows.size(), [&](size_t i) { return TimeOrNone(rows[i].endPs); });
    AddLink(table, network, rows.size(), [&](size_t i) { return rows[i].port; });
    table.Add("priority", rows.size(), [&](size_t i) { return rows[i].priority; });
    // Credits, and flow controls of one's own, may pause for no frame in particular.
    const auto toward = [&](size_t i) {
        const PortId port = rows[i].toward;
        return port == NO_PORT ? std::pair<int64_t, int64_t>(-1, -1)
                               : std::pair<int64_t, int64_t>(network.PeerOf(port));
    };
    table.Add("congested_peer", rows.size(), [&](size_t i) { return toward(i).first; });
    table.Add("congested_parallel", rows.size(), [&](size_t i) { return toward(i).second; });
    return table;
}

void
Telemetry::AddTables(OutputTables& tables, const ByEngine& all)
{
    if (all.empty())
    {
        return;
    }
    if (all[0]->m_logsArrivals)
    {
        tables["arrivals"] = ArrivalTable(all);
    }
    if (all[0]->m_logsPauses)
    {
        tables["pauses"] = PauseTable(all);
    }
    if (all[0]->m_samplePs)
    {
        tables["port_samples"] = PortTable(all);
        tables["flow_samples"] = FlowTable(all);
    }
}

} // namespace fabric
} // namespace ns3
