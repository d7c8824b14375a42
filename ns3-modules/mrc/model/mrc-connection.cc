// SPDX-License-Identifier: GPL-2.0-only

#include "mrc-connection.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace ns3
{

namespace
{

/// @return the number that a text is, none if it is none or too large
template <typename Number>
std::optional<Number>
NumberOf(const std::string& text)
{
    Number number{};
    const char* end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && at == end ? std::optional(number) : std::nullopt;
}

} // namespace

std::optional<std::vector<MrcDenylist::Entry>>
MrcDenylist::Parse(const std::string& text)
{
    std::vector<Entry> list;
    for (size_t from = 0; from < text.size();)
    {
        const size_t end = std::min(text.find(',', from), text.size());
        const std::string item = text.substr(from, end - from);
        const size_t colon = std::min(item.find(':'), item.size());
        const auto place = NumberOf<uint32_t>(item.substr(0, colon));
        const std::string path = item.substr(std::min(colon + 1, item.size()));
        const auto entropy = NumberOf<uint16_t>(path);
        if (!place || *place >= MrcConnection::MOST_PORTS || (!entropy && path != "*"))
        {
            return std::nullopt;
        }
        list.push_back({*place, entropy});
        from = end + 1;
    }
    return list;
}

void
MrcDenylist::Apply(const std::vector<Entry>& list, uint32_t place, MrcEntropies::Rules& rules)
{
    for (const Entry& entry : list)
    {
        if (entry.place == place && entry.entropy)
        {
            rules.denied.push_back(*entry.entropy);
        }
        rules.isWhollyDenied |= entry.place == place && !entry.entropy;
    }
}

MrcConnection::MrcConnection(std::vector<MrcEntropies> ports,
                             uint32_t leastActive,
                             const fabric::RandomCursor& draws)
    : m_ports(std::move(ports)),
      m_sent(m_ports.size()),
      m_leastActive(leastActive),
      m_draws(draws)
{
}

uint32_t
MrcConnection::Alive(uint32_t up) const
{
    uint32_t alive = 0;
    for (uint32_t place = 0; place < m_ports.size(); place++)
    {
        alive |= uint32_t{m_ports[place].IsUsable()} << place;
    }
    alive &= up & ~m_downThere;
    return alive ? alive : up;
}

bool
MrcConnection::IsTurnOf(uint32_t place, uint32_t alive) const
{
    if (!((alive >> place) & 1))
    {
        return false;
    }
    for (uint32_t other = 0; other < m_ports.size(); other++)
    {
        if (((alive >> other) & 1) && m_sent[other] < m_sent[place])
        {
            return false;
        }
    }
    return true;
}

uint16_t
MrcConnection::Leave(uint32_t place, uint32_t alive, uint16_t suggested)
{
    m_sent[place]++;
    uint64_t least = std::numeric_limits<uint64_t>::max();
    for (uint32_t other = 0; other < m_ports.size(); other++)
    {
        least = (alive >> other) & 1 ? std::min(least, m_sent[other]) : least;
    }
    for (uint32_t other = 0; other < m_ports.size(); other++)
    {
        m_sent[other] = (alive >> other) & 1 ? m_sent[other] : std::max(m_sent[other], least);
    }
    return m_ports[place].Next(suggested, m_draws);
}

bool
MrcConnection::Lose(uint32_t place, uint16_t entropy)
{
    uint32_t active = 0;
    for (const MrcEntropies& port : m_ports)
    {
        active += port.Active();
    }
    if (active <= m_leastActive || !m_ports[place].IsActive(entropy))
    {
        return false;
    }
    m_ports[place].Lose(entropy);
    return true;
}

void
MrcConnection::HearPorts(uint32_t down)
{
    m_downThere = down;
}

bool
MrcConnection::HasBad() const
{
    return std::ranges::any_of(m_ports, [](const auto& port) { return port.Bad() > 0; });
}

std::optional<std::pair<uint32_t, uint16_t>>
MrcConnection::TakeProbe(uint64_t nowPs)
{
    for (uint32_t i = 0; i < m_ports.size(); i++)
    {
        const auto place = static_cast<uint32_t>((m_probeTurn + i) % m_ports.size());
        if (const auto entropy = m_ports[place].TakeProbe(nowPs))
        {
            m_probeTurn = place + 1;
            return std::pair(place, *entropy);
        }
    }
    return std::nullopt;
}

} // namespace ns3
