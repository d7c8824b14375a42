// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FACADE_OUTPUTS_H
#define FABRIC_FACADE_OUTPUTS_H

#include "ns3/frame.h"
#include "ns3/output-table.h"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

class ParallelRun;
class FabricParts;
class RunView;
class TaskGraph;

int64_t HostIdOf(const RunView& fabric, uint32_t host); ///< Node id
int64_t NodeIdOf(const RunView& fabric, PortId port);   ///< Of the node that it is a port of

/// When an item of a task graph began and when it was over, -1: it has not [ps]; and why then.
struct ItemCourse
{
    std::function<int64_t(uint32_t item)> startPs;
    std::function<int64_t(uint32_t item)> endPs;
    std::function<uint32_t(uint32_t item)> decidedBy; ///< An item or TaskGraph::NOTHING
};

/// @return what every task was and what decided when it began: messages of the table first
OutputTable MakeTasks(const RunView& fabric, const TaskGraph& graph, const ItemCourse& course);

/// @return links of each message that keeps to one path
OutputTable MakePaths(const FabricParts& parts);

/// @return how each transport cuts messages into frames
OutputTable MakeTransports(const RunView& fabric);

/// @return what became of a run of packets, as far as it was executed
OutputTables MakeOutputs(const ParallelRun& run);

/// @return the table of a name; abort naming all if there is none
OutputTable& FindTable(OutputTables& tables, const std::string& name);

/// @return place of a column in a table of this name; abort naming all if there is none
size_t FindColumn(const OutputTable& table, const std::string& name, const std::string& column);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FACADE_OUTPUTS_H
