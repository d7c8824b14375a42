// SPDX-License-Identifier: GPL-2.0-only

#include "facade-records.h"

namespace ns3
{
namespace fabric
{

namespace
{

OutputTable
MakeArrivals(const FabricParts& parts)
{
    const auto seen = parts.Merged<Arrival>([](auto& log) -> auto& { return log.Arrivals(); },
                                            [](auto& row) {
                                                return std::pair(row.timePs, row.node);
                                            });
    OutputTable table;
    table.Add("flow", seen.size(), [&](size_t i) {
        return parts.First().Messages()[seen[i].message].id;
    });
    table.Add("packet", seen.size(), [&](size_t i) { return seen[i].packet; });
    table.Add("time_ps", seen.size(), [&](size_t i) { return seen[i].timePs; });
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
    table.Add("node", rows, [&](size_t i) { return NodeIdOf(parts, port(i)); });
    table.Add("peer", rows, [&](size_t i) { return network.PeerOf(port(i)).first; });
    table.Add("parallel", rows, [&](size_t i) { return network.PeerOf(port(i)).second; });
}

OutputTable
MakePortSamples(const FabricParts& parts)
{
    const auto rows =
        parts.Merged<PortSample>([](auto& log) -> auto& { return log.PortSamples(); },
                                 [](auto& row) { return std::pair(row.timePs, row.port); });
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs; });
    AddLink(table, parts, rows.size(), [&](size_t i) { return rows[i].port; });
    table.Add("queue_bytes", rows.size(), [&](size_t i) { return rows[i].queuedBytes; });
    table.Add("sent_bytes", rows.size(), [&](size_t i) { return rows[i].sentBytes; });
    table.Add("paused_ps", rows.size(), [&](size_t i) { return rows[i].pausedPs; });
    return table;
}

OutputTable
MakeFlowSamples(const FabricParts& parts)
{
    const auto rows =
        parts.Merged<FlowSample>([](auto& log) -> auto& { return log.FlowSamples(); },
                                 [](auto& row) { return std::pair(row.timePs, row.message); });
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs; });
    table.Add("flow", rows.size(), [&](size_t i) {
        return parts.First().Messages()[rows[i].message].id;
    });
    table.Add("arrived_packets", rows.size(), [&](size_t i) { return rows[i].packets; });
    table.Add("arrived_bytes", rows.size(), [&](size_t i) { return rows[i].bytes; });
    return table;
}

OutputTable
MakeSkippedSamples(const FabricParts& parts)
{
    const auto& rows = parts.First().GetTelemetry()->SkippedSamples(); // there is one domain
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs; });
    table.Add("skipped_ps", rows.size(), [&](size_t i) { return rows[i].skippedPs; });
    return table;
}

OutputTable
MakePauses(const FabricParts& parts)
{
    const auto rows = parts.Merged<Pause>([](auto& log) -> auto& { return log.Pauses(); },
                                          [](auto& row) {
                                              return std::pair(row.startPs, row.port);
                                          });
    OutputTable table;
    table.Add("sent_ps", rows.size(), [&](size_t i) { return rows[i].reason.sentPs; });
    table.Add("start_ps", rows.size(), [&](size_t i) { return rows[i].startPs; });
    table.Add("end_ps", rows.size(), [&](size_t i) { return TimeOrNone(rows[i].endPs); });
    AddLink(table, parts, rows.size(), [&](size_t i) { return rows[i].port; });
    table.Add("priority", rows.size(), [&](size_t i) { return rows[i].priority; });
    // A flow control of one's own may pause for no frame in particular.
    const auto toward = [&](size_t i) {
        const PortId port = rows[i].reason.toward;
        return port == NO_PORT ? std::pair<int64_t, int64_t>(-1, -1)
                               : std::pair<int64_t, int64_t>(parts.First().Network().PeerOf(port));
    };
    table.Add("toward", rows.size(), [&](size_t i) { return toward(i).first; });
    table.Add("toward_parallel", rows.size(), [&](size_t i) { return toward(i).second; });
    return table;
}

} // namespace

void
AddRecords(std::map<std::string, OutputTable>& tables, const FabricParts& parts)
{
    const Telemetry* telemetry = parts.First().GetTelemetry();
    if (telemetry && telemetry->LogsArrivals())
    {
        tables["arrivals"] = MakeArrivals(parts);
    }
    if (telemetry && telemetry->LogsPauses())
    {
        tables["pauses"] = MakePauses(parts);
    }
    if (telemetry && telemetry->Samples())
    {
        tables["port_samples"] = MakePortSamples(parts);
        tables["flow_samples"] = MakeFlowSamples(parts);
        if (parts.First().GetSkip())
        {
            tables["skipped_samples"] = MakeSkippedSamples(parts);
        }
    }
}

} // namespace fabric
} // namespace ns3
