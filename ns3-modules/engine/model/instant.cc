// SPDX-License-Identifier: GPL-2.0-only

#include "instant.h"

#include "ns3/assert.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace ns3
{
namespace fabric
{

void
Instant::SetPorts(std::vector<uint32_t> peers)
{
    const size_t ports = peers.size();
    m_peers = std::move(peers);
    m_present.assign(ports / 64 + 1, 0);
    m_presentWords.assign(ports / 4096 + 1, 0);
    m_fewTransmissions = 8 + m_presentWords.size();
}

void
Instant::Add(const Event& event)
{
    const EventType type = event.Type();
    if (type == EventType::TX_DONE)
    {
        transmitted.Push(event.Key());
    }
    else if (type == EventType::ARRIVE)
    {
        arrived.Push(event.Key());
        m_orders |= NO_ORDER;
    }
    else
    {
        others.Push(event.Key());
    }
}

/// Sort by port. A port ends one transmission at a time, so a bit per port does it.
void
Instant::SortTransmissions()
{
    for (const uint64_t key : transmitted)
    {
        const uint32_t port = IndexOf(key);
        m_present[port / 64] |= uint64_t{1} << (port % 64);
        m_presentWords[port / 4096] |= uint64_t{1} << (port / 64 % 64);
    }
    uint64_t* out = transmitted.begin();
    for (size_t group = 0; group < m_presentWords.size(); group++)
    {
        for (uint64_t words = m_presentWords[group]; words != 0; words &= words - 1)
        {
            const size_t word = group * 64 + std::countr_zero(words);
            for (uint64_t bits = m_present[word]; bits != 0; bits &= bits - 1)
            {
                const auto port = static_cast<uint32_t>(word * 64 + std::countr_zero(bits));
                *out++ = uint64_t{EventTarget(EventType::TX_DONE, port)} << 32;
            }
            m_present[word] = 0;
        }
        m_presentWords[group] = 0;
    }
    NS_ASSERT_MSG(out == transmitted.end(), "no port ends two at once");
}

/// What comes from several lanes, or engines, is a few runs of frames in order: merge those.
void
Instant::OrderArrivals(const FramePool& frames)
{
    if (arrived.Size() == 2)
    {
        OrderTwo(frames, arrived.begin());
        return;
    }
    if (!FindRuns())
    {
        SortArrivals(frames);
        return;
    }
    if (m_runs.size() > 1)
    {
        MergeRuns();
    }
    for (size_t i = 1; m_anyPair && i < arrived.Size(); i++)
    {
        OrderTwo(frames, arrived.begin() + i - 1);
    }
}

/// Put two arrivals in order.
void
Instant::OrderTwo(const FramePool& frames, uint64_t* keys) const
{
    const uint32_t first = Rank(keys[0]);
    const uint32_t second = Rank(keys[1]);
    if (second < first || (second == first && frames[static_cast<FrameId>(keys[1])].kind >
                                                  frames[static_cast<FrameId>(keys[0])].kind))
    {
        std::swap(keys[0], keys[1]);
    }
}

/// @return whether the arrivals are a few runs
bool
Instant::FindRuns()
{
    constexpr size_t FEW = 64;
    m_runs.clear();
    m_anyPair = false;
    const uint64_t* start = arrived.begin();
    uint32_t last = NO_PORT;
    for (const uint64_t* key = start; key != arrived.end(); key++)
    {
        const uint32_t rank = Rank(*key);
        if (rank <= last && key != start) [[unlikely]]
        {
            m_runs.push_back({start, key});
            start = key;
            if (m_runs.size() == FEW)
            {
                return false;
            }
        }
        last = rank;
    }
    m_runs.push_back({start, arrived.end()});
    return true;
}

void
Instant::MergeRuns()
{
    m_merged.Clear();
    while (!m_runs.empty())
    {
        size_t first = 0;
        uint32_t firstRank = Rank(*m_runs[0].next);
        uint32_t secondRank = NO_PORT;
        for (size_t i = 1; i < m_runs.size(); i++)
        {
            const uint32_t rank = Rank(*m_runs[i].next);
            secondRank = std::min(secondRank, std::max(rank, firstRank));
            first = rank < firstRank ? i : first;
            firstRank = std::min(rank, firstRank);
        }
        m_anyPair |= firstRank == secondRank;
        Run& run = m_runs[first];
        do
        {
            m_merged.Push(*run.next++);
        } while (run.next != run.end && Rank(*run.next) < secondRank);
        if (run.next == run.end)
        {
            run = m_runs.back();
            m_runs.pop_back();
        }
    }
    std::swap(arrived, m_merged);
}

/// What comes in no order at all.
void
Instant::SortArrivals(const FramePool& frames)
{
    std::sort(arrived.begin(), arrived.end(), [&frames](uint64_t a, uint64_t b) {
        if (a >> 32 != b >> 32)
        {
            return a < b;
        }
        return frames[static_cast<FrameId>(a)].kind > frames[static_cast<FrameId>(b)].kind;
    });
}

} // namespace fabric
} // namespace ns3
