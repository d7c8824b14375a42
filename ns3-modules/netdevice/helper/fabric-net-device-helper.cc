// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-net-device-helper.h"

#include "ns3/abort.h"
#include "ns3/fabric-net-device.h"
#include "ns3/net-device-queue-interface.h"
#include "ns3/node-transport.h"
#include "ns3/node.h"
#include "ns3/pointer.h"

namespace ns3
{

FabricNetDeviceHelper::FabricNetDeviceHelper()
    : m_channel(CreateObject<FabricChannel>())
{
    m_queueFactory.SetTypeId("ns3::DropTailQueue<Packet>");
    m_deviceFactory.SetTypeId("ns3::FabricNetDevice");
}

FabricNetDeviceHelper::FabricNetDeviceHelper(const fabric::Facade& facade, uint32_t transport)
    : FabricNetDeviceHelper()
{
    m_facade = &facade;
    m_transport = transport;
}

void
FabricNetDeviceHelper::SetQueue(const std::string& type)
{
    m_queueFactory.SetTypeId(type);
}

void
FabricNetDeviceHelper::SetQueueAttribute(const std::string& name, const AttributeValue& value)
{
    m_queueFactory.Set(name, value);
}

void
FabricNetDeviceHelper::SetDeviceAttribute(const std::string& name, const AttributeValue& value)
{
    m_deviceFactory.Set(name, value);
}

void
FabricNetDeviceHelper::DisableFlowControl()
{
    m_flowControl = false;
}

NetDeviceContainer
FabricNetDeviceHelper::Install(const NodeContainer& nodes, const std::vector<int64_t>& hosts)
{
    NS_ABORT_MSG_IF(nodes.GetN() != hosts.size(),
                    nodes.GetN() << " nodes cannot sit on " << hosts.size() << " hosts");
    NetDeviceContainer devices;
    for (uint32_t i = 0; i < nodes.GetN(); i++)
    {
        auto* host = m_facade ? m_facade->TransportAt(hosts[i], m_transport) : nullptr;
        auto* transport = dynamic_cast<NodeTransport*>(host);
        NS_ABORT_MSG_IF(!transport,
                        "host " << hosts[i] << " of the fabric has no ns3::NodeTransport as its "
                                << "transport " << m_transport);
        devices.Add(Install(nodes.Get(i), Ptr<NodeTransport>(transport)));
    }
    return devices;
}

Ptr<FabricNetDevice>
FabricNetDeviceHelper::Install(Ptr<Node> node, Ptr<NodeTransport> host)
{
    const auto device = m_deviceFactory.Create<FabricNetDevice>();
    const auto queue = m_queueFactory.Create<Queue<Packet>>();
    device->SetAddress(Mac48Address::Allocate());
    device->SetAttribute("TxQueue", PointerValue(queue));
    node->AddDevice(device);
    device->SitOn(host, m_channel);
    if (m_flowControl)
    {
        const auto interface = CreateObject<NetDeviceQueueInterface>();
        interface->GetTxQueue(0)->ConnectQueueTraces(queue);
        device->AggregateObject(interface);
    }
    return device;
}

void
FabricNetDeviceHelper::EnablePcapInternal(std::string prefix,
                                          Ptr<NetDevice> device,
                                          bool promiscuous,
                                          bool explicitFilename)
{
    const auto ours = DynamicCast<FabricNetDevice>(device);
    if (!ours)
    {
        return; // as ns-3's helpers: of a node's devices each helper captures its own
    }
    PcapHelper pcap;
    const std::string name = explicitFilename ? prefix : pcap.GetFilenameFromDevice(prefix, device);
    const auto file = pcap.CreateFile(name, std::ios::out, PcapHelper::DLT_EN10MB);
    pcap.HookDefaultSink<FabricNetDevice>(ours, promiscuous ? "PromiscSniffer" : "Sniffer", file);
}

} // namespace ns3
