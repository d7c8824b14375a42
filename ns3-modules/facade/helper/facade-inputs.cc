// SPDX-License-Identifier: GPL-2.0-only

#include "facade-inputs.h"

#include "facade-error.h"

#include <algorithm>
#include <tuple>

namespace ns3
{
namespace fabric
{

namespace
{

/// Which columns an input table must and may have.
struct InputShape
{
    std::vector<std::string> required;
    std::vector<std::string> optional;
};

const std::map<std::string, InputShape> INPUT_SHAPES{
    {"nodes", {{"node", "is_switch", "tier"}, {"plane", "class", "domain"}}},
    {"links",
     {{"node_a", "node_b", "rate_bps", "delay_ps"},
      {"parallel", "loss_ratio", "bit_error_ratio", "class"}}},
    {"flows",
     {{"flow", "src", "dst", "bytes", "start_ps"},
      {"transport", "rate_bps", "connection", "decides"}}},
    {"tasks", {{"task", "kind", "node", "duration_ps"}, {"stream", "start_ps", "decides"}}},
    {"drops", {{"node", "peer", "ordinal"}, {"parallel"}}},
    {"link_events", {{"time_ps", "node_a", "node_b", "rate_bps"}, {"parallel", "rate_back_bps"}}},
    {"loss_changes",
     {{"time_ps", "node", "peer"}, {"parallel", "loss_ratio", "bit_error_ratio"}}},
    {"dependencies", {{"flow", "after"}, {"at_sender", "delay_ps"}}},
    {"sampled", {{"node"}, {}}},
    {"routes", {{"flow", "node", "peer"}, {"hop", "parallel", "reverse", "from_ps"}}},
    {"rate_changes", {{"time_ps", "flow", "rate_bps"}, {}}},
};

/// Columns that hold shares; all others hold whole numbers.
bool
IsReal(const std::string& column)
{
    return column == "loss_ratio" || column == "bit_error_ratio";
}

} // namespace

void
FacadeInputs::CheckColumn(const std::string& table, const std::string& column, size_t rows) const
{
    const auto shape = INPUT_SHAPES.find(table);
    if (shape == INPUT_SHAPES.end())
    {
        std::vector<std::string> names;
        for (const auto& [known, columns] : INPUT_SHAPES)
        {
            names.push_back(known);
        }
        Refuse("there is no input table '" + table + "'. Allowed: " + Join(names) + ".");
    }
    std::vector<std::string> allowed = shape->second.required;
    allowed.insert(allowed.end(), shape->second.optional.begin(), shape->second.optional.end());
    if (std::find(allowed.begin(), allowed.end(), column) == allowed.end())
    {
        Refuse("table " + table + " has no column '" + column + "'. Allowed: " + Join(allowed) +
               ".");
    }
    const auto given = m_whole.find(table);
    if (given == m_whole.end())
    {
        return;
    }
    for (const auto& [other, values] : given->second)
    {
        if (values.size() != rows)
        {
            Refuse("table " + table + ": column " + column + " has " + std::to_string(rows) +
                   " rows, column " + other + " has " + std::to_string(values.size()));
        }
    }
}

void
FacadeInputs::Add(const std::string& table,
                  const std::string& column,
                  const int64_t* values,
                  size_t rows)
{
    CheckColumn(table, column, rows);
    if (IsReal(column))
    {
        m_real[table][column].assign(values, values + rows);
        return;
    }
    m_whole[table][column].assign(values, values + rows);
}

void
FacadeInputs::AddReal(const std::string& table,
                      const std::string& column,
                      const double* values,
                      size_t rows)
{
    CheckColumn(table, column, rows);
    if (!IsReal(column))
    {
        Refuse("table " + table + ": column " + column +
               " must be whole numbers (int64), not real numbers");
    }
    m_real[table][column].assign(values, values + rows);
}

size_t
FacadeInputs::Rows(const std::string& table) const
{
    const auto given = m_whole.find(table);
    if (given == m_whole.end())
    {
        return 0;
    }
    for (const auto& name : INPUT_SHAPES.at(table).required)
    {
        if (!given->second.contains(name))
        {
            Refuse("table " + table + " lacks column " + name);
        }
    }
    return given->second.begin()->second.size();
}

/// @return a real number, 0 where its column was not given
double
FacadeInputs::RealCell(const std::string& table, const std::string& column, size_t row) const
{
    const auto columns = m_real.find(table);
    if (columns == m_real.end() || !columns->second.contains(column))
    {
        return 0;
    }
    const auto& values = columns->second.at(column);
    if (values.size() != Rows(table))
    {
        Refuse("table " + table + ": column " + column + " has " + std::to_string(values.size()) +
               " rows, the others have " + std::to_string(Rows(table)));
    }
    return values[row];
}

FacadeInputs::View
FacadeInputs::Column(const std::string& table, const std::string& column) const
{
    const auto given = m_whole.find(table);
    if (given == m_whole.end())
    {
        return {nullptr};
    }
    const auto found = given->second.find(column);
    return {found == given->second.end() ? nullptr : &found->second};
}

/// @return a table, row by row: its members are made from these columns, in their order
template <typename Row, typename... Names>
std::vector<Row>
FacadeInputs::RowsOf(const std::string& table, const Names&... names) const
{
    const size_t n = Rows(table);
    const std::tuple columns{Column(table, names)...};
    std::vector<Row> rows;
    rows.reserve(n);
    for (size_t i = 0; i < n; i++)
    {
        std::apply([&](const auto&... column) { rows.push_back(Row(column[i]...)); }, columns);
    }
    return rows;
}

void
FacadeInputs::CheckKinds() const
{
    constexpr int64_t COMPUTATION = 0;
    constexpr int64_t BARRIER = 2; // 1 is a message, which is a flow
    const View id = Column("tasks", "task");
    const View kind = Column("tasks", "kind");
    for (size_t i = 0; i < Rows("tasks"); i++)
    {
        if (kind[i] != COMPUTATION && kind[i] != BARRIER)
        {
            Refuse("tasks: task " + std::to_string(id[i]) + ": kind is " + std::to_string(kind[i]) +
                   ", not " + std::to_string(COMPUTATION) + " (computation) or " +
                   std::to_string(BARRIER) + " (barrier)");
        }
    }
}

FabricTables
FacadeInputs::Tables() const
{
    FabricTables tables;
    tables.nodes =
        RowsOf<NodeRow>("nodes", "node", "is_switch", "tier", "plane", "class", "domain");
    tables.links =
        RowsOf<LinkRow>("links", "node_a", "node_b", "parallel", "rate_bps", "delay_ps", "class");
    for (size_t i = 0; i < tables.links.size(); i++)
    {
        tables.links[i].lossRatio = RealCell("links", "loss_ratio", i);
        tables.links[i].bitErrorRatio = RealCell("links", "bit_error_ratio", i);
    }
    tables.flows = RowsOf<FlowRow>("flows",
                                   "flow",
                                   "src",
                                   "dst",
                                   "bytes",
                                   "start_ps",
                                   "transport",
                                   "rate_bps",
                                   "connection",
                                   "decides");
    CheckKinds();
    tables.tasks = RowsOf<TaskRow>("tasks",
                                   "task",
                                   "node",
                                   "stream",
                                   "duration_ps",
                                   "start_ps",
                                   "kind",
                                   "decides");
    tables.dependencies =
        RowsOf<DependencyRow>("dependencies", "flow", "after", "at_sender", "delay_ps");
    tables.drops = RowsOf<DropRow>("drops", "node", "peer", "parallel", "ordinal");
    tables.linkEvents = RowsOf<LinkEventRow>("link_events",
                                             "time_ps",
                                             "node_a",
                                             "node_b",
                                             "parallel",
                                             "rate_bps",
                                             "rate_back_bps");
    tables.lossChanges =
        RowsOf<LossChangeRow>("loss_changes", "time_ps", "node", "peer", "parallel");
    for (size_t i = 0; i < tables.lossChanges.size(); i++)
    {
        tables.lossChanges[i].lossRatio = RealCell("loss_changes", "loss_ratio", i);
        tables.lossChanges[i].bitErrorRatio = RealCell("loss_changes", "bit_error_ratio", i);
    }
    tables.sampled = RowsOf<SampledRow>("sampled", "node");
    tables.routes =
        RowsOf<RouteRow>("routes", "flow", "node", "peer", "parallel", "reverse", "from_ps");
    tables.rateChanges = RowsOf<RateChangeRow>("rate_changes", "time_ps", "flow", "rate_bps");
    return tables;
}

} // namespace fabric
} // namespace ns3
