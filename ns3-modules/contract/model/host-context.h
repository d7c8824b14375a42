// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_HOST_CONTEXT_H
#define FABRIC_HOST_CONTEXT_H

#include "ns3/engine-state.h"
#include "ns3/random-cursor.h"

#include <utility>

namespace ns3
{
namespace fabric
{

/// What carries out the orders of transports.
class HostActions
{
  public:
    virtual uint32_t CreateMessage(uint32_t endpoint,
                                   uint32_t dst,
                                   uint64_t bytes,
                                   uint64_t startPs) = 0;
    virtual uint32_t OpenConversation(uint32_t endpoint, uint32_t dst) = 0;
    virtual void Delivered(uint32_t message) = 0;
    virtual void Acknowledged(uint32_t message) = 0;
    virtual void Enqueue(PortId port, FrameId frame) = 0; ///< A control frame of a host
    virtual void Kick(uint32_t host) = 0;

  protected:
    ~HostActions() = default;
};

/**
 * @ingroup fabric
 * @brief What a transport may know of and do at its host: one context for each endpoint.
 *
 * Frames are allocated and freed here, so that the engine knows how many hosts hold.
 */
class HostContext
{
  public:
    /**
     * @param state of the engine
     * @param actions carry out what is asked for
     * @param endpoint index of the transport's endpoint
     * @param host dense index
     */
    HostContext(EngineState& state, HostActions& actions, uint32_t endpoint, uint32_t host);

    uint64_t NowPs() const
    {
        return m_state->nowPs;
    }

    /// @return this host's dense index
    uint32_t Host() const
    {
        return m_host;
    }

    /// @return node id of this host
    int64_t HostId() const;

    // ---- frames
    FrameId AllocateFrame()
    {
        m_state->heldByHosts++;
        return m_state->frames.Allocate();
    }

    void FreeFrame(FrameId frame)
    {
        m_state->heldByHosts--;
        m_state->frames.Free(frame);
    }

    Frame& GetFrame(FrameId frame)
    {
        return m_state->frames[frame];
    }

    /// @return the note of a frame, empty when it is first asked for
    FrameNote& Note(FrameId frame)
    {
        return m_state->frames.Note(frame);
    }

    /// @return the note of a frame that has one, null otherwise
    const FrameNote* FindNote(FrameId frame) const
    {
        return m_state->frames.FindNote(frame);
    }

    /// @return what switches wrote into a frame, valid until the next call
    std::span<const IntHop> Hops(FrameId frame) const
    {
        return m_state->frames.Hops(frame);
    }

    /// Let something ride in a frame of this host; it ends with the frame unless it is taken.
    void Load(FrameId frame, std::unique_ptr<FrameCargo> cargo)
    {
        m_state->frames.Load(frame, std::move(cargo));
    }

    /// @return what rides in a frame, null if nothing does
    std::unique_ptr<FrameCargo> Unload(FrameId frame)
    {
        return m_state->frames.Unload(frame);
    }

    // ---- messages
    uint32_t NumMessages() const; ///< Of all hosts, by the order of their ids

    /// @return a message; slots, outOfOrderPeak, timeouts and naks are the transport's to write
    Message& GetMessage(uint32_t message)
    {
        return m_messages[message];
    }

    const Message& GetMessage(uint32_t message) const
    {
        return m_messages[message];
    }

    /**
     * Make a message from this host with the same transport; StartMessage is called at its time.
     * @param dst dense index of another host
     * @param bytes payload, > 0 [byte]
     * @param startPs not before now [ps]
     * @return its index
     */
    uint32_t CreateMessage(uint32_t dst, uint64_t bytes, uint64_t startPs);
    /**
     * Frames of this host that belong to no message of the tables: of a transport that IsOpen.
     * @param dst dense index of another host
     * @return a message of no bytes that was never anything but done
     */
    uint32_t OpenConversation(uint32_t dst);
    void Delivered(uint32_t message);    ///< Every payload byte is at the destination
    void Acknowledged(uint32_t message); ///< The source knows it; Delivered came before

    // ---- ports of this host
    PortId FirstPort() const
    {
        return m_firstPort;
    }

    uint32_t NumPorts() const
    {
        return m_numPorts;
    }

    uint64_t RateBps(PortId port) const;                              ///< Of its link [bit/s]
    uint64_t SerialisationPs(PortId port, uint32_t frameBytes) const; ///< With framing [ps]
    uint64_t FramingBytes() const;                                    ///< Of each frame [byte]
    bool IsDown(PortId port) const;                                   ///< Its link is cut

    /// @return whether a port is among the nearest to a destination, by the routes in force
    bool Serves(PortId port, uint32_t dst) const
    {
        return !m_state->reachDiffers || m_numPorts == 1 || ServesByRoutes(port, dst);
    }

    /// @return how many ports are among the nearest to a destination in the network as built
    uint32_t NumServing(uint32_t dst) const;
    /// @return the port by which a message of this host leaves if it keeps to one
    PortId PortOf(uint32_t message) const;
    /// @param port of the source, NO_PORT for any that leads there
    /// @return unloaded round trip of a data frame and its acknowledgement, over the longest of the
    /// paths with the fewest links in the network as built [ps]
    uint64_t BaseRttPs(uint32_t message, PortId port, uint32_t dataBytes, uint32_t ackBytes) const;
    /// @return number of paths from a port by the routes in force: product of the choices on the
    ///         way, at most 65535
    uint32_t NumPaths(uint32_t message, PortId port) const;

    /// @return whether the routes in force are others than those of the network as built
    bool RoutesChanged() const
    {
        return &m_state->routes.InForce() != &m_state->routes.Nominal();
    }

    /// @return links on the shortest path from this host to the destination of a message
    uint32_t NumLinks(uint32_t message) const;

    // ---- what it may do
    void SetTimer(uint64_t atPs, uint32_t token); ///< Call OnTimer(token) at that time [ps]
    void SendControl(FrameId frame, PortId port); ///< Queue a control frame at a port of this host
    void Kick();                                  ///< NextFrame may now return a frame

    /// @return stream keyed by what it is for: a flow's id, this host's node id
    CounterRandom Stream(RandomUse use, uint64_t key) const;

  private:
    /// Which of the first ports lead to a destination, as far as it was asked.
    struct Reach
    {
        uint32_t dst;
        uint32_t changes; ///< EngineState::reachChanges when it was asked
        uint64_t asked;   ///< Bit per port
        uint64_t serves;  ///< Of these, those that are among the nearest
    };

    bool ServesByRoutes(PortId port, uint32_t dst) const;

    EngineState* m_state;
    HostActions* m_actions;
    Message* m_messages;
    PortId m_firstPort;
    uint32_t m_numPorts;
    uint32_t m_endpoint;
    uint32_t m_host;
    mutable std::vector<Reach> m_reach; ///< By the end of the destination's index
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_HOST_CONTEXT_H
