// SPDX-License-Identifier: GPL-2.0-only

#include "facade-outputs.h"

#include "facade-error.h"

#include "ns3/parallel-run.h"

#include <algorithm>
#include <array>
#include <optional>
#include <ranges>

namespace ns3
{
namespace fabric
{

namespace
{

OutputTable
MakeFlows(const FabricParts& parts)
{
    const uint32_t n = parts.First().Messages().Size();
    std::vector<Message> messages(n);
    for (uint32_t i = 0; i < n; i++)
    {
        messages[i] = parts.GetMessage(i);
    }
    OutputTable table;
    const auto add = [&](const std::string& name, auto field) {
        table.Add(name, n, [&](size_t i) { return field(messages[i]); });
    };
    add("flow", [](const Message& m) { return m.id; });
    add("src", [&](const Message& m) { return HostIdOf(parts.First(), m.src); });
    add("dst", [&](const Message& m) { return HostIdOf(parts.First(), m.dst); });
    add("bytes", [](const Message& m) { return m.bytes; });
    add("transport", [](const Message& m) { return m.transport; });
    table.Add("start_ps", n, [&](size_t i) {
        return parts.WaitsForOthers(static_cast<uint32_t>(i))
                   ? -1
                   : static_cast<int64_t>(messages[i].startPs.Ps());
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
IngressPeakBytes(const FabricParts& parts, PortId port)
{
    const LinkFlowControl* control = parts.ControlOf(port);
    uint64_t peak = 0;
    for (uint8_t c = 0; control && c < control->GetTraits().numClasses; c++)
    {
        peak = std::max(peak, control->GetAccount(port, c).peakBytes);
    }
    return peak;
}

/// The table of ports, column by column. docs/definitions.md says which port each column means.
OutputTable
MakePorts(const FabricParts& parts, WorldPs nowPs)
{
    const FabricNetwork& network = parts.First().Network();
    const uint64_t framing = parts.First().Options().framingBytes;
    OutputTable table;
    const auto add = [&](const std::string& name, auto field) {
        table.Add(name, network.NumPorts(), [&](size_t i) {
            return field(static_cast<PortId>(i));
        });
    };
    const auto addPort = [&](const std::string& name, auto field) {
        add(name, [&](PortId id) { return field(parts.GetPort(id)); });
    };
    const auto addCount = [&](const std::string& name, uint64_t PortCounters::* count) {
        add(name, [&](PortId id) { return parts.GetCounters(id).*count; });
    };
    add("node", [&](PortId id) { return NodeIdOf(parts.First(), id); });
    add("peer", [&](PortId id) { return network.PeerOf(id).first; });
    add("parallel", [&](PortId id) { return network.PeerOf(id).second; });
    add("rate_bps", [&](PortId id) { return parts.OfPort(id).Network().FirstRateBps(id); });
    addPort("sent_frames", [](const Port& p) { return p.sentFrames; });
    addPort("sent_bytes", [&](const Port& p) { return p.sentBytes + framing * p.sentFrames; });
    addPort("sent_data_packets", [](const Port& p) {
        const bool carriesControl = p.current != NO_FRAME && p.currentKind != frame_kind::DATA;
        return p.sentFrames - p.sentControl - carriesControl;
    });
    addPort("received_frames", [](const Port& p) { return p.receivedFrames; });
    addCount("dropped_buffer_frames", &PortCounters::droppedBuffer);
    addCount("dropped_headroom_frames", &PortCounters::droppedHeadroom);
    addCount("dropped_loss_frames", &PortCounters::lostFrames);
    addCount("dropped_corrupt_frames", &PortCounters::corruptFrames);
    addCount("dropped_no_route_frames", &PortCounters::droppedNoRoute);
    addCount("dropped_link_down_frames", &PortCounters::droppedDown);
    addCount("ecn_marked_packets", &PortCounters::marked);
    addCount("trimmed_packets", &PortCounters::trimmed);
    addCount("bounced_packets", &PortCounters::bounced);
    addCount("refused_verdicts", &PortCounters::refusedVerdicts);
    addCount("pause_frames_sent", &PortCounters::linkControlSent);
    addCount("pause_frames_received", &PortCounters::linkControlReceived);
    add("paused_ps", [&](PortId id) {
        const EngineState& state = parts.OfPort(id).State();
        return PausedByClock(state.network, id, state.world.EngineOf(nowPs));
    });
    addPort("max_queue_bytes", [](const Port& p) { return p.maxQueuedBytes; });
    add("max_ingress_bytes", [&](PortId id) { return IngressPeakBytes(parts, id); });
    return table;
}

OutputTable
MakeSummary(const ParallelRun& run)
{
    const FabricParts& parts = run.Parts();
    OutputTable table;
    const auto add = [&table](const std::string& name, uint64_t value) {
        table.Add(name, 1, [value](size_t) { return value; });
    };
    const auto sum = [&parts](auto number) { return parts.Sum(number); };
    add("now_ps", run.NowPs().Ps());
    add("events", run.Events());
    add("data_packets_delivered", run.DataPackets());
    add("flows_total", parts.First().Messages().Size());
    add("flows_done", run.FlowsDone());
    add("rule_changes", sum([](const RunView& part) { return part.RuleChanges(); }));
    return table;
}

/// @return what the process needed, which is no result
OutputTable
MakeProcess(const ParallelRun& run)
{
    const FabricParts& parts = run.Parts();
    OutputTable table;
    const auto add = [&table](const std::string& name, uint64_t value) {
        table.Add(name, 1, [value](size_t) { return value; });
    };
    add("domains", parts.All().size());
    add("windows", run.Windows());
    add("windows_on_one_thread", run.WindowsOnOneThread());
    add("engine_memory_bytes", parts.Sum([](const RunView& part) { return part.MemoryBytes(); }));
    add("frames_allocated_peak",
        parts.Sum([](const RunView& part) { return part.State().frames.Peak(); }));
    return table;
}

/// @return what became of the items of a run: its engine knows it of each
ItemCourse
CourseOf(const FabricParts& parts)
{
    const auto homeOf = [&parts](uint32_t item) -> const RunView& {
        const MessageTable& messages = parts.First().Messages();
        const TaskGraph& graph = messages.Graph();
        return graph.IsTask(item) ? parts.OfNode(graph.TaskOf(item).node)
                                  : parts.OfHost(messages[item].src);
    };
    const auto startPs = [homeOf](uint32_t item) -> int64_t {
        const RunView& home = homeOf(item);
        const TaskGraph& graph = home.Messages().Graph();
        const WorldPs startPs =
            graph.IsTask(item) ? graph.TaskOf(item).startPs : home.Messages()[item].startPs;
        const bool isToCome = graph.Waits(item) || startPs > home.NowPs();
        return isToCome ? -1 : static_cast<int64_t>(startPs.Ps());
    };
    const auto endPs = [&parts, homeOf](uint32_t item) -> int64_t {
        const TaskGraph& graph = homeOf(item).Messages().Graph();
        if (!graph.IsTask(item))
        {
            return TimeOrNone(parts.GetMessage(item).receiverEndPs);
        }
        const Task& task = graph.TaskOf(item);
        return task.ended ? static_cast<int64_t>((task.startPs + task.durationPs).Ps()) : -1;
    };
    const auto decidedBy = [homeOf](uint32_t item) {
        return homeOf(item).Messages().Graph().DecidedBy(item);
    };
    return {startPs, endPs, decidedBy};
}

} // namespace

int64_t
HostIdOf(const RunView& fabric, uint32_t host)
{
    return fabric.Network().nodes[fabric.Network().hosts[host].node].id;
}

int64_t
NodeIdOf(const RunView& fabric, PortId port)
{
    return fabric.Network().nodes[fabric.Network().ports[port].node].id;
}

OutputTable
MakePaths(const FabricParts& parts)
{
    OutputTable table;
    table.names = {"flow", "hop", "node", "peer", "parallel"};
    table.columns.resize(table.names.size());
    const MessageTable& messages = parts.First().Messages();
    for (uint32_t message = 0; message < messages.Size(); message++)
    {
        int64_t hop = 0;
        for (const PortId port : parts.OfHost(messages[message].src).PathOf(message))
        {
            const auto [peer, parallel] = parts.First().Network().PeerOf(port);
            const std::array<int64_t, 5> row{messages[message].id,
                                             hop++,
                                             NodeIdOf(parts.First(), port),
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
MakeTransports(const RunView& fabric)
{
    OutputTable table;
    const size_t n = fabric.Options().transports.size();
    const auto add = [&](const std::string& name, uint32_t WireProfile::* field) {
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

OutputTable
MakeTasks(const RunView& fabric, const TaskGraph& graph, const ItemCourse& course)
{
    constexpr int64_t COMPUTATION = 0;
    constexpr int64_t MESSAGE = 1;
    constexpr int64_t BARRIER = 2;
    const MessageTable& messages = fabric.Messages();
    OutputTable table;
    const auto add = [&](const std::string& name, auto value) {
        table.Add(name, graph.NumItems(), [&](size_t i) -> int64_t {
            return value(graph.ItemAt(static_cast<uint32_t>(i)));
        });
    };
    const auto idOf = [&](uint32_t item) {
        return graph.IsTask(item) ? graph.TaskOf(item).id : messages[item].id;
    };
    add("task", idOf);
    add("kind", [&](uint32_t item) {
        const bool isTask = graph.IsTask(item);
        return !isTask ? MESSAGE : graph.TaskOf(item).isBarrier ? BARRIER : COMPUTATION;
    });
    add("node", [&](uint32_t item) {
        return graph.IsTask(item) ? fabric.Network().nodes[graph.TaskOf(item).node].id
                                  : HostIdOf(fabric, messages[item].src);
    });
    add("start_ps", course.startPs);
    add("end_ps", course.endPs);
    add("after", [&](uint32_t item) {
        const uint32_t after = course.decidedBy(item);
        return after == TaskGraph::NOTHING ? -1 : idOf(after);
    });
    return table;
}

OutputTables
MakeOutputs(const ParallelRun& run)
{
    const FabricParts& parts = run.Parts();
    OutputTables tables;
    tables["flows"] = MakeFlows(parts);
    tables["ports"] = MakePorts(parts, run.NowPs());
    tables["paths"] = MakePaths(parts);
    if (const TaskGraph& graph = parts.First().Messages().Graph(); graph.NumTasks() > 0)
    {
        tables["tasks"] = MakeTasks(parts.First(), graph, CourseOf(parts));
    }
    tables["summary"] = MakeSummary(run);
    tables["process"] = MakeProcess(run);
    tables["transports"] = MakeTransports(parts.First());
    return tables;
}

OutputTable&
FindTable(OutputTables& tables, const std::string& name)
{
    const auto found = tables.find(name);
    if (found == tables.end())
    {
        const auto known = std::views::keys(tables);
        Refuse("there is no output table '" + name + "'. There are " +
               Join({known.begin(), known.end()}) + ".");
    }
    return found->second;
}

size_t
FindColumn(const OutputTable& table, const std::string& name, const std::string& column)
{
    const auto found = std::find(table.names.begin(), table.names.end(), column);
    if (found == table.names.end())
    {
        Refuse("table " + name + " has no column '" + column + "'. It has " + Join(table.names) +
               ".");
    }
    return static_cast<size_t>(found - table.names.begin());
}

} // namespace fabric
} // namespace ns3
