// SPDX-License-Identifier: GPL-2.0-only

#include "facade-records.h"

#include "ns3/episode-memory.h"
#include "ns3/steady-skip.h"

namespace ns3
{
namespace fabric
{

namespace
{

/// What was skipped of each message.
OutputTable
MakeSkippedFlows(const Fabric& fabric)
{
    OutputTable table;
    const size_t n = fabric.Messages().Size();
    table.Add("flow", n, [&](size_t i) { return fabric.Messages()[i].id; });
    table.Add("skipped_packets", n, [&](size_t i) {
        return fabric.GetSkip()->OfMessage(static_cast<uint32_t>(i)).arrived;
    });
    return table;
}

/// Each steady state that was skipped, or part of one.
OutputTable
MakeSkips(const Fabric& fabric)
{
    const auto& rows = fabric.GetSkip()->Skips();
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs; });
    table.Add("skipped_ps", rows.size(), [&](size_t i) { return rows[i].byPs; });
    table.Add("skipped_packets", rows.size(), [&](size_t i) { return rows[i].packets; });
    table.Add("measured_ps", rows.size(), [&](size_t i) { return rows[i].measuredPs; });
    table.Add("exact", rows.size(), [&](size_t i) { return rows[i].isExact; });
    table.Add("flows", rows.size(), [&](size_t i) { return rows[i].messages; });
    return table;
}

/// What was replayed of each message.
OutputTable
MakeReplayedFlows(const Fabric& fabric)
{
    OutputTable table;
    const size_t n = fabric.Messages().Size();
    table.Add("flow", n, [&](size_t i) { return fabric.Messages()[i].id; });
    table.Add("replayed_packets", n, [&](size_t i) {
        return fabric.GetMemory()->PacketsOf(static_cast<uint32_t>(i));
    });
    return table;
}

/// Each episode that was replayed.
OutputTable
MakeReplays(const Fabric& fabric)
{
    const auto& rows = fabric.GetMemory()->Replays();
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs; });
    table.Add("replayed_ps", rows.size(), [&](size_t i) { return rows[i].lengthPs; });
    table.Add("replayed_packets", rows.size(), [&](size_t i) { return rows[i].packets; });
    table.Add("flows", rows.size(), [&](size_t i) { return rows[i].messages; });
    return table;
}

} // namespace

void
AddSkips(std::map<std::string, OutputTable>& tables, const Fabric& fabric)
{
    if (fabric.GetSkip())
    {
        tables["skips"] = MakeSkips(fabric);
        tables["skipped_flows"] = MakeSkippedFlows(fabric);
    }
    if (fabric.GetMemory())
    {
        tables["replays"] = MakeReplays(fabric);
        tables["replayed_flows"] = MakeReplayedFlows(fabric);
    }
}

} // namespace fabric
} // namespace ns3
