// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FACADE_ERROR_H
#define FABRIC_FACADE_ERROR_H

#include <stdexcept>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

/// Refuse what the user gave, with one line.
[[noreturn]] inline void
Refuse(const std::string& text)
{
    throw std::runtime_error(text);
}

/// @return words with commas in between, or something else
inline std::string
Join(const std::vector<std::string>& words, const std::string& between = ", ")
{
    std::string text;
    for (const auto& word : words)
    {
        text += (text.empty() ? "" : between) + word;
    }
    return text;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FACADE_ERROR_H
