// SPDX-License-Identifier: GPL-2.0-only

#include "flow-order.h"

namespace ns3
{
namespace fabric
{

void
FlowOrder::PushRarely(uint32_t flow, uint64_t key)
{
    if (!m_sorted)
    {
        m_after.resize(flow, ABSENT);
        Push(flow, key);
        return;
    }
    auto& [places, keys] = *m_sorted;
    if (flow >= keys.size())
    {
        keys.resize(flow + 1, NO_KEY);
    }
    if (keys[flow] == key)
    {
        return;
    }
    if (keys[flow] != NO_KEY)
    {
        places.erase({keys[flow], flow});
    }
    keys[flow] = key;
    places.emplace(key, flow);
}

} // namespace fabric
} // namespace ns3
