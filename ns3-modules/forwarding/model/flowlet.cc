// SPDX-License-Identifier: GPL-2.0-only

#include "flowlet.h"

#include "ns3/log.h"
#include "ns3/spray-cursors.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("Flowlet");
NS_OBJECT_ENSURE_REGISTERED(Flowlet);

TypeId
Flowlet::GetTypeId()
{
    static TypeId tid = TypeId("ns3::Flowlet")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<Flowlet>()
                            .AddAttribute("Gap",
                                          "Silence after which a flow may take another path",
                                          TimeValue(MicroSeconds(100)),
                                          MakeTimeAccessor(&Flowlet::m_gap),
                                          MakeTimeChecker(NanoSeconds(1)))
                            .AddAttribute("Entries",
                                          "Entries in the table of each switch [1]",
                                          UintegerValue(8192),
                                          MakeUintegerAccessor(&Flowlet::m_entries),
                                          MakeUintegerChecker<uint32_t>(1, 1U << 24));
    return tid;
}

void
Flowlet::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_gapPs = static_cast<uint64_t>(m_gap.GetPicoSeconds());
    m_context = &context;
    m_table.Attach(context, m_entries);
    m_draws = SprayCursors(context);
}

uint32_t
Flowlet::Select(const ForwardingChoice& choice, const Frame& frame)
{
    FlowletTable::Last& last = m_table.Of(choice.node, frame);
    const uint64_t nowPs = m_context->NowPs();
    const bool wasSilent = nowPs - last.timePs > m_gapPs;
    const PortId* end = choice.members + choice.n;
    if (last.member >= choice.n || choice.members[last.member] != last.port)
    {
        // a new flow, or new routes
        last.member =
            static_cast<uint32_t>(std::find(choice.members, end, last.port) - choice.members);
    }
    if (wasSilent || last.member == choice.n)
    {
        last.member = m_draws[choice.node].Below(choice.n);
        last.port = choice.members[last.member];
    }
    last.timePs = nowPs;
    return last.member;
}

} // namespace ns3
