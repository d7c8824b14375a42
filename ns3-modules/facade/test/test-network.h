// SPDX-License-Identifier: GPL-2.0-only

#ifndef TEST_NETWORK_H
#define TEST_NETWORK_H

#include "../../engine/test/test-case.h"
#include "paced-datagrams.h"

#include "ns3/fabric-facade.h"

#include <algorithm>
#include <initializer_list>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{
namespace tests
{

constexpr int64_t GBPS = 1'000'000'000;
constexpr int64_t US_PS = 1'000'000;
constexpr int64_t ALWAYS_PS = 1'000'000'000'000; ///< One second: no test runs that long [ps]

/// A network of a few nodes, written by hand row by row and run once.
class TestNetwork
{
  public:
    using Cells = std::initializer_list<std::pair<const char*, int64_t>>;
    using Attributes = std::vector<std::pair<std::string, std::string>>;

    TestNetwork()
    {
        PacedDatagrams::seen.clear();
    }

    /// Add a row to an input table; all rows of a table have the same columns.
    void Row(const std::string& table, Cells cells)
    {
        for (const auto& [column, value] : cells)
        {
            m_tables[table][column].push_back(value);
        }
    }

    void Host(int64_t node)
    {
        Row("nodes", {{"node", node}, {"is_switch", 0}, {"tier", 0}});
    }

    void Switch(int64_t node, int64_t tier = 1)
    {
        Row("nodes", {{"node", node}, {"is_switch", 1}, {"tier", tier}});
    }

    void Link(int64_t a, int64_t b, int64_t gbps = 100, int64_t linkClass = 0)
    {
        int64_t& parallel = m_parallel[{a, b}];
        Row("links",
            {{"node_a", a},
             {"node_b", b},
             {"parallel", parallel++},
             {"rate_bps", gbps * GBPS},
             {"delay_ps", US_PS},
             {"class", linkClass}});
    }

    void Flow(int64_t src, int64_t dst, int64_t bytes, int64_t startPs = 0, int64_t transport = 0)
    {
        const auto flow = static_cast<int64_t>(m_tables["flows"]["flow"].size());
        Row("flows",
            {{"flow", flow},
             {"src", src},
             {"dst", dst},
             {"bytes", bytes},
             {"start_ps", startPs},
             {"transport", transport}});
    }

    /// Hosts 0 to n - 1 around a switch, links of 100 Gb/s (80 ps per byte) and 1 us.
    void Star(int64_t hosts, int64_t center = 100)
    {
        Switch(center);
        for (int64_t host = 0; host < hosts; host++)
        {
            Host(host);
            Link(host, center);
        }
    }

    void Use(const std::string& role,
             const std::string& type,
             const Attributes& attributes = {},
             uint32_t index = 0)
    {
        m_facade.Use(role, Factory(type, attributes), index);
    }

    /// Set options of a section of a scenario, for example of ns3::Trace.
    void Section(const std::string& type, const Attributes& attributes)
    {
        m_facade.Section(Factory(type, attributes));
    }

    void Engine(const std::string& type, const Attributes& attributes)
    {
        m_facade.Engine(Factory(type, attributes));
    }

    void Transport(const Attributes& attributes = {},
                   const std::string& type = "ns3::tests::PacedDatagrams")
    {
        m_facade.Transport(Factory(type, attributes));
    }

    fabric::Facade& GetFacade()
    {
        return m_facade;
    }

    void Build()
    {
        Give();
        m_facade.Build();
    }

    /// Give all rows since the last call to the run that goes on.
    void Append()
    {
        Give();
        m_facade.Append();
    }

    void Run(int64_t stopPs = ALWAYS_PS)
    {
        Build();
        while (!m_facade.RunSlice(stopPs, 1))
        {
        }
        m_facade.Finish();
        if (!m_mayRefuse && Sum("ports", "refused_verdicts") > 0)
        {
            throw std::runtime_error("a discipline asked for what is not possible");
        }
    }

    void AllowRefusals() ///< A discipline may ask for what is not possible
    {
        m_mayRefuse = true;
    }

    /// @return why it cannot be built or run, empty if it can
    std::string Complaint(int64_t stopPs = ALWAYS_PS)
    {
        try
        {
            Run(stopPs);
        }
        catch (const std::runtime_error& error)
        {
            return error.what();
        }
        return "";
    }

    int64_t Cell(const std::string& table, const std::string& column, size_t row) const
    {
        return m_facade.Data(table, column)[row];
    }

    size_t Rows(const std::string& table) const
    {
        return m_facade.Rows(table);
    }

    /// @return a counter of the egress from a node to a peer
    int64_t Port(int64_t node, int64_t peer, const std::string& column) const
    {
        for (size_t row = 0; row < Rows("ports"); row++)
        {
            if (Cell("ports", "node", row) == node && Cell("ports", "peer", row) == peer)
            {
                return Cell("ports", column, row);
            }
        }
        return -1;
    }

    /// @return when the last message has arrived [ps]
    int64_t LastPs() const
    {
        int64_t last = 0;
        for (size_t row = 0; row < Rows("flows"); row++)
        {
            last = std::max(last, Cell("flows", "receiver_end_ps", row));
        }
        return last;
    }

    /// @return sum of a column
    int64_t Sum(const std::string& table, const std::string& column) const
    {
        int64_t sum = 0;
        for (size_t row = 0; row < Rows(table); row++)
        {
            sum += Cell(table, column, row);
        }
        return sum;
    }

  private:
    void Give()
    {
        for (const auto& [table, columns] : std::exchange(m_tables, {}))
        {
            for (const auto& [column, values] : columns)
            {
                m_facade.Column(table, column, values.data(), values.size());
            }
        }
    }

    uint32_t Factory(const std::string& type, const Attributes& attributes)
    {
        const uint32_t factory = m_facade.Factory(type);
        for (const auto& [name, value] : attributes)
        {
            m_facade.Attribute(factory, name, value);
        }
        return factory;
    }

    fabric::Facade m_facade;
    bool m_mayRefuse{false};
    std::map<std::string, std::map<std::string, std::vector<int64_t>>> m_tables;
    std::map<std::pair<int64_t, int64_t>, int64_t> m_parallel; ///< Links so far, by their ends
};

} // namespace tests
} // namespace ns3

#endif // TEST_NETWORK_H
