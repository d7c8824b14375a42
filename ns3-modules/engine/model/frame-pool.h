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
        if (m_frames[id].noted) [[unlikely]]
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
            m_notes[id] = FrameNote{.stampPs = 0,
                                    .words = {},
                                    .switchWord = 0,
                                    .firstHop = NO_HOP,
                                    .cargo = nullptr};
        }
        return m_notes[id];
    }

    /// @return the note of a frame that has one, null otherwise
    const FrameNote* FindNote(FrameId id) const
    {
        return m_frames[id].noted ? &m_notes[id] : nullptr;
    }

    void AddHop(FrameId id, const IntHop& hop); ///< Append to the hops of a frame
    /// @return the hops of a frame in the order of the switches, valid until the next call
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
    /// Hops of one frame, side by side; most frames need no second block.
    struct HopBlock
    {
        std::array<IntHop, 5> hops;
        uint32_t n;    ///< Of them in use
        uint32_t next; ///< Block with those that follow, NO_HOP: none
    };

    FrameId NextFree(); ///< It is taken
    void MakeRoom();    ///< For one step more
    void FreeNote(FrameId id);
    uint32_t NewHopBlock();

    static constexpr uint32_t STEP = 1U << 18;     ///< 21 MiB of address space
    static constexpr uint32_t CAPACITY = 1U << 26; ///< 2 GiB of frames, 3 GiB of notes
    GrowingArray<Frame> m_frames;
    GrowingArray<FrameNote> m_notes;
    GrowingArray<FrameId> m_free; ///< Free frames, the last one to be used next
    uint32_t m_room{STEP};        ///< Frames for which there is room
    uint32_t m_numFree{0};
    std::vector<HopBlock> m_hops;
    uint32_t m_freeHops{NO_HOP};          ///< Head of the list of free blocks
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
    return id;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FRAME_POOL_H
