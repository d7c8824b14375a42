// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-channel.h"

#include "ns3/abort.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricChannel);

TypeId
FabricChannel::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricChannel")
                            .SetParent<Channel>()
                            .SetGroupName("NetDevice")
                            .AddConstructor<FabricChannel>();
    return tid;
}

void
FabricChannel::DoDispose()
{
    m_devices.clear();
    Channel::DoDispose();
}

std::size_t
FabricChannel::GetNDevices() const
{
    return m_devices.size();
}

Ptr<NetDevice>
FabricChannel::GetDevice(std::size_t i) const
{
    return m_devices.at(i);
}

void
FabricChannel::Add(Ptr<NetDevice> device, uint32_t host)
{
    const auto address = Mac48Address::ConvertFrom(device->GetAddress());
    NS_ABORT_MSG_IF(m_hostOf.contains(address), "two devices of a fabric have address " << address);
    m_devices.push_back(device);
    m_hosts.push_back(host);
    m_hostOf[address] = host;
}

void
FabricChannel::Move(const Mac48Address& from, const Mac48Address& to)
{
    auto entry = m_hostOf.extract(from);
    if (!entry.empty())
    {
        entry.key() = to;
        NS_ABORT_MSG_IF(!m_hostOf.insert(std::move(entry)).inserted,
                        "two devices of a fabric have address " << to);
    }
}

std::optional<uint32_t>
FabricChannel::HostOf(const Mac48Address& address) const
{
    const auto found = m_hostOf.find(address);
    return found == m_hostOf.end() ? std::nullopt : std::optional(found->second);
}

std::vector<uint32_t>
FabricChannel::HostsBut(uint32_t host) const
{
    std::vector<uint32_t> others;
    for (const uint32_t other : m_hosts)
    {
        if (other != host)
        {
            others.push_back(other);
        }
    }
    return others;
}

} // namespace ns3
