// SPDX-License-Identifier: GPL-2.0-only

// What a controller outside sees of a run that has paused, and changes in it.

#include "fabric-facade.h"

#include "facade-outputs.h"
#include "fatal-trap.h"

#include "ns3/domains.h"

namespace ns3
{
namespace fabric
{

Fabric&
Facade::GetFabric()
{
    return GetRun().First();
}

void
Facade::ChangeRate(int64_t timePs, int64_t flow, int64_t rateBps)
{
    TrapFatal([&] { GetRun().ChangeRate({timePs, flow, rateBps}); });
}

void
Facade::ChangeRoute(int64_t fromPs,
                  int64_t flow,
                  int64_t node,
                  int64_t peer,
                  int64_t parallel,
                  bool reverse)
{
    TrapFatal([&] { GetRun().ChangeRoute({flow, node, peer, parallel, reverse, fromPs}); });
}

void
Facade::Look()
{
    const FabricParts& parts = GetRun().Parts();
    const FabricNetwork& network = parts.First().Network();
    const MessageBook& messages = parts.First().Messages();
    const auto flow = [&](const std::string& name, auto field) {
        Outputs()["seen_flows"].Add(name, messages.Size(), [&](size_t i) {
            return field(parts.GetMessage(static_cast<uint32_t>(i)));
        });
    };
    const auto port = [&](const std::string& name, auto field) {
        Outputs()["seen_ports"].Add(name, network.NumPorts(), [&](size_t i) {
            return field(static_cast<PortId>(i));
        });
    };
    Outputs().clear();
    flow("flow", [](const Message& m) { return m.id; });
    flow("sent_data_packets", [](const Message& m) { return m.sentPackets; });
    flow("retransmitted_packets", [](const Message& m) { return m.retransmittedPackets; });
    flow("bytes", [](const Message& m) { return m.bytes; });
    flow("mtu_bytes", [&](const Message& m) { return parts.First().WireOf(m.transport).mtuBytes; });
    flow("wire_bytes", [&](const Message& m) {
        const WireProfile wire = parts.First().WireOf(m.transport);
        return wire.mtuBytes + wire.headerBytes + parts.First().Options().framingBytes;
    });
    port("node", [&](PortId id) { return network.nodes[network.ports[id].node].id; });
    port("peer", [&](PortId id) { return network.PeerOf(id).first; });
    port("parallel", [&](PortId id) { return network.PeerOf(id).second; });
    port("rate_bps", [&](PortId id) {
        return parts.GetPort(id).down ? 0 : parts.OfPort(id).Network().RateBps(id);
    });
    port("sent_bytes", [&](PortId id) {
        const Port& p = parts.GetPort(id);
        return p.sentBytes + parts.First().Options().framingBytes * p.sentFrames;
    });
}

} // namespace fabric
} // namespace ns3
