// SPDX-License-Identifier: GPL-2.0-only

#include "weighted-spray.h"

#include "ns3/log.h"
#include "ns3/spray-cursors.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("WeightedSpray");
NS_OBJECT_ENSURE_REGISTERED(WeightedSpray);

namespace
{

constexpr uint64_t GOLDEN = 0x9e3779b97f4a7c15; ///< (sqrt(5) - 1) / 2, in units of 2^-64

} // namespace

TypeId
WeightedSpray::GetTypeId()
{
    static TypeId tid = TypeId("ns3::WeightedSpray")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<WeightedSpray>();
    return tid;
}

void
WeightedSpray::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_draws = SprayCursors(context);
    WeightedHash::Attach(context);
}

void
WeightedSpray::OnRoutesChanged()
{
    NS_LOG_FUNCTION(this);
    WeightedHash::OnRoutesChanged();
    m_turn.clear();
    for (uint32_t node = 0; node < View().NumNodes(); node++)
    {
        for (uint32_t index = 0; index < NumShares(); index++)
        {
            m_turn.push_back(uint64_t{m_draws[node].Below(1U << 31)} << 33);
        }
    }
}

double
WeightedSpray::WeightBps(PortId member, uint32_t dst) const
{
    return View().FreeBps(member, dst);
}

uint32_t
WeightedSpray::Select(const ForwardingChoice& choice, const Frame& frame)
{
    const uint32_t index = IndexAt(choice, frame.dst);
    uint64_t& turn = m_turn[size_t{choice.node} * NumShares() + index];
    turn += GOLDEN;
    return MemberAt(index, static_cast<double>(turn >> 11) * 0x1.0p-53);
}

} // namespace ns3
