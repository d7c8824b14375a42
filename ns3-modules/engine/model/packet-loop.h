// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PACKET_LOOP_H
#define FABRIC_PACKET_LOOP_H

#include "clocks.h"

#include <chrono>
#include <cstdint>

namespace ns3
{
namespace fabric
{

/**
 * @brief What the simulator needs of a packet engine to run it beside events of stock ns-3, on one
 * clock.
 */
class PacketLoop
{
  public:
    virtual ~PacketLoop() = default;

    virtual WorldPs NowPs() const = 0;

    /// @return time of the next event, never if there is none or nobody waits for one [ps]
    virtual WorldPs NextPs() const = 0;

    /// @return whether the run has reached its end, whatever stock events are left
    virtual bool IsOver() const = 0;

    /// Execute all events up to and including a time [ps], or until the wall clock's deadline.
    virtual void RunUntil(WorldPs limitPs, std::chrono::steady_clock::time_point deadline) = 0;

    /// Stop RunUntil after the instant at `limitPs`: an event of stock ns-3 lies there [ps].
    virtual void LimitTo(WorldPs limitPs) = 0;

    /// An event of stock ns-3 is about to be executed: move the clock, not beyond NextPs [ps].
    virtual void AdvanceTo(WorldPs nowPs) = 0;

    /// @return events executed so far
    virtual uint64_t Events() const = 0;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PACKET_LOOP_H
