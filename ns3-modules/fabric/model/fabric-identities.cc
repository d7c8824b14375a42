// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "ns3/abort.h"

namespace ns3
{
namespace fabric
{

void
Fabric::CheckIdentities() const
{
    std::vector<uint64_t> onWire(m_ports.size(), 0);
    uint64_t queued = 0;
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t lost = 0;
    uint64_t transmitting = 0;
    for (PortId id = 0; id < m_ports.size(); id++)
    {
        const Port& port = m_ports[id];
        const PortCounters& counters = m_counters[id];
        sent += port.sentFrames;
        received += port.receivedFrames;
        lost += counters.lostFrames + counters.corruptFrames;
        transmitting += port.current != NO_FRAME;
        uint64_t portBytes = 0;
        for (uint32_t c = 0; c <= NUM_PRIORITIES; c++)
        {
            const PortQueue& queue = port.Queue(c);
            const bool isQueued = (port.queued >> c) & 1;
            uint64_t bytes = 0;
            for (FrameId f = isQueued ? queue.head : NO_FRAME; f != NO_FRAME; f = m_frames[f].next)
            {
                bytes += m_frames[f].bytes;
                queued++;
            }
            NS_ABORT_MSG_IF(bytes != queue.bytes,
                            "identity: bytes in queue " << c << " of port " << id << " are "
                                                        << bytes << ", counted " << queue.bytes);
            portBytes += bytes;
        }
        NS_ABORT_MSG_IF(portBytes != port.queuedBytes,
                        "identity: bytes queued at port " << id << " are " << portBytes
                                                          << ", counted " << port.queuedBytes);
        const Port& peer = m_ports[port.peer];
        const PortCounters& peerCounters = m_counters[port.peer];
        const uint64_t arrived =
            peer.receivedFrames + peerCounters.lostFrames + peerCounters.corruptFrames;
        NS_ABORT_MSG_IF(port.sentFrames < arrived,
                        "identity: port " << id << " sent " << port.sentFrames << " frames, its "
                                          << "peer saw " << arrived);
    }
    // frames on wires = sent - received - lost - still being serialised
    const uint64_t flying = sent - received - lost - transmitting; // cut-through: may wrap
    NS_ABORT_MSG_IF(m_frames.Allocated() != queued + transmitting + flying,
                    "identity: " << m_frames.Allocated() << " frames allocated, but " << queued
                                 << " queued + " << transmitting << " in transmission + " << flying
                                 << " on wires");
    for (const auto& node : m_nodes)
    {
        if (!node.isSwitch)
        {
            continue;
        }
        uint64_t in = 0;
        uint64_t out = 0;
        uint64_t held = 0;
        uint64_t heldBytes = 0;
        uint64_t accountedBytes = 0;
        for (PortId id = node.firstPort; id < node.firstPort + node.ports; id++)
        {
            const Port& port = m_ports[id];
            const PortCounters& counters = m_counters[id];
            in += port.receivedFrames - counters.linkControlReceived - counters.droppedBuffer -
                  counters.droppedHeadroom - counters.droppedNoRoute - counters.droppedDown;
            out += port.sentFrames - counters.linkControlSent;
            for (uint32_t c = 0; c <= NUM_PRIORITIES; c++)
            {
                for (FrameId f = ((port.queued >> c) & 1) ? port.Queue(c).head : NO_FRAME;
                     f != NO_FRAME;
                     f = m_frames[f].next)
                {
                    const bool counts = c != LINK_CONTROL_CLASS;
                    held += counts;
                    out += !counts; // counted as sent link control, but not yet sent
                    heldBytes += counts ? m_frames[f].bytes : 0;
                }
            }
            if (port.current != NO_FRAME && port.currentKind != frame_kind::LINK_CONTROL)
            {
                heldBytes += port.currentBytes;
            }
            accountedBytes += m_control ? m_control->HeldBytes(id) : 0;
        }
        NS_ABORT_MSG_IF(in != out + held,
                        "identity: switch " << node.id << " took in " << in << " frames, but "
                                            << out << " left and " << held << " are queued");
        NS_ABORT_MSG_IF(heldBytes != node.usedBytes,
                        "identity: switch " << node.id << " holds " << heldBytes
                                            << " bytes, counted " << node.usedBytes);
        NS_ABORT_MSG_IF(m_control && accountedBytes != node.usedBytes,
                        "identity: flow control of switch " << node.id << " accounts for "
                                                            << accountedBytes << " bytes of "
                                                            << node.usedBytes);
    }
}

} // namespace fabric
} // namespace ns3
