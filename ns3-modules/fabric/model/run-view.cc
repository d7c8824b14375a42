// SPDX-License-Identifier: GPL-2.0-only

#include "run-view.h"

namespace ns3
{
namespace fabric
{

RunView::RunView(const FabricOptions& options,
                 EngineState& state,
                 const PluginClasses& classes,
                 const Wires& wires,
                 Nic& nic,
                 const Switching& switching,
                 const Observers& observers)
    : m_options(options),
      m_state(state),
      m_classes(classes),
      m_wires(wires),
      m_nic(nic),
      m_switching(switching),
      m_observers(observers)
{
}

Datagram
RunView::DescribeFrame(const Frame& frame) const
{
    return m_nic.DescribeFrame(frame);
}

WireBytes
RunView::MacControlOf(PortId from, const Frame& frame) const
{
    return ControlOf(from)->MacControl(frame.aux);
}

void
RunView::Skip(uint64_t byPs, const std::vector<SkippedTime::Sent>& sent)
{
    for (const auto& [message, packets, frameBytes] : sent)
    {
        m_nic.Shorten(message, packets);
    }
    m_state.LeaveOut(byPs);
}

uint64_t
RunView::RuleChanges() const
{
    uint64_t changes = 0;
    for (const SwitchProgram* program : m_classes.programs)
    {
        changes += program->RuleChanges();
    }
    return changes;
}

std::vector<PortId>
RunView::PathOf(uint32_t message) const
{
    if (m_state.messages[message].bytes == 0)
    {
        return {};
    }
    return m_switching.PathOf(message, SourceOf(message).SinglePathEntropy(message));
}

uint64_t
RunView::MemoryBytes() const
{
    return m_state.network.MemoryBytes(m_state.engine) + m_state.messages.MemoryBytes() +
           m_state.routes.MemoryBytes() + uint64_t{m_state.frames.Peak()} * sizeof(Frame) +
           m_state.queue.MemoryBytes() + m_observers.MemoryBytes();
}

} // namespace fabric
} // namespace ns3
