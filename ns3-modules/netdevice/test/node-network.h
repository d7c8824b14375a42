// SPDX-License-Identifier: GPL-2.0-only

#ifndef NODE_NETWORK_H
#define NODE_NETWORK_H

// Nodes of ns-3 on a network of the fabric that a test writes by hand.

#include "../../facade/test/test-network.h"

#include "ns3/fabric-net-device-helper.h"
#include "ns3/fabric-net-device.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-interface-container.h"
#include "ns3/neighbor-cache-helper.h"
#include "ns3/node-container.h"
#include "ns3/simulator.h"
#include "ns3/socket.h"
#include "ns3/udp-socket-factory.h"

namespace ns3
{
namespace tests
{

constexpr uint16_t TEST_PORT = 5001;

/// A TestNetwork on whose hosts 0 to n - 1 nodes sit, with IPv4 and known neighbours.
class NodeNetwork : public TestNetwork
{
  public:
    NodeNetwork()
    {
        m_stack.SetIpv6StackInstall(false);
    }

    /// Build the fabric, whose transport 0 is one of nodes, and put nodes on its hosts.
    void Sit(int64_t hosts, bool knowNeighbours = true)
    {
        Build();
        nodes.Create(static_cast<uint32_t>(hosts));
        std::vector<int64_t> ids;
        for (int64_t host = 0; host < hosts; host++)
        {
            ids.push_back(host);
        }
        FabricNetDeviceHelper helper(GetFacade(), 0);
        helper.SetQueueAttribute("MaxSize", QueueSizeValue(QueueSize("1000p")));
        helper.DisableFlowControl();
        devices = helper.Install(nodes, ids);
        m_stack.Install(nodes);
        Ipv4AddressHelper addresses("10.1.0.0", "255.255.0.0");
        interfaces = addresses.Assign(devices);
        if (knowNeighbours)
        {
            NeighborCacheHelper().PopulateNeighborCache();
        }
    }

    Ptr<FabricNetDevice> Device(uint32_t host) const
    {
        return DynamicCast<FabricNetDevice>(devices.Get(host));
    }

    Ipv4Address AddressOf(uint32_t host) const
    {
        return interfaces.GetAddress(host);
    }

    /// @return a UDP socket of a node; a receiver listens on TEST_PORT
    Ptr<Socket> UdpSocket(uint32_t host, bool listens)
    {
        const auto socket = Socket::CreateSocket(nodes.Get(host), UdpSocketFactory::GetTypeId());
        listens ? socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), TEST_PORT))
                : socket->Bind();
        return socket;
    }

    void SendUdp(Ptr<Socket> socket, uint32_t to, uint32_t bytes)
    {
        socket->SendTo(Create<Packet>(bytes), 0, InetSocketAddress(AddressOf(to), TEST_PORT));
    }

    /// Run until a time, and check the identities of the engine.
    void RunTo(int64_t stopPs)
    {
        while (!GetFacade().RunSlice(stopPs, 1))
        {
        }
        GetFacade().Finish();
    }

    NodeContainer nodes;
    NetDeviceContainer devices;
    Ipv4InterfaceContainer interfaces;

  private:
    InternetStackHelper m_stack;
};

} // namespace tests
} // namespace ns3

#endif // NODE_NETWORK_H
