// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_CHANNEL_H
#define FABRIC_CHANNEL_H

#include "ns3/channel.h"
#include "ns3/mac48-address.h"
#include "ns3/net-device.h"

#include <map>
#include <optional>
#include <vector>

namespace ns3
{

/**
 * @ingroup netdevice
 * @brief The whole fabric as its devices see it: one Ethernet, and who has which address there.
 *
 * It carries nothing itself: frames go through the links and switches of the engine.
 */
class FabricChannel final : public Channel
{
  public:
    static TypeId GetTypeId();

    std::size_t GetNDevices() const override;
    Ptr<NetDevice> GetDevice(std::size_t i) const override;

    /// A device sits on a host from now on. @param host dense index
    void Add(Ptr<NetDevice> device, uint32_t host);
    void Move(const Mac48Address& from, const Mac48Address& to); ///< A device gets another address

    /// @return dense index of the host that has an address, none if no device has it
    std::optional<uint32_t> HostOf(const Mac48Address& address) const;
    /// @return hosts of all devices but one, in the order in which they were added
    std::vector<uint32_t> HostsBut(uint32_t host) const;

  private:
    void DoDispose() override;

    std::vector<Ptr<NetDevice>> m_devices;
    std::vector<uint32_t> m_hosts; ///< Of each device
    std::map<Mac48Address, uint32_t> m_hostOf;
};

} // namespace ns3

#endif // FABRIC_CHANNEL_H
