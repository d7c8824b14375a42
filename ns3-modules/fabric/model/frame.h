// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FRAME_H
#define FABRIC_FRAME_H

#include <cstddef>
#include <cstdint>

namespace ns3
{
namespace fabric
{

using FrameId = uint32_t; ///< Index into the FramePool
using PortId = uint32_t;  ///< Index into the flat array of ports

constexpr FrameId NO_FRAME = 0xffffffff;
constexpr PortId NO_PORT = 0xffffffff;
constexpr uint32_t MIN_FRAME_BYTES = 64; ///< IEEE 802.3 minFrameSize [byte]
constexpr uint32_t NUM_PRIORITIES = 8;   ///< IEEE 802.1Q priorities; 7 is the most urgent
/// Queue of frames that never leave their link; ahead of every priority and never paused
constexpr uint32_t LINK_CONTROL_CLASS = NUM_PRIORITIES;

/// What a frame is, as far as links and switches care; transports number theirs from CONTROL up.
namespace frame_kind
{
constexpr uint8_t DATA = 0;           ///< Carries payload of a message
constexpr uint8_t CONTROL = 1;        ///< First kind that a transport may define as it likes
constexpr uint8_t LINK_CONTROL = 255; ///< PAUSE, RESUME, credits: never leaves its link
} // namespace frame_kind

namespace frame_flag
{
constexpr uint8_t ECN_CAPABLE = 1;    ///< ECT: a switch may mark
constexpr uint8_t ECN_MARKED = 2;     ///< CE
constexpr uint8_t ECN_ECHO = 4;       ///< Tells the sender of a mark
constexpr uint8_t TRIMMED = 8;        ///< A switch cut the payload away
constexpr uint8_t REVERSE = 16;       ///< Travels from the message's destination to its source
constexpr uint8_t RETRANSMITTED = 32; ///< Not the first copy
} // namespace frame_flag

/**
 * @brief One frame in a buffer or on a wire: 32 bytes, no payload, addressed by index.
 *
 * `bytes` are what a buffer holds (headers included); the wire adds preamble and gap.
 */
struct Frame
{
    FrameId next;     ///< Next frame of the same queue
    uint32_t message; ///< Message it belongs to (dense index)
    uint32_t dst;     ///< Destination host (dense index)
    uint32_t packet;  ///< Packet number within the message, "PSN"
    uint32_t aux;     ///< Free for the transport, for example a cumulative acknowledgement
    uint16_t aux2;    ///< Free for the transport
    uint16_t entropy; ///< Path hash input, for example the UDP source port
    uint16_t bytes;   ///< Size without preamble and gap [byte]
    uint16_t ingress; ///< Port of this switch it came in by (index within the switch)
    uint8_t kind;     ///< See frame_kind
    uint8_t priority; ///< 0 to 7
    uint8_t flags;    ///< See frame_flag
    uint8_t hops;     ///< Switches passed
};

static_assert(sizeof(Frame) == 32, "two frames share one cache line");

/**
 * @brief Pool of frames behind one stretch of reserved address space.
 *
 * Pages are touched only when used and a frame never moves, so references stay valid.
 * Identity: Allocated() = frames in queues + on wires + held by transports.
 */
class FramePool
{
  public:
    FramePool();
    ~FramePool();
    FramePool(const FramePool&) = delete;
    FramePool& operator=(const FramePool&) = delete;

    FrameId Allocate(); ///< A frame with every field zero and no successor

    void Free(FrameId id)
    {
        m_frames[id].next = m_free;
        m_free = id;
        m_allocated--;
    }

    Frame& operator[](FrameId id)
    {
        return m_frames[id];
    }

    const Frame& operator[](FrameId id) const
    {
        return m_frames[id];
    }

    /// @return time stamp that travels with a frame [ps]; costs memory only where it is used
    uint64_t& StampPs(FrameId id)
    {
        return m_stampsPs[id];
    }

    /// @return frames in use
    uint32_t Allocated() const
    {
        return m_allocated;
    }

    /// @return most frames ever in use at once
    uint32_t Peak() const
    {
        return m_touched;
    }

  private:
    void FailFull() const; ///< Abort with the limit and what to do

    static constexpr uint32_t CAPACITY = 1U << 26; ///< 2 GiB of address space for frames
    Frame* m_frames{nullptr};
    uint64_t* m_stampsPs{nullptr};
    FrameId m_free{NO_FRAME}; ///< Head of the list of free frames
    uint32_t m_touched{0};    ///< Frames ever handed out
    uint32_t m_allocated{0};  ///< Frames in use
};

inline FrameId
FramePool::Allocate()
{
    FrameId id = m_free;
    if (id != NO_FRAME)
    {
        m_free = m_frames[id].next;
    }
    else
    {
        if (m_touched == CAPACITY)
        {
            FailFull();
        }
        id = m_touched++;
    }
    m_allocated++;
    m_frames[id] = Frame{};
    m_frames[id].next = NO_FRAME;
    return id;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FRAME_H
