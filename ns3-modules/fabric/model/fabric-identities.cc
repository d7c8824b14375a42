// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-parts.h"

#include "ns3/abort.h"

namespace ns3
{
namespace fabric
{

namespace
{

/// Frames that wait at a port, counted by walking through its queues.
struct Waiting
{
    uint64_t frames{0};
    uint64_t linkControl{0};  ///< Of these
    uint64_t switchBytes{0};  ///< Of the others [byte]
    uint64_t countedBytes{0}; ///< Of these, in classes that flow control counts [byte]
};

/// Sums over all ports.
struct Totals
{
    uint64_t queued{0};
    uint64_t sent{0};
    uint64_t received{0};
    uint64_t lost{0};
    uint64_t transmitting{0};
};

/**
 * Walk through the queues of a port; their bytes must be those that were counted.
 * @param counted bit per class that flow control counts
 */
Waiting
WalkQueues(const FabricParts& parts, PortId id, uint32_t counted = 0)
{
    const Port& port = parts.GetPort(id);
    Waiting waiting;
    uint64_t portBytes = 0;
    for (uint32_t c = 0; c <= LINK_CONTROL_CLASS; c++)
    {
        const PortQueue& queue = parts.QueueOf(id, c);
        const bool isQueued = (port.queued >> c) & 1;
        uint64_t bytes = 0;
        for (FrameId f = isQueued ? queue.head : NO_FRAME; f != NO_FRAME;
             f = parts.GetFrame(id, f).next)
        {
            bytes += parts.GetFrame(id, f).bytes;
            waiting.frames++;
            waiting.linkControl += c == LINK_CONTROL_CLASS;
        }
        NS_ABORT_MSG_IF(bytes != queue.bytes,
                        "identity: bytes in queue " << c << " of port " << id << " are " << bytes
                                                    << ", counted " << queue.bytes);
        portBytes += bytes;
        waiting.switchBytes += c == LINK_CONTROL_CLASS ? 0 : bytes;
        waiting.countedBytes += ((counted >> c) & 1) ? bytes : 0;
    }
    NS_ABORT_MSG_IF(portBytes != port.queuedBytes,
                    "identity: bytes queued at port " << id << " are " << portBytes << ", counted "
                                                      << port.queuedBytes);
    return waiting;
}

/// What leaves a port is what its peer has seen, or less is still under way.
void
CheckLink(const FabricParts& parts, PortId id)
{
    const Port& port = parts.GetPort(id);
    const PortCounters& there = parts.GetCounters(port.peer);
    const uint64_t seen =
        parts.GetPort(port.peer).receivedFrames + there.lostFrames + there.corruptFrames;
    NS_ABORT_MSG_IF(port.sentFrames < seen,
                    "identity: port " << id << " sent " << port.sentFrames
                                      << " frames, its peer saw " << seen);
}

/// Frames and bytes of a switch: in + made = out + queued + dropped + held by programs.
void
CheckSwitch(const FabricParts& parts, const NodeState& node)
{
    uint64_t in = node.madeFrames;
    uint64_t out = node.discardedFrames;
    uint64_t waiting = node.heldFrames;
    uint64_t bytes = node.heldBytes;
    uint64_t countedBytes = node.accountedBytes;
    uint64_t accountedBytes = 0;
    const LinkFlowControl* first = parts.ControlOf(node.firstPort);
    const uint32_t counted = first ? first->GetTraits().countedClasses : 0;
    bool isAccounted = node.madeFrames == 0 && node.apartFrames == 0;
    for (PortId id = node.firstPort; id < node.firstPort + node.ports; id++)
    {
        const Port& port = parts.GetPort(id);
        const PortCounters& counters = parts.GetCounters(id);
        const Waiting queues = WalkQueues(parts, id, counted);
        in += port.receivedFrames - counters.linkControlReceived;
        out += port.sentFrames - (counters.linkControlSent - queues.linkControl) +
               counters.droppedBuffer + counters.droppedHeadroom + counters.droppedNoRoute +
               counters.droppedDown;
        waiting += queues.frames - queues.linkControl;
        bytes += queues.switchBytes;
        countedBytes += queues.countedBytes;
        if (port.current != NO_FRAME && port.currentKind != frame_kind::LINK_CONTROL)
        {
            bytes += port.currentHeldBytes;
            countedBytes += ((counted >> port.currentPriority) & 1) ? port.currentHeldBytes : 0;
        }
        const LinkFlowControl* control = parts.ControlOf(id);
        isAccounted = isAccounted && control && control->GetTraits().countedClasses == counted;
        for (uint8_t c = 0; control && c < control->GetTraits().numClasses; c++)
        {
            accountedBytes += control->GetAccount(id, c).heldBytes;
        }
    }
    NS_ABORT_MSG_IF(in != out + waiting,
                    "identity: switch " << node.id << " took in or made " << in << " frames, but "
                                        << out << " left or were dropped and " << waiting
                                        << " are queued or held");
    NS_ABORT_MSG_IF(bytes != node.usedBytes,
                    "identity: switch " << node.id << " holds " << bytes << " bytes, counted "
                                        << node.usedBytes);
    NS_ABORT_MSG_IF(isAccounted && accountedBytes != countedBytes,
                    "identity: flow control of switch " << node.id << " accounts for "
                                                        << accountedBytes << " bytes of "
                                                        << countedBytes);
}

} // namespace

void
CheckIdentities(const FabricParts& parts)
{
    Totals totals;
    uint64_t held = parts.Sum([](const RunView& part) { return part.State().heldByHosts; });
    const uint64_t allocated =
        parts.Sum([](const RunView& part) { return part.State().frames.Allocated(); });
    for (PortId id = 0; id < parts.NumPorts(); id++)
    {
        const Port& port = parts.GetPort(id);
        totals.sent += port.sentFrames;
        totals.received += port.receivedFrames;
        totals.lost += parts.GetCounters(id).lostFrames + parts.GetCounters(id).corruptFrames;
        totals.transmitting += port.current != NO_FRAME;
        totals.queued += WalkQueues(parts, id).frames;
        CheckLink(parts, id);
    }
    for (uint32_t i = 0; i < parts.First().Network().nodes.size(); i++)
    {
        const NodeState& node = parts.GetNode(i);
        held += node.heldFrames;
        if (node.isSwitch)
        {
            CheckSwitch(parts, node);
        }
    }
    // frames on wires = sent - received - lost - still being serialised
    const uint64_t flying =
        totals.sent - totals.received - totals.lost - totals.transmitting; // cut-through: may wrap
    NS_ABORT_MSG_IF(allocated != totals.queued + totals.transmitting + flying + held,
                    "identity: " << allocated << " frames allocated, but " << totals.queued
                                 << " queued + " << totals.transmitting << " in transmission + "
                                 << flying << " on wires + " << held << " held");
}

} // namespace fabric
} // namespace ns3
