// SPDX-License-Identifier: GPL-2.0-only

#include "facade-outputs.h"

#include "ns3/fabric.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ns3
{
namespace fabric
{

namespace
{

/// A time, or -1 for one that has not come.
int64_t
TimeOrNone(const std::optional<uint64_t>& timePs)
{
    return timePs ? static_cast<int64_t>(*timePs) : -1;
}

int64_t
HostId(const Fabric& fabric, uint32_t host)
{
    return fabric.Network().nodes[fabric.Network().hosts[host].node].id;
}

int64_t
NodeIdOf(const Fabric& fabric, PortId port)
{
    return fabric.Network().nodes[fabric.Network().ports[port].node].id;
}

OutputTable
MakeFlows(const Fabric& fabric)
{
    const MessageBook& messages = fabric.Messages();
    OutputTable table;
    const auto add = [&](const std::string& name, auto field) {
        table.Add(name, messages.Size(), [&](size_t i) { return field(messages[i]); });
    };
    add("flow", [](const Message& m) { return m.id; });
    add("src", [&](const Message& m) { return HostId(fabric, m.src); });
    add("dst", [&](const Message& m) { return HostId(fabric, m.dst); });
    add("bytes", [](const Message& m) { return m.bytes; });
    add("transport", [](const Message& m) { return m.transport; });
    table.Add("start_ps", messages.Size(), [&](size_t i) {
        return messages.WaitsForOthers(static_cast<uint32_t>(i))
                   ? -1
                   : static_cast<int64_t>(messages[i].startPs);
    });
    add("receiver_end_ps", [](const Message& m) { return TimeOrNone(m.receiverEndPs); });
    add("sender_end_ps", [](const Message& m) { return TimeOrNone(m.senderEndPs); });
    add("sent_data_packets", [](const Message& m) { return m.sentPackets; });
    add("retransmitted_packets", [](const Message& m) { return m.retransmittedPackets; });
    add("trimmed_packets", [](const Message& m) { return m.trimmedPackets; });
    add("ecn_marked_packets", [](const Message& m) { return m.markedPackets; });
    add("timeouts", [](const Message& m) { return m.timeouts; });
    add("naks", [](const Message& m) { return m.naks; });
    add("out_of_order_peak_packets", [](const Message& m) { return m.outOfOrderPeak; });
    return table;
}

/// @return most bytes that flow control ever accounted to one class of an ingress [byte]
uint64_t
IngressPeakBytes(const Fabric& fabric, PortId port)
{
    const LinkFlowControl* control = fabric.ControlOf(port);
    uint64_t peak = 0;
    for (uint8_t c = 0; control && c < control->NumClasses(); c++)
    {
        peak = std::max(peak, control->GetAccount(port, c).peakBytes);
    }
    return peak;
}

OutputTable
MakePorts(const Fabric& fabric)
{
    const FabricNetwork& network = fabric.Network();
    OutputTable table;
    const auto add = [&](const std::string& name, auto field) {
        table.Add(name, network.NumPorts(), [&](size_t i) {
            const auto port = static_cast<PortId>(i);
            return field(port, network.ports[port], network.counters[port]);
        });
    };
    using Id = PortId;
    using C = PortCounters;
    const uint64_t framing = fabric.Options().framingBytes;
    add("node", [&](Id id, const Port&, const C&) { return NodeIdOf(fabric, id); });
    add("peer", [&](Id id, const Port&, const C&) { return network.PeerOf(id).first; });
    add("parallel", [&](Id id, const Port&, const C&) { return network.PeerOf(id).second; });
    add("rate_bps", [&](Id id, const Port&, const C&) { return network.RateBps(id); });
    add("sent_frames", [](Id, const Port& p, const C&) { return p.sentFrames; });
    add("sent_bytes", [framing](Id, const Port& p, const C&) {
        return p.sentBytes + framing * p.sentFrames;
    });
    add("sent_data_packets", [](Id, const Port& p, const C&) {
        const bool carriesControl = p.current != NO_FRAME && p.currentKind != frame_kind::DATA;
        return p.sentFrames - p.sentControl - carriesControl;
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
    add("bounced_packets", [](Id, const Port&, const C& c) { return c.bounced; });
    add("pause_frames_sent", [](Id, const Port&, const C& c) { return c.linkControlSent; });
    add("pause_frames_received", [](Id, const Port&, const C& c) { return c.linkControlReceived; });
    add("paused_ps", [&](Id id, const Port&, const C&) {
        return fabric.PausedPs(id, fabric.NowPs());
    });
    add("max_queue_bytes", [](Id, const Port& p, const C&) { return p.maxQueuedBytes; });
    add("max_ingress_bytes", [&](Id id, const Port&, const C&) {
        return IngressPeakBytes(fabric, id);
    });
    return table;
}

OutputTable
MakePaths(const Fabric& fabric)
{
    OutputTable table;
    table.names = {"flow", "hop", "node", "peer", "parallel"};
    table.columns.resize(table.names.size());
    const MessageBook& messages = fabric.Messages();
    for (uint32_t message = 0; message < messages.Size(); message++)
    {
        int64_t hop = 0;
        for (const PortId port : fabric.PathOf(message))
        {
            const auto [peer, parallel] = fabric.Network().PeerOf(port);
            const std::array<int64_t, 5> row{messages[message].id,
                                             hop++,
                                             NodeIdOf(fabric, port),
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

/// How each transport cuts messages into frames.
OutputTable
MakeTransports(const Fabric& fabric)
{
    OutputTable table;
    const size_t n = fabric.Options().transports.size();
    const auto add = [&](const std::string& name, uint32_t WireProfile::*field) {
        table.Add(name, n, [&](size_t i) {
            return fabric.WireOf(static_cast<uint32_t>(i)).*field;
        });
    };
    table.Add("transport", n, [](size_t i) { return i; });
    add("mtu_bytes", &WireProfile::mtuBytes);
    add("header_bytes", &WireProfile::headerBytes);
    add("first_header_bytes", &WireProfile::firstHeaderBytes);
    add("ack_bytes", &WireProfile::ackBytes);
    add("ack_interval_packets", &WireProfile::ackInterval);
    return table;
}

/// What every task was and what decided when it began: messages of the table first, then the rest.
OutputTable
MakeTasks(const Fabric& fabric)
{
    constexpr int64_t COMPUTATION = 0;
    constexpr int64_t MESSAGE = 1;
    constexpr int64_t BARRIER = 2;
    const MessageBook& messages = fabric.Messages();
    const TaskGraph& graph = messages.Graph();
    const uint32_t items = graph.NumMessages() + graph.NumTasks();
    const auto idOf = [&](uint32_t item) {
        return graph.IsTask(item) ? graph.TaskOf(item).id : messages[item].id;
    };
    OutputTable table;
    const auto add = [&](const std::string& name, auto ofMessage, auto ofTask) {
        table.Add(name, items, [&](size_t i) -> int64_t {
            const auto item = static_cast<uint32_t>(i);
            return graph.IsTask(item) ? ofTask(graph.TaskOf(item)) : ofMessage(messages[item]);
        });
    };
    add("task", [](const Message& m) { return m.id; }, [](const Task& t) { return t.id; });
    add(
        "kind",
        [](const Message&) { return MESSAGE; },
        [](const Task& t) { return t.isBarrier ? BARRIER : COMPUTATION; });
    add(
        "node",
        [&](const Message& m) { return HostId(fabric, m.src); },
        [&](const Task& t) { return fabric.Network().nodes[t.node].id; });
    table.Add("start_ps", items, [&](size_t i) -> int64_t {
        const auto item = static_cast<uint32_t>(i);
        const uint64_t startPs =
            graph.IsTask(item) ? graph.TaskOf(item).startPs : messages[item].startPs;
        return graph.Waits(item) || startPs > fabric.NowPs() ? -1 : static_cast<int64_t>(startPs);
    });
    add(
        "end_ps",
        [](const Message& m) { return TimeOrNone(m.receiverEndPs); },
        [](const Task& t) {
            return t.ended ? static_cast<int64_t>(t.startPs + t.durationPs) : -1;
        });
    table.Add("after", items, [&](size_t i) -> int64_t {
        const uint32_t after = graph.DecidedBy(static_cast<uint32_t>(i));
        return after == TaskGraph::NOTHING ? -1 : idOf(after);
    });
    return table;
}

OutputTable
MakeSummary(const Fabric& fabric)
{
    OutputTable table;
    const auto add = [&table](const std::string& name, uint64_t value) {
        table.Add(name, 1, [value](size_t) { return value; });
    };
    add("now_ps", fabric.NowPs());
    add("events", fabric.Events());
    add("data_packets_delivered", fabric.DataPackets());
    add("frames_allocated_peak", fabric.Frames().Peak());
    add("flows_total", fabric.Messages().Size());
    add("flows_done", fabric.Messages().Done());
    add("memory_bytes", fabric.MemoryBytes());
    add("rule_changes", fabric.RuleChanges());
    return table;
}

OutputTable
MakeArrivals(const Fabric& fabric)
{
    const auto& seen = fabric.GetTelemetry()->Arrivals();
    OutputTable table;
    table.Add("flow", seen.size(), [&](size_t i) {
        return fabric.Messages()[seen[i].message].id;
    });
    table.Add("packet", seen.size(), [&](size_t i) { return seen[i].packet; });
    table.Add("time_ps", seen.size(), [&](size_t i) { return seen[i].timePs; });
    table.Add("node", seen.size(), [&](size_t i) {
        return fabric.Network().nodes[seen[i].node].id;
    });
    return table;
}

/// Name the links that rows are about: node, peer and index among parallel links.
template <typename Port>
void
AddLink(OutputTable& table, const Fabric& fabric, size_t rows, Port&& port)
{
    table.Add("node", rows, [&](size_t i) { return NodeIdOf(fabric, port(i)); });
    table.Add("peer", rows, [&](size_t i) { return fabric.Network().PeerOf(port(i)).first; });
    table.Add("parallel", rows, [&](size_t i) { return fabric.Network().PeerOf(port(i)).second; });
}

OutputTable
MakePortSamples(const Fabric& fabric)
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
MakeFlowSamples(const Fabric& fabric)
{
    const auto& rows = fabric.GetTelemetry()->FlowSamples();
    OutputTable table;
    table.Add("time_ps", rows.size(), [&](size_t i) { return rows[i].timePs; });
    table.Add("flow", rows.size(), [&](size_t i) {
        return fabric.Messages()[rows[i].message].id;
    });
    table.Add("arrived_packets", rows.size(), [&](size_t i) { return rows[i].packets; });
    table.Add("arrived_bytes", rows.size(), [&](size_t i) { return rows[i].bytes; });
    return table;
}

OutputTable
MakePauses(const Fabric& fabric)
{
    const auto& rows = fabric.GetTelemetry()->Pauses();
    OutputTable table;
    table.Add("sent_ps", rows.size(), [&](size_t i) { return rows[i].reason.sentPs; });
    table.Add("start_ps", rows.size(), [&](size_t i) { return rows[i].startPs; });
    table.Add("end_ps", rows.size(), [&](size_t i) { return TimeOrNone(rows[i].endPs); });
    AddLink(table, fabric, rows.size(), [&](size_t i) { return rows[i].port; });
    table.Add("priority", rows.size(), [&](size_t i) { return rows[i].priority; });
    // A flow control of one's own may pause for no frame in particular.
    const auto toward = [&](size_t i) {
        const PortId port = rows[i].reason.toward;
        return port == NO_PORT ? std::pair<int64_t, int64_t>(-1, -1)
                               : std::pair<int64_t, int64_t>(fabric.Network().PeerOf(port));
    };
    table.Add("toward", rows.size(), [&](size_t i) { return toward(i).first; });
    table.Add("toward_parallel", rows.size(), [&](size_t i) { return toward(i).second; });
    return table;
}

} // namespace

std::map<std::string, OutputTable>
MakeOutputs(const Fabric& fabric)
{
    std::map<std::string, OutputTable> tables;
    tables["flows"] = MakeFlows(fabric);
    tables["ports"] = MakePorts(fabric);
    tables["paths"] = MakePaths(fabric);
    if (fabric.Messages().Graph().NumTasks() > 0)
    {
        tables["tasks"] = MakeTasks(fabric);
    }
    tables["summary"] = MakeSummary(fabric);
    tables["transports"] = MakeTransports(fabric);
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
