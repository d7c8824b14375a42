// SPDX-License-Identifier: GPL-2.0-only

#include "permuted-entropy.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <utility>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("PermutedEntropy");
NS_OBJECT_ENSURE_REGISTERED(PermutedEntropy);

namespace
{

constexpr uint32_t ENTROPIES = 1U << 16;

} // namespace

TypeId
PermutedEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::PermutedEntropy")
                            .SetParent<PathSelector>()
                            .SetGroupName("PathSelector")
                            .AddConstructor<PermutedEntropy>()
                            .AddAttribute("Paths",
                                          "Number of entropies in a round [1], 0 = number of paths",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&PermutedEntropy::m_paths),
                                          MakeUintegerChecker<uint32_t>(0, ENTROPIES));
    return tid;
}

void
PermutedEntropy::Open(uint32_t slot, uint32_t message)
{
    NS_LOG_FUNCTION(this << slot << message);
    m_flows.Open(slot, PermutedFlow{DrawsOf(message), message, {}, {}});
}

PermutedPortOrder&
PermutedEntropy::OrderOf(PermutedFlow& flow, PortId port) const
{
    if (!flow.first)
    {
        flow.first = NewOrder(flow, port);
    }
    if (flow.first->port == port)
    {
        return *flow.first;
    }
    for (auto& order : flow.others)
    {
        if (order.port == port)
        {
            return order;
        }
    }
    return flow.others.emplace_back(NewOrder(flow, port));
}

PermutedPortOrder
PermutedEntropy::NewOrder(const PermutedFlow& flow, PortId port) const
{
    const uint32_t paths = m_paths ? m_paths : Host().NumPaths(flow.message, port);
    const uint32_t shifts = m_paths ? 1 : ENTROPIES / paths;
    return {port, paths, shifts, EntropyOrder(paths)};
}

uint16_t
PermutedEntropy::Next(uint32_t slot, PortId port)
{
    PermutedFlow& flow = m_flows[slot];
    PermutedPortOrder& order = OrderOf(flow, port);
    if (m_paths == 0 && order.order.IsRoundOver() && Host().RoutesChanged() &&
        Host().NumPaths(flow.message, port) != order.paths)
    {
        order = NewOrder(flow, port);
    }
    const uint32_t entropy = order.order.Next(flow.draws);
    return static_cast<uint16_t>(entropy + order.paths * (order.order.Rounds() % order.shifts));
}

} // namespace ns3
