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
      routes(network, queue, world, first ? first->routes.ShareNominal() : nullptr),
      roundTrips(network, routes, switches, framingBytes, first ? &first->roundTrips : nullptr)
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
