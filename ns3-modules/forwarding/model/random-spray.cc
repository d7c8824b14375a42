// SPDX-License-Identifier: GPL-2.0-only

#include "random-spray.h"

#include "ns3/log.h"
#include "ns3/spray-cursors.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("RandomSpray");
NS_OBJECT_ENSURE_REGISTERED(RandomSpray);

TypeId
RandomSpray::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RandomSpray")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<RandomSpray>();
    return tid;
}

void
RandomSpray::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_draws = SprayCursors(context);
}

uint32_t
RandomSpray::Select(const ForwardingChoice& choice, const Frame&)
{
    return m_draws[choice.node].Below(choice.n);
}

} // namespace ns3
