// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FACADE_OUTPUTS_H
#define FABRIC_FACADE_OUTPUTS_H

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

class Fabric;

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
};

/// @return what became of a run: tables flows, ports, paths, summary, and what was to be recorded
std::map<std::string, OutputTable> MakeOutputs(const Fabric& fabric);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FACADE_OUTPUTS_H
