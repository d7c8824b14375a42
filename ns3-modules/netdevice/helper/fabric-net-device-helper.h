// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_NET_DEVICE_HELPER_H
#define FABRIC_NET_DEVICE_HELPER_H

#include "ns3/fabric-channel.h"
#include "ns3/fabric-facade.h"
#include "ns3/fabric-net-device.h"
#include "ns3/net-device-container.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/trace-helper.h"

#include <vector>

namespace ns3
{

class NodeTransport;

/**
 * @ingroup netdevice
 * @brief Makes the devices with which nodes sit on hosts of a fabric, as ns-3's helpers do.
 *
 * The fabric is built with ns3::NodeTransport as one of its transports. Then:
 *
 *     FabricNetDeviceHelper helper(facade, transport);
 *     NetDeviceContainer devices = helper.Install(nodes, {0, 1});
 */
class FabricNetDeviceHelper final : public PcapHelperForDevice
{
  public:
    FabricNetDeviceHelper();

    /**
     * @param facade of a fabric that is built
     * @param transport its index, as Facade::Transport has returned it
     */
    FabricNetDeviceHelper(const fabric::Facade& facade, uint32_t transport);

    void SetQueue(const std::string& type); ///< Of TxQueue: "ns3::DropTailQueue<Packet>"
    void SetQueueAttribute(const std::string& name, const AttributeValue& value);
    void SetDeviceAttribute(const std::string& name, const AttributeValue& value);
    void DisableFlowControl(); ///< A full TxQueue drops, and stops no queue disc above it

    /**
     * Put a device on each node.
     * @param nodes one for each host
     * @param hosts node ids of the fabric's tables
     */
    NetDeviceContainer Install(const NodeContainer& nodes, const std::vector<int64_t>& hosts);
    /// The same for one node and the end of a transport at its host.
    Ptr<FabricNetDevice> Install(Ptr<Node> node, Ptr<NodeTransport> host);

  private:
    void EnablePcapInternal(std::string prefix,
                            Ptr<NetDevice> device,
                            bool promiscuous,
                            bool explicitFilename) override;

    const fabric::Facade* m_facade{nullptr};
    uint32_t m_transport{0};
    Ptr<FabricChannel> m_channel;
    ObjectFactory m_queueFactory;
    ObjectFactory m_deviceFactory;
    bool m_flowControl{true};
};

} // namespace ns3

#endif // FABRIC_NET_DEVICE_HELPER_H
