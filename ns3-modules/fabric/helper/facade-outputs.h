// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FACADE_OUTPUTS_H
#define FABRIC_FACADE_OUTPUTS_H

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

class Domains;
class Fabric;
class TaskGraph;

/// Rows of one output table, by column.
struct OutputTable
{
    std::vector<std::string> names; ///< In order of definition
    std::vector<std::vector<int64_t>> columns;

    /// Fill one column from a function of the row number.
    template <typename Value>
    void Add(const std::string& name, size_t rows, Value&& value)
    {
        names.push_back(name);
        auto& column = columns.emplace_back(rows);
        for (size_t row = 0; row < rows; row++)
        {
            column[row] = static_cast<int64_t>(value(row));
        }
    }

    /// Fill a column that is there anew; its name is one of `names`.
    template <typename Value>
    void Replace(const std::string& name, Value&& value)
    {
        const auto found = std::find(names.begin(), names.end(), name);
        auto& column = columns.at(static_cast<size_t>(found - names.begin()));
        for (size_t row = 0; row < column.size(); row++)
        {
            column[row] = static_cast<int64_t>(value(row));
        }
    }
};

/// When an item of a task graph began and when it was over, -1: it has not [ps]; and why then.
struct ItemCourse
{
    std::function<int64_t(uint32_t item)> startPs;
    std::function<int64_t(uint32_t item)> endPs;
    std::function<uint32_t(uint32_t item)> decidedBy; ///< An item or TaskGraph::NOTHING
};

/// @return what every task was and what decided when it began: messages of the table first
OutputTable MakeTasks(const Fabric& fabric, const TaskGraph& graph, const ItemCourse& course);

/// @return what became of a run: tables flows, ports, paths, summary, and what was to be recorded
std::map<std::string, OutputTable> MakeOutputs(const Domains& run);

/// @return the table of a name; abort naming all if there is none
OutputTable& FindTable(std::map<std::string, OutputTable>& tables, const std::string& name);

/// @return place of a column in a table of this name; abort naming all if there is none
size_t FindColumn(const OutputTable& table, const std::string& name, const std::string& column);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FACADE_OUTPUTS_H
