// SPDX-License-Identifier: GPL-2.0-only

#include "path-load.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ns3
{

using namespace fabric;

std::optional<PathLoad::Change>
PathLoad::Exchange(const IntHop& hop)
{
    if (2 * m_links >= m_records.size()) // room for one more, and half of the places empty
    {
        Grow();
    }
    IntHop& record = Find(hop.port);
    const bool isNew = record.port == NO_PORT;
    if (!isNew && hop.timePs <= record.timePs)
    {
        return std::nullopt; // an answer that was overtaken
    }
    const IntHop before = std::exchange(record, hop);
    if (isNew)
    {
        m_links++;
        return std::nullopt;
    }
    return Change{static_cast<double>(hop.timePs - before.timePs) * 1e-12,
                  static_cast<double>(hop.sentBytes - before.sentBytes),
                  static_cast<double>(before.queuedBytes),
                  static_cast<double>(hop.queuedBytes),
                  static_cast<double>(hop.rateBps) / 8};
}

/// @return the record of a port, or the empty place for it
IntHop&
PathLoad::Find(PortId port)
{
    constexpr uint32_t GOLDEN = 0x9e3779b1; // 2^32 over the golden ratio: spreads neighbours
    const size_t mask = m_records.size() - 1;
    const int shift = std::countl_zero(static_cast<uint32_t>(mask));
    size_t place = (port * GOLDEN) >> shift;
    while (m_records[place].port != port && m_records[place].port != NO_PORT)
    {
        place = (place + 1) & mask;
    }
    return m_records[place];
}

void
PathLoad::Grow()
{
    constexpr size_t FEWEST = 8;
    IntHop empty{};
    empty.port = NO_PORT;
    std::vector<IntHop> old(std::max(FEWEST, 2 * m_records.size()), empty);
    m_records.swap(old);
    for (const IntHop& record : old)
    {
        if (record.port != NO_PORT)
        {
            Find(record.port) = record;
        }
    }
}

} // namespace ns3
