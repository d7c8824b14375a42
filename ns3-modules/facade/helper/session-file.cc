// SPDX-License-Identifier: GPL-2.0-only

#include "session-file.h"

#include "fabric-facade.h"

#include <dlfcn.h>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr const char* FIRST_LINE = "pyorch session 1";
constexpr size_t MOST_ROWS = 1U << 26;

/// A type with its attributes, until all of them are read.
struct Part
{
    std::string role;
    uint32_t index;
    uint32_t factory;
};

class Reader
{
  public:
    Reader(const std::string& path, Facade& facade)
        : m_stream(path),
          m_facade(facade)
    {
    }

    /// @return number of the line that was read last
    size_t Line() const
    {
        return m_line;
    }

    /// @return when the run ends [ps]
    int64_t Read()
    {
        if (NextLine() != FIRST_LINE)
        {
            throw std::runtime_error(std::string("the first line is not '") + FIRST_LINE + "'");
        }
        for (std::string text = NextLine(); text != "end"; text = NextLine())
        {
            std::istringstream words(text);
            const auto key = Take<std::string>(words, "a word");
            if (key != "attribute")
            {
                GiveParts();
            }
            Obey(key, words);
        }
        GiveParts();
        return m_stopPs;
    }

  private:
    std::string NextLine()
    {
        std::string text;
        m_line++;
        if (!std::getline(m_stream, text))
        {
            throw std::runtime_error("the file ends before its line 'end'");
        }
        return text;
    }

    template <typename Value>
    static Value Take(std::istream& words, const char* what)
    {
        Value value{};
        if (!(words >> value))
        {
            throw std::runtime_error(std::string(what) + " is expected");
        }
        return value;
    }

    void Obey(const std::string& key, std::istringstream& words)
    {
        if (key == "attribute")
        {
            ReadAttribute(words);
        }
        else if (key == "part")
        {
            const auto role = Take<std::string>(words, "a role");
            const auto index = Take<uint32_t>(words, "an index");
            m_parts.push_back({role, index, m_facade.Factory(Take<std::string>(words, "a type"))});
        }
        else if (key == "column")
        {
            ReadColumn(words);
        }
        else if (key == "seed")
        {
            m_facade.Seed(Take<uint64_t>(words, "a seed"));
        }
        else if (key == "stop")
        {
            m_stopPs = Take<int64_t>(words, "a time");
        }
        else if (key == "link_class")
        {
            m_facade.LinkClass(Take<uint32_t>(words, "a number"));
        }
        else if (key == "library")
        {
            Load(Take<std::string>(words, "a library"));
        }
        else
        {
            throw std::runtime_error("'" + key + "' is none of attribute, column, end, library, " +
                                     "link_class, part, seed, stop");
        }
    }

    static void Load(const std::string& library)
    {
        if (!dlopen(library.c_str(), RTLD_NOW | RTLD_GLOBAL))
        {
            throw std::runtime_error(std::string(dlerror()) +
                                     "; LD_LIBRARY_PATH has to name the folders of the libraries");
        }
    }

    void ReadAttribute(std::istringstream& words)
    {
        if (m_parts.empty())
        {
            throw std::runtime_error("an attribute stands below its part");
        }
        const auto name = Take<std::string>(words, "a name");
        std::string value;
        std::getline(words >> std::ws, value);
        m_facade.Attribute(m_parts.back().factory, name, value);
    }

    void GiveParts()
    {
        for (const auto& part : m_parts)
        {
            if (part.role == "engine")
            {
                m_facade.Engine(part.factory);
            }
            else if (part.role == "section")
            {
                m_facade.Section(part.factory, part.index);
            }
            else if (part.role == "transport")
            {
                m_facade.Transport(part.factory);
            }
            else
            {
                m_facade.Use(part.role, part.factory, part.index);
            }
        }
        m_parts.clear();
    }

    void ReadColumn(std::istringstream& words)
    {
        const auto table = Take<std::string>(words, "a table");
        const auto column = Take<std::string>(words, "a column");
        const auto kind = Take<std::string>(words, "whole or real");
        const auto rows = Take<size_t>(words, "a number of rows");
        if (rows > MOST_ROWS)
        {
            throw std::runtime_error("a column has at most " + std::to_string(MOST_ROWS) + " rows");
        }
        std::istringstream cells(NextLine());
        if (kind == "real")
        {
            const auto values = Cells<double>(cells, rows);
            m_facade.RealColumn(table, column, values.data(), rows);
        }
        else
        {
            const auto values = Cells<int64_t>(cells, rows);
            m_facade.Column(table, column, values.data(), rows);
        }
    }

    template <typename Value>
    static std::vector<Value> Cells(std::istream& words, size_t rows)
    {
        std::vector<Value> values;
        for (size_t row = 0; row < rows; row++)
        {
            values.push_back(Take<Value>(words, "a number for each row"));
        }
        return values;
    }

    std::ifstream m_stream;
    Facade& m_facade;
    size_t m_line{0};
    int64_t m_stopPs{INT64_MAX};
    std::vector<Part> m_parts; ///< One, or none
};

} // namespace

int64_t
ReadSessionFile(const std::string& path, Facade& facade)
{
    Reader reader(path, facade);
    try
    {
        return reader.Read();
    }
    catch (const std::exception& error)
    {
        throw std::runtime_error(path + ": line " + std::to_string(reader.Line()) + ": " +
                                 error.what());
    }
}

} // namespace fabric
} // namespace ns3
