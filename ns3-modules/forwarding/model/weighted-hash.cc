// SPDX-License-Identifier: GPL-2.0-only

#include "weighted-hash.h"

#include "ns3/flow-hash.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("WeightedHash");
NS_OBJECT_ENSURE_REGISTERED(WeightedHash);

TypeId
WeightedHash::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WeightedHash")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<WeightedHash>();
    return tid;
}

void
WeightedHash::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    OnRoutesChanged();
}

/// @return shares of the members of a group up to each of them [1]
std::vector<double>
WeightedHash::SharesOf(Routing::Group group, uint32_t dst) const
{
    const PortId* members = m_context->Routes().Members(group);
    std::vector<double> shares;
    double sum = 0;
    for (uint32_t member = 0; member < group.size; member++)
    {
        sum += WeightBps(members[member], dst);
        shares.push_back(sum);
    }
    for (size_t member = 0; member < shares.size(); member++)
    {
        // Where nothing is left all members are alike.
        shares[member] = sum > 0 ? shares[member] / sum : (member + 1.0) / shares.size();
    }
    return shares;
}

double
WeightedHash::WeightBps(PortId member, uint32_t dst) const
{
    return m_context->CapacityBps(member, dst);
}

/// @return index of the shares of a group, which most classes have in common
uint32_t
WeightedHash::IndexOf(const std::vector<double>& shares)
{
    const auto [found, isNew] = m_indexOf.emplace(shares, static_cast<uint32_t>(m_shares.size()));
    if (isNew)
    {
        m_shares.push_back(shares);
    }
    return found->second;
}

void
WeightedHash::OnRoutesChanged()
{
    NS_LOG_FUNCTION(this);
    const Routing& routes = m_context->Routes();
    m_classes = routes.NumClasses();
    m_shares.clear();
    m_indexOf.clear();
    m_ofClass.assign(size_t{m_context->NumNodes()} * m_classes, 0);
    m_ofLastHop.assign(routes.NumGroups(), NONE);
    std::vector<bool> seen(m_classes);
    for (uint32_t dst = 0; dst < m_context->NumHosts(); dst++)
    {
        const bool isNew = !seen[routes.ClassOf(dst)];
        seen[routes.ClassOf(dst)] = true;
        for (uint32_t node = 0; node < m_context->NumNodes() && isNew; node++)
        {
            if (const auto group = ChoiceAt(node, dst))
            {
                m_ofClass[size_t{node} * m_classes + routes.ClassOf(dst)] =
                    IndexOf(SharesOf(*group, dst));
            }
        }
    }
    for (uint32_t i = 0; i < routes.NumGroups(); i++)
    {
        const Routing::Group group = routes.GetGroup(i);
        const Port& peer = m_context->GetPort(m_context->GetPort(*routes.Members(group)).peer);
        if (group.size > 1 && peer.isHost)
        {
            m_ofLastHop[i] = IndexOf(SharesOf(group, peer.host));
        }
    }
}

/// @return group of a switch that has a choice on the way to a host
std::optional<Routing::Group>
WeightedHash::ChoiceAt(uint32_t node, uint32_t dst) const
{
    const Routing& routes = m_context->Routes();
    const uint32_t nextHop =
        m_context->GetNode(node).isSwitch ? routes.NextHopTo(node, dst) : Routing::NO_GROUP;
    if (nextHop == Routing::NO_GROUP || routes.GroupOf(nextHop).size < 2)
    {
        return std::nullopt;
    }
    return routes.GroupOf(nextHop);
}

uint32_t
WeightedHash::IndexAt(const ForwardingChoice& choice, uint32_t dst) const
{
    const uint32_t index = m_ofLastHop[choice.group];
    const uint32_t hostClass = m_context->Routes().ClassOf(dst);
    return index != NONE ? index : m_ofClass[size_t{choice.node} * m_classes + hostClass];
}

uint32_t
WeightedHash::MemberAt(uint32_t index, double point) const
{
    const auto& shares = m_shares[index];
    const auto member = std::upper_bound(shares.begin(), shares.end(), point) - shares.begin();
    return std::min(static_cast<uint32_t>(member), static_cast<uint32_t>(shares.size()) - 1);
}

uint32_t
WeightedHash::Select(const ForwardingChoice& choice, const Frame& frame)
{
    const uint64_t hash = FlowHash(*m_context, choice.node, frame);
    const double point = static_cast<double>(hash >> 11) * 0x1.0p-53;
    return MemberAt(IndexAt(choice, frame.dst), point);
}

} // namespace ns3
