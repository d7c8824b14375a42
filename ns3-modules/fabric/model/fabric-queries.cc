// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

uint64_t
Fabric::RateClass::Ps(uint64_t wireBytes) const
{
    if (psPerByte != 0)
    {
        return wireBytes * psPerByte;
    }
    // Rounded up, so that a link never carries more than its rate.
    constexpr uint64_t PS_PER_SECOND_AND_BYTE = 8'000'000'000'000;
    return (wireBytes * PS_PER_SECOND_AND_BYTE + rateBps - 1) / rateBps;
}

double
Fabric::PortReal(PortId port, RandomUse use)
{
    const auto [peer, parallel] = PeerOf(port);
    const uint64_t key = Mix64(m_nodes[m_ports[port].node].id) ^ Mix64(Mix64(peer) + parallel);
    return Stream(use, key).Real(m_counters[port].draws++);
}

Datagram
Fabric::DescribeFrame(const Frame& frame) const
{
    const Message& message = m_messages[frame.message];
    const bool reverse = frame.flags & frame_flag::REVERSE;
    return m_endpoints[reverse ? message.dstEndpoint : message.srcEndpoint].transport->Describe(
        frame);
}

WireBytes
Fabric::MacControlOf(const Frame& frame) const
{
    return m_control->MacControl(frame);
}

void
Fabric::CompleteCaptures()
{
    if (m_capture)
    {
        m_capture->Complete();
        m_capture.reset();
    }
}

void
Fabric::CountMark(PortId port)
{
    m_counters[port].marked++;
}

uint64_t
Fabric::SerialisationPs(PortId port, uint32_t frameBytes) const
{
    return m_rates[m_ports[port].rate].Ps(frameBytes + m_options.framingBytes);
}

uint64_t
Fabric::RateBps(PortId port) const
{
    return m_rates[m_ports[port].rate].rateBps;
}

uint64_t
Fabric::DelayPs(PortId port) const
{
    return m_counters[port].delayPs;
}

PortId
Fabric::PortOfMessage(uint32_t message) const
{
    const auto [first, n] = PortsOfHost(m_messages[message].src);
    return first + static_cast<PortId>((uint64_t{m_messages[message].tuple} * n) >> 32);
}

uint32_t
Fabric::PathsOfMessage(uint32_t message) const
{
    uint32_t paths = 1;
    PortId port = PortOfMessage(message);
    while (!m_ports[m_ports[port].peer].isHost)
    {
        const uint32_t node = m_ports[m_ports[port].peer].node;
        const uint32_t index = m_nominalRouting->GroupTo(node, m_messages[message].dst);
        if (index == Routing::NO_GROUP)
        {
            break;
        }
        const Routing::Group group = m_nominalRouting->GetGroup(index);
        paths = std::min<uint32_t>(paths * group.size, 65535);
        port = m_nominalRouting->Members(group)[0];
    }
    return paths;
}

uint64_t
Fabric::BaseRttPs(uint32_t message, uint32_t dataBytes, uint32_t ackBytes)
{
    uint64_t rttPs = 0;
    PortId port = PortOfMessage(message);
    while (true)
    {
        rttPs += SerialisationPs(port, dataBytes) + SerialisationPs(port, ackBytes) +
                 2 * m_counters[port].delayPs;
        const Port& peer = m_ports[m_ports[port].peer];
        if (peer.isHost)
        {
            return rttPs;
        }
        rttPs += 2 * m_options.switchDelayPs;
        const uint32_t group = m_nominalRouting->GroupTo(peer.node, m_messages[message].dst);
        NS_ABORT_MSG_IF(group == Routing::NO_GROUP,
                        "flows: flow " << m_messages[message].id << " has no path");
        port = m_nominalRouting->Members(m_nominalRouting->GetGroup(group))[0];
    }
}

uint64_t
Fabric::PausedPs(PortId port) const
{
    return PausedPs(port, m_nowPs);
}

uint64_t
Fabric::PausedPs(PortId port, uint64_t atPs) const
{
    const PortCounters& counters = m_counters[port];
    const bool isPaused = m_ports[port].paused != 0 && !m_ports[port].down;
    return counters.pausedPs + (isPaused ? atPs - counters.pausedSincePs : 0);
}

uint32_t
Fabric::IngressPeakBytes(PortId port) const
{
    return m_control ? m_control->PeakBytes(port) : 0;
}

uint64_t
Fabric::MemoryBytes() const
{
    return m_ports.size() * (sizeof(Port) + sizeof(PortCounters)) +
           m_nodes.size() * sizeof(NodeState) + m_messages.size() * sizeof(Message) +
           m_routing->MemoryBytes() + uint64_t{m_frames.Peak()} * sizeof(Frame) +
           m_queue.MemoryBytes() + (m_telemetry ? m_telemetry->MemoryBytes() : 0);
}

} // namespace fabric
} // namespace ns3
