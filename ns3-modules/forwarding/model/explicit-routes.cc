// SPDX-License-Identifier: GPL-2.0-only

#include "explicit-routes.h"

#include "ns3/log.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("ExplicitRoutes");
NS_OBJECT_ENSURE_REGISTERED(ExplicitRoutes);

TypeId
ExplicitRoutes::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ExplicitRoutes")
                            .SetParent<EcmpHash>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<ExplicitRoutes>();
    return tid;
}

void
ExplicitRoutes::Attach(SwitchView& view)
{
    NS_LOG_FUNCTION(this);
    EcmpHash::Attach(view);
    m_view = &view;
}

bool
ExplicitRoutes::HasOwnRoutes() const
{
    return true;
}

PortId
ExplicitRoutes::Route(uint32_t node, const Frame& frame)
{
    return m_view->ListedRoute(frame.message, frame.flags & frame_flag::REVERSE, node);
}

} // namespace ns3
