// SPDX-License-Identifier: GPL-2.0-only

#include "forwarding-policies.h"

#include "fabric.h"

#include <algorithm>
#include <numeric>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(EcmpHash);
NS_OBJECT_ENSURE_REGISTERED(EntropyModulo);
NS_OBJECT_ENSURE_REGISTERED(RandomSpray);
NS_OBJECT_ENSURE_REGISTERED(RoundRobinSpray);

// ---- EcmpHash

TypeId
EcmpHash::GetTypeId()
{
    static TypeId tid = TypeId("ns3::EcmpHash")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Fabric")
                            .AddConstructor<EcmpHash>();
    return tid;
}

void
EcmpHash::Attach(Fabric& fabric)
{
    m_salt.clear();
    m_tuples.clear();
    for (uint32_t node = 0; node < fabric.NumNodes(); node++)
    {
        m_salt.push_back(fabric.GetNode(node).salt);
    }
    for (const auto& message : fabric.Messages())
    {
        m_tuples.push_back(message.tuple);
    }
}

uint32_t
EcmpHash::Select(uint32_t node, uint32_t, const Frame& frame, const PortId*, uint32_t n)
{
    const uint64_t header = (uint64_t{m_tuples[frame.message]} << 32) | (uint64_t{frame.entropy} << 8) |
                            (frame.flags & frame_flag::REVERSE);
    const uint64_t hash = Mix64(Mix64(header) ^ m_salt[node]);
    return static_cast<uint32_t>(((hash >> 32) * n) >> 32);
}

bool
EcmpHash::KeepsFlowOnOnePath() const
{
    return true;
}

// ---- EntropyModulo

TypeId
EntropyModulo::GetTypeId()
{
    static TypeId tid = TypeId("ns3::EntropyModulo")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Fabric")
                            .AddConstructor<EntropyModulo>();
    return tid;
}

void
EntropyModulo::Attach(Fabric& fabric)
{
    // Members per tier: the largest group that a switch of this tier has.
    std::vector<uint32_t> members;
    for (uint32_t node = 0; node < fabric.NumNodes(); node++)
    {
        const auto& state = fabric.GetNode(node);
        members.resize(std::max<size_t>(members.size(), state.tier + 1), 1);
        for (uint32_t host = 0; state.isSwitch && host < fabric.NumHosts(); host++)
        {
            const uint32_t group = fabric.Routes().GroupTo(node, host);
            if (group != Routing::NO_GROUP)
            {
                members[state.tier] =
                    std::max(members[state.tier], fabric.Routes().GetGroup(group).size);
            }
        }
    }
    m_divisor.clear();
    std::vector<uint32_t> divisor(members.size(), 1);
    for (size_t tier = 1; tier < members.size(); tier++)
    {
        divisor[tier] = divisor[tier - 1] * members[tier - 1];
    }
    for (uint32_t node = 0; node < fabric.NumNodes(); node++)
    {
        m_divisor.push_back(divisor[fabric.GetNode(node).tier]);
    }
}

uint32_t
EntropyModulo::Select(uint32_t node, uint32_t, const Frame& frame, const PortId*, uint32_t n)
{
    return frame.entropy / m_divisor[node] % n;
}

bool
EntropyModulo::KeepsFlowOnOnePath() const
{
    return true;
}

// ---- RandomSpray

TypeId
RandomSpray::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RandomSpray")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Fabric")
                            .AddConstructor<RandomSpray>();
    return tid;
}

void
RandomSpray::Attach(Fabric& fabric)
{
    m_fabric = &fabric;
}

uint32_t
RandomSpray::Select(uint32_t node, uint32_t, const Frame&, const PortId*, uint32_t n)
{
    NodeState& state = m_fabric->GetNode(node);
    return m_fabric->Stream(RandomUse::SWITCH_SPRAY, static_cast<uint64_t>(state.id))
        .Below(state.draws++, n);
}

bool
RandomSpray::KeepsFlowOnOnePath() const
{
    return false;
}

// ---- RoundRobinSpray

TypeId
RoundRobinSpray::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RoundRobinSpray")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Fabric")
                            .AddConstructor<RoundRobinSpray>();
    return tid;
}

void
RoundRobinSpray::Attach(Fabric& fabric)
{
    m_fabric = &fabric;
    m_rounds.assign(fabric.Routes().NumGroups(), {});
}

uint32_t
RoundRobinSpray::Select(uint32_t node, uint32_t group, const Frame&, const PortId*, uint32_t n)
{
    Round& round = m_rounds[group];
    if (round.next == round.order.size())
    {
        NodeState& state = m_fabric->GetNode(node);
        const auto stream =
            m_fabric->Stream(RandomUse::SWITCH_SPRAY, static_cast<uint64_t>(state.id));
        round.order.resize(n);
        std::iota(round.order.begin(), round.order.end(), 0);
        for (uint32_t i = n - 1; i > 0; i--)
        {
            std::swap(round.order[i], round.order[stream.Below(state.draws++, i + 1)]);
        }
        round.next = 0;
    }
    return round.order[round.next++];
}

bool
RoundRobinSpray::KeepsFlowOnOnePath() const
{
    return false;
}

} // namespace ns3
