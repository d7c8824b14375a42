// SPDX-License-Identifier: GPL-2.0-only

#ifndef PERMUTATION_SWITCH_H
#define PERMUTATION_SWITCH_H

#include "ns3/net-device.h"
#include "ns3/packet.h"
#include "ns3/random-variable-stream.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @brief A leaf or spine that forwards each packet by a table, or to a random uplink.
 */
class PermutationSwitch
{
  public:
    /// PPP carries only IP, so the packets say they are IPv4; no device looks inside.
    static constexpr uint16_t PROTOCOL = 0x0800;

    /// @param stream of the random variable that draws uplinks
    explicit PermutationSwitch(int64_t stream);
    PermutationSwitch(const PermutationSwitch&) = delete;
    PermutationSwitch& operator=(const PermutationSwitch&) = delete;

    /// Forward to `count` hosts from `first` on by this device
    void AddHosts(Ptr<NetDevice> device, uint32_t first, uint32_t count);
    /// Forward to every other host by this device or one of the others added so
    void AddUplink(Ptr<NetDevice> device);

  private:
    bool Receive(Ptr<NetDevice> device,
                 Ptr<const Packet> packet,
                 uint16_t protocol,
                 const Address& from);
    void Listen(Ptr<NetDevice> device);

    std::vector<Ptr<NetDevice>> m_downlink; ///< By host; null where an uplink leads
    std::vector<Ptr<NetDevice>> m_uplinks;
    Ptr<UniformRandomVariable> m_random;
};

} // namespace ns3

#endif // PERMUTATION_SWITCH_H
