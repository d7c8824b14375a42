// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "ns3/assert.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

void
Fabric::BuildDependencies()
{
    std::unordered_map<int64_t, uint32_t> indexOf;
    for (uint32_t message = 0; message < m_messages.size(); message++)
    {
        indexOf[m_messages[message].id] = message;
    }
    for (const auto& row : m_tables.dependencies)
    {
        Followers& followers = m_followers[indexOf[row.after]];
        (row.atSender ? followers.ofSender : followers.ofReceiver).push_back(indexOf[row.flow]);
        m_waitsFor[indexOf[row.flow]]++;
    }
}

void
Fabric::StartMessage(uint32_t message)
{
    m_endpoints[m_messages[message].srcEndpoint].transport->StartMessage(message);
}

void
Fabric::MessageDelivered(uint32_t message)
{
    m_messages[message].receiverEndPs = static_cast<int64_t>(m_nowPs);
    if (const auto followers = m_followers.find(message); followers != m_followers.end())
    {
        Release(followers->second.ofReceiver);
    }
}

void
Fabric::MessageAcknowledged(uint32_t message)
{
    NS_ASSERT_MSG(m_messages[message].receiverEndPs >= 0,
                  "a message is acknowledged only after it is delivered");
    m_messages[message].senderEndPs = static_cast<int64_t>(m_nowPs);
    m_flowsDone++;
    if (const auto followers = m_followers.find(message); followers != m_followers.end())
    {
        Release(followers->second.ofSender);
    }
}

/// One dependency of each of these messages is fulfilled; start those for which it was the last.
void
Fabric::Release(const std::vector<uint32_t>& messages)
{
    for (const uint32_t message : messages)
    {
        if (--m_waitsFor[message] == 0)
        {
            uint64_t& startPs = m_messages[message].startPs;
            startPs = std::max(startPs, m_nowPs);
            m_queue.Push(m_nowPs,
                         {startPs, EventTarget(EventType::CONTROL, CONTROL_MESSAGE), message});
        }
    }
}

} // namespace fabric
} // namespace ns3
