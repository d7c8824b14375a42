// SPDX-License-Identifier: GPL-2.0-only

#include "permutation-switch.h"

#include "message-header.h"

namespace ns3
{

PermutationSwitch::PermutationSwitch(int64_t stream)
    : m_random(CreateObject<UniformRandomVariable>())
{
    m_random->SetStream(stream);
}

void
PermutationSwitch::AddHosts(Ptr<NetDevice> device, uint32_t first, uint32_t count)
{
    if (m_downlink.size() < first + count)
    {
        m_downlink.resize(first + count);
    }
    for (uint32_t host = first; host < first + count; host++)
    {
        m_downlink[host] = device;
    }
    Listen(device);
}

void
PermutationSwitch::AddUplink(Ptr<NetDevice> device)
{
    m_uplinks.push_back(device);
    Listen(device);
}

void
PermutationSwitch::Listen(Ptr<NetDevice> device)
{
    device->SetReceiveCallback(MakeCallback(&PermutationSwitch::Receive, this));
}

bool
PermutationSwitch::Receive(Ptr<NetDevice> device,
                           Ptr<const Packet> packet,
                           uint16_t protocol,
                           const Address& from)
{
    MessageHeader header;
    packet->PeekHeader(header);
    Ptr<NetDevice> out;
    if (header.destination < m_downlink.size())
    {
        out = m_downlink[header.destination];
    }
    if (!out)
    {
        out = m_uplinks[m_random->GetInteger(0, m_uplinks.size() - 1)];
    }
    // Each hop adds and removes its own PPP header, so the packet is copied (its bytes are not).
    return out->Send(packet->Copy(), out->GetBroadcast(), protocol);
}

} // namespace ns3
