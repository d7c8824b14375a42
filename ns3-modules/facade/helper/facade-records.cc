// SPDX-License-Identifier: GPL-2.0-only

#include "facade-records.h"

#include "ns3/telemetry.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

namespace
{

using Logs = std::vector<const Telemetry*>; ///< By domain

/// @return rows that the domains have recorded, in one order
template <typename Row, typename Rows, typename Key>
std::vector<Row>
Merged(const Logs& logs, Rows&& rows, Key&& key)
{
    std::vector<Row> all;
    for (const Telemetry* log : logs)
    {
        const auto& own = rows(*log);
        all.insert(all.end(), own.begin(), own.end());
    }
    std::stable_sort(all.begin(), all.end(), [&key](const Row& a, const Row& b) {
        return key(a) < key(b);
    });
    return all;
}

OutputTable
MakeArrivals(const FabricParts& parts, const Logs& logs)
{
    const auto seen = Merged<Arrival>(
        logs,
        [](auto& log) -> auto& { return log.Arrivals(); },
        [](auto& row) { return std::pair(row.timePs, row.node); });
    OutputTable table;
    table.Add("flow", seen.size(), [&](size_t i) {
        return parts.First().Messages()[seen[i].message].id;
    });
    table.Add("packet", seen.size(), [&](size_t i) { return seen[i].packet; });
    table.Add("time_ps", seen.size(), [&](size_t i) { return seen[i].timePs.Ps(); });
    table.Add("node", seen.size(), [&](size_t i) {
        return parts.First().Network().nodes[seen[i].node].id;
    });
    return table;
}

/// Name the links that rows are about: node, peer and index among parallel links.
template <typename Port>
void
AddLink(OutputTable& table, const FabricParts& parts, size_t rows, Port&& port)
{
    const FabricNetwork& network = parts.First().Network();
    table.Add("node", rows, [&](size_t i) { return NodeIdOf(parts.First(), port(i)); });
    table.Add("peer", rows, [&](size_t i) { return network.PeerOf(port(i)).first; });
    table.Add("parallel", rows, [&](size_t i) { return network.PeerOf(port(i)).second; });
}

OutputTable
MakePortSamples(const FabricParts& parts, const Logs& logs)
{
    const auto rows = Merged<PortSample>(
        logs,
        [](auto& log) -> auto& { return log.PortSamples(); },
        [](auto& row) { return std::pair(row.timePs, row.port); });
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs.Ps(); });
    AddLink(table, parts, rows.size(), [&](size_t i) { return rows[i].port; });
    table.Add("queue_bytes", rows.size(), [&](size_t i) { return rows[i].queuedBytes; });
    table.Add("sent_bytes", rows.size(), [&](size_t i) { return rows[i].sentBytes; });
    table.Add("paused_ps", rows.size(), [&](size_t i) { return rows[i].pausedPs; });
    return table;
}

OutputTable
MakeFlowSamples(const FabricParts& parts, const Logs& logs)
{
    const auto rows = Merged<FlowSample>(
        logs,
        [](auto& log) -> auto& { return log.FlowSamples(); },
        [](auto& row) { return std::pair(row.timePs, row.message); });
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs.Ps(); });
    table.Add("flow", rows.size(), [&](size_t i) {
        return parts.First().Messages()[rows[i].message].id;
    });
    table.Add("arrived_packets", rows.size(), [&](size_t i) { return rows[i].packets; });
    table.Add("arrived_bytes", rows.size(), [&](size_t i) { return rows[i].bytes; });
    return table;
}

OutputTable
MakeSkippedSamples(const Telemetry& log)
{
    const auto& rows = log.SkippedSamples();
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs.Ps(); });
    table.Add("skipped_ps", rows.size(), [&](size_t i) { return rows[i].skippedPs; });
    return table;
}

OutputTable
MakePauses(const FabricParts& parts, const Logs& logs)
{
    const auto rows = Merged<Pause>(
        logs,
        [](auto& log) -> auto& { return log.Pauses(); },
        [](auto& row) { return std::pair(row.startPs, row.port); });
    OutputTable table;
    table.Add("sent_ps", rows.size(), [&](size_t i) { return rows[i].sentPs.Ps(); });
    table.Add("start_ps", rows.size(), [&](size_t i) { return rows[i].startPs.Ps(); });
    table.Add("end_ps", rows.size(), [&](size_t i) { return TimeOrNone(rows[i].endPs); });
    AddLink(table, parts, rows.size(), [&](size_t i) { return rows[i].port; });
    table.Add("priority", rows.size(), [&](size_t i) { return rows[i].priority; });
    // A flow control of one's own may pause for no frame in particular.
    const auto toward = [&](size_t i) {
        const PortId port = rows[i].toward;
        return port == NO_PORT ? std::pair<int64_t, int64_t>(-1, -1)
                               : std::pair<int64_t, int64_t>(parts.First().Network().PeerOf(port));
    };
    table.Add("congested_peer", rows.size(), [&](size_t i) { return toward(i).first; });
    table.Add("congested_parallel", rows.size(), [&](size_t i) { return toward(i).second; });
    return table;
}

} // namespace

void
AddRecords(OutputTables& tables, const FabricParts& parts, const Recorded& recorded)
{
    const Logs& logs = recorded.telemetry;
    if (logs.empty())
    {
        return;
    }
    if (logs[0]->LogsArrivals())
    {
        tables["arrivals"] = MakeArrivals(parts, logs);
    }
    if (logs[0]->LogsPauses())
    {
        tables["pauses"] = MakePauses(parts, logs);
    }
    if (logs[0]->Samples())
    {
        tables["port_samples"] = MakePortSamples(parts, logs);
        tables["flow_samples"] = MakeFlowSamples(parts, logs);
    }
    if (logs[0]->Samples() && recorded.skip)
    {
        tables["skipped_samples"] = MakeSkippedSamples(*logs[0]);
    }
}

} // namespace fabric
} // namespace ns3
