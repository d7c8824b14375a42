// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_STATE_H
#define FABRIC_STATE_H

#include "frame.h"

#include <cstdint>

namespace ns3
{
namespace fabric
{

/// Frames waiting at one priority of a port.
struct PortQueue
{
    FrameId head{NO_FRAME};
    FrameId tail{NO_FRAME};
    uint32_t bytes{0}; ///< Waiting, the frame on the wire excluded [byte]
};

/**
 * @brief One end of a link: its egress, and counters of what came in.
 *
 * Identities, checked at the end of a run:
 * - sentFrames here = receivedFrames + lostFrames + corruptFrames at the peer + on the wire
 * - per switch: frames in = frames out + dropped + queued + in transmission
 */
struct alignas(64) Port
{
    PortId peer{NO_PORT};
    uint32_t node{0};            ///< Owner (dense index)
    FrameId current{NO_FRAME};   ///< Frame being put on the wire
    uint16_t currentBytes{0};    ///< Its size [byte]; here, so that its end needs no look at it
    uint16_t currentIngress{0};  ///< Its port of entry into this switch
    uint8_t currentPriority{0};  ///< Its priority
    uint8_t currentKind{0};      ///< Its kind
    uint16_t queued{0};          ///< Bit per class with waiting frames
    uint16_t paused{0};          ///< Bit per class that link flow control holds back
    uint8_t rate{0};             ///< Index into the rate classes
    uint8_t lane{0};             ///< Event lane of the propagation delay
    bool isHost{false};          ///< Owner is a host
    bool lossy{false};           ///< Frames that come in here may be lost on the wire
    bool down{false};            ///< The link is cut
    // These share the last byte that the first cache line has left.
    bool avoided : 1 {false};            ///< Routes know that the link is cut
    bool cutsThrough : 1 {false};        ///< The peer forwards a frame before its end is in
    bool currentCutsThrough : 1 {false}; ///< It does so with the frame on the wire
    uint32_t queuedBytes{0};     ///< Waiting in all queues [byte]
    uint32_t maxQueuedBytes{0};  ///< Largest value of queuedBytes [byte]
    uint32_t host{0};            ///< Dense host index of the owner, if it is a host
    uint64_t sentFrames{0};      ///< Put on the wire, link control included
    uint64_t sentBytes{0};       ///< Without framing [byte]
    uint64_t receivedFrames{0};  ///< Came in from the wire, not counting lost ones

    /// @return the queue of a class; the usual priorities 2 to 6 share a cache line
    PortQueue& Queue(uint32_t queueClass)
    {
        return m_queues[queueClass < 2 ? queueClass + 7 : queueClass - 2];
    }

    const PortQueue& Queue(uint32_t queueClass) const
    {
        return m_queues[queueClass < 2 ? queueClass + 7 : queueClass - 2];
    }

  private:
    PortQueue m_queues[NUM_PRIORITIES + 1];
};

static_assert(sizeof(Port) == 192, "state of the egress, queues in use, queues hardly used");

/// What happens rarely at a port.
struct PortCounters
{
    uint64_t delayPs{0};            ///< Propagation delay [ps]
    uint64_t sentControl{0};        ///< Frames put on the wire that carry no data
    uint64_t lostFrames{0};         ///< Lost on the wire into this port
    uint64_t corruptFrames{0};      ///< Came to this port with a bit error, and went no further
    uint64_t droppedBuffer{0};      ///< Came in here, dropped: egress queue or switch buffer full
    uint64_t droppedHeadroom{0};    ///< Came in here, dropped: PFC headroom full
    uint64_t droppedDown{0};        ///< Wanted to leave here, dropped: the link is cut
    uint64_t droppedNoRoute{0};     ///< Came in here, dropped: destination not reachable
    uint64_t marked{0};             ///< ECN marks set at this egress
    uint64_t trimmed{0};            ///< Frames trimmed at this egress
    uint64_t linkControlSent{0};    ///< PAUSE and RESUME frames sent
    uint64_t linkControlReceived{0};///< PAUSE and RESUME frames received
    uint64_t pausedSincePs{0};      ///< Start of the pause now in force [ps]
    uint64_t pausedPs{0};           ///< Time with any class paused, up to pausedSincePs [ps]
    uint64_t draws{0};              ///< Random numbers used so far at this port
};

/// A message: one row of "flows", and what became of it.
struct alignas(64) Message
{
    uint64_t bytes;                     ///< Payload [byte]
    uint32_t src, dst;                  ///< Dense host indices
    uint32_t srcEndpoint, dstEndpoint;  ///< Indices into the endpoints
    uint32_t senderSlot{0xffffffff};    ///< Free for the transport: its state at the source
    uint32_t receiverSlot{0xffffffff};  ///< Free for the transport: its state at the destination
    uint32_t tuple;                     ///< Hash of its header fields, as switches see them
    uint32_t outOfOrderPeak{0};         ///< Most packets held behind a hole
    int64_t id;                         ///< Of the flows table
    uint64_t startPs;                   ///< [ps]
    uint64_t sentPackets{0};            ///< Data packets sent, all copies
    // ---- second cache line: what is rarely touched
    int64_t receiverEndPs{-1};          ///< Last payload byte in order at the destination [ps]
    int64_t senderEndPs{-1};            ///< Last acknowledgement at the source [ps]
    uint64_t retransmittedPackets{0};   ///< Of the packets sent, not the first copy
    uint64_t trimmedPackets{0};         ///< Arrived without their payload
    uint64_t markedPackets{0};          ///< Arrived with an ECN mark
    uint32_t timeouts{0};               ///< Retransmission timeouts
    uint32_t naks{0};                   ///< Negative acknowledgements sent
    uint32_t transport;                 ///< Index of its transport
};

/// One node.
struct NodeState
{
    int64_t id{0};
    PortId firstPort{0}; ///< Its ports are contiguous, in order of (peer id, parallel)
    uint32_t ports{0};
    uint32_t host{0};    ///< Dense index if a host
    uint32_t tier{0};
    uint32_t plane{0};
    bool isSwitch{false};
    uint64_t usedBytes{0};    ///< Buffer of a switch in use [byte]
    uint64_t maxUsedBytes{0}; ///< Largest value of usedBytes [byte]
    uint64_t draws{0};        ///< Random numbers used so far at this node
    uint64_t salt{0};         ///< Hash seed of a switch
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_STATE_H
