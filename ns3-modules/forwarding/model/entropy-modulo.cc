// SPDX-License-Identifier: GPL-2.0-only

#include "entropy-modulo.h"

#include "ns3/log.h"

#include <algorithm>
#include <map>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("EntropyModulo");
NS_OBJECT_ENSURE_REGISTERED(EntropyModulo);

namespace
{

/// @return size of the largest group of the switches of each tier
std::map<uint32_t, uint32_t>
MembersByTier(const SwitchContext& context)
{
    std::map<uint32_t, uint32_t> members;
    const Routing& routes = context.Routes();
    for (uint32_t i = 0; i < routes.NumGroups(); i++)
    {
        const Routing::Group group = routes.GetGroup(i);
        const Port& first = context.GetPort(routes.Members(group)[0]);
        uint32_t& most = members[context.GetNode(first.node).tier];
        most = std::max(most, group.size);
    }
    return members;
}

} // namespace

TypeId
EntropyModulo::GetTypeId()
{
    static TypeId tid = TypeId("ns3::EntropyModulo")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<EntropyModulo>();
    return tid;
}

void
EntropyModulo::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    constexpr uint32_t ENTROPIES = 1U << 16; // no divisor need be larger
    std::map<uint32_t, uint32_t> divisors;
    uint32_t divisor = 1;
    for (const auto& [tier, most] : MembersByTier(context))
    {
        NS_LOG_LOGIC("tier " << tier << ": entropy / " << divisor << " % " << most);
        divisors[tier] = divisor;
        divisor = std::min(divisor * most, ENTROPIES);
    }
    m_divisor.clear();
    for (uint32_t node = 0; node < context.NumNodes(); node++)
    {
        const auto found = divisors.find(context.GetNode(node).tier);
        m_divisor.push_back(found == divisors.end() ? 1 : found->second);
    }
}

uint32_t
EntropyModulo::Select(const ForwardingChoice& choice, const Frame& frame)
{
    return frame.entropy / m_divisor[choice.node] % choice.n;
}

} // namespace ns3
