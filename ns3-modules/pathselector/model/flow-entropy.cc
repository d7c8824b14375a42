// SPDX-License-Identifier: GPL-2.0-only

#include "flow-entropy.h"

#include "ns3/log.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("FlowEntropy");
NS_OBJECT_ENSURE_REGISTERED(FlowEntropy);

TypeId
FlowEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FlowEntropy")
                            .SetParent<PathSelector>()
                            .SetGroupName("PathSelector")
                            .AddConstructor<FlowEntropy>();
    return tid;
}

void
FlowEntropy::Open(uint32_t slot, uint32_t message)
{
    NS_LOG_FUNCTION(this << slot << message);
    m_flows.Open(slot, *Constant(message));
}

uint16_t
FlowEntropy::Next(uint32_t slot, PortId)
{
    return m_flows[slot];
}

std::optional<uint16_t>
FlowEntropy::Constant(uint32_t message) const
{
    return Host().GetMessage(message).entropy;
}

} // namespace ns3
