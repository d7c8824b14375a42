// SPDX-License-Identifier: GPL-2.0-only

#include "flow-hash.h"

#include "ns3/log.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("FlowHash");

void
FlowHash::Attach(SwitchView& view)
{
    NS_LOG_FUNCTION(this);
    m_view = &view;
    m_salts.clear();
    for (uint32_t node = 0; node < view.NumNodes(); node++)
    {
        m_salts.push_back(view.GetNode(node).salt);
    }
}

void
FlowHash::LearnTuples(uint32_t message)
{
    for (auto next = static_cast<uint32_t>(m_tuples.size()); next <= message; next++)
    {
        m_tuples.push_back(m_view->TupleOf(next));
    }
}

} // namespace ns3
