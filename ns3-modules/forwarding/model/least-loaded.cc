// SPDX-License-Identifier: GPL-2.0-only

#include "least-loaded.h"

#include "spray-cursors.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("LeastLoaded");
NS_OBJECT_ENSURE_REGISTERED(LeastLoaded);

TypeId
LeastLoaded::GetTypeId()
{
    static TypeId tid = TypeId("ns3::LeastLoaded")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<LeastLoaded>()
                            .AddAttribute("Choices",
                                          "Random members to compare [1], 0 = all members",
                                          UintegerValue(2),
                                          MakeUintegerAccessor(&LeastLoaded::m_choices),
                                          MakeUintegerChecker<uint32_t>(0, 256));
    return tid;
}

void
LeastLoaded::Attach(SwitchView& view)
{
    NS_LOG_FUNCTION(this);
    m_view = &view;
    m_draws = SprayCursors(view);
}

uint32_t
LeastLoaded::Select(const ForwardingChoice& choice, const Frame&)
{
    const auto loadBytes = [&](uint32_t member) {
        const Port& port = m_view->GetPort(choice.members[member]);
        return port.queuedBytes + (port.current == NO_FRAME ? 0U : port.currentBytes);
    };
    RandomCursor& draws = m_draws[choice.node];
    // All members: start at a random one, so that ties are spread.
    const bool all = m_choices == 0 || m_choices >= choice.n;
    uint32_t best = draws.Below(choice.n);
    const uint32_t first = best;
    for (uint32_t i = 1; i < (all ? choice.n : m_choices); i++)
    {
        const uint32_t other = all ? (first + i) % choice.n : draws.Below(choice.n);
        if (loadBytes(other) < loadBytes(best))
        {
            best = other;
        }
    }
    return best;
}

ForwardingPolicy::Sees
LeastLoaded::LooksAt() const
{
    return Sees::QUEUES;
}

bool
LeastLoaded::KeepsFlowOnOnePath() const
{
    return false;
}

} // namespace ns3
