// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_LINK_FLOW_CONTROL_H
#define FABRIC_LINK_FLOW_CONTROL_H

#include "frame.h"
#include "wire-format.h"

#include "ns3/object.h"

namespace ns3
{
namespace fabric
{

class Fabric;

/**
 * @ingroup fabric
 * @brief Contract: how the two ends of a link keep a buffer from overflowing.
 *
 * One object serves all links; state per port lies in arrays of its own. It holds back an egress
 * port with Fabric::SetPaused and talks to the other end with Fabric::SendLinkControl.
 */
class LinkFlowControl : public Object
{
  public:
    static TypeId GetTypeId();

    /// Called once when the ports exist.
    virtual void Attach(Fabric& fabric) = 0;

    /// @return whether this priority never loses a frame for want of buffer
    virtual bool IsLossless(uint8_t priority) const = 0;

    /**
     * A frame from a link asks for buffer in a switch.
     * @param ingress port it came in by
     * @return false when even the headroom is full: the frame is dropped
     */
    virtual bool OnArrival(PortId ingress, const Frame& frame) = 0;

    /// A frame that OnArrival accepted has left the switch.
    virtual void OnDeparture(PortId ingress, uint8_t priority, uint32_t bytes) = 0;

    /// A frame sent by SendLinkControl at the other end has arrived at `port`.
    virtual void OnLinkControl(PortId port, const Frame& frame) = 0;

    /**
     * Say how a frame sent by SendLinkControl looks. Only packet captures ask.
     * @return what follows the EtherType of MAC control (IEEE 802.3 annex 31A), by default nothing:
     *         then the frame has an EtherType for experiments
     */
    virtual WireBytes MacControl(const Frame& frame) const;

    /// The link of this port is cut: neither end remembers what it told the other.
    virtual void OnLinkDown(PortId port) = 0;

    /// OnArrival or OnDeparture will soon be called for this port: fetch its memory.
    virtual void Fetch(PortId ingress) const;

    /// @return whether the other end of this ingress was told to stop and not yet to go on
    virtual bool HoldsBack(PortId ingress, uint8_t priority) const = 0;

    /// @return buffer that one ingress port may fill beyond which frames are dropped [byte]
    virtual uint64_t ReservedBytes(PortId ingress) const = 0;

    /// @return most bytes ever accounted to one priority of this ingress port [byte]
    virtual uint32_t PeakBytes(PortId ingress) const = 0;

    /// @return bytes accounted to this ingress port now, all priorities [byte]
    virtual uint64_t HeldBytes(PortId ingress) const = 0;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_LINK_FLOW_CONTROL_H
