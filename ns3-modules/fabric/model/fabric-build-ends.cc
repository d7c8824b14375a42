// SPDX-License-Identifier: GPL-2.0-only

// The ends of messages.

#include "fabric.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

// ---- hosts ------------------------------------------------------------------------------------

uint32_t
Fabric::EndpointOf(uint32_t host, uint32_t transport) const
{
    const HostState& state = m_state.network.hosts[host];
    for (uint32_t i = state.firstEndpoint; i < state.firstEndpoint + state.endpoints; i++)
    {
        if (m_transportOfEndpoint[i] == transport)
        {
            return i;
        }
    }
    return NO_ENDPOINT;
}

void
Fabric::BuildEndpoints()
{
    const size_t transports = m_options.transports.size();
    std::vector<std::vector<bool>> uses(m_state.network.hosts.size(),
                                        std::vector<bool>(transports));
    for (uint32_t i = 0; i < m_state.messages.Size(); i++)
    {
        const Message& message = m_state.messages[i];
        NS_ABORT_MSG_IF(message.transport >= transports,
                        "flows: flow " << message.id << ": transport is "
                                       << static_cast<int32_t>(message.transport)
                                       << ", but there are " << transports
                                       << " transports, counted from 0");
        if (message.bytes != 0)
        {
            uses[message.src][message.transport] = true;
            uses[message.dst][message.transport] = true;
        }
    }
    std::vector<std::pair<int, uint32_t>> order; // (-priority, index) of each transport
    std::vector<bool> acknowledged;
    m_goesOn = m_mail.size() > 1; // there are others
    for (uint32_t transport = 0; transport < transports; transport++)
    {
        const auto sample = MakePlugin<Transport>(m_options.transports[transport]);
        order.emplace_back(-int{sample->DataPriority()}, transport);
        m_wires.push_back(sample->Wire());
        m_goesOn |= sample->IsOpen();
        acknowledged.push_back(sample->IsAcknowledged());
        for (auto& host : uses)
        {
            host[transport] = host[transport] || sample->IsOpen();
        }
    }
    std::sort(order.begin(), order.end());
    for (const auto& [priority, transport] : order)
    {
        m_transportOrder.push_back(transport);
    }
    for (uint32_t host = 0; host < m_state.network.hosts.size(); host++)
    {
        BuildEndpointsOf(host, uses[host]);
    }
    BuildMessages();
    m_state.messages.BuildShare(std::move(acknowledged));
}

/// Endpoints of a host are contiguous, the most urgent first.
void
Fabric::BuildEndpointsOf(uint32_t host, const std::vector<bool>& uses)
{
    HostState& state = m_state.network.hosts[host];
    state.firstEndpoint = static_cast<uint32_t>(m_endpoints.size());
    for (const uint32_t transport : m_transportOrder)
    {
        if (!uses[transport] || !IsOwnNode(state.node))
        {
            continue;
        }
        const auto object = m_options.transports[transport].Create<Transport>();
        m_plugins.push_back(object);
        const auto endpoint = static_cast<uint32_t>(m_endpoints.size());
        m_endpoints.push_back({PeekPointer(object), object->DataPriority()});
        m_hostOfEndpoint.push_back(host);
        m_transportOfEndpoint.push_back(transport);
        state.endpoints++;
        state.variesUrgency |= object->VariesUrgency();
        object->Attach(HostPort(m_state, *this, endpoint, host));
    }
}

void
Fabric::BuildMessages()
{
    for (uint32_t i = 0; i < m_state.messages.Size(); i++)
    {
        Message& message = m_state.messages[i];
        if (message.bytes == 0)
        {
            continue;
        }
        message.srcEndpoint = EndpointOf(message.src, message.transport);
        message.dstEndpoint = EndpointOf(message.dst, message.transport);
    }
}

/// Every flow needs a port that leads to its destination; find out whether all its ports do.
void
Fabric::BuildReach()
{
    const auto nodeId = [this](uint32_t host) {
        return m_state.network.nodes[m_state.network.hosts[host].node].id;
    };
    for (uint32_t i = 0; i < m_state.messages.Size(); i++)
    {
        const Message& message = m_state.messages[i];
        if (message.bytes == 0)
        {
            continue;
        }
        for (const auto& [src, dst] : {std::pair{message.src, message.dst},
                                      std::pair{message.dst, message.src}})
        {
            const size_t nearest = m_state.routes.NearestPorts(src, dst).size();
            NS_ABORT_MSG_IF(nearest == 0,
                            "flows: flow " << message.id << ": no path from host " << nodeId(src)
                                           << " to host " << nodeId(dst)
                                           << "; the links do not connect them");
            m_state.reachDiffers |= nearest != m_state.network.hosts[src].ports;
        }
    }
}

} // namespace fabric
} // namespace ns3
