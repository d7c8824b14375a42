// SPDX-License-Identifier: GPL-2.0-only

#include "frame-pool.h"

#include "ns3/abort.h"

#include <utility>

namespace ns3
{
namespace fabric
{

FramePool::FramePool()
    : m_frames(CAPACITY),
      m_notes(CAPACITY)
{
    m_frames.UseHugePages();
}

void
FramePool::FailFull() const
{
    NS_ABORT_MSG("More than " << CAPACITY
                              << " frames are queued or on wires at once; lower the switch "
                                 "buffers, the windows or the number of flows");
}

void
FramePool::FreeNote(FrameId id)
{
    uint32_t& first = m_notes[id].firstHop;
    while (first != NO_HOP)
    {
        ListedHop& hop = m_hops[first];
        const uint32_t next = hop.next;
        hop.next = m_freeHop;
        m_freeHop = first;
        first = next;
    }
    m_frames[id].noted = false;
}

void
FramePool::AddHop(FrameId id, const IntHop& hop)
{
    uint32_t place = m_freeHop;
    if (place == NO_HOP)
    {
        place = static_cast<uint32_t>(m_hops.size());
        m_hops.emplace_back();
    }
    else
    {
        m_freeHop = m_hops[place].next;
    }
    m_hops[place] = {hop, NO_HOP};
    uint32_t* link = &Note(id).firstHop;
    while (*link != NO_HOP)
    {
        link = &m_hops[*link].next;
    }
    *link = place;
}

const std::vector<IntHop>&
FramePool::Hops(FrameId id) const
{
    m_answer.clear();
    const FrameNote* note = FindNote(id);
    for (uint32_t i = note ? note->firstHop : NO_HOP; i != NO_HOP; i = m_hops[i].next)
    {
        m_answer.push_back(m_hops[i].hop);
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
