// SPDX-License-Identifier: GPL-2.0-only

#include "program-door.h"

#include "ns3/fabric.h"

namespace ns3
{
namespace fabric
{

ProgramDoor::ProgramDoor(Fabric& fabric, uint32_t firstTimer)
    : SwitchView(fabric),
      m_firstTimer(firstTimer)
{
}

Frame&
ProgramDoor::GetFrame(FrameId frame)
{
    return m_fabric.m_frames[frame];
}

FrameNote&
ProgramDoor::Note(FrameId frame)
{
    return m_fabric.m_frames.Note(frame);
}

void
ProgramDoor::AddHop(FrameId frame, const IntHop& hop)
{
    m_fabric.m_frames.AddHop(frame, hop);
}

FrameId
ProgramDoor::Copy(uint32_t node, FrameId frame)
{
    return m_fabric.CopyAt(node, frame);
}

FrameId
ProgramDoor::Answer(uint32_t node, FrameId frame, uint8_t priority, uint16_t bytes)
{
    return m_fabric.AnswerAt(node, frame, priority, bytes);
}

void
ProgramDoor::Inject(uint32_t node, FrameId frame)
{
    m_fabric.Inject(node, frame);
}

void
ProgramDoor::Discard(uint32_t node, FrameId frame)
{
    m_fabric.DiscardAt(node, frame);
}

void
ProgramDoor::SetTimer(uint32_t node, uint64_t atPs)
{
    m_fabric.SetTimer(m_firstTimer + node, atPs, 0);
}

} // namespace fabric
} // namespace ns3
