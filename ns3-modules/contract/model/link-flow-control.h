// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_LINK_FLOW_CONTROL_H
#define FABRIC_LINK_FLOW_CONTROL_H

#include "link-context.h"
#include "plugin.h"
#include "wire-format.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Contract: how the two ends of a link keep a buffer from overflowing.
 *
 * One object serves all links of a class; state per port lies in arrays of its own. It holds back
 * an egress with LinkContext::SetPaused and talks to the other end with LinkContext::Send.
 */
class LinkFlowControl : public Plugin
{
  public:
    /// What it holds of one ingress port and class; what it does not know is zero.
    struct Account
    {
        uint64_t heldBytes;     ///< Accounted now [byte]
        uint64_t peakBytes;     ///< Most that ever were [byte]
        uint64_t reservedBytes; ///< What may be held; beyond, frames are dropped [byte]
        bool holdsBack;         ///< The other end was told to stop, and not yet to go on
    };

    /// Where state lies, port after port.
    struct PortMemory
    {
        const void* first{nullptr}; ///< Of port 0, null: nothing to fetch
        size_t bytesPerPort{0};
    };

    /// What does not change once the attributes are set.
    struct Traits
    {
        uint32_t losslessClasses{0}; ///< Bit per class that never loses a frame for want of buffer
        uint32_t numClasses{NUM_PRIORITIES};              ///< Of its links: priorities 0 to n - 1
        uint32_t countedClasses{(1U << MAX_CLASSES) - 1}; ///< Bit per class whose frames it counts:
                                                          ///< for these it hears of arrivals and
                                                          ///< departures
        bool watchesSenders{false}; ///< OnArrival, OnDeparture at hosts too, OnTransmit everywhere
        bool maySkip{true}; ///< Skipped steady states change completion times within the tolerance
    };

    static TypeId GetTypeId();

    virtual Traits GetTraits() const
    {
        return {};
    }

    virtual void Attach(LinkContext& context) = 0; ///< Called once, when the ports exist

    /**
     * A frame from a link asks for buffer.
     * @param ingress port it came in by
     * @param egress port of the same switch it is to leave by; at a host NO_PORT
     * @param frame the frame
     * @return false when it does not fit: the frame is dropped
     */
    virtual bool OnArrival(PortId ingress, PortId egress, const Frame& frame) = 0;

    /// A frame that OnArrival accepted has left; at a host at once: hosts take data at any rate.
    virtual void OnDeparture(PortId ingress, uint8_t priority, uint32_t bytes) = 0;

    /// A frame begins to leave by this egress. Only if watchesSenders.
    virtual void OnTransmit(PortId egress, const Frame& frame);

    /// What LinkContext::Send sent at the other end has arrived at `port`.
    virtual void OnLinkControl(PortId port, const LinkMessage& message) = 0;

    /// A timer set with LinkContext::SetTimer has run out.
    virtual void OnTimer(PortId port);

    /**
     * Say how a frame of link control looks. Only packet captures ask.
     * @return what follows the EtherType of MAC control (IEEE 802.3 annex 31A), by default nothing:
     *         then the frame has an EtherType for experiments
     */
    virtual WireBytes MacControl(uint32_t word) const;

    /// The link of this port is cut: neither end remembers what it told the other.
    virtual void OnLinkDown(PortId port) = 0;

    /// The link of this port, which was cut, is back.
    virtual void OnLinkUp(PortId port);

    /// @return what OnArrival and OnDeparture look at, to fetch it ahead of time; asked once, after
    /// Attach
    virtual PortMemory Memory() const;

    virtual Account GetAccount(PortId ingress, uint8_t priority) const = 0;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_LINK_FLOW_CONTROL_H
