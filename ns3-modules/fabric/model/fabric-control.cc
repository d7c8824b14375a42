// SPDX-License-Identifier: GPL-2.0-only

// Rates and paths of messages that change, by the tables or by a controller between two instants.

#include "fabric.h"

#include "ns3/abort.h"

namespace ns3
{
namespace fabric
{

/// A rate may change only where the transport asks for it again.
void
Fabric::CheckRateChanges(const FabricTables& tables) const
{
    for (const auto& row : tables.rateChanges)
    {
        CheckRateChange(*PlaceOf(tables.flows, row.flow));
    }
}

void
Fabric::CheckRateChange(uint32_t message) const
{
    const uint32_t endpoint = m_state.messages[message].srcEndpoint;
    NS_ABORT_MSG_IF(m_state.messages[message].bytes > 0 && endpoint < m_endpoints.size() &&
                        !m_endpoints[endpoint].transport->MayReadmit(),
                    "rate_changes: flow "
                        << m_state.messages[message].id << ": "
                        << m_endpoints[endpoint].transport->GetInstanceTypeId().GetName()
                        << " keeps the rate with which a message has begun, so no control of its"
                           " workload can change it. Leave control out, or take another transport");
}

void
Fabric::ChangeRate(const RateChangeRow& row)
{
    const std::string name = "rate_changes: flow " + std::to_string(row.flow);
    const auto message = m_state.messages.Find(row.flow);
    NS_ABORT_MSG_IF(!message, name << ": there is no such flow");
    NS_ABORT_MSG_IF(row.timePs < static_cast<int64_t>(NowPs()),
                    name << ": " << row.timePs << " ps is over, it is " << NowPs() << " ps");
    NS_ABORT_MSG_IF(row.rateBps <= 0, name << ": rate_bps is " << row.rateBps << ", not > 0");
    if (IsOwnNode(m_state.network.hosts[m_state.messages[*message].src].node))
    {
        CheckRateChange(*message);
        m_state.messages.AddRateChange(row, m_state.nowPs);
    }
}

void
Fabric::ChangeRoute(const RouteRow& row)
{
    const std::string name = "routes: flow " + std::to_string(row.flow);
    const auto message = m_state.messages.Find(row.flow);
    NS_ABORT_MSG_IF(!message, name << ": there is no such flow");
    NS_ABORT_MSG_IF(row.fromPs < static_cast<int64_t>(NowPs()),
                    name << ": " << row.fromPs << " ps is over, it is " << NowPs() << " ps");
    const PortId port = m_state.network.FindPort(row.node, row.peer, row.parallel);
    NS_ABORT_MSG_IF(port == NO_PORT || !m_state.network.nodes[m_ports[port].node].isSwitch,
                    name << ": there is no link from a switch " << row.node << " to node "
                         << row.peer << " (parallel " << row.parallel << ")");
    m_state.routes.Schedule(*message, row, m_ports[port].node, port, m_state.queue, m_state.nowPs);
}

} // namespace fabric
} // namespace ns3
