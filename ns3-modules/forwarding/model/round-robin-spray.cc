// SPDX-License-Identifier: GPL-2.0-only

#include "round-robin-spray.h"

#include "ns3/log.h"
#include "ns3/spray-cursors.h"

#include <numeric>
#include <utility>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("RoundRobinSpray");
NS_OBJECT_ENSURE_REGISTERED(RoundRobinSpray);

TypeId
RoundRobinSpray::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RoundRobinSpray")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<RoundRobinSpray>();
    return tid;
}

void
RoundRobinSpray::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    m_draws = SprayCursors(context);
    OnRoutesChanged();
}

void
RoundRobinSpray::OnRoutesChanged()
{
    NS_LOG_FUNCTION(this);
    m_rounds.assign(size_t{m_context->Routes().NumGroups()} * MAX_CLASSES, {});
}

uint32_t
RoundRobinSpray::Select(const ForwardingChoice& choice, const Frame& frame)
{
    Round& round = m_rounds[size_t{choice.group} * MAX_CLASSES + frame.priority];
    if (round.next == round.order.size())
    {
        RandomCursor& draws = m_draws[choice.node];
        round.order.resize(choice.n);
        std::iota(round.order.begin(), round.order.end(), 0);
        for (uint32_t i = choice.n - 1; i > 0; i--)
        {
            std::swap(round.order[i], round.order[draws.Below(i + 1)]);
        }
        round.next = 0;
    }
    return round.order[round.next++];
}

} // namespace ns3
