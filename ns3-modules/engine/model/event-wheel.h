// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_WHEEL_H
#define FABRIC_EVENT_WHEEL_H

#include "event.h"

#include <algorithm>
#include <array>
#include <bit>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief Timing wheel for events less than about a microsecond away.
 *
 * Buckets are narrower than most gaps between events, so a bucket rarely holds two times;
 * where it does, its list is searched.
 */
class EventWheel
{
  public:
    static constexpr uint32_t WIDTH_BITS = 4;     ///< Bucket width 16 ps
    static constexpr uint32_t BUCKETS = 1U << 16; ///< Horizon 1.05 us
    static constexpr uint64_t HORIZON_PS = uint64_t{BUCKETS} << WIDTH_BITS;

    EventWheel()
        : m_bucket(BUCKETS, NIL)
    {
    }

    /// @return whether an event at `timePs` may be pushed at time `nowPs`
    static bool Covers(uint64_t nowPs, uint64_t timePs)
    {
        return (timePs >> WIDTH_BITS) - (nowPs >> WIDTH_BITS) < BUCKETS;
    }

    void Push(const Event& event)
    {
        uint32_t slot = m_free;
        if (slot != NIL)
        {
            m_free = m_entries[slot].next;
        }
        else
        {
            slot = static_cast<uint32_t>(m_entries.size());
            m_entries.emplace_back();
        }
        const uint32_t bucket = BucketOf(event.timePs);
        m_entries[slot] = {event, m_bucket[bucket]};
        m_bucket[bucket] = slot;
        m_words[bucket / 64] |= uint64_t{1} << (bucket % 64);
        m_summary[bucket / 4096] |= uint64_t{1} << (bucket / 64 % 64);
        m_size++;
        m_nextPs = std::min(m_nextPs, event.timePs);
    }

    /// @return time of the earliest event, NEVER_PS if there is none [ps]
    uint64_t NextPs() const
    {
        return m_nextPs;
    }

    /// @return the earliest event if no other is in its bucket, null otherwise; there is one
    const Event* Alone() const
    {
        const Entry& first = m_entries[m_bucket[BucketOf(m_nextPs)]];
        return first.next == NIL ? &first.event : nullptr;
    }

    /// Hand all events at NextPs() to `sink`, in no particular order.
    template <typename Sink>
    void PopNext(Sink&& sink)
    {
        const uint64_t timePs = m_nextPs;
        const uint32_t bucket = BucketOf(timePs);
        m_nextPs = NEVER_PS;
        uint32_t* link = &m_bucket[bucket];
        while (*link != NIL)
        {
            const uint32_t slot = *link;
            Entry& entry = m_entries[slot];
            if (entry.event.timePs == timePs)
            {
                sink(entry.event);
                *link = entry.next;
                entry.next = m_free;
                m_free = slot;
                m_size--;
            }
            else
            {
                m_nextPs = std::min(m_nextPs, entry.event.timePs);
                link = &entry.next;
            }
        }
        if (m_bucket[bucket] == NIL)
        {
            m_words[bucket / 64] &= ~(uint64_t{1} << (bucket % 64));
            if (m_words[bucket / 64] == 0)
            {
                m_summary[bucket / 4096] &= ~(uint64_t{1} << (bucket / 64 % 64));
            }
            if (m_size > 0)
            {
                FindNext(bucket);
            }
        }
    }

    /// Call with each event, in no particular order.
    template <typename Visit>
    void ForEach(Visit&& visit) const
    {
        for (const uint32_t first : m_bucket)
        {
            for (uint32_t slot = first; slot != NIL; slot = m_entries[slot].next)
            {
                visit(m_entries[slot].event);
            }
        }
    }

  private:
    static constexpr uint32_t NIL = 0xffffffff;

    struct Entry
    {
        Event event;
        uint32_t next;
    };

    static uint32_t BucketOf(uint64_t timePs)
    {
        return static_cast<uint32_t>(timePs >> WIDTH_BITS) & (BUCKETS - 1);
    }

    /// Find the first bucket in use after `bucket`, around the wheel.
    void FindNext(uint32_t bucket)
    {
        uint32_t word = bucket / 64;
        uint64_t bits = m_words[word] & ~((uint64_t{2} << (bucket % 64)) - 1);
        if (bits == 0)
        {
            uint32_t group = word / 64;
            uint64_t words = m_summary[group] & ~((uint64_t{2} << (word % 64)) - 1);
            while (words == 0)
            {
                group = (group + 1) % m_summary.size();
                words = m_summary[group];
            }
            word = group * 64 + std::countr_zero(words);
            bits = m_words[word];
        }
        const uint32_t found = word * 64 + std::countr_zero(bits);
        for (uint32_t slot = m_bucket[found]; slot != NIL; slot = m_entries[slot].next)
        {
            m_nextPs = std::min(m_nextPs, m_entries[slot].event.timePs);
        }
    }

    std::vector<uint32_t> m_bucket;                   ///< First entry of each bucket
    std::vector<Entry> m_entries;                     ///< Pool
    uint32_t m_free{NIL};                             ///< Free entries
    std::array<uint64_t, BUCKETS / 64> m_words{};     ///< Buckets in use
    std::array<uint64_t, BUCKETS / 4096> m_summary{}; ///< Words in use
    uint64_t m_size{0};                               ///< Events held
    uint64_t m_nextPs{NEVER_PS};                      ///< Earliest time held [ps]
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_WHEEL_H
