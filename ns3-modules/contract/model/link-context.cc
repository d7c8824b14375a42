// SPDX-License-Identifier: GPL-2.0-only

#include "link-context.h"

namespace ns3
{
namespace fabric
{

LinkContext::LinkContext(EngineState& state,
                         LinkActions& actions,
                         uint32_t firstTimer,
                         uint8_t linkClass)
    : SwitchContext(state),
      m_state(state),
      m_actions(actions),
      m_firstTimer(firstTimer),
      m_linkClass(linkClass)
{
}

void
LinkContext::SetPaused(PortId port, uint16_t classes, const LinkMessage& reason)
{
    m_actions.SetPaused(port, classes, reason);
}

void
LinkContext::Send(PortId port, uint32_t word, uint32_t bytes, PortId cause)
{
    m_actions.SendLinkControl(port, word, bytes, cause);
}

void
LinkContext::SetTimer(PortId port, uint64_t atPs)
{
    m_state.SetTimer(m_firstTimer + port, atPs, 0);
}

bool
LinkContext::Serves(PortId port) const
{
    return GetPort(port).linkClass == m_linkClass;
}

} // namespace fabric
} // namespace ns3
