// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_H
#define FABRIC_EVENT_H

#include <cstdint>
#include <limits>

namespace ns3
{
namespace fabric
{

/// Kinds of event, in the order in which they are executed at one instant.
enum class EventType : uint32_t
{
    CONTROL = 0, ///< A link or the routes change, a message starts, a task ends
    TX_DONE = 1, ///< A port has put the last bit of a frame on its wire
    ARRIVE = 2,  ///< The last bit of a frame has reached a port
    TIMER = 3,   ///< A timer of a transport, a port, a link or a switch program has run out
};

/// What an event of type CONTROL does, in the order in which they are executed at one instant.
enum ControlIndex : uint32_t
{
    CONTROL_LINK = 0,    ///< Row `payload` of link_events comes into force
    CONTROL_REROUTE = 1, ///< Routes follow the links
    CONTROL_MESSAGE = 2, ///< Message `payload` starts
    CONTROL_TASK = 3,    ///< Task `payload` ends: a computation, or a barrier is passed
    CONTROL_ROUTE = 4,   ///< Row `payload` of the routes that hold from some time on
    CONTROL_RATE = 5,    ///< Row `payload` of rate_changes comes into force
    CONTROL_ARRIVED = 6, ///< Message `payload`, which decides, has arrived
};

constexpr uint32_t EVENT_INDEX_BITS = 30;
constexpr uint32_t EVENT_INDEX_MASK = (1U << EVENT_INDEX_BITS) - 1;
constexpr uint64_t NEVER_PS = std::numeric_limits<uint64_t>::max();

/// @return the `target` of an event
constexpr uint32_t
EventTarget(EventType type, uint32_t index)
{
    return (static_cast<uint32_t>(type) << EVENT_INDEX_BITS) | index;
}

/// One pending event, without code or pointers.
struct Event
{
    Event() = default;

    constexpr Event(uint64_t atPs, uint32_t what, uint32_t with)
        : timePs(atPs),
          payload(with),
          target(what)
    {
    }

    uint64_t timePs{0};  ///< When [ps]
    uint32_t payload{0}; ///< Frame, token, message or task
    uint32_t target{0};  ///< EventType in the top two bits, index of port or timer below; here, so
                         ///< that Key is one load

    EventType Type() const
    {
        return static_cast<EventType>(target >> EVENT_INDEX_BITS);
    }

    /// @return what puts the events of one instant in order
    uint64_t Key() const
    {
        return (uint64_t{target} << 32) | payload;
    }
};

/// @return index of the port or timer of an event, by its key
constexpr uint32_t
IndexOf(uint64_t key)
{
    return static_cast<uint32_t>(key >> 32) & EVENT_INDEX_MASK;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_H
