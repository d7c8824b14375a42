// SPDX-License-Identifier: GPL-2.0-only

#ifndef PERMUTATION_HOST_H
#define PERMUTATION_HOST_H

#include "ns3/net-device.h"
#include "ns3/packet.h"

#include <cstdint>

namespace ns3
{

/**
 * @brief A host that sends one message with a fixed window and acknowledges what it receives.
 *
 * Not modelled: loss, reordering, congestion control. Queues must be long enough.
 */
class PermutationHost
{
  public:
    /// What every host of a run has in common.
    struct Message
    {
        uint32_t packets;      ///< Of a message
        uint32_t payloadBytes; ///< Of a data packet [byte]
        uint32_t window;       ///< Data packets in flight
    };

    PermutationHost(Ptr<NetDevice> device, uint32_t self, uint32_t peer, const Message& message);
    PermutationHost(const PermutationHost&) = delete;
    PermutationHost& operator=(const PermutationHost&) = delete;

    void Start(); ///< Send the first window

    uint32_t GetReceived() const; ///< @return data packets received
    uint32_t GetAcked() const;    ///< @return own data packets that were acknowledged

  private:
    bool Receive(Ptr<NetDevice> device,
                 Ptr<const Packet> packet,
                 uint16_t protocol,
                 const Address& from);
    void SendNext(); ///< Send one more data packet if there is one

    Ptr<NetDevice> m_device;
    uint32_t m_self;
    uint32_t m_peer;
    Message m_message;
    uint32_t m_sent{0};     ///< Data packets sent
    uint32_t m_acked{0};    ///< Of those, acknowledged; sent = acked + in flight
    uint32_t m_received{0}; ///< Data packets of the other's message
};

} // namespace ns3

#endif // PERMUTATION_HOST_H
