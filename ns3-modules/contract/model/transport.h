// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TRANSPORT_H
#define FABRIC_TRANSPORT_H

#include "host-context.h"
#include "plugin.h"
#include "wire-format.h"

#include <optional>

namespace ns3
{
namespace fabric
{

/// What a network interface that asks for a frame can take.
struct NicState
{
    uint32_t pausedClasses; ///< Bit per class that link flow control holds back
    uint32_t leastPriority; ///< A frame that waits already goes before anything less urgent

    /// @return whether a frame of this priority may go
    bool Takes(uint32_t priority) const
    {
        return !((pausedClasses >> priority) & 1) && priority >= leastPriority;
    }
};

/// How a transport cuts messages into frames, for those who compute unloaded times.
struct WireProfile
{
    uint32_t mtuBytes;         ///< Payload of a full packet [byte]
    uint32_t headerBytes;      ///< Headers and checksums of each data packet [byte]
    uint32_t firstHeaderBytes; ///< More in the first packet of a message [byte]
    uint32_t ackBytes;         ///< Acknowledgement frame [byte]
    uint32_t ackInterval;      ///< In-order packets per acknowledgement

    /// Of a message: their numbers are 32 bits, one is "none"
    static constexpr uint64_t MAX_PACKETS = 0xfffffffe;
};

/// How far a message has come at its source.
struct MessageProgress
{
    uint32_t packets; ///< Of the message
    uint32_t sent;    ///< First copies
    uint32_t arrived; ///< Of these, as the source knows
    uint64_t clockPs; ///< When a clock of its congestion control turns next, NEVER_PS: none [ps]
    bool isControlled{false}; ///< It has a congestion control,
    bool isAtRest{false};     ///< which is CongestionControl::IsAtRest
};

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
 * a frame returned by NextFrame or given to SendControl belongs to the fabric. The fabric counts
 * what it sees: packets sent, copies, marks, trims.
 *
 * Most transports derive from MessageTransport, which does all that is not protocol.
 */
class Transport : public Plugin
{
  public:
    /// What does not change once the attributes are set.
    struct Traits
    {
        WireProfile wire{};          ///< Full packets and acknowledgements get the fastest events
        uint8_t dataPriority{0};     ///< Highest of the data frames that NextFrame returns
        uint32_t morePriorities{0};  ///< Bit per further priority that its data may have
        uint8_t controlPriority{0};  ///< Highest of its control frames
        bool isTrimmable{false};     ///< Switches may cut the payload off its data
        bool variesUrgency{false};   ///< Urgency may differ from dataPriority
        bool isAcknowledged{true};   ///< The source learns of the arrival; else Delivered ends it
        bool isOpen{false};          ///< Hosts use it beside the messages of the tables: each host
                                     ///< has an end of it, a run goes on when all messages are done
        bool usesStockEvents{false}; ///< Of stock ns-3: its run has one domain
        bool needsIntHops{false};    ///< It reads in-band telemetry: every switch must write it
        bool needsMarks{false};      ///< Only marks of ECN tell it of queues: a switch must mark
        uint64_t targetPs{0};        ///< As CongestionControl::Traits has it
        uint64_t hopTargetPs{0};     ///< Likewise
        bool mayReadmit{false};      ///< Readmit does what it says
        bool mayShorten{false};      ///< ProgressOf and Shorten do what they say
        bool isSteady{true};         ///< Its congestion control, if any, may be at rest
        bool mayRepeat{false};       ///< MayRepeat may be true of a message
        bool spreadsOverPorts{false}; ///< A message leaves by all ports that serve it
        bool acceptsOutOfOrder{true}; ///< The destination keeps what comes behind a hole
        uint32_t reorderPackets{0};   ///< A packet that so many overtake counts as lost, 0: never
        uint32_t entropies{1};        ///< Of a message, as PathSelector::Traits has them
        bool keepsOrder{true};        ///< Of packets of a message, as PathSelector::Traits has it
    };

    static TypeId GetTypeId();

    virtual Traits GetTraits() const = 0; ///< Also asked before Attach
    void Attach(const HostContext& host); ///< Called once, before anything else

    /// A message of this host may start now (its start time has come).
    virtual void StartMessage(uint32_t message) = 0;

    /// Message::admittedBps of a message of this host is another one, > 0, from now on, wherever it
    /// is: not begun, under way, or done. Only if mayReadmit.
    virtual void Readmit(uint32_t message);

    /// A frame for this host has arrived from the wire of `port`.
    virtual void Receive(FrameId frame, PortId port) = 0;

    /**
     * The interface is free and asks for the next data frame.
     * @param port port of this host that would send it
     * @param nic what may go now
     * @return a frame, or NO_FRAME; then the transport calls Kick() when that changes
     */
    virtual FrameId NextFrame(PortId port, const NicState& nic) = 0;

    /// A timer set with SetTimer has run out. There is no cancel: the transport looks whether
    /// the reason still holds.
    virtual void OnTimer(uint32_t token) = 0;

    /**
     * Of several transports of a host the most urgent is asked first. Only if variesUrgency.
     * @return priority of the frame that NextFrame would return, none if it would return none
     */
    virtual std::optional<uint8_t> Urgency(PortId port) const;

    /// @return entropy of the data frames of a message that keeps to one path, none otherwise
    virtual std::optional<uint16_t> SinglePathEntropy(uint32_t message) const = 0;

    // ---- for steady states that are skipped

    /**
     * @return whether all that decides how a message under way from this host goes on shows in the
     * frames that its last packets and their answers were, as long as its congestion control, if
     * any, is at rest: no rate or window that creeps, no path that is drawn.
     */
    virtual bool MayRepeat(uint32_t message) const;

    /// @return how far a message has come that is under way from this host. Only if mayShorten.
    virtual MessageProgress ProgressOf(uint32_t message);

    /**
     * A message under way, from this host or to it, has fewer packets than it had: full ones, which
     * were not sent. Message::bytes is already less. Only if mayShorten.
     */
    virtual void Shorten(uint32_t message, uint32_t packets);

    /**
     * Say how a frame that was sent looks behind its UDP header. Only packet captures ask.
     * @param frame a frame of this transport, at either end and at any time after it was sent
     * @return the beginning of its datagram; without an override nothing is known
     */
    virtual Datagram Describe(const Frame& frame) const;

  protected:
    virtual void DoAttach(); ///< The host is there: make what needs it

    HostContext& Host()
    {
        return *m_host;
    }

    const HostContext& Host() const
    {
        return *m_host;
    }

  private:
    std::optional<HostContext> m_host;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TRANSPORT_H
