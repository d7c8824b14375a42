// SPDX-License-Identifier: GPL-2.0-only

#include "forwarding-policies.h"

#include "fabric.h"

#include "ns3/uinteger.h"

#include <algorithm>
#include <map>
#include <numeric>

namespace ns3
{

using namespace fabric;

namespace
{

/// Hash of what a switch sees of a frame: header fields and entropy, salted by the switch.
uint64_t
HashOf(uint32_t tuple, const Frame& frame, uint64_t salt)
{
    const uint64_t header = (uint64_t{tuple} << 32) | (uint64_t{frame.entropy} << 8) |
                            (frame.flags & frame_flag::REVERSE);
    return Mix64(Mix64(header) ^ salt);
}

} // namespace

NS_OBJECT_ENSURE_REGISTERED(EcmpHash);
NS_OBJECT_ENSURE_REGISTERED(EntropyModulo);
NS_OBJECT_ENSURE_REGISTERED(RandomSpray);
NS_OBJECT_ENSURE_REGISTERED(RoundRobinSpray);
NS_OBJECT_ENSURE_REGISTERED(LeastLoaded);
NS_OBJECT_ENSURE_REGISTERED(Flowlet);
NS_OBJECT_ENSURE_REGISTERED(WeightedHash);

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
    const uint64_t hash = HashOf(m_tuples[frame.message], frame, m_salt[node]);
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
    std::map<uint32_t, uint32_t> members;
    for (uint32_t node = 0; node < fabric.NumNodes(); node++)
    {
        const auto& state = fabric.GetNode(node);
        for (uint32_t host = 0; state.isSwitch && host < fabric.NumHosts(); host++)
        {
            const uint32_t group = fabric.Routes().GroupTo(node, host);
            if (group != Routing::NO_GROUP)
            {
                uint32_t& most = members[state.tier];
                most = std::max(most, fabric.Routes().GetGroup(group).size);
            }
        }
    }
    constexpr uint32_t ENTROPIES = 1U << 16; // no divisor need be larger
    std::map<uint32_t, uint32_t> divisors;
    uint32_t divisor = 1;
    for (const auto& [tier, most] : members)
    {
        divisors[tier] = divisor;
        divisor = std::min(divisor * most, ENTROPIES);
    }
    m_divisor.clear();
    for (uint32_t node = 0; node < fabric.NumNodes(); node++)
    {
        const auto found = divisors.find(fabric.GetNode(node).tier);
        m_divisor.push_back(found == divisors.end() ? 1 : found->second);
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

// ---- LeastLoaded

TypeId
LeastLoaded::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LeastLoaded")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Fabric")
                            .AddConstructor<LeastLoaded>()
                            .AddAttribute("Choices",
                                          "Random members to compare [1], 0 = all members",
                                          UintegerValue(2),
                                          MakeUintegerAccessor(&LeastLoaded::m_choices),
                                          MakeUintegerChecker<uint32_t>(0, 256));
    return tid;
}

void
LeastLoaded::Attach(Fabric& fabric)
{
    m_fabric = &fabric;
}

uint32_t
LeastLoaded::Select(uint32_t node, uint32_t, const Frame&, const PortId* members, uint32_t n)
{
    NodeState& state = m_fabric->GetNode(node);
    const auto stream =
        m_fabric->Stream(RandomUse::SWITCH_SPRAY, static_cast<uint64_t>(state.id));
    const auto load = [this, members](uint32_t member) {
        const Port& port = m_fabric->GetPort(members[member]);
        return port.queuedBytes + (port.current == NO_FRAME ? 0U : port.currentBytes);
    };
    // All members: start at a random one, so that ties are spread.
    const bool all = m_choices == 0 || m_choices >= n;
    uint32_t best = stream.Below(state.draws++, n);
    const uint32_t first = best;
    for (uint32_t i = 1; i < (all ? n : m_choices); i++)
    {
        const uint32_t other = all ? (first + i) % n : stream.Below(state.draws++, n);
        if (load(other) < load(best))
        {
            best = other;
        }
    }
    return best;
}

bool
LeastLoaded::KeepsFlowOnOnePath() const
{
    return false;
}

bool
LeastLoaded::LooksAtQueues() const
{
    return true;
}

// ---- Flowlet

TypeId
Flowlet::GetTypeId()
{
    static TypeId tid = TypeId("ns3::Flowlet")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Fabric")
                            .AddConstructor<Flowlet>()
                            .AddAttribute("Gap",
                                          "Silence after which a flow may take another way",
                                          TimeValue(MicroSeconds(100)),
                                          MakeTimeAccessor(&Flowlet::m_gap),
                                          MakeTimeChecker(PicoSeconds(1)));
    return tid;
}

void
Flowlet::Attach(Fabric& fabric)
{
    m_fabric = &fabric;
    m_last.resize(fabric.NumNodes());
}

uint32_t
Flowlet::Select(uint32_t node,
                uint32_t,
                const Frame& frame,
                const PortId* members,
                uint32_t n)
{
    const bool reverse = frame.flags & frame_flag::REVERSE;
    Last& last = m_last[node][uint64_t{frame.message} * 2 + reverse];
    const uint64_t nowPs = m_fabric->NowPs();
    const bool wasSilent = nowPs - last.timePs > static_cast<uint64_t>(m_gap.GetPicoSeconds());
    if (last.member >= n || members[last.member] != last.port) // a new flow, or new routes
    {
        last.member =
            static_cast<uint32_t>(std::find(members, members + n, last.port) - members);
    }
    if (wasSilent || last.member == n)
    {
        NodeState& state = m_fabric->GetNode(node);
        last.member = m_fabric->Stream(RandomUse::SWITCH_SPRAY, static_cast<uint64_t>(state.id))
                          .Below(state.draws++, n);
        last.port = members[last.member];
    }
    last.timePs = nowPs;
    return last.member;
}

bool
Flowlet::KeepsFlowOnOnePath() const
{
    return false;
}

bool
Flowlet::LooksAtQueues() const
{
    return false;
}

// ---- WeightedHash

TypeId
WeightedHash::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WeightedHash")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Fabric")
                            .AddConstructor<WeightedHash>();
    return tid;
}

void
WeightedHash::Attach(Fabric& fabric)
{
    m_fabric = &fabric;
    m_cumulative.clear();
    for (uint32_t i = 0; i < fabric.Routes().NumGroups(); i++)
    {
        const auto group = fabric.Routes().GetGroup(i);
        auto& shares = m_cumulative.emplace_back();
        double sum = 0;
        for (uint32_t member = 0; member < group.size; member++)
        {
            sum += static_cast<double>(fabric.RateBps(fabric.Routes().Members(group)[member]));
            shares.push_back(sum);
        }
        for (auto& share : shares)
        {
            share /= sum;
        }
    }
}

uint32_t
WeightedHash::Select(uint32_t node, uint32_t group, const Frame& frame, const PortId*, uint32_t n)
{
    const uint64_t hash = HashOf(m_fabric->GetMessage(frame.message).tuple,
                                 frame,
                                 m_fabric->GetNode(node).salt);
    const double point = static_cast<double>(hash >> 11) * 0x1.0p-53;
    const auto& shares = m_cumulative[group];
    const auto member = std::upper_bound(shares.begin(), shares.end(), point) - shares.begin();
    return std::min(static_cast<uint32_t>(member), n - 1);
}

bool
WeightedHash::KeepsFlowOnOnePath() const
{
    return true;
}

} // namespace ns3
