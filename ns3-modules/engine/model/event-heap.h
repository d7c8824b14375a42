// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_HEAP_H
#define FABRIC_EVENT_HEAP_H

#include "event.h"

#include <queue>
#include <vector>

namespace ns3
{
namespace fabric
{

/// Order of a heap: the earliest event on top.
struct LaterEvent
{
    bool operator()(const Event& a, const Event& b) const
    {
        return a.timePs > b.timePs;
    }
};

/// Events of any time, the earliest on top; all of them can be looked through.
class EventHeap : public std::priority_queue<Event, std::vector<Event>, LaterEvent>
{
  public:
    /// @return time of the earliest event, NEVER_PS if there is none [ps]
    uint64_t NextPs() const
    {
        return empty() ? NEVER_PS : top().timePs;
    }

    /// @return all of them, in no particular order
    const std::vector<Event>& Events() const
    {
        return c;
    }
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_HEAP_H
