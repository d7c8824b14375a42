// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_LANE_H
#define FABRIC_EVENT_LANE_H

#include "event.h"

#include <cstddef>
#include <memory>

namespace ns3
{
namespace fabric
{

/**
 * @brief Ring of events whose times never fall: all of them are "now + one constant".
 *
 * Who pushes vouches for that; a check here would cost a tenth of the whole run.
 */
class EventLane
{
  public:
    explicit EventLane(uint64_t length = 1024) ///< A power of two; it grows by itself
        : m_ring(std::make_unique<Event[]>(length)),
          m_mask(length - 1)
    {
    }

    bool IsEmpty() const
    {
        return m_head == m_tail;
    }

    /// @return event `ahead` places behind the first, or, past the end, any old one
    const Event& Peek(uint64_t ahead) const
    {
        return m_ring[(m_head + ahead) & m_mask];
    }

    /// A fifth of all calls of a run: inlined wherever it stands.
    [[gnu::always_inline]] void Push(const Event& event)
    {
        const uint64_t tail = m_tail++;
        m_ring[tail & m_mask] = event;
        if (tail - m_head == m_mask) [[unlikely]] // full now
        {
            Grow();
        }
    }

    /**
     * Pop all events at one time, of which there is at least one.
     * @param timePs time of the first event [ps]
     * @param sink called with each
     * @param soon called with an event that comes LOOK_AHEAD later, or, past the end, any old one
     * @return time of the next event, NEVER_PS if there is none [ps]
     */
    template <typename Sink, typename Soon>
    uint64_t PopTime(uint64_t timePs, Sink&& sink, Soon&& soon)
    {
        // Copies, because the compiler must assume that `sink` writes to the members.
        const Event* ring = m_ring.get();
        const uint64_t mask = m_mask;
        const uint64_t tail = m_tail;
        uint64_t head = m_head;
        uint64_t nextPs;
        do
        {
            sink(ring[head & mask]);
            soon(ring[(head + LOOK_AHEAD) & mask]);
            head++;
            nextPs = head == tail ? NEVER_PS : ring[head & mask].timePs;
        } while (nextPs == timePs);
        m_head = head;
        return nextPs;
    }

    /// Ask for the memory of an event that will be pushed soon.
    void FetchTail() const
    {
        constexpr uint64_t AHEAD = 4; // events in a cache line
        __builtin_prefetch(&m_ring[(m_tail + AHEAD) & m_mask], 1);
    }

    /// @return time of the event behind the first one, NEVER_PS if there is none [ps]
    uint64_t SecondPs() const
    {
        return m_tail - m_head > 1 ? m_ring[(m_head + 1) & m_mask].timePs : NEVER_PS;
    }

    /// @return the first event, of which there is one; it leaves
    Event Pop()
    {
        return m_ring[m_head++ & m_mask];
    }

    size_t MemoryBytes() const
    {
        return (m_mask + 1) * sizeof(Event);
    }

    /// How many events before its turn one is shown, to fetch its memory
    static constexpr uint64_t LOOK_AHEAD = 12;

  private:
    void Grow();

    std::unique_ptr<Event[]> m_ring; ///< Length is a power of two
    uint64_t m_mask;                 ///< Length minus one
    uint64_t m_head{0};              ///< Count of events popped
    uint64_t m_tail{0};              ///< Count of events pushed
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_LANE_H
