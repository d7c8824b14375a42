// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_WHOLE_NUMBER_H
#define FABRIC_WHOLE_NUMBER_H

#include <charconv>
#include <cstdint>
#include <optional>
#include <string>

namespace ns3
{
namespace fabric
{

/// @return a whole number that is all of a text, none otherwise
inline std::optional<uint64_t>
WholeNumber(const std::string& text)
{
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
    {
        return std::nullopt;
    }
    return number;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_WHOLE_NUMBER_H
