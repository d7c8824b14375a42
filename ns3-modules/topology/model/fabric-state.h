// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_STATE_H
#define FABRIC_STATE_H

#include "ns3/clocks.h"
#include "ns3/event-queue.h"
#include "ns3/frame.h"

#include <cstdint>
#include <optional>

namespace ns3
{
namespace fabric
{

/// No transport of this engine.
constexpr uint32_t NO_ENDPOINT = 0xffffffff;

/// Frames waiting in one class of a port.
struct PortQueue
{
    FrameId head{NO_FRAME};
    FrameId tail{NO_FRAME};
    uint64_t bytes{0}; ///< Waiting, the frame on the wire excluded [byte]
};

/**
 * @brief One end of a link: its egress, and counters of what came in.
 *
 * Identities, checked at the end of a run:
 * - sentFrames here = receivedFrames + lostFrames + corruptFrames at the peer + on the wire
 * - per switch: frames in + made there = frames out + dropped + queued + in transmission + held
 */
struct alignas(64) Port
{
    PortId peer{NO_PORT};
    uint32_t node{0};             ///< Owner (dense index)
    uint32_t host{0};             ///< Dense host index of the owner, if it is a host
    FrameId current{NO_FRAME};    ///< Frame being put on the wire
    uint16_t currentBytes{0};     ///< Its size [byte]; here, so that its end needs no look at it
    uint16_t currentIngress{0};   ///< Its port of entry into this switch
    uint8_t currentKind{0};       ///< Its kind
    uint8_t currentPriority{0};   ///< Its class
    uint16_t currentHeldBytes{0}; ///< What it took of the buffer; a program may make it grow [byte]
    uint32_t queued{0};           ///< Bit per class with waiting frames
    uint16_t paused{0};           ///< Bit per class that link flow control holds back
    uint8_t rate{0};              ///< Index into the rate classes
    uint8_t lane{EventQueue::NO_LANE}; ///< Event lane of the propagation delay
    uint8_t linkClass{0};         ///< Class of its link
    uint8_t nodeClass{0};         ///< Class of its owner
    bool isHost{false};           ///< Owner is a host
    bool lossy{false};            ///< Frames that come in here may be lost on the wire
    bool down : 1 {false};        ///< The link is cut
    bool avoided : 1 {false};     ///< Routes know that the link is cut
    bool cutsThrough : 1 {false}; ///< The peer forwards a frame before its end is in
    bool currentCutsThrough : 1 {false}; ///< It does so with the frame on the wire
    bool crosses : 1 {false};            ///< The peer is in another engine
    bool isWatched : 1 {false}; ///< Captures or link control see what is sent, and come to hosts
    uint16_t outbox{0};         ///< If so, what takes what is sent
    uint64_t sentFrames{0};     ///< Put on the wire, link control included
    uint64_t receivedFrames{0}; ///< Came in from the wire, not counting lost ones
    uint64_t sentBytes{0};      ///< Without framing [byte]

    // ---- second cache line, with the queues of data and acknowledgements
    uint64_t queuedBytes{0};    ///< Waiting in all queues [byte]
    uint64_t maxQueuedBytes{0}; ///< Largest value of queuedBytes [byte]
    uint64_t sentControl{0};    ///< Of those that were sent whole, the ones that carry no data
    uint64_t delayPs{0};        ///< Propagation delay [ps]

    /// @return whether the queue of a class lies in its port: of 3 and 6, which transports use if
    /// they are not told otherwise, beside the counters that they change
    static constexpr bool Holds(uint32_t queueClass)
    {
        return ((1U << 3 | 1U << 6) >> queueClass) & 1;
    }

    PortQueue& Queue(uint32_t queueClass) ///< Of a class that it holds
    {
        return m_queues[queueClass >> 2];
    }

    const PortQueue& Queue(uint32_t queueClass) const
    {
        return m_queues[queueClass >> 2];
    }

  private:
    PortQueue m_queues[2];
};

static_assert(sizeof(Port) == 128, "state of the egress, and the queues that are in use");

/// What happens rarely at a port; all zero until it does.
struct PortCounters
{
    uint64_t lostFrames{0};          ///< Lost on the wire into this port
    uint64_t corruptFrames{0};       ///< Came to this port with a bit error, and went no further
    uint64_t droppedBuffer{0};       ///< Wanted to leave here, dropped: queue or buffer full
    uint64_t droppedHeadroom{0};     ///< Came in here, dropped: what this port may hold is full
    uint64_t droppedDown{0};         ///< Wanted to leave here, dropped: the link is cut
    uint64_t droppedNoRoute{0};      ///< Came in here, dropped: destination not reachable
    uint64_t marked{0};              ///< ECN marks set at this egress
    uint64_t trimmed{0};             ///< Frames trimmed at this egress
    uint64_t bounced{0};             ///< Frames sent back to their source that were to leave here
    uint64_t refusedVerdicts{0};     ///< Of a discipline about frames that were to leave here
    uint64_t linkControlSent{0};     ///< Frames of link flow control queued here
    uint64_t linkControlReceived{0}; ///< Frames of link flow control received
    uint64_t pausedSincePs{0};       ///< Start of the pause now in force [ps]
    uint64_t pausedPs{0};            ///< Time with any class held back, up to pausedSincePs [ps]
};

/// A message: one row of "flows" or one made at run time, and what became of it.
struct alignas(64) Message
{
    uint64_t bytes;                    ///< Payload [byte]
    uint32_t src, dst;                 ///< Dense host indices
    uint32_t srcEndpoint, dstEndpoint; ///< Indices into the endpoints
    uint32_t senderSlot;               ///< Free for the transport: its state at the source
    uint32_t receiverSlot;             ///< Free for the transport: its state at the destination
    uint32_t tuple;                    ///< Hash of its header fields, as switches see them
    uint32_t outOfOrderPeak;           ///< Most packets held behind a hole
    uint64_t sentPackets;              ///< Data packets sent, all copies
    WorldPs startPs;                   ///< [ps]
    int64_t id;                        ///< Of the flows table; made at run time: above all of these
    // ---- second cache line: what is rarely touched
    std::optional<WorldPs> receiverEndPs; ///< Last payload byte in order at the destination [ps]
    std::optional<WorldPs> senderEndPs;   ///< Last acknowledgement at the source [ps]
    uint32_t retransmittedPackets;        ///< Of the packets sent, not the first copy
    uint32_t trimmedPackets;              ///< Arrived without their payload
    uint32_t markedPackets;               ///< Arrived with an ECN mark
    uint32_t timeouts;                    ///< Retransmission timeouts
    uint32_t naks;                        ///< Negative acknowledgements sent
    uint16_t transport;                   ///< Index of its transport
    uint16_t entropy;                     ///< Of its frames if it keeps to one path
    uint64_t admittedBps;                 ///< Rate to which it is admitted, 0: to any [bit/s]
};

static_assert(sizeof(Message) == 128, "what every packet changes, and the rest");

/// One node.
struct alignas(64) NodeState
{
    int64_t id{0};
    PortId firstPort{0}; ///< Its ports are contiguous, in order of (peer id, parallel)
    uint32_t ports{0};
    uint32_t host{0}; ///< Dense index if a host
    uint32_t tier{0};
    uint32_t plane{0};
    uint8_t nodeClass{0};
    bool isSwitch{false};
    uint16_t engine{0};          ///< Which engine of the run executes its events
    uint64_t usedBytes{0};       ///< Buffer of a switch in use [byte]
    uint64_t maxUsedBytes{0};    ///< Largest value of usedBytes [byte]
    uint64_t salt{0};            ///< Hash seed of a switch
    uint64_t heldFrames{0};      ///< Held by programs
    uint64_t heldBytes{0};       ///< Of usedBytes: of these frames [byte]
    uint64_t accountedBytes{0};  ///< Of these, accounted to the links they came by [byte]
    uint64_t madeFrames{0};      ///< Made by programs
    uint64_t apartFrames{0};     ///< Taken by programs, and then in the account of no link
    uint64_t discardedFrames{0}; ///< Dropped by programs
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_STATE_H
