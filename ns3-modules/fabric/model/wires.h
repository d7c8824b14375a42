// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_WIRES_H
#define FABRIC_WIRES_H

#include "boundary.h"
#include "egress-queues.h"
#include "observers.h"
#include "plugin-classes.h"
#include "wire-losses.h"

#include "ns3/link-changes.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Puts frames onto links, and judges what comes off them.
 *
 * A frame leaves a port when its transmission is over, and arrives after the delay of the link and
 * the processing delay behind it; one that cuts through arrives when its first bytes are in.
 */
class Wires
{
  public:
    /**
     * @param state of the engine
     * @param classes of links and their flow control
     * @param observers see frames of ports that are watched
     * @param boundary takes what leaves the engine, null if it is alone
     */
    Wires(EngineState& state,
          const PluginClasses& classes,
          const Observers& observers,
          Boundary* boundary);

    /// Begin to send a frame that holds `heldBytes` of the buffer; it may have grown since.
    void Transmit(EngineState& state,
                  PortId portId,
                  Port& port,
                  FrameId frameId,
                  uint16_t heldBytes);
    /// A frame is whole on its wire.
    void EndTransmission(EngineState& state, PortId portId, Port& port, FrameId frameId);

    /// Decide whether a frame does not come in by this port, and count it by its reason.
    bool IsLost(PortId portId, const Frame& frame);
    /// Frames cut through a switch only where no port of it is faster than the one they come by.
    void DecideCutThrough(uint32_t node);

    void FindDelays(); ///< Once the classes of nodes are known

    /// @return from the end of a transmission until the peer acts [ps]
    uint64_t ArrivalDelayPs(PortId port) const
    {
        return m_arrivalDelaysPs[port];
    }

    WireLosses& Losses()
    {
        return m_losses;
    }

    LinkChanges& Changes()
    {
        return m_changes;
    }

    const WireLosses& Losses() const
    {
        return m_losses;
    }

    const LinkChanges& Changes() const
    {
        return m_changes;
    }

  private:
    void ShowTransmission(PortId portId, FrameId frameId);
    void BeginCutThrough(PortId portId, FrameId frameId);
    void PutOnWire(PortId portId, FrameId frameId);
    void PushArrival(PortId portId, uint64_t timePs, FrameId frameId);
    void CountLost(PortId portId);

    EngineState& m_state;
    Port* m_ports; ///< Of the network
    const PluginClasses& m_classes;
    const Observers& m_observers;
    Boundary* m_boundary;
    LinkChanges m_changes;
    WireLosses m_losses;
    std::vector<uint64_t> m_arrivalDelaysPs; ///< By port [ps]
};

FABRIC_HOT void
Wires::Transmit(EngineState& state, PortId portId, Port& port, FrameId frameId, uint16_t heldBytes)
{
    const Frame& frame = state.frames[frameId];
    port.current = frameId;
    port.currentBytes = frame.bytes; // and so on: in the order in which they lie in a frame
    port.currentIngress = frame.ingress;
    port.currentKind = frame.kind;
    port.currentPriority = frame.priority;
    port.currentHeldBytes = heldBytes;
    port.sentFrames++;
    port.sentBytes += frame.bytes;
    if (port.isWatched || port.cutsThrough) [[unlikely]]
    {
        ShowTransmission(portId, frameId);
    }
    const RateClass& rate = state.network.rates[port.rate];
    const uint32_t target = EventTarget(EventType::TX_DONE, portId);
    const uint32_t size = rate.LaneOf(frame.bytes, frame.kind != frame_kind::DATA);
    if (size < RateClass::LANES) [[likely]]
    {
        state.queue.PushLane(rate.lane[size], {state.nowPs + rate.lanePs[size], target, 0});
        return;
    }
    state.queue.Push(state.nowPs,
                     {state.nowPs + rate.Ps(frame.bytes + state.framingBytes), target, 0});
}

FABRIC_HOT void
Wires::EndTransmission(EngineState& state, PortId portId, Port& port, FrameId frameId)
{
    const bool isRare =
        port.down || port.currentCutsThrough || port.currentKind == frame_kind::LINK_CONTROL;
    if (port.lane != EventQueue::NO_LANE && !isRare) [[likely]]
    {
        state.queue.PushLane(port.lane,
                             {state.nowPs + state.queue.LaneDelayPs(port.lane),
                              EventTarget(EventType::ARRIVE, port.peer),
                              frameId});
    }
    else if (port.crosses && !isRare)
    {
        m_boundary->HandOver(portId, frameId);
    }
    else if (!isRare)
    {
        state.queue.PushWire(state.nowPs,
                             portId,
                             {state.nowPs + ArrivalDelayPs(portId),
                              EventTarget(EventType::ARRIVE, port.peer),
                              frameId});
    }
    else if (port.currentCutsThrough)
    {
        port.currentCutsThrough = false; // its arrival was scheduled when it began
    }
    else
    {
        PutOnWire(portId, frameId);
    }
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_WIRES_H
