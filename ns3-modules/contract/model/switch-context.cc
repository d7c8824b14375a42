// SPDX-License-Identifier: GPL-2.0-only

#include "switch-context.h"

namespace ns3
{
namespace fabric
{

SwitchContext::SwitchContext(const EngineState& state)
    : m_state(state),
      m_nowPs(&state.nowPs),
      m_ports(state.network.ports.Data()),
      m_nodes(state.network.nodes.data()),
      m_tuples(state.messages.Tuples())
{
}

uint32_t
SwitchContext::NumNodes() const
{
    return static_cast<uint32_t>(m_state.network.nodes.size());
}

uint32_t
SwitchContext::NumHosts() const
{
    return static_cast<uint32_t>(m_state.network.hosts.size());
}

PortId
SwitchContext::NumPorts() const
{
    return m_state.network.NumPorts();
}

const Routing&
SwitchContext::Routes() const
{
    return m_state.routes.InForce();
}

std::vector<PortId>
SwitchContext::NearestPorts(uint32_t host, uint32_t dst) const
{
    return m_state.routes.NearestPorts(host, dst, Routes());
}

uint32_t
SwitchContext::NumMessages() const
{
    return m_state.messages.Size();
}

const Message&
SwitchContext::GetMessage(uint32_t message) const
{
    return m_state.messages[message];
}

uint32_t
SwitchContext::SourceOf(const Frame& frame) const
{
    const Message& message = m_state.messages[frame.message];
    return (frame.flags & frame_flag::REVERSE) ? message.dst : message.src;
}

uint64_t
SwitchContext::QueuedBytes(PortId port, uint32_t queueClass) const
{
    return m_state.QueueOf(port, queueClass).bytes;
}

uint64_t
SwitchContext::SentBytes(PortId port) const
{
    return m_ports[port].sentBytes + FramingBytes() * m_ports[port].sentFrames;
}

uint32_t
SwitchContext::HeadBytes(PortId port, uint32_t queueClass) const
{
    if (!((m_ports[port].queued >> queueClass) & 1))
    {
        return 0;
    }
    return m_state.frames[m_state.QueueOf(port, queueClass).head].bytes;
}

std::optional<uint64_t>
SwitchContext::BufferBytes(uint32_t node) const
{
    return m_state.switches[m_nodes[node].nodeClass].bufferBytes;
}

uint64_t
SwitchContext::FreeBytes(uint32_t node) const
{
    return *BufferBytes(node) - m_nodes[node].usedBytes;
}

uint64_t
SwitchContext::RateBps(PortId port) const
{
    return m_state.network.RateBps(port);
}

uint64_t
SwitchContext::DelayPs(PortId port) const
{
    return m_ports[port].delayPs;
}

uint64_t
SwitchContext::ProcessingDelayPs(PortId port) const
{
    return m_state.switches[m_ports[port].nodeClass].processingDelayPs;
}

uint64_t
SwitchContext::SerialisationPs(PortId port, uint32_t frameBytes) const
{
    return m_state.network.rates[m_ports[port].rate].Ps(frameBytes + FramingBytes());
}

uint64_t
SwitchContext::FramingBytes() const
{
    return m_state.framingBytes;
}

uint32_t
SwitchContext::LargestFrameBytes() const
{
    return m_state.largestFrameBytes;
}

std::pair<int64_t, uint32_t>
SwitchContext::PeerOf(PortId port) const
{
    return m_state.network.PeerOf(port);
}

double
SwitchContext::CapacityBps(PortId port, uint32_t dst) const
{
    return m_state.routes.CapacityBps(port, dst);
}

double
SwitchContext::FreeBps(PortId port, uint32_t dst) const
{
    return m_state.routes.FreeBps(port, dst);
}

PortId
SwitchContext::ListedRoute(uint32_t message, bool reverse, uint32_t node) const
{
    return m_state.routes.Listed(message, reverse, node);
}

SwitchContext
SwitchContext::Another(uint32_t number) const
{
    SwitchContext context = *this;
    context.m_number = number;
    return context;
}

RandomCursor
SwitchContext::CursorOfNode(uint32_t node, RandomUse use) const
{
    return RandomCursor(CounterRandom(m_state.seed, use, static_cast<uint64_t>(m_nodes[node].id)));
}

RandomCursor
SwitchContext::CursorOfPort(PortId port, RandomUse use) const
{
    return RandomCursor(m_state.network.StreamOfPort(port, use, m_number));
}

} // namespace fabric
} // namespace ns3
