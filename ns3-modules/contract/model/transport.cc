// SPDX-License-Identifier: GPL-2.0-only

#include "transport.h"

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(Transport);

TypeId
Transport::GetTypeId()
{
    static TypeId tid = TypeId("ns3::fabric::Transport").SetParent<Plugin>().SetGroupName("Fabric");
    return tid;
}

void
Transport::Attach(const HostContext& host)
{
    m_host.emplace(host);
    DoAttach();
}

void
Transport::DoAttach()
{
}

void
Transport::Readmit(uint32_t)
{
}

std::optional<uint8_t>
Transport::Urgency(PortId) const
{
    return GetTraits().dataPriority;
}

bool
Transport::MayRepeat(uint32_t) const
{
    return false;
}

MessageProgress
Transport::ProgressOf(uint32_t)
{
    return {};
}

void
Transport::Shorten(uint32_t, uint32_t)
{
}

Datagram
Transport::Describe(const Frame&) const
{
    return {};
}

} // namespace fabric
} // namespace ns3
