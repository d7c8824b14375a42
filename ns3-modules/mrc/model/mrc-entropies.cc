// SPDX-License-Identifier: GPL-2.0-only

#include "mrc-entropies.h"

#include <algorithm>
#include <utility>

namespace ns3
{

MrcEntropies::MrcEntropies(Rules rules)
    : m_rules(std::move(rules))
{
}

size_t
MrcEntropies::FindActive(uint16_t entropy) const
{
    const auto found = std::ranges::find(m_active, entropy, &Entry::entropy);
    return static_cast<size_t>(found - m_active.begin());
}

size_t
MrcEntropies::FindBad(uint16_t entropy) const
{
    const auto found = std::ranges::find(m_bad, entropy, &Probed::entropy);
    return static_cast<size_t>(found - m_bad.begin());
}

bool
MrcEntropies::IsDenied(uint16_t entropy) const
{
    return std::ranges::find(m_rules.denied, entropy) != m_rules.denied.end();
}

std::optional<MrcEntropies::State>
MrcEntropies::StateOf(uint16_t entropy) const
{
    const size_t place = FindActive(entropy);
    if (place < m_active.size())
    {
        return m_active[place].state;
    }
    return FindBad(entropy) < m_bad.size() ? std::optional(State::ASSUMED_BAD) : std::nullopt;
}

/// @return whether an entropy is new and has got a free place
bool
MrcEntropies::Fill(uint16_t entropy)
{
    const bool isFree = m_active.size() < m_rules.active;
    if (!isFree || StateOf(entropy) || IsDenied(entropy))
    {
        return false;
    }
    m_active.push_back({entropy});
    return true;
}

void
MrcEntropies::BeginRound(fabric::RandomCursor& draws)
{
    m_turn = 0;
    for (size_t left = m_active.size(); left > 1; left--)
    {
        std::swap(m_active[left - 1], m_active[draws.Below(static_cast<uint32_t>(left))]);
    }
}

uint16_t
MrcEntropies::Next(uint16_t suggested, fabric::RandomCursor& draws)
{
    if (Fill(suggested) || m_active.empty()) // with none left a packet tries what is assumed bad
    {
        return suggested;
    }
    bool hasSkipped = false;
    while (true) // the one that is GOOD again is met in the next round, at the latest
    {
        if (m_turn >= m_active.size())
        {
            BeginRound(draws);
        }
        Entry& entry = m_active[m_turn++];
        if (entry.state == State::GOOD)
        {
            return entry.entropy;
        }
        if (!hasSkipped)
        {
            entry.state = State::GOOD;
            hasSkipped = true;
        }
    }
}

void
MrcEntropies::Skip(uint16_t entropy)
{
    if (const size_t place = FindActive(entropy); place < m_active.size())
    {
        m_active[place].state = State::SKIP;
    }
}

void
MrcEntropies::Lose(uint16_t entropy)
{
    const size_t place = FindActive(entropy);
    if (place == m_active.size())
    {
        return;
    }
    m_active.erase(m_active.begin() + static_cast<std::ptrdiff_t>(place));
    m_turn -= place < m_turn;
    m_bad.push_back({entropy});
}

std::optional<uint16_t>
MrcEntropies::TakeProbe(uint64_t nowPs)
{
    for (size_t i = 0; i < m_bad.size(); i++)
    {
        Probed& probed = m_bad[(m_probeTurn + i) % m_bad.size()];
        const bool isLost = probed.isAwaited && nowPs - probed.probedPs >= m_rules.probeTimeoutPs;
        if (probed.isAwaited && !isLost)
        {
            continue;
        }
        probed.answers = isLost ? 0 : probed.answers;
        probed.isAwaited = true;
        probed.probedPs = nowPs;
        m_probeTurn = (m_probeTurn + i + 1) % m_bad.size();
        return probed.entropy;
    }
    return std::nullopt;
}

void
MrcEntropies::OnProbe(uint16_t entropy, bool isMarked)
{
    const size_t place = FindBad(entropy);
    if (place == m_bad.size())
    {
        return;
    }
    Probed& probed = m_bad[place];
    probed.isAwaited = false;
    if (++probed.answers < m_rules.probeSuccesses)
    {
        return;
    }
    m_bad.erase(m_bad.begin() + static_cast<std::ptrdiff_t>(place));
    if (Fill(entropy) && isMarked)
    {
        m_active.back().state = State::SKIP;
    }
}

} // namespace ns3
