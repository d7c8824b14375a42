// SPDX-License-Identifier: GPL-2.0-only

// Rates and paths of messages that change, by the tables or by a controller between two instants.

#include "domains.h"

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
    const uint32_t endpoint = m_messages[message].srcEndpoint;
    NS_ABORT_MSG_IF(m_messages[message].bytes > 0 && endpoint < m_endpoints.size() &&
                        !m_endpoints[endpoint].transport->MayReadmit(),
                    "rate_changes: flow "
                        << m_messages[message].id << ": "
                        << m_endpoints[endpoint].transport->GetInstanceTypeId().GetName()
                        << " keeps the rate with which a message has begun, so no control of its"
                           " workload can change it. Leave control out, or take another transport");
}

void
Fabric::ChangeRate(const RateChangeRow& row)
{
    const std::string name = "rate_changes: flow " + std::to_string(row.flow);
    const auto message = m_messages.Find(row.flow);
    NS_ABORT_MSG_IF(!message, name << ": there is no such flow");
    NS_ABORT_MSG_IF(row.timePs < static_cast<int64_t>(NowPs()),
                    name << ": " << row.timePs << " ps is over, it is " << NowPs() << " ps");
    NS_ABORT_MSG_IF(row.rateBps <= 0, name << ": rate_bps is " << row.rateBps << ", not > 0");
    NS_ABORT_MSG_IF(m_skip || m_memory,
                    name << ": a controller needs all of a run; leave out engine.skip and "
                            "engine.remember");
    if (IsOwnNode(m_network.hosts[m_messages[*message].src].node))
    {
        CheckRateChange(*message);
        m_messages.AddRateChange(row, m_nowPs);
    }
}

void
Fabric::ChangeRoute(const RouteRow& row)
{
    const std::string name = "routes: flow " + std::to_string(row.flow);
    const auto message = m_messages.Find(row.flow);
    NS_ABORT_MSG_IF(!message, name << ": there is no such flow");
    NS_ABORT_MSG_IF(row.fromPs < static_cast<int64_t>(NowPs()),
                    name << ": " << row.fromPs << " ps is over, it is " << NowPs() << " ps");
    const PortId port = m_network.FindPort(row.node, row.peer, row.parallel);
    NS_ABORT_MSG_IF(port == NO_PORT || !m_network.nodes[m_ports[port].node].isSwitch,
                    name << ": there is no link from a switch " << row.node << " to node "
                         << row.peer << " (parallel " << row.parallel << ")");
    m_routes.Schedule(*message, row, m_ports[port].node, port, m_queue, m_nowPs);
}

// ---- of all domains

void
Domains::ChangeRate(const RateChangeRow& row)
{
    for (const auto& part : m_parts)
    {
        part->ChangeRate(row);
    }
    LookAhead();
}

void
Domains::ChangeRoute(const RouteRow& row)
{
    for (const auto& part : m_parts)
    {
        part->ChangeRoute(row);
    }
    LookAhead();
}

/// Learn when something happens next in each domain; nothing is on its way between them.
void
Domains::LookAhead()
{
    for (uint32_t i = 0; i < m_parts.size(); i++)
    {
        m_reports[i].nextPs = m_parts[i]->NextPs();
    }
}

} // namespace fabric
} // namespace ns3
