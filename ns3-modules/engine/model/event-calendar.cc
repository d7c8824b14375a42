// SPDX-License-Identifier: GPL-2.0-only

#include "event-calendar.h"

#include "ns3/abort.h"

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

/// Put the events of the bucket in order whose first event is due.
void
EventCalendar::OpenBucket()
{
    m_open = m_nextPs >> WIDTH_BITS;
    const uint32_t bucket = BucketOf(m_nextPs);
    TakeBucket(bucket);
    m_words[bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
    m_summary &= ~(uint64_t{m_words[bucket / 64] == 0} << (bucket / 64));
    const size_t size = m_taken.size();
    if (m_due.size() <= size)
    {
        m_due.resize(2 * size + FEW);
    }
    size <= FEW ? OrderFew(size) : OrderMany(size);
    m_due[size].timePs = NEVER_PS;
    m_next = m_due.data();
    m_end = m_next + size;
}

/// Move the events of a bucket to m_taken; its chunks are free.
void
EventCalendar::TakeBucket(uint32_t bucket)
{
    m_taken.clear();
    uint32_t place = m_places[bucket];
    m_places[bucket] = NONE;
    while (place != NONE)
    {
        const uint32_t chunk = (place - 1) / CHUNK * CHUNK;
        m_taken.insert(m_taken.end(), m_slots.Data() + chunk + 1, m_slots.Data() + place);
        place = m_slots[chunk].payload;
        m_slots[chunk].payload = m_freeChunk;
        m_freeChunk = chunk;
    }
}

void
EventCalendar::OrderFew(size_t size)
{
    for (size_t i = 0; i < size; i++)
    {
        size_t place = i;
        for (; place > 0 && m_due[place - 1].timePs > m_taken[i].timePs; place--)
        {
            m_due[place] = m_due[place - 1];
        }
        m_due[place] = m_taken[i];
    }
}

/// Within a bucket there are as many times as its width has picoseconds.
void
EventCalendar::OrderMany(size_t size)
{
    constexpr uint32_t TIMES = 1U << WIDTH_BITS;
    std::array<uint32_t, TIMES + 1> places{};
    for (const Event& event : m_taken)
    {
        places[event.timePs % TIMES + 1]++;
    }
    for (uint32_t time = 1; time < TIMES; time++)
    {
        places[time] += places[time - 1];
    }
    for (const Event& event : m_taken)
    {
        m_due[places[event.timePs % TIMES]++] = event;
    }
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
    VisitBucket(m_places[word * 64 + std::countr_zero(bits)], [this](const Event& event) {
        m_nextPs = std::min(m_nextPs, event.timePs);
    });
}

} // namespace fabric
} // namespace ns3
