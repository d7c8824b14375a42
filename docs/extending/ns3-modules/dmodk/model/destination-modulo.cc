// SPDX-License-Identifier: GPL-2.0-only

#include "destination-modulo.h"

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(DestinationModulo);

TypeId
DestinationModulo::GetTypeId()
{
    static TypeId tid = TypeId("ns3::DestinationModulo")
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Dmodk")
                            .AddConstructor<DestinationModulo>();
    return tid;
}

void
DestinationModulo::Attach(Fabric&)
{
}

uint32_t
DestinationModulo::Select(uint32_t, uint32_t, const Frame& frame, const PortId*, uint32_t n)
{
    return frame.dst % n;
}

bool
DestinationModulo::KeepsFlowOnOnePath() const
{
    return true;
}

} // namespace ns3
