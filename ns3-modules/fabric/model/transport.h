// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TRANSPORT_H
#define FABRIC_TRANSPORT_H

#include "frame.h"
#include "wire-format.h"

#include "ns3/object.h"

#include <vector>

namespace ns3
{
namespace fabric
{

class Fabric;
struct Message;

/**
 * @ingroup fabric
 * @brief Contract of a transport: the end of all its messages at one host.
 *
 * One object per host and transport of the scenario. The fabric calls it when a message may
 * start, when a frame has arrived, when a timer has run out, and when the network interface is
 * free and asks for the next frame. Data is pulled: a transport never queues data in the
 * interface, so pacing, windows and any order of messages are its own decision at the last
 * possible moment. Control frames are handed to the interface with SendControl and wait there.
 *
 * Ownership: a frame passed to Receive belongs to the transport, which frees it or sends it on;
 * a frame returned by NextFrame or given to SendControl belongs to the fabric.
 *
 * Random numbers come from Fabric::Stream with a key that is this flow's id or this host's node
 * id, never from a generator shared with others.
 */
class Transport : public Object
{
  public:
    static TypeId GetTypeId();

    /// A message of this host may start now (its start time has come).
    virtual void StartMessage(uint32_t message) = 0;

    /// A frame for this host has arrived from the wire of `port`.
    virtual void Receive(FrameId frame, PortId port) = 0;

    /**
     * The interface is free and asks for the next data frame.
     * @param port port of this host that would send it
     * @param pausedPriorities bit mask of priorities that link flow control holds back
     * @return a frame, or NO_FRAME; then the transport calls Kick() when that changes
     */
    virtual FrameId NextFrame(PortId port, uint32_t pausedPriorities) = 0;

    /// A timer set with SetTimer has run out. There is no cancel: the transport looks whether
    /// the reason still holds.
    virtual void OnTimer(uint32_t token) = 0;

    /// @return frame sizes that this transport sends all the time; they get the fastest events
    virtual std::vector<uint32_t> CommonFrameBytes() const = 0;

    /// @return priority of the data frames that NextFrame returns
    virtual uint8_t DataPriority() const = 0;

    /// @return entropy of the data frames of a message that keeps to one path, -1 if it does not
    virtual int32_t SinglePathEntropy(uint32_t message) = 0;

    /**
     * Say how a frame that was sent looks behind its UDP header. Only packet captures ask.
     * @param frame a frame of this transport, at either end and at any time after it was sent
     * @return the beginning of its datagram; without an override nothing is known
     */
    virtual Datagram Describe(const Frame& frame) const;

    /// Called once, before anything else.
    void Attach(Fabric* fabric, uint32_t endpoint, uint32_t host);

  protected:
    Fabric& Net() const
    {
        return *m_fabric;
    }

    /// @return this host's dense index
    uint32_t Host() const
    {
        return m_host;
    }

    void SetTimer(uint64_t atPs, uint32_t token); ///< Call OnTimer(token) at that time [ps]
    void SendControl(FrameId frame, PortId port); ///< Queue a control frame at a port of this host
    void Kick();                                  ///< NextFrame may now return a frame

  private:
    Fabric* m_fabric{nullptr};
    uint32_t m_endpoint{0};
    uint32_t m_host{0};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TRANSPORT_H
