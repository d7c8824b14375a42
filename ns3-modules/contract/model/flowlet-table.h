// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FLOWLET_TABLE_H
#define FABRIC_FLOWLET_TABLE_H

#include "flow-hash.h"

#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Where each flow that a switch knows went last, and when.
 *
 * A table of a fixed number of entries for each switch, addressed by FlowHash; flows that fall on
 * one entry are one flow to it.
 */
class FlowletTable
{
  public:
    /// An entry.
    struct Last
    {
        uint64_t timePs{0};
        PortId port{NO_PORT};
        uint32_t member{0}; ///< Where that port was among several, for who wants to know
    };

    void Attach(const SwitchContext& context, uint32_t entries)
    {
        m_context = &context;
        m_entries = entries;
        m_tables.assign(context.NumNodes(), {});
    }

    Last& Of(uint32_t node, const Frame& frame)
    {
        auto& table = m_tables[node];
        if (table.empty())
        {
            table.resize(m_entries);
        }
        return table[((FlowHash(*m_context, node, frame) >> 32) * m_entries) >> 32];
    }

  private:
    const SwitchContext* m_context{nullptr};
    uint64_t m_entries{0};                   ///< Of each table
    std::vector<std::vector<Last>> m_tables; ///< Per node; empty until it has to choose
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FLOWLET_TABLE_H
