// SPDX-License-Identifier: GPL-2.0-only

#include "explicit-routes.h"

#include "ns3/abort.h"
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
                            .SetParent<ForwardingPolicy>()
                            .SetGroupName("Forwarding")
                            .AddConstructor<ExplicitRoutes>()
                            .AddAttribute("DefaultPolicy",
                                          "Policy for flows that have no route of their own",
                                          TypeChoiceValue(TypeChoice("ns3::EcmpHash")),
                                          MakeTypeChoiceAccessor(&ExplicitRoutes::m_othersType),
                                          MakeTypeChoiceChecker<ForwardingPolicy>());
    return tid;
}

void
ExplicitRoutes::Check() const
{
    const auto others = m_othersType.Create<ForwardingPolicy>(Name("DefaultPolicy"));
    NS_ABORT_MSG_IF(others->GetTraits().hasOwnRoutes,
                    Name("DefaultPolicy") << " cannot be ns3::ExplicitRoutes itself");
}

void
ExplicitRoutes::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    DefaultPolicy().Attach(context);
}

ForwardingPolicy&
ExplicitRoutes::DefaultPolicy() const
{
    if (!m_others)
    {
        m_others = m_othersType.Create<ForwardingPolicy>(Name("DefaultPolicy"));
    }
    return *m_others;
}

void
ExplicitRoutes::DoDispose()
{
    m_others = nullptr;
    ForwardingPolicy::DoDispose();
}

void
ExplicitRoutes::OnRoutesChanged()
{
    m_others->OnRoutesChanged();
}

uint32_t
ExplicitRoutes::Select(const ForwardingChoice& choice, const Frame& frame)
{
    return m_others->Select(choice, frame);
}

PortId
ExplicitRoutes::Route(uint32_t node, const Frame& frame)
{
    return m_context->ListedRoute(frame.message, frame.flags & frame_flag::REVERSE, node);
}

} // namespace ns3
