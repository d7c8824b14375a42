// SPDX-License-Identifier: GPL-2.0-only

#include "path-selectors.h"

#include "fabric.h"

#include "ns3/uinteger.h"

#include <algorithm>
#include <numeric>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(FlowEntropy);
NS_OBJECT_ENSURE_REGISTERED(RandomEntropy);
NS_OBJECT_ENSURE_REGISTERED(PermutedEntropy);

namespace
{

/// Random stream of a flow's entropies: keyed by the flow's id, not by its place in a list.
CounterRandom
EntropyStream(Fabric& fabric, uint32_t message)
{
    return fabric.Stream(RandomUse::PATH_ENTROPY,
                         static_cast<uint64_t>(fabric.GetMessage(message).id));
}

/// Put the state of a slot into its place.
template <typename Flow>
void
Assign(std::vector<Flow>& flows, uint32_t slot, Flow flow)
{
    while (flows.size() <= slot)
    {
        flows.push_back(flow);
    }
    flows[slot] = std::move(flow);
}

} // namespace

// ---- FlowEntropy

TypeId
FlowEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FlowEntropy")
                            .SetParent<PathSelector>()
                            .SetGroupName("Fabric")
                            .AddConstructor<FlowEntropy>();
    return tid;
}

void
FlowEntropy::Open(Fabric& fabric, uint32_t slot, uint32_t message)
{
    Assign(m_entropy, slot, static_cast<uint16_t>(Constant(fabric, message)));
}

uint16_t
FlowEntropy::Next(uint32_t slot, PortId)
{
    return m_entropy[slot];
}

int32_t
FlowEntropy::Constant(Fabric& fabric, uint32_t message) const
{
    return static_cast<uint16_t>(EntropyStream(fabric, message).Bits(0));
}

// ---- RandomEntropy

TypeId
RandomEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RandomEntropy")
                            .SetParent<PathSelector>()
                            .SetGroupName("Fabric")
                            .AddConstructor<RandomEntropy>()
                            .AddAttribute("Paths",
                                          "Number of entropies to draw from [1], 0 = all 65536",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&RandomEntropy::m_paths),
                                          MakeUintegerChecker<uint32_t>(0, 65536));
    return tid;
}

void
RandomEntropy::Open(Fabric& fabric, uint32_t slot, uint32_t message)
{
    Assign(m_flows, slot, Flow{EntropyStream(fabric, message), 0});
}

uint16_t
RandomEntropy::Next(uint32_t slot, PortId)
{
    Flow& flow = m_flows[slot];
    return static_cast<uint16_t>(flow.stream.Below(flow.draws++, m_paths ? m_paths : 65536));
}

// ---- PermutedEntropy

TypeId
PermutedEntropy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::PermutedEntropy")
            .SetParent<PathSelector>()
            .SetGroupName("Fabric")
            .AddConstructor<PermutedEntropy>()
            .AddAttribute("Paths",
                          "Number of entropies in a round [1], 0 = number of paths",
                          UintegerValue(0),
                          MakeUintegerAccessor(&PermutedEntropy::m_paths),
                          MakeUintegerChecker<uint32_t>(0, 65535));
    return tid;
}

void
PermutedEntropy::Open(Fabric& fabric, uint32_t slot, uint32_t message)
{
    const uint32_t paths = m_paths ? m_paths : fabric.PathsOfMessage(message);
    Assign(m_flows, slot, Flow{EntropyStream(fabric, message), 0, paths, {}});
}

PermutedEntropy::Round&
PermutedEntropy::RoundOf(Flow& flow, PortId port)
{
    for (auto& round : flow.rounds)
    {
        if (round.port == port)
        {
            return round;
        }
    }
    Round round{port, flow.paths, std::vector<uint16_t>(flow.paths)};
    std::iota(round.order.begin(), round.order.end(), 0);
    return flow.rounds.emplace_back(std::move(round));
}

uint16_t
PermutedEntropy::Next(uint32_t slot, PortId port)
{
    Flow& flow = m_flows[slot];
    Round& round = RoundOf(flow, port);
    if (round.next == round.order.size())
    {
        for (auto i = static_cast<uint32_t>(round.order.size()) - 1; i > 0; i--)
        {
            std::swap(round.order[i], round.order[flow.stream.Below(flow.draws++, i + 1)]);
        }
        round.next = 0;
    }
    return round.order[round.next++];
}

} // namespace ns3
