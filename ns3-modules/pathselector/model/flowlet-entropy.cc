// SPDX-License-Identifier: GPL-2.0-only

#include "flowlet-entropy.h"

#include "ns3/log.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("FlowletEntropy");
NS_OBJECT_ENSURE_REGISTERED(FlowletEntropy);

TypeId
FlowletEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FlowletEntropy")
                            .SetParent<PathSelector>()
                            .SetGroupName("PathSelector")
                            .AddConstructor<FlowletEntropy>()
                            .AddAttribute("Gap",
                                          "Silence after which a flow takes another entropy",
                                          TimeValue(MicroSeconds(100)),
                                          MakeTimeAccessor(&FlowletEntropy::m_gap),
                                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

void
FlowletEntropy::Attach(HostContext& host)
{
    PathSelector::Attach(host);
    m_gapPs = static_cast<uint64_t>(m_gap.GetPicoSeconds());
}

void
FlowletEntropy::Open(uint32_t slot, uint32_t message)
{
    NS_LOG_FUNCTION(this << slot << message);
    RandomCursor draws = DrawsOf(message);
    const auto entropy = static_cast<uint16_t>(draws.Bits());
    m_flows.Open(slot, FlowletFlow{draws, entropy, Host().NowPs()});
}

uint16_t
FlowletEntropy::Next(uint32_t slot, PortId)
{
    FlowletFlow& flow = m_flows[slot];
    if (Host().NowPs() - flow.lastPs > m_gapPs)
    {
        flow.entropy = static_cast<uint16_t>(flow.draws.Bits());
    }
    flow.lastPs = Host().NowPs();
    return flow.entropy;
}

} // namespace ns3
