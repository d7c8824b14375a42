// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_BOUNDARY_H
#define FABRIC_BOUNDARY_H

#include "ns3/engine-state.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Takes what an engine has for the other engines of its run, and brings what they have.
 *
 * An engine that is alone has no boundary.
 */
class Boundary
{
  public:
    /// Delays whose frames are kept in order, in a list of their own.
    static constexpr uint32_t LISTS = 4;

    virtual ~Boundary() = default;

    virtual void Attach(EngineState& state) = 0; ///< Called once, before all else

    // ---- while the engine is built
    /**
     * Frames will cross by a port.
     * @param from egress, of this engine or of another
     * @param list of its delay, the same in all engines; LISTS if it has none
     * @param delayPs from the end of a transmission until the peer acts [ps]
     */
    virtual void AddPort(PortId from, uint32_t list, uint64_t delayPs) = 0;
    /// What comes from a port of another engine by a list waits in a lane of the event queue.
    virtual void UseLane(PortId from, uint32_t list, uint8_t lane) = 0;

    // ---- while it runs
    virtual void HandOver(PortId from, FrameId frame) = 0; ///< It is whole on its wire
    /// A frame arrives at a time of its own [ps].
    virtual void HandOverAt(PortId from, uint64_t timePs, FrameId frame) = 0;
    virtual void CountLost(PortId to) = 0; ///< A frame was lost on its way to a port there
    virtual void Tell(uint32_t engine, const Fulfilled& fulfilled) = 0;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_BOUNDARY_H
