// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FACADE_INPUTS_H
#define FABRIC_FACADE_INPUTS_H

#include "ns3/fabric-tables.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief Columns as the user gives them, one by one; rows as the engine takes them.
 */
class FacadeInputs
{
  public:
    /// Keep a column of whole numbers. Throws if there is no such column or its length differs.
    void Add(const std::string& table,
             const std::string& column,
             const int64_t* values,
             size_t rows);
    /// Keep a column of real numbers. Throws as Add, or if the column holds whole numbers.
    void AddReal(const std::string& table,
                 const std::string& column,
                 const double* values,
                 size_t rows);
    /// @return all tables; throws if a column that must be there is not
    FabricTables Tables() const;

  private:
    /// A column of a table, found once.
    struct View
    {
        const std::vector<int64_t>* values; ///< Null if it was not given

        int64_t operator[](size_t row) const
        {
            return values ? (*values)[row] : 0;
        }
    };

    View Column(const std::string& table, const std::string& column) const;
    template <typename Row, typename... Names>
    std::vector<Row> RowsOf(const std::string& table, const Names&... names) const;
    void CheckKinds() const;
    void CheckColumn(const std::string& table, const std::string& column, size_t rows) const;
    double RealCell(const std::string& table, const std::string& column, size_t row) const;
    size_t Rows(const std::string& table) const;

    std::map<std::string, std::map<std::string, std::vector<int64_t>>> m_whole;
    std::map<std::string, std::map<std::string, std::vector<double>>> m_real;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FACADE_INPUTS_H
