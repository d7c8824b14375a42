// SPDX-License-Identifier: GPL-2.0-only

#include "engine-state.h"

#include "ns3/abort.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace fabric
{

EngineState::EngineState(const FabricTables& tables,
                         uint64_t rootSeed,
                         uint64_t framing,
                         std::vector<SwitchModel> models,
                         uint32_t ownEngine,
                         MessageTable::Tell tell,
                         const EngineState* first)
    : seed(rootSeed),
      framingBytes(framing),
      engine(ownEngine),
      switches(std::move(models)),
      network(tables, seed, first ? &first->network : nullptr),
      otherQueues(size_t{network.NumPorts()} * (LINK_CONTROL_CLASS + 1)),
      messages(network, queue, world, seed, engine, std::move(tell)),
      routes(network, queue, world, first ? first->routes.ShareNominal() : nullptr)
{
}

const PortQueue&
EngineState::QueueOf(PortId port, uint32_t queueClass) const
{
    return Port::Holds(queueClass) ? network.ports[port].Queue(queueClass)
                                   : otherQueues[size_t{queueClass} * network.NumPorts() + port];
}

PortQueue&
EngineState::QueueOf(PortId port, uint32_t queueClass)
{
    return Port::Holds(queueClass) ? network.ports[port].Queue(queueClass)
                                   : otherQueues[size_t{queueClass} * network.NumPorts() + port];
}

void
EngineState::LeaveOut(uint64_t byPs)
{
    queue.AdvanceControl(byPs);
    limitPs = limitPs - byPs;
    world.MoveAhead(byPs);
}

PortId
EngineState::PortOfMessage(uint32_t index) const
{
    const Message& message = messages[index];
    const HostState& host = network.hosts[message.src];
    const auto pick = [&message](size_t n) { return (uint64_t{message.tuple} * n) >> 32; };
    if (!reachDiffers)
    {
        return host.firstPort + static_cast<PortId>(pick(host.ports));
    }
    const auto nearest = routes.NearestPorts(message.src, message.dst);
    return nearest[pick(nearest.size())];
}

std::vector<PortId>
EngineState::NominalPath(uint32_t message, PortId port) const
{
    const auto& ports = network.ports;
    std::vector<PortId> path{port};
    const Routing& routing = routes.Nominal();
    while (!ports[ports[path.back()].peer].isHost)
    {
        const uint32_t node = ports[ports[path.back()].peer].node;
        const uint32_t nextHop = routing.NextHopTo(node, messages[message].dst);
        NS_ABORT_MSG_IF(nextHop == Routing::NO_GROUP,
                        "flows: flow " << messages[message].id << " has no path by every port of "
                                       << "its host");
        path.push_back(routing.Members(routing.GroupOf(nextHop))[0]);
    }
    return path;
}

uint64_t
EngineState::BaseRttPs(uint32_t message, PortId port, uint32_t dataBytes, uint32_t ackBytes) const
{
    // Up to a link's end: the whole frame, or what its switch needs to forward it.
    const auto linkPs = [this](PortId egress, uint32_t bytes) {
        const Port& port = network.ports[egress];
        const SwitchModel& next = switches[network.ports[port.peer].nodeClass];
        const uint64_t headBytes =
            port.cutsThrough ? std::min<uint64_t>(*next.cutThroughBytes, bytes) : bytes;
        return network.rates[port.rate].Ps(framingBytes + headBytes);
    };
    uint64_t rttPs = 0;
    for (const PortId link : NominalPath(message, port))
    {
        const PortId peer = network.ports[link].peer;
        rttPs += linkPs(link, dataBytes) + linkPs(peer, ackBytes) +
                 2 * network.ports[link].delayPs + 2 * ProcessingDelayPs(network.ports[peer]);
    }
    return rttPs;
}

void
EngineState::FindReach(uint32_t firstMessage)
{
    const auto nodeId = [this](uint32_t host) {
        return network.nodes[network.hosts[host].node].id;
    };
    for (uint32_t i = firstMessage; i < messages.Size(); i++)
    {
        const Message& message = messages[i];
        if (message.bytes == 0)
        {
            continue;
        }
        for (const auto& [src, dst] :
             {std::pair{message.src, message.dst}, std::pair{message.dst, message.src}})
        {
            const size_t nearest = routes.NearestPorts(src, dst).size();
            NS_ABORT_MSG_IF(nearest == 0,
                            "flows: flow " << message.id << ": no path from host " << nodeId(src)
                                           << " to host " << nodeId(dst)
                                           << "; links and switches do not connect them, and"
                                              " hosts do not forward");
            reachDiffers |= nearest != network.hosts[src].ports;
        }
    }
}

} // namespace fabric
} // namespace ns3
