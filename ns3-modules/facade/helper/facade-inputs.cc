// SPDX-License-Identifier: GPL-2.0-only

#include "facade-inputs.h"

#include "facade-error.h"

#include <algorithm>

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
    {"flows", {{"flow", "src", "dst", "bytes", "start_ps"}, {"transport", "rate_bps"}}},
    {"tasks", {{"task", "kind", "node", "duration_ps"}, {"stream", "start_ps"}}},
    {"drops", {{"node", "peer", "ordinal"}, {"parallel"}}},
    {"link_events", {{"time_ps", "node_a", "node_b", "rate_bps"}, {"parallel"}}},
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

int64_t
FacadeInputs::Cell(const std::string& table,
                   const std::string& column,
                   size_t row,
                   int64_t missing) const
{
    const auto& columns = m_whole.at(table);
    const auto found = columns.find(column);
    return found == columns.end() ? missing : found->second[row];
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

void
FacadeInputs::AddFlows(FabricTables& tables) const
{
    const size_t rows = Rows("flows");
    const View id = Column("flows", "flow");
    const View src = Column("flows", "src");
    const View dst = Column("flows", "dst");
    const View bytes = Column("flows", "bytes");
    const View startPs = Column("flows", "start_ps");
    const View transport = Column("flows", "transport");
    const View rateBps = Column("flows", "rate_bps");
    tables.flows.reserve(rows);
    for (size_t i = 0; i < rows; i++)
    {
        tables.flows.push_back(
            {id[i], src[i], dst[i], bytes[i], startPs[i], transport[i], rateBps[i]});
    }
}

void
FacadeInputs::AddTasks(FabricTables& tables) const
{
    constexpr int64_t COMPUTATION = 0;
    constexpr int64_t BARRIER = 2; // 1 is a message, which is a flow
    const size_t rows = Rows("tasks");
    const View id = Column("tasks", "task");
    const View node = Column("tasks", "node");
    const View stream = Column("tasks", "stream");
    const View durationPs = Column("tasks", "duration_ps");
    const View startPs = Column("tasks", "start_ps");
    const View kind = Column("tasks", "kind");
    tables.tasks.reserve(rows);
    for (size_t i = 0; i < rows; i++)
    {
        if (kind[i] != COMPUTATION && kind[i] != BARRIER)
        {
            Refuse("tasks: task " + std::to_string(id[i]) + ": kind is " + std::to_string(kind[i]) +
                   ", not " + std::to_string(COMPUTATION) + " (computation) or " +
                   std::to_string(BARRIER) + " (barrier)");
        }
        tables.tasks.push_back(
            {id[i], node[i], stream[i], durationPs[i], startPs[i], kind[i] == BARRIER});
    }
}

void
FacadeInputs::AddDependencies(FabricTables& tables) const
{
    const size_t rows = Rows("dependencies");
    const View flow = Column("dependencies", "flow");
    const View after = Column("dependencies", "after");
    const View atSender = Column("dependencies", "at_sender");
    const View delayPs = Column("dependencies", "delay_ps");
    tables.dependencies.reserve(rows);
    for (size_t i = 0; i < rows; i++)
    {
        tables.dependencies.push_back({flow[i], after[i], atSender[i] != 0, delayPs[i]});
    }
}

/// Add the tables that most runs have not.
void
FacadeInputs::AddRareTables(FabricTables& tables) const
{
    for (size_t i = 0; i < Rows("drops"); i++)
    {
        tables.drops.push_back({Cell("drops", "node", i, 0),
                                Cell("drops", "peer", i, 0),
                                Cell("drops", "parallel", i, 0),
                                Cell("drops", "ordinal", i, 0)});
    }
    for (size_t i = 0; i < Rows("link_events"); i++)
    {
        tables.linkEvents.push_back({Cell("link_events", "time_ps", i, 0),
                                     Cell("link_events", "node_a", i, 0),
                                     Cell("link_events", "node_b", i, 0),
                                     Cell("link_events", "parallel", i, 0),
                                     Cell("link_events", "rate_bps", i, 0)});
    }
    for (size_t i = 0; i < Rows("sampled"); i++)
    {
        tables.sampled.push_back({Cell("sampled", "node", i, 0)});
    }
    for (size_t i = 0; i < Rows("routes"); i++)
    {
        tables.routes.push_back({Cell("routes", "flow", i, 0),
                                 Cell("routes", "node", i, 0),
                                 Cell("routes", "peer", i, 0),
                                 Cell("routes", "parallel", i, 0),
                                 Cell("routes", "reverse", i, 0) != 0,
                                 Cell("routes", "from_ps", i, 0)});
    }
    for (size_t i = 0; i < Rows("rate_changes"); i++)
    {
        tables.rateChanges.push_back({Cell("rate_changes", "time_ps", i, 0),
                                      Cell("rate_changes", "flow", i, 0),
                                      Cell("rate_changes", "rate_bps", i, 0)});
    }
}

FabricTables
FacadeInputs::Tables() const
{
    FabricTables tables;
    for (size_t i = 0; i < Rows("nodes"); i++)
    {
        tables.nodes.push_back({Cell("nodes", "node", i, 0),
                                Cell("nodes", "is_switch", i, 0) != 0,
                                Cell("nodes", "tier", i, 0),
                                Cell("nodes", "plane", i, 0),
                                Cell("nodes", "class", i, 0),
                                Cell("nodes", "domain", i, 0)});
    }
    for (size_t i = 0; i < Rows("links"); i++)
    {
        tables.links.push_back({Cell("links", "node_a", i, 0),
                                Cell("links", "node_b", i, 0),
                                Cell("links", "parallel", i, 0),
                                Cell("links", "rate_bps", i, 0),
                                Cell("links", "delay_ps", i, 0),
                                RealCell("links", "loss_ratio", i),
                                RealCell("links", "bit_error_ratio", i),
                                Cell("links", "class", i, 0)});
    }
    AddFlows(tables);
    AddTasks(tables);
    AddDependencies(tables);
    AddRareTables(tables);
    return tables;
}

} // namespace fabric
} // namespace ns3
