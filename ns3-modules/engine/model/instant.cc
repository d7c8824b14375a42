// SPDX-License-Identifier: GPL-2.0-only

#include "instant.h"

#include "ns3/assert.h"

#include <algorithm>
#include <bit>

namespace ns3
{
namespace fabric
{

void
Instant::SetPorts(uint32_t ports)
{
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
        m_arrivalLists += 2; // in no order, whatever else there is
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
