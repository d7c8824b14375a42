// SPDX-License-Identifier: GPL-2.0-only

#include "frame-pool.h"

#include "ns3/abort.h"
#include "ns3/assert.h"

#include <utility>

namespace ns3
{
namespace fabric
{

FramePool::FramePool()
    : m_frames(STEP, CAPACITY),
      m_notes(STEP, CAPACITY),
      m_free(STEP, CAPACITY)
{
    m_frames.UseHugePages();
    m_notes.UseHugePages();
}

/// What still rides in frames when a run has ended was not lost: it was under way.
FramePool::~FramePool()
{
    for (FrameId id = 0; m_carries && id < m_touched; id++)
    {
        if (m_frames[id].noted)
        {
            delete m_notes[id].cargo;
        }
    }
}

void
FramePool::MakeRoom()
{
    NS_ABORT_MSG_IF(m_room == CAPACITY,
                    "More than " << CAPACITY
                                 << " frames are queued or on wires at once; lower the switch "
                                    "buffers, the windows or the number of flows");
    m_room += STEP;
    m_frames.Reserve(m_room);
    m_notes.Reserve(m_room);
    m_free.Reserve(m_room);
    if (AnyHops())
    {
        MakeRoomForHops();
    }
}

void
FramePool::MakeRoomForHops()
{
    while (m_hops.size() * STEP < m_room)
    {
        m_hops.push_back(std::make_unique<ReservedArray<HopBlock>>(STEP));
        m_hops.back()->UseHugePages();
    }
}

void
FramePool::FreeNote(FrameId id)
{
    Frame& frame = m_frames[id];
    if (frame.numHops > HOPS_PER_BLOCK) [[unlikely]]
    {
        FreeMoreHops(id);
    }
    frame.numHops = 0;
    if (!frame.noted || !m_carries)
    {
        frame.noted = false;
        return; // nothing hangs on the note: it need not be fetched
    }
    frame.noted = false;
    if (const auto cargo = std::unique_ptr<FrameCargo>(m_notes[id].cargo))
    {
        cargo->OnLost();
    }
}

void
FramePool::GiveBack()
{
    if (Allocated() == 0)
    {
        m_frames.Clear();
        m_notes.Clear();
        m_hops.clear();
    }
}

void
FramePool::Load(FrameId id, std::unique_ptr<FrameCargo> cargo)
{
    NS_ASSERT_MSG(!m_frames[id].noted || !m_notes[id].cargo, "a frame carries one thing");
    Note(id).cargo = cargo.release();
    m_carries = true;
}

std::unique_ptr<FrameCargo>
FramePool::Unload(FrameId id)
{
    FrameCargo* cargo = m_frames[id].noted ? std::exchange(m_notes[id].cargo, nullptr) : nullptr;
    return std::unique_ptr<FrameCargo>(cargo);
}

uint32_t
FramePool::NewHopBlock()
{
    if (m_freeMore.empty())
    {
        m_more.emplace_back();
        return static_cast<uint32_t>(m_more.size() - 1);
    }
    const uint32_t place = m_freeMore.back();
    m_freeMore.pop_back();
    return place;
}

/// The blocks of a frame but its own are free.
void
FramePool::FreeMoreHops(FrameId id)
{
    const HopBlock* block = &BlockOf(id);
    for (uint32_t hops = m_frames[id].numHops; hops > HOPS_PER_BLOCK; hops -= HOPS_PER_BLOCK)
    {
        m_freeMore.push_back(block->next);
        block = &m_more[block->next];
    }
}

/// @return the block with the last of the hops of a frame
FramePool::HopBlock&
FramePool::LastHopBlock(FrameId id)
{
    HopBlock* block = &BlockOf(id);
    for (uint32_t hops = m_frames[id].numHops; hops > HOPS_PER_BLOCK; hops -= HOPS_PER_BLOCK)
    {
        block = &m_more[block->next];
    }
    return *block;
}

void
FramePool::AddHop(FrameId id, const IntHop& hop)
{
    if (!AnyHops()) [[unlikely]]
    {
        MakeRoomForHops();
    }
    Frame& frame = m_frames[id];
    NS_ABORT_MSG_IF(frame.numHops == MOST_HOPS,
                    "More than " << MOST_HOPS << " switches write telemetry into one packet");
    const uint32_t place = frame.numHops % HOPS_PER_BLOCK;
    if (place == 0 && frame.numHops != 0) [[unlikely]]
    {
        const uint32_t more = NewHopBlock();
        LastHopBlock(id).next = more;
    }
    frame.numHops++;
    LastHopBlock(id).hops[place] = hop;
}

std::span<const IntHop>
FramePool::Hops(FrameId id) const
{
    uint32_t left = m_frames[id].numHops;
    if (left == 0)
    {
        return {};
    }
    const HopBlock* block = &BlockOf(id);
    if (left <= HOPS_PER_BLOCK)
    {
        return {block->hops.data(), left};
    }
    m_answer.clear();
    while (left > HOPS_PER_BLOCK)
    {
        m_answer.insert(m_answer.end(), block->hops.begin(), block->hops.end());
        left -= HOPS_PER_BLOCK;
        block = &m_more[block->next];
    }
    m_answer.insert(m_answer.end(), block->hops.begin(), block->hops.begin() + left);
    return m_answer;
}

void
FramePool::SwapContents(FrameId a, FrameId b)
{
    std::swap(m_frames[a], m_frames[b]);
    std::swap(m_frames[a].next, m_frames[b].next);
    if (m_frames[a].noted || m_frames[b].noted)
    {
        std::swap(m_notes[a], m_notes[b]);
    }
    if (m_frames[a].numHops != 0 || m_frames[b].numHops != 0)
    {
        std::swap(BlockOf(a), BlockOf(b));
    }
}

} // namespace fabric
} // namespace ns3
