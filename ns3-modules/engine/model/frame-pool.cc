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
}

void
FramePool::FreeNote(FrameId id)
{
    m_frames[id].noted = false;
    if (m_hops.empty() && !m_carries)
    {
        return; // nothing hangs on any note: this one need not be fetched
    }
    uint32_t& first = m_notes[id].firstHop;
    while (first != NO_HOP)
    {
        HopBlock& block = m_hops[first];
        const uint32_t next = block.next;
        block.next = m_freeHops;
        m_freeHops = first;
        first = next;
    }
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
    uint32_t place = m_freeHops;
    if (place == NO_HOP)
    {
        place = static_cast<uint32_t>(m_hops.size());
        m_hops.emplace_back();
    }
    else
    {
        m_freeHops = m_hops[place].next;
    }
    m_hops[place].n = 0;
    m_hops[place].next = NO_HOP;
    return place;
}

void
FramePool::AddHop(FrameId id, const IntHop& hop)
{
    FrameNote& note = Note(id);
    if (note.firstHop == NO_HOP)
    {
        note.firstHop = NewHopBlock();
    }
    uint32_t last = note.firstHop;
    while (m_hops[last].next != NO_HOP)
    {
        last = m_hops[last].next;
    }
    if (m_hops[last].n == m_hops[last].hops.size())
    {
        const uint32_t more = NewHopBlock();
        m_hops[last].next = more;
        last = more;
    }
    HopBlock& block = m_hops[last];
    block.hops[block.n++] = hop;
}

std::span<const IntHop>
FramePool::Hops(FrameId id) const
{
    const FrameNote* note = FindNote(id);
    if (!note || note->firstHop == NO_HOP)
    {
        return {};
    }
    const HopBlock& first = m_hops[note->firstHop];
    if (first.next == NO_HOP)
    {
        return {first.hops.data(), first.n};
    }
    m_answer.clear();
    for (uint32_t i = note->firstHop; i != NO_HOP; i = m_hops[i].next)
    {
        const HopBlock& block = m_hops[i];
        m_answer.insert(m_answer.end(), block.hops.begin(), block.hops.begin() + block.n);
    }
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
}

} // namespace fabric
} // namespace ns3
