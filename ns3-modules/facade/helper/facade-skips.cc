// SPDX-License-Identifier: GPL-2.0-only

#include "facade-records.h"

#include "ns3/steady-skip.h"

namespace ns3
{
namespace fabric
{

namespace
{

/// What was skipped of each message.
OutputTable
MakeSkippedFlows(const RunView& fabric, const SteadySkip& skip)
{
    OutputTable table;
    const size_t n = fabric.Messages().Size();
    table.Add("flow", n, [&](size_t i) { return fabric.Messages()[i].id; });
    table.Add("skipped_packets", n, [&](size_t i) {
        return skip.OfMessage(static_cast<uint32_t>(i)).arrived;
    });
    return table;
}

/// Each steady state that was skipped, or part of one.
OutputTable
MakeSkips(const SteadySkip& skip)
{
    const auto& rows = skip.Skips();
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs.Ps(); });
    table.Add("skipped_ps", rows.size(), [&](size_t i) { return rows[i].byPs; });
    table.Add("skipped_packets", rows.size(), [&](size_t i) { return rows[i].packets; });
    table.Add("measured_ps", rows.size(), [&](size_t i) { return rows[i].measuredPs; });
    table.Add("exact", rows.size(), [&](size_t i) { return rows[i].isExact; });
    table.Add("flows", rows.size(), [&](size_t i) { return rows[i].messages; });
    return table;
}

} // namespace

void
AddSkips(OutputTables& tables, const RunView& fabric, const SteadySkip* skip)
{
    if (skip)
    {
        tables["skips"] = MakeSkips(*skip);
        tables["skipped_flows"] = MakeSkippedFlows(fabric, *skip);
    }
}

} // namespace fabric
} // namespace ns3
