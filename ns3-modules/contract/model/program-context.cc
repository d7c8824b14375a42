// SPDX-License-Identifier: GPL-2.0-only

#include "program-context.h"

namespace ns3
{
namespace fabric
{

ProgramContext::ProgramContext(EngineState& state, ProgramActions& actions, uint32_t firstTimer)
    : SwitchContext(state),
      m_state(state),
      m_actions(actions),
      m_firstTimer(firstTimer)
{
}

Frame&
ProgramContext::GetFrame(FrameId frame)
{
    return m_state.frames[frame];
}

FrameNote&
ProgramContext::Note(FrameId frame)
{
    return m_state.frames.Note(frame);
}

void
ProgramContext::AddHop(FrameId frame, const IntHop& hop)
{
    m_state.frames.AddHop(frame, hop);
}

FrameId
ProgramContext::Copy(uint32_t node, FrameId frame)
{
    return m_actions.CopyAt(node, frame);
}

FrameId
ProgramContext::Answer(uint32_t node, FrameId frame, uint8_t priority, uint16_t bytes)
{
    return m_actions.AnswerAt(node, frame, priority, bytes);
}

void
ProgramContext::Inject(uint32_t node, FrameId frame)
{
    m_actions.Inject(node, frame);
}

void
ProgramContext::Discard(uint32_t node, FrameId frame)
{
    m_actions.DiscardAt(node, frame);
}

void
ProgramContext::SetTimer(uint32_t node, uint64_t atPs)
{
    m_state.SetTimer(m_firstTimer + node, atPs, 0);
}

} // namespace fabric
} // namespace ns3
