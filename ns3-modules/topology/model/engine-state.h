// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_ENGINE_STATE_H
#define FABRIC_ENGINE_STATE_H

#include "fabric-network.h"
#include "message-table.h"
#include "round-trips.h"
#include "route-table.h"
#include "switch-model.h"

#include "ns3/event-queue.h"
#include "ns3/frame-pool.h"

#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief What all parts of an engine work on: clock, events, frames, network, messages and routes.
 */
struct EngineState
{
    /**
     * @param tables sorted
     * @param rootSeed of all random streams
     * @param framing what a frame takes of a wire beyond its size [byte]
     * @param models of switches, in the order of nodes.class
     * @param ownEngine whose events are executed
     * @param tell called for messages of other engines
     * @param first state of the first of several engines, null for that one
     */
    EngineState(const FabricTables& tables,
                uint64_t rootSeed,
                uint64_t framing,
                std::vector<SwitchModel> models,
                uint32_t ownEngine,
                MessageTable::Tell tell,
                const EngineState* first);

    EngineState(const EngineState&) = delete;
    EngineState& operator=(const EngineState&) = delete;

    /// @return a queue of an egress, whatever its class; if none waits in it only its bytes count
    const PortQueue& QueueOf(PortId port, uint32_t queueClass) const;
    PortQueue& QueueOf(PortId port, uint32_t queueClass);

    /// @return port of the source host by which a message leaves if it keeps to one path
    PortId PortOfMessage(uint32_t message) const;
    /// Call the owner of a timer with a token at that time [ps].
    void SetTimer(uint32_t index, uint64_t atPs, uint32_t token)
    {
        queue.Push(nowPs, {atPs, EventTarget(EventType::TIMER, index), token});
    }

    /// @return from the last bit at the end of a link until its owner acts on the frame [ps]
    uint64_t ProcessingDelayPs(const Port& port) const
    {
        return port.isHost ? 0 : switches[port.nodeClass].processingDelayPs;
    }

    EnginePs EngineNowPs() const
    {
        return EnginePs(nowPs);
    }

    WorldPs WorldNowPs() const
    {
        return world.WorldOf(EngineNowPs());
    }

    /// Leave time out: what is to happen at times of the world comes earlier on the engine's clock.
    void LeaveOut(uint64_t byPs);

    bool IsOwnNode(uint32_t node) const
    {
        return network.nodes[node].engine == engine;
    }

    bool IsOwn(PortId port) const
    {
        return IsOwnNode(network.ports[port].node);
    }

    const uint64_t seed;
    const uint64_t framingBytes;
    const uint32_t engine;
    const std::vector<SwitchModel> switches;
    uint64_t nowPs{0};  ///< Of the engine's clock
    EnginePs limitPs{}; ///< Nothing later is executed for now [ps]
    WorldClock world;
    EventQueue queue;
    FramePool frames;
    FabricNetwork network;
    ReservedArray<PortQueue> otherQueues; ///< By class and port; no memory where none waited
    MessageTable messages;
    RouteTable routes;
    RoundTrips roundTrips;
    uint64_t heldByHosts{0}; ///< Frames of transports, neither freed nor sent
    /// Abort unless all messages from one on have a path; find out whether all ports lead there.
    void FindReach(uint32_t firstMessage);

    bool reachDiffers{false}; ///< Some port of a host does not serve some destination
    uint32_t reachChanges{1}; ///< How often links or routes have changed
    uint32_t largestFrameBytes{MIN_FRAME_BYTES}; ///< That a transport sends all the time [byte]
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_ENGINE_STATE_H
