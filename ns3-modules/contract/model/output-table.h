// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_OUTPUT_TABLE_H
#define FABRIC_OUTPUT_TABLE_H

#include "ns3/assert.h"
#include "ns3/clocks.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

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

    /// Add a function of the row number to a column that is there.
    template <typename Value>
    void Increase(const std::string& name, Value&& value)
    {
        const auto found = std::find(names.begin(), names.end(), name);
        NS_ASSERT_MSG(found != names.end(), "there is no column " << name);
        auto& column = columns[static_cast<size_t>(found - names.begin())];
        for (size_t row = 0; row < column.size(); row++)
        {
            column[row] += static_cast<int64_t>(value(row));
        }
    }
};

using OutputTables = std::map<std::string, OutputTable>;

/// A time, or -1 for one that has not come.
inline int64_t
TimeOrNone(const std::optional<WorldPs>& timePs)
{
    return timePs ? static_cast<int64_t>(timePs->Ps()) : -1;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_OUTPUT_TABLE_H
