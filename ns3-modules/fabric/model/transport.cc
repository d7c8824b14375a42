// SPDX-License-Identifier: GPL-2.0-only

#include "transport.h"

#include "fabric.h"

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(Transport);

TypeId
Transport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricTransport").SetParent<Object>().SetGroupName("Fabric");
    return tid;
}

Datagram
Transport::Describe(const Frame&) const
{
    return {};
}

void
Transport::Attach(Fabric* fabric, uint32_t endpoint, uint32_t host)
{
    m_fabric = fabric;
    m_endpoint = endpoint;
    m_host = host;
}

void
Transport::SetTimer(uint64_t atPs, uint32_t token)
{
    m_fabric->SetTimer(m_endpoint, atPs, token);
}

void
Transport::SendControl(FrameId frame, PortId port)
{
    m_fabric->Frames()[frame].hops = 0; // it may have been the frame that it answers
    m_fabric->Enqueue(port, frame);
}

void
Transport::Kick()
{
    m_fabric->Kick(m_host);
}

} // namespace fabric
} // namespace ns3
