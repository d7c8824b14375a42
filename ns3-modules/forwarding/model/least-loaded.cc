// SPDX-License-Identifier: GPL-2.0-only

#include "least-loaded.h"

#include "ns3/log.h"
#include "ns3/spray-cursors.h"
#include "ns3/uinteger.h"

#include <algorithm>

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
                                          MakeUintegerChecker<uint32_t>(0, 256))
                            .AddAttribute("Memory",
                                          "Members that are remembered and looked at again [1]; "
                                          "DRILL(d, m) is Choices = d, Memory = m",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&LeastLoaded::m_memory),
                                          MakeUintegerChecker<uint32_t>(0, 256));
    return tid;
}

void
LeastLoaded::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    m_draws = SprayCursors(context);
    OnRoutesChanged();
}

void
LeastLoaded::OnRoutesChanged()
{
    m_best.assign(m_memory == 0 ? 0 : m_context->Routes().NumGroups(), {});
}

uint64_t
LeastLoaded::LoadBytes(PortId id) const
{
    const Port& port = m_context->GetPort(id);
    return port.queuedBytes + (port.current == NO_FRAME ? 0U : port.currentBytes);
}

uint32_t
LeastLoaded::SelectWithMemory(const ForwardingChoice& choice)
{
    auto& best = m_best[choice.group];
    std::vector<uint32_t> seen;
    const auto see = [&seen](uint32_t member) {
        if (std::find(seen.begin(), seen.end(), member) == seen.end())
        {
            seen.push_back(member);
        }
    };
    for (uint32_t i = 0; i < m_choices; i++)
    {
        see(m_draws[choice.node].Below(choice.n));
    }
    std::for_each(best.begin(), best.end(), see);
    std::stable_sort(seen.begin(), seen.end(), [&](uint32_t a, uint32_t b) {
        return LoadBytes(choice.members[a]) < LoadBytes(choice.members[b]);
    });
    seen.resize(std::min<size_t>(seen.size(), m_memory));
    best = std::move(seen);
    return best.front();
}

uint32_t
LeastLoaded::Select(const ForwardingChoice& choice, const Frame&)
{
    const auto loadBytes = [&](uint32_t member) { return LoadBytes(choice.members[member]); };
    RandomCursor& draws = m_draws[choice.node];
    // All members: start at a random one, so that ties are spread.
    const bool all = m_choices == 0 || m_choices >= choice.n;
    if (m_memory > 0 && !all)
    {
        return SelectWithMemory(choice);
    }
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

} // namespace ns3
