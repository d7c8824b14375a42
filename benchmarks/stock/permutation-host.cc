// SPDX-License-Identifier: GPL-2.0-only

#include "permutation-host.h"

#include "message-header.h"
#include "permutation-switch.h"

namespace ns3
{

PermutationHost::PermutationHost(Ptr<NetDevice> device,
                                 uint32_t self,
                                 uint32_t peer,
                                 const Message& message)
    : m_device(device),
      m_self(self),
      m_peer(peer),
      m_message(message)
{
    m_device->SetReceiveCallback(MakeCallback(&PermutationHost::Receive, this));
}

void
PermutationHost::Start()
{
    for (uint32_t i = 0; i < m_message.window; i++)
    {
        SendNext();
    }
}

uint32_t
PermutationHost::GetReceived() const
{
    return m_received;
}

uint32_t
PermutationHost::GetAcked() const
{
    return m_acked;
}

bool
PermutationHost::Receive(Ptr<NetDevice> device,
                         Ptr<const Packet> packet,
                         uint16_t protocol,
                         const Address& from)
{
    MessageHeader header;
    packet->PeekHeader(header);
    if (header.isAck)
    {
        m_acked++;
        SendNext();
        return true;
    }
    m_received++;
    MessageHeader reply;
    reply.source = m_self;
    reply.destination = header.source;
    reply.number = header.number;
    reply.isAck = true;
    auto ack = Create<Packet>(MessageHeader::PADDING_BYTES);
    ack->AddHeader(reply);
    m_device->Send(ack, m_device->GetBroadcast(), PermutationSwitch::PROTOCOL);
    return true;
}

void
PermutationHost::SendNext()
{
    if (m_sent == m_message.packets)
    {
        return;
    }
    MessageHeader header;
    header.source = m_self;
    header.destination = m_peer;
    header.number = m_sent++;
    auto data = Create<Packet>(m_message.payloadBytes + MessageHeader::PADDING_BYTES);
    data->AddHeader(header);
    m_device->Send(data, m_device->GetBroadcast(), PermutationSwitch::PROTOCOL);
}

} // namespace ns3
