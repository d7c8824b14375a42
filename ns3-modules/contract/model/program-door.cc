// SPDX-License-Identifier: GPL-2.0-only

#include "program-door.h"

namespace ns3
{
namespace fabric
{

ProgramDoor::ProgramDoor(EngineState& state, ProgramActions& actions, uint32_t firstTimer)
    : SwitchView(state),
      m_state(state),
      m_actions(actions),
      m_firstTimer(firstTimer)
{
}

Frame&
ProgramDoor::GetFrame(FrameId frame)
{
    return m_state.frames[frame];
}

FrameNote&
ProgramDoor::Note(FrameId frame)
{
    return m_state.frames.Note(frame);
}

void
ProgramDoor::AddHop(FrameId frame, const IntHop& hop)
{
    m_state.frames.AddHop(frame, hop);
}

FrameId
ProgramDoor::Copy(uint32_t node, FrameId frame)
{
    return m_actions.CopyAt(node, frame);
}

FrameId
ProgramDoor::Answer(uint32_t node, FrameId frame, uint8_t priority, uint16_t bytes)
{
    return m_actions.AnswerAt(node, frame, priority, bytes);
}

void
ProgramDoor::Inject(uint32_t node, FrameId frame)
{
    m_actions.Inject(node, frame);
}

void
ProgramDoor::Discard(uint32_t node, FrameId frame)
{
    m_actions.DiscardAt(node, frame);
}

void
ProgramDoor::SetTimer(uint32_t node, uint64_t atPs)
{
    m_state.SetTimer(m_firstTimer + node, atPs, 0);
}

} // namespace fabric
} // namespace ns3
