// SPDX-License-Identifier: GPL-2.0-only

#include "class-values.h"

#include "ns3/abort.h"
#include "ns3/whole-number.h"

#include <optional>
#include <sstream>

namespace ns3
{

ATTRIBUTE_HELPER_CPP(ClassValues);

namespace
{

/// @return "class:value" as an entry, none if it is something else
std::optional<ClassValues::Entry>
EntryOf(const std::string& text)
{
    const size_t colon = text.find(':');
    if (colon == std::string::npos)
    {
        return std::nullopt;
    }
    const auto queueClass = fabric::WholeNumber(text.substr(0, colon));
    const auto value = fabric::WholeNumber(text.substr(colon + 1));
    if (!queueClass || *queueClass >= fabric::MAX_CLASSES || !value)
    {
        return std::nullopt;
    }
    return ClassValues::Entry{static_cast<uint32_t>(*queueClass), *value};
}

} // namespace

std::array<uint64_t, fabric::MAX_CLASSES>
ClassValues::PerClass(uint64_t others, uint64_t least, const std::string& where) const
{
    std::array<uint64_t, fabric::MAX_CLASSES> values;
    values.fill(others);
    uint32_t seen = 0;
    for (const auto& [queueClass, value] : m_entries)
    {
        NS_ABORT_MSG_IF((seen >> queueClass) & 1,
                        where << ": class " << queueClass << " has two values");
        NS_ABORT_MSG_IF(value < least,
                        where << ": class " << queueClass << " has " << value << ", the least is "
                              << least);
        seen |= 1U << queueClass;
        values[queueClass] = value;
    }
    return values;
}

std::ostream&
operator<<(std::ostream& out, const ClassValues& values)
{
    const char* separator = "";
    for (const auto& [queueClass, value] : values.Entries())
    {
        out << separator << queueClass << ":" << value;
        separator = ",";
    }
    return out;
}

std::istream&
operator>>(std::istream& in, ClassValues& values)
{
    values.m_entries.clear();
    std::string text;
    std::getline(in, text);
    std::istringstream pairs(text);
    bool isList = text.empty() || text.back() != ',';
    for (std::string pair; std::getline(pairs, pair, ',');)
    {
        const auto entry = EntryOf(pair);
        isList &= entry.has_value();
        values.m_entries.push_back(entry.value_or(ClassValues::Entry{}));
    }
    in.clear(isList ? std::ios::eofbit : std::ios::eofbit | std::ios::failbit);
    return in;
}

} // namespace ns3
