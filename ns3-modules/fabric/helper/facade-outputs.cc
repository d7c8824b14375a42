// SPDX-License-Identifier: GPL-2.0-only

#include "facade-outputs.h"

#include "ns3/fabric.h"

#include <array>

namespace ns3
{
namespace fabric
{

namespace
{

OutputTable
MakeFlows(Fabric& fabric)
{
    const auto& messages = fabric.Messages();
    OutputTable table;
    const auto add = [&](const std::string& name, auto field) {
        table.Add(name, messages.size(), [&](size_t i) { return field(messages[i]); });
    };
    const auto hostId = [&fabric](uint32_t host) {
        return fabric.GetNode(fabric.GetPort(fabric.PortsOfHost(host).first).node).id;
    };
    add("flow", [](const Message& m) { return m.id; });
    add("src", [&](const Message& m) { return hostId(m.src); });
    add("dst", [&](const Message& m) { return hostId(m.dst); });
    add("bytes", [](const Message& m) { return m.bytes; });
    add("transport", [](const Message& m) { return m.transport; });
    table.Add("start_ps", messages.size(), [&](size_t i) {
        return fabric.WaitsForOthers(static_cast<uint32_t>(i))
                   ? -1
                   : static_cast<int64_t>(messages[i].startPs);
    });
    add("receiver_end_ps", [](const Message& m) { return m.receiverEndPs; });
    add("sender_end_ps", [](const Message& m) { return m.senderEndPs; });
    add("sent_data_packets", [](const Message& m) { return m.sentPackets; });
    add("retransmitted_packets", [](const Message& m) { return m.retransmittedPackets; });
    add("trimmed_packets", [](const Message& m) { return m.trimmedPackets; });
    add("ecn_marked_packets", [](const Message& m) { return m.markedPackets; });
    add("timeouts", [](const Message& m) { return m.timeouts; });
    add("naks", [](const Message& m) { return m.naks; });
    add("out_of_order_peak_packets", [](const Message& m) { return m.outOfOrderPeak; });
    return table;
}

OutputTable
MakePorts(Fabric& fabric)
{
    const size_t n = fabric.NumPorts();
    OutputTable table;
    const auto add = [&](const std::string& name, auto field) {
        table.Add(name, n, [&](size_t i) {
            const auto port = static_cast<PortId>(i);
            return field(port, fabric.GetPort(port), fabric.Counters(port));
        });
    };
    using Id = PortId;
    using C = PortCounters;
    const uint64_t framing = fabric.Options().framingBytes;
    add("node", [&fabric](Id, const Port& p, const C&) { return fabric.GetNode(p.node).id; });
    add("peer", [&fabric](Id id, const Port&, const C&) { return fabric.PeerOf(id).first; });
    add("parallel", [&fabric](Id id, const Port&, const C&) { return fabric.PeerOf(id).second; });
    add("rate_bps", [&fabric](Id id, const Port&, const C&) { return fabric.RateBps(id); });
    add("sent_frames", [](Id, const Port& p, const C&) { return p.sentFrames; });
    add("sent_bytes", [framing](Id, const Port& p, const C&) {
        return p.sentBytes + framing * p.sentFrames;
    });
    add("sent_data_packets", [](Id, const Port& p, const C& c) {
        const bool carriesData = p.current != NO_FRAME && p.currentKind == frame_kind::DATA;
        const bool carriesControl = p.current != NO_FRAME && !carriesData;
        return p.sentFrames - c.sentControl - carriesControl;
    });
    add("received_frames", [](Id, const Port& p, const C&) { return p.receivedFrames; });
    add("dropped_buffer_frames", [](Id, const Port&, const C& c) { return c.droppedBuffer; });
    add("dropped_headroom_frames", [](Id, const Port&, const C& c) { return c.droppedHeadroom; });
    add("dropped_loss_frames", [](Id, const Port&, const C& c) { return c.lostFrames; });
    add("dropped_corrupt_frames", [](Id, const Port&, const C& c) { return c.corruptFrames; });
    add("dropped_no_route_frames", [](Id, const Port&, const C& c) { return c.droppedNoRoute; });
    add("dropped_link_down_frames", [](Id, const Port&, const C& c) { return c.droppedDown; });
    add("ecn_marked_packets", [](Id, const Port&, const C& c) { return c.marked; });
    add("trimmed_packets", [](Id, const Port&, const C& c) { return c.trimmed; });
    add("pause_frames_sent", [](Id, const Port&, const C& c) { return c.linkControlSent; });
    add("pause_frames_received", [](Id, const Port&, const C& c) { return c.linkControlReceived; });
    add("paused_ps", [&fabric](Id id, const Port&, const C&) { return fabric.PausedPs(id); });
    add("max_queue_bytes", [](Id, const Port& p, const C&) { return p.maxQueuedBytes; });
    add("max_ingress_bytes",
        [&fabric](Id id, const Port&, const C&) { return fabric.IngressPeakBytes(id); });
    return table;
}

OutputTable
MakePaths(Fabric& fabric)
{
    OutputTable table;
    table.names = {"flow", "hop", "node", "peer", "parallel"};
    table.columns.resize(table.names.size());
    const auto& messages = fabric.Messages();
    for (uint32_t message = 0; message < messages.size(); message++)
    {
        int64_t hop = 0;
        for (const PortId port : fabric.PathOf(message))
        {
            const auto [peer, parallel] = fabric.PeerOf(port);
            const std::array<int64_t, 5> row{messages[message].id,
                                             hop++,
                                             fabric.GetNode(fabric.GetPort(port).node).id,
                                             peer,
                                             parallel};
            for (size_t column = 0; column < row.size(); column++)
            {
                table.columns[column].push_back(row[column]);
            }
        }
    }
    return table;
}

OutputTable
MakeSummary(Fabric& fabric)
{
    OutputTable table;
    const auto add = [&table](const std::string& name, uint64_t value) {
        table.Add(name, 1, [value](size_t) { return value; });
    };
    add("now_ps", fabric.NowPs());
    add("events", fabric.Events());
    add("data_packets_delivered", fabric.DataPackets());
    add("frames_allocated_peak", fabric.Frames().Peak());
    add("flows_total", fabric.Messages().size());
    add("flows_done", fabric.FlowsDone());
    add("memory_bytes", fabric.MemoryBytes());
    return table;
}

OutputTable
MakeArrivals(Fabric& fabric)
{
    const auto& seen = fabric.GetTelemetry()->Arrivals();
    OutputTable table;
    table.Add("flow", seen.size(), [&](size_t i) {
        return fabric.GetMessage(seen[i].message).id;
    });
    table.Add("packet", seen.size(), [&](size_t i) { return seen[i].packet; });
    table.Add("time_ps", seen.size(), [&](size_t i) { return seen[i].timePs; });
    table.Add("node", seen.size(), [&](size_t i) { return fabric.GetNode(seen[i].node).id; });
    return table;
}

/// Name the links that rows are about: node, peer and index among parallel links.
template <typename Port>
void
AddLink(OutputTable& table, Fabric& fabric, size_t rows, Port&& port)
{
    table.Add("node", rows, [&](size_t i) {
        return fabric.GetNode(fabric.GetPort(port(i)).node).id;
    });
    table.Add("peer", rows, [&](size_t i) { return fabric.PeerOf(port(i)).first; });
    table.Add("parallel", rows, [&](size_t i) { return fabric.PeerOf(port(i)).second; });
}

OutputTable
MakePortSamples(Fabric& fabric)
{
    const auto& rows = fabric.GetTelemetry()->PortSamples();
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs; });
    AddLink(table, fabric, rows.size(), [&](size_t i) { return rows[i].port; });
    table.Add("queue_bytes", rows.size(), [&](size_t i) { return rows[i].queuedBytes; });
    table.Add("sent_bytes", rows.size(), [&](size_t i) { return rows[i].sentBytes; });
    table.Add("paused_ps", rows.size(), [&](size_t i) { return rows[i].pausedPs; });
    return table;
}

OutputTable
MakeFlowSamples(Fabric& fabric)
{
    const auto& rows = fabric.GetTelemetry()->FlowSamples();
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs; });
    table.Add("flow", rows.size(), [&](size_t i) {
        return fabric.GetMessage(rows[i].message).id;
    });
    table.Add("arrived_packets", rows.size(), [&](size_t i) { return rows[i].packets; });
    table.Add("arrived_bytes", rows.size(), [&](size_t i) { return rows[i].bytes; });
    return table;
}

OutputTable
MakePauses(Fabric& fabric)
{
    const auto& rows = fabric.GetTelemetry()->Pauses();
    OutputTable table;
    table.Add("sent_ps", rows.size(), [&](size_t i) { return rows[i].reason.sentPs; });
    table.Add("start_ps", rows.size(), [&](size_t i) { return rows[i].startPs; });
    table.Add("end_ps", rows.size(), [&](size_t i) { return rows[i].endPs; });
    AddLink(table, fabric, rows.size(), [&](size_t i) { return rows[i].port; });
    table.Add("priority", rows.size(), [&](size_t i) { return rows[i].priority; });
    // A flow control of one's own may pause for no frame in particular.
    const auto toward = [&](size_t i) {
        const PortId port = rows[i].reason.toward;
        return port == NO_PORT ? std::pair<int64_t, int64_t>(-1, -1)
                               : std::pair<int64_t, int64_t>(fabric.PeerOf(port));
    };
    table.Add("toward", rows.size(), [&](size_t i) { return toward(i).first; });
    table.Add("toward_parallel", rows.size(), [&](size_t i) { return toward(i).second; });
    return table;
}

} // namespace

std::map<std::string, OutputTable>
MakeOutputs(Fabric& fabric)
{
    std::map<std::string, OutputTable> tables;
    tables["flows"] = MakeFlows(fabric);
    tables["ports"] = MakePorts(fabric);
    tables["paths"] = MakePaths(fabric);
    tables["summary"] = MakeSummary(fabric);
    const Telemetry* telemetry = fabric.GetTelemetry();
    if (telemetry && telemetry->LogsArrivals())
    {
        tables["arrivals"] = MakeArrivals(fabric);
    }
    if (telemetry && telemetry->LogsPauses())
    {
        tables["pauses"] = MakePauses(fabric);
    }
    if (telemetry && telemetry->Samples())
    {
        tables["port_samples"] = MakePortSamples(fabric);
        tables["flow_samples"] = MakeFlowSamples(fabric);
    }
    return tables;
}

} // namespace fabric
} // namespace ns3
