// SPDX-License-Identifier: GPL-2.0-only

#include "event-calendar.h"

#include "ns3/abort.h"

#include <utility>

namespace ns3
{
namespace fabric
{

/// The next event of a bucket begins a chunk.
void
EventCalendar::BeginChunk(uint32_t bucket)
{
    const uint32_t before = m_places[bucket];
    uint32_t chunk = m_freeChunk;
    if (chunk != NONE)
    {
        m_freeChunk = m_slots[chunk].payload;
    }
    else
    {
        chunk = m_begun;
        m_begun += CHUNK;
        if (m_begun > m_room)
        {
            NS_ABORT_MSG_IF(m_room == CAPACITY, "More than " << CAPACITY << " events are pending");
            m_room += STEP;
            m_slots.Reserve(m_room);
        }
    }
    m_slots[chunk].payload = before;
    m_places[bucket] = chunk + 1;
    if (before == NONE)
    {
        m_words[bucket / 64] |= uint64_t{1} << (bucket % 64);
        m_summary |= uint64_t{1} << (bucket / 64);
    }
}

/// Put the events of the bucket in order whose first event is due; its chunks are free then.
void
EventCalendar::OpenBucket()
{
    m_open = m_nextPs >> WIDTH_BITS;
    const uint32_t bucket = BucketOf(m_nextPs);
    uint32_t place = m_places[bucket];
    const size_t size = SizeOf(place);
    if (m_due.size() <= size)
    {
        m_due.resize(size + FEW);
    }
    size <= FEW ? OrderFew(place) : OrderMany(place);
    m_due[size].timePs = NEVER_PS;
    m_next = m_due.data();
    m_end = m_next + size;
    m_places[bucket] = NONE;
    m_words[bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
    m_summary &= ~(uint64_t{m_words[bucket / 64] == 0} << (bucket / 64));
    while (place != NONE)
    {
        const uint32_t chunk = ChunkOf(place);
        place = std::exchange(m_slots[chunk].payload, m_freeChunk);
        m_freeChunk = chunk;
    }
}

/// @return number of events of a bucket whose next event goes to `place`
size_t
EventCalendar::SizeOf(uint32_t place) const
{
    size_t size = 0;
    while (place != NONE)
    {
        size += place - ChunkOf(place) - 1;
        place = m_slots[ChunkOf(place)].payload;
    }
    return size;
}

void
EventCalendar::OrderFew(uint32_t place)
{
    size_t size = 0;
    VisitBucket(place, [this, &size](const Event& event) {
        size_t to = size++;
        for (; to > 0 && m_due[to - 1].timePs > event.timePs; to--)
        {
            m_due[to] = m_due[to - 1];
        }
        m_due[to] = event;
    });
}

/// Within a bucket there are as many times as its width has picoseconds.
void
EventCalendar::OrderMany(uint32_t place)
{
    constexpr uint32_t TIMES = 1U << WIDTH_BITS;
    std::array<uint32_t, TIMES + 1> places{};
    VisitBucket(place, [&places](const Event& event) { places[event.timePs % TIMES + 1]++; });
    for (uint32_t time = 1; time < TIMES; time++)
    {
        places[time] += places[time - 1];
    }
    VisitBucket(place, [this, &places](const Event& event) {
        m_due[places[event.timePs % TIMES]++] = event;
    });
}

/// The open bucket is empty: find the earliest event of the next one in use, around the calendar.
void
EventCalendar::FindNext()
{
    m_nextPs = NEVER_PS;
    if (m_summary == 0)
    {
        return;
    }
    const auto bucket = static_cast<uint32_t>(m_open + 1) % BUCKETS;
    uint32_t word = bucket / 64;
    uint64_t bits = m_words[word] >> (bucket % 64) << (bucket % 64);
    if (bits == 0)
    {
        const uint64_t later = word == 63 ? 0 : m_summary >> (word + 1) << (word + 1);
        word = std::countr_zero(later != 0 ? later : m_summary);
        bits = m_words[word];
    }
    VisitBucket(m_places[word * 64 + std::countr_zero(bits)],
                [this](const Event& event) { m_nextPs = std::min(m_nextPs, event.timePs); });
}

} // namespace fabric
} // namespace ns3
