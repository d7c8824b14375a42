// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FRAME_POOL_H
#define FABRIC_FRAME_POOL_H

#include "frame.h"
#include "reserved-array.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief Pool of frames that grows in steps.
 *
 * Pages are touched only when used and a frame never moves, so references stay valid.
 * Identity: Allocated() = in queues + being sent + on wires + held by hosts + held by programs.
 */
class FramePool
{
  public:
    FramePool();
    ~FramePool();
    FramePool(const FramePool&) = delete;
    FramePool& operator=(const FramePool&) = delete;

    FrameId Allocate();                       ///< A frame with every field zero and no successor
    FrameId AllocateCopy(const Frame& frame); ///< Of another pool; without its note

    /// Ask for the memory of a frame that will be allocated soon.
    void FetchFree() const
    {
        constexpr uint32_t AHEAD = 8;
        __builtin_prefetch(&m_frames[m_free[std::max(m_numFree, AHEAD) - AHEAD]], 1);
    }

    void Free(FrameId id)
    {
        if (m_frames[id].noted || m_frames[id].numHops != 0) [[unlikely]]
        {
            FreeNote(id);
        }
        m_free[m_numFree++] = id;
    }

    Frame& operator[](FrameId id)
    {
        return m_frames[id];
    }

    const Frame& operator[](FrameId id) const
    {
        return m_frames[id];
    }

    /// @return the note of a frame, empty when it is first asked for
    FrameNote& Note(FrameId id)
    {
        if (!m_frames[id].noted)
        {
            m_frames[id].noted = true;
            m_notes[id] = FrameNote{.stampPs = 0, .words = {}, .switchWord = 0, .cargo = nullptr};
        }
        return m_notes[id];
    }

    /// @return the note of a frame that has one, null otherwise
    const FrameNote* FindNote(FrameId id) const
    {
        return m_frames[id].noted ? &m_notes[id] : nullptr;
    }

    void AddHop(FrameId id, const IntHop& hop); ///< Append to the hops of a frame

    bool AnyHops() const ///< Some frame has ever had a hop
    {
        return !m_hops.empty();
    }

    /// Ask for the memory of the hop that a frame, which is at hand, gets next.
    void FetchNextHop(FrameId id) const
    {
        const uint32_t place = std::min<uint32_t>(m_frames[id].numHops, HOPS_PER_BLOCK - 1);
        const IntHop& next = BlockOf(id).hops[place];
        __builtin_prefetch(&next, 1);
        __builtin_prefetch(&next.port, 1); // may lie in the next line
    }

    /// Ask for the memory of the note and the hops of a frame, which is at hand.
    void FetchRest(FrameId id) const
    {
        if (m_frames[id].noted)
        {
            __builtin_prefetch(&m_notes[id], 1);
        }
        if (m_frames[id].numHops != 0)
        {
            FetchHops(id);
        }
    }

    /// Ask for the memory of the first hops of a frame.
    void FetchHops(FrameId id) const
    {
        const auto* block = reinterpret_cast<const char*>(&BlockOf(id));
        for (size_t line = 0; line < sizeof(HopBlock) / 64; line++)
        {
            __builtin_prefetch(block + 64 * line, 1);
        }
    }

    /// @return the hops of a frame in the order of the switches, valid until the next call; hops of
    /// other frames may be appended meanwhile
    std::span<const IntHop> Hops(FrameId id) const;
    void Load(FrameId id, std::unique_ptr<FrameCargo> cargo); ///< Into a frame that has none
    std::unique_ptr<FrameCargo> Unload(FrameId id);           ///< Out of a frame; null: it has none
    void SwapContents(FrameId a, FrameId b);                  ///< All but their places in queues

    void GiveBack(); ///< Memory of frames and notes, if no frame is in use

    /// @return frames in use
    uint32_t Allocated() const
    {
        return m_touched - m_numFree;
    }

    /// @return most frames ever in use at once
    uint32_t Peak() const
    {
        return m_touched;
    }

  private:
    static constexpr uint32_t HOPS_PER_BLOCK = 6;
    static constexpr uint32_t MOST_HOPS = 127; ///< Frame::numHops

    /// Hops of one frame, side by side. The first block of a frame lies at its index, so that it
    /// can be fetched ahead of time; few frames need another one.
    struct alignas(64) HopBlock
    {
        std::array<IntHop, HOPS_PER_BLOCK> hops;
        uint32_t next; ///< Block in m_more with those that follow, if there are any
    };

    FrameId NextFree(); ///< It is taken
    void MakeRoom();    ///< For one step more
    void FreeNote(FrameId id);
    void MakeRoomForHops();
    uint32_t NewHopBlock();
    void FreeMoreHops(FrameId id);
    HopBlock& LastHopBlock(FrameId id);

    HopBlock& BlockOf(FrameId id) const ///< Its own; once any frame has hops
    {
        return m_hops[id / STEP]->Data()[id % STEP];
    }

    static constexpr uint32_t STEP = 1U << 18;     ///< 21 MiB of address space
    static constexpr uint32_t CAPACITY = 1U << 26; ///< 2 GiB of frames, 3 GiB of notes
    GrowingArray<Frame> m_frames;
    GrowingArray<FrameNote> m_notes;
    GrowingArray<FrameId> m_free; ///< Free frames, the last one to be used next
    uint32_t m_room{STEP};        ///< Frames for which there is room
    uint32_t m_numFree{0};
    /// Of each frame, once one has any hops: an array for each step of frames.
    std::vector<std::unique_ptr<ReservedArray<HopBlock>>> m_hops;
    std::vector<HopBlock> m_more;         ///< Of frames with more hops than a block holds
    std::vector<uint32_t> m_freeMore;     ///< Of these, those of no frame
    mutable std::vector<IntHop> m_answer; ///< Of Hops
    uint32_t m_touched{0};                ///< Frames ever handed out
    bool m_carries{false};                ///< Something has ever ridden in a frame
};

inline FrameId
FramePool::NextFree()
{
    if (m_numFree != 0) [[likely]]
    {
        return m_free[--m_numFree];
    }
    if (m_touched == m_room)
    {
        MakeRoom();
    }
    return m_touched++;
}

inline FrameId
FramePool::Allocate()
{
    const FrameId id = NextFree();
    m_frames[id] = Frame{};
    m_frames[id].next = NO_FRAME;
    return id;
}

inline FrameId
FramePool::AllocateCopy(const Frame& frame)
{
    const FrameId id = NextFree();
    Frame& copy = m_frames[id];
    copy = frame;
    copy.next = NO_FRAME;
    copy.noted = false;
    copy.numHops = 0;
    return id;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FRAME_POOL_H
