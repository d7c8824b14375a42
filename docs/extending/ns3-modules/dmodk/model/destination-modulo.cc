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
DestinationModulo::Attach(SwitchContext&)
{
}

uint32_t
DestinationModulo::Select(const ForwardingChoice& choice, const Frame& frame)
{
    return frame.dst % choice.n;
}

} // namespace ns3
