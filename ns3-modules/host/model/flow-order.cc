// SPDX-License-Identifier: GPL-2.0-only

#include "flow-order.h"

namespace ns3
{
namespace fabric
{

void
FlowOrder::PushRarely(uint32_t flow, uint64_t key)
{
    if (m_by == By::ROUND_ROBIN)
    {
        m_after.resize(flow, ABSENT);
        Push(flow, key);
        return;
    }
    if (flow >= m_keys.size())
    {
        m_keys.resize(flow + 1, NO_KEY);
    }
    if (m_keys[flow] == key)
    {
        return;
    }
    if (m_keys[flow] != NO_KEY)
    {
        m_sorted.erase({m_keys[flow], flow});
    }
    m_keys[flow] = key;
    m_sorted.emplace(key, flow);
}

} // namespace fabric
} // namespace ns3
