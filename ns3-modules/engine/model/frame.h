// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FRAME_H
#define FABRIC_FRAME_H

#include <cstdint>
#include <memory>

namespace ns3
{
namespace fabric
{

using FrameId = uint32_t; ///< Index into the FramePool
using PortId = uint32_t;  ///< Index into the flat array of ports

constexpr FrameId NO_FRAME = 0xffffffff;
constexpr PortId NO_PORT = 0xffffffff;
constexpr uint16_t NO_INGRESS = 0xffff;  ///< In place of an ingress: made at this switch
constexpr uint32_t MIN_FRAME_BYTES = 64; ///< IEEE 802.3 minFrameSize [byte]
constexpr uint32_t NUM_PRIORITIES = 8;   ///< IEEE 802.1Q priorities; 7 is the most urgent
constexpr uint32_t MAX_CLASSES = 16;     ///< Classes of a link: priorities, or virtual lanes
/// Queue of frames that never leave their link; ahead of every class and never held back
constexpr uint32_t LINK_CONTROL_CLASS = MAX_CLASSES;

/// What a frame is, as far as links and switches care; transports number theirs from CONTROL up.
namespace frame_kind
{
constexpr uint8_t DATA = 0;           ///< Carries payload of a message
constexpr uint8_t CONTROL = 1;        ///< First kind that a transport may define as it likes
constexpr uint8_t LINK_CONTROL = 255; ///< PAUSE, RESUME, credits: never leaves its link
} // namespace frame_kind

namespace frame_flag
{
constexpr uint16_t ECN_CAPABLE = 1 << 0;      ///< ECT: a switch may mark
constexpr uint16_t ECN_MARKED = 1 << 1;       ///< CE
constexpr uint16_t ECN_ECHO = 1 << 2;         ///< Tells the sender of a mark
constexpr uint16_t TRIMMED = 1 << 3;          ///< A switch cut the payload away
constexpr uint16_t REVERSE = 1 << 4;          ///< From the message's destination to its source
constexpr uint16_t RETRANSMITTED = 1 << 5;    ///< Not the first copy
constexpr uint16_t TRIMMABLE = 1 << 6;        ///< A switch may cut the payload away
constexpr uint16_t TRIMMED_LAST_HOP = 1 << 7; ///< That switch was the one next to the destination
constexpr uint16_t BOUNCED = 1 << 8;          ///< A switch sent it back to its source
constexpr uint16_t FREE = 1 << 9;             ///< From this bit up: free for the transport
} // namespace frame_flag

/**
 * @brief One frame in a buffer or on a wire: 32 bytes, no payload, addressed by index.
 *
 * `bytes` are what a buffer holds (headers included); the wire adds preamble and gap. What only
 * some frames carry lies in a FrameNote at the same index.
 */
struct Frame
{
    FrameId next;        ///< Next frame of the same queue
    uint32_t message;    ///< Message it belongs to (dense index)
    uint32_t dst;        ///< Destination host (dense index)
    uint32_t packet;     ///< Packet number within the message, "PSN"
    uint32_t aux;        ///< Free for the transport, for example a cumulative acknowledgement
    uint16_t flags;      ///< See frame_flag
    uint16_t entropy;    ///< Path hash input, for example the UDP source port
    uint16_t bytes;      ///< Size without preamble and gap [byte]
    uint16_t ingress;    ///< Port of this switch it came in by (index within the switch)
    uint8_t kind;        ///< See frame_kind
    uint8_t priority;    ///< Class of its queue: 0 to 7, or a virtual lane 0 to 15
    uint8_t noted : 1;   ///< Its FrameNote is in use
    uint8_t numHops : 7; ///< IntHops that it carries: FramePool::Hops
    uint8_t hops;        ///< Switches passed
};

static_assert(sizeof(Frame) == 32, "two frames share one cache line");

/// What one switch wrote into a packet as it left (in-band network telemetry).
struct IntHop
{
    uint64_t timePs;      ///< When its first bit left [ps]
    uint64_t sentBytes;   ///< Of that egress until then, with framing [byte]
    uint64_t queuedBytes; ///< Waiting behind it in its class [byte]
    uint64_t rateBps;     ///< Of the link [bit/s]
    PortId port;          ///< That egress: its counters have nothing to do with another's
};

/// What rides in a frame, is owned by it and ends with it: a packet of a model with real bytes.
class FrameCargo
{
  public:
    virtual ~FrameCargo() = default;

    /// The frame was freed and nobody has taken this: dropped, lost, corrupted or cut off.
    virtual void OnLost()
    {
    }

    virtual std::unique_ptr<FrameCargo> Copy() const = 0; ///< For a copy of the frame
};

/**
 * @brief Cold part of a frame, for those who use it: FramePool::Note.
 *
 * It stays with the frame when that becomes its own answer.
 */
struct FrameNote
{
    uint64_t stampPs;    ///< When the packet was sent, or a PAUSE decided on [ps]
    uint64_t words[3];   ///< Of the transport: a bitmap, counts, credit, a range
    uint32_t switchWord; ///< Of a switch program: tag, metric, epoch
    FrameCargo* cargo;   ///< Owned, null if nothing rides in it
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FRAME_H
