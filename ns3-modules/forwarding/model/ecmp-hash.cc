// SPDX-License-Identifier: GPL-2.0-only

#include "ecmp-hash.h"

#include "ns3/flow-hash.h"
#include "ns3/log.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("EcmpHash");
NS_OBJECT_ENSURE_REGISTERED(EcmpHash);

TypeId
EcmpHash::GetTypeId()
{
    static TypeId tid = TypeId("ns3::EcmpHash")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<EcmpHash>();
    return tid;
}

void
EcmpHash::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
}

uint32_t
EcmpHash::Select(const ForwardingChoice& choice, const Frame& frame)
{
    return static_cast<uint32_t>(((FlowHash(*m_context, choice.node, frame) >> 32) * choice.n) >>
                                 32);
}

} // namespace ns3
