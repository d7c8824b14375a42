// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-facade.h"

#include "fatal-trap.h"

#include "ns3/abort.h"
#include "ns3/fabric-simulator-impl.h"
#include "ns3/fabric.h"
#include "ns3/global-value.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <functional>
#include <map>
#include <stdexcept>

namespace ns3
{
namespace fabric
{

namespace
{

/// Rows of one output table, by column.
struct OutputTable
{
    std::vector<std::string> names; ///< In order of definition
    std::vector<std::vector<int64_t>> columns;

    /// Fill one column from a function of the row number.
    template <typename Value>
    void Add(const std::string& name, size_t rows, Value&& value)
    {
        names.push_back(name);
        auto& column = columns.emplace_back(rows);
        for (size_t row = 0; row < rows; row++)
        {
            column[row] = static_cast<int64_t>(value(row));
        }
    }
};

/// Which columns an input table must and may have.
struct InputShape
{
    std::vector<std::string> required;
    std::vector<std::string> optional;
};

const std::map<std::string, InputShape> INPUT_SHAPES{
    {"nodes", {{"node", "is_switch", "tier"}, {"plane"}}},
    {"links", {{"node_a", "node_b", "rate_bps", "delay_ps"}, {"parallel", "loss_ratio"}}},
    {"flows", {{"flow", "src", "dst", "bytes", "start_ps"}, {"transport"}}},
    {"drops", {{"node", "peer", "ordinal"}, {"parallel"}}},
    {"link_events", {{"time_ps", "node_a", "node_b", "rate_bps"}, {"parallel"}}},
};

/// Columns that hold shares; all others hold whole numbers.
bool
IsReal(const std::string& column)
{
    return column == "loss_ratio";
}

std::string
Join(const std::vector<std::string>& words)
{
    std::string text;
    for (const auto& word : words)
    {
        text += (text.empty() ? "" : ", ") + word;
    }
    return text;
}

[[noreturn]] void
Fail(const std::string& text)
{
    throw std::runtime_error(text);
}

} // namespace

/// Everything behind the door.
struct Facade::State
{
    FabricOptions options;
    std::vector<ObjectFactory> factories;
    std::vector<TypeId> factoryTypes;
    std::map<std::string, std::map<std::string, std::vector<double>>> inputReals;
    std::map<std::string, std::map<std::string, std::vector<int64_t>>> inputs;
    std::map<std::string, OutputTable> outputs;
    std::unique_ptr<Fabric> fabric;
    Ptr<FabricSimulatorImpl> simulator;

    template <typename T>
    void CheckColumn(const std::string& table, const std::string& column, size_t rows, T& given);
    int64_t Cell(const std::string& table, const std::string& column, size_t row, int64_t missing);
    size_t InputRows(const std::string& table);
    FabricTables MakeTables();
    void MakeFlows();
    void MakePorts();
    void MakePaths();
    void MakeSummary();
};

Facade::Facade()
    : m_state(std::make_unique<State>())
{
    TrapFatal([] {
        Simulator::Destroy();
        if (Time::GetResolution() != Time::PS)
        {
            Time::SetResolution(Time::PS);
        }
        GlobalValue::Bind("SimulatorImplementationType", StringValue("ns3::FabricSimulatorImpl"));
    });
    m_state->simulator = DynamicCast<FabricSimulatorImpl>(Simulator::GetImplementation());
}

Facade::~Facade()
{
    m_state->simulator->SetFabric(nullptr);
    m_state->fabric.reset();
    m_state->simulator = nullptr;
    Simulator::Destroy();
}

uint32_t
Facade::Factory(const std::string& typeId)
{
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(typeId, &tid))
    {
        Fail("there is no TypeId '" + typeId + "' in the loaded libraries");
    }
    if (!tid.HasConstructor())
    {
        Fail("'" + typeId + "' is abstract; name a type derived from it");
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    m_state->factories.push_back(factory);
    m_state->factoryTypes.push_back(tid);
    return static_cast<uint32_t>(m_state->factories.size() - 1);
}

void
Facade::Attribute(uint32_t factory, const std::string& name, const std::string& value)
{
    const TypeId tid = m_state->factoryTypes.at(factory);
    TypeId::AttributeInformation info;
    if (!tid.LookupAttributeByName(name, &info))
    {
        std::vector<std::string> names;
        for (size_t i = 0; i < tid.GetAttributeN(); i++)
        {
            names.push_back(tid.GetAttribute(i).name);
        }
        Fail(tid.GetName() + " has no attribute '" + name + "'. It has " + Join(names) + ".");
    }
    const std::string range = info.checker->HasUnderlyingTypeInformation()
                                  ? info.checker->GetUnderlyingTypeInformation()
                                  : info.checker->GetValueTypeName();
    Ptr<AttributeValue> parsed;
    // A C++ stream reads "-1" into an unsigned number as a huge one.
    const bool wrapsRound = range.starts_with("uint") && value.starts_with("-");
    try
    {
        TrapFatal([&] {
            parsed = wrapsRound ? nullptr : info.checker->CreateValidValue(StringValue(value));
        });
    }
    catch (const std::runtime_error&)
    {
        parsed = nullptr; // some parsers abort instead of refusing
    }
    if (!parsed)
    {
        Fail(tid.GetName() + ": " + name + " cannot be '" + value + "'; allowed is " + range +
             " (" + info.help + ")");
    }
    m_state->factories[factory].Set(name, *parsed);
}

void
Facade::Use(const std::string& role, uint32_t factory)
{
    const TypeId tid = m_state->factoryTypes.at(factory);
    const std::map<std::string, std::pair<ObjectFactory*, TypeId>> roles{
        {"forwarding", {&m_state->options.forwarding, ForwardingPolicy::GetTypeId()}},
        {"queue", {&m_state->options.queue, QueueDiscipline::GetTypeId()}},
        {"flow_control", {&m_state->options.flowControl, LinkFlowControl::GetTypeId()}},
    };
    const auto found = roles.find(role);
    if (found == roles.end())
    {
        Fail("there is no role '" + role + "'. Allowed: flow_control, forwarding, queue.");
    }
    if (!tid.IsChildOf(found->second.second))
    {
        Fail(tid.GetName() + " cannot be used as " + role + ": it is not a " +
             found->second.second.GetName());
    }
    *found->second.first = m_state->factories[factory];
}

uint32_t
Facade::Transport(uint32_t factory)
{
    const TypeId tid = m_state->factoryTypes.at(factory);
    if (!tid.IsChildOf(fabric::Transport::GetTypeId()))
    {
        Fail(tid.GetName() + " is not a transport (" + fabric::Transport::GetTypeId().GetName() +
             ")");
    }
    m_state->options.transports.push_back(m_state->factories[factory]);
    return static_cast<uint32_t>(m_state->options.transports.size() - 1);
}

void
Facade::Option(const std::string& name, int64_t value)
{
    auto& options = m_state->options;
    const std::map<std::string, std::function<void(uint64_t)>> setters{
        {"seed", [&](uint64_t v) { options.seed = v; }},
        {"framing_bytes", [&](uint64_t v) { options.framingBytes = v; }},
        {"buffer_bytes", [&](uint64_t v) { options.bufferBytes = v; }},
        {"switch_delay_ps", [&](uint64_t v) { options.switchDelayPs = v; }},
        {"cut_through_bytes", [&](uint64_t v) { options.cutThroughBytes = v; }},
        {"convergence_ps", [&](uint64_t v) { options.convergencePs = v; }},
        {"trace_arrivals", [&](uint64_t v) { options.traceArrivals = v != 0; }},
    };
    const auto found = setters.find(name);
    if (found == setters.end())
    {
        std::vector<std::string> names;
        for (const auto& [known, setter] : setters)
        {
            names.push_back(known);
        }
        Fail("there is no option '" + name + "'. Allowed: " + Join(names) + ".");
    }
    if (value < 0)
    {
        Fail("option " + name + " is " + std::to_string(value) + ", not >= 0");
    }
    found->second(static_cast<uint64_t>(value));
}

template <typename T>
void
Facade::State::CheckColumn(const std::string& table,
                           const std::string& column,
                           size_t rows,
                           T& given)
{
    const auto shape = INPUT_SHAPES.find(table);
    if (shape == INPUT_SHAPES.end())
    {
        Fail("there is no input table '" + table + "'. Allowed: drops, flows, link_events, links, nodes.");
    }
    std::vector<std::string> allowed = shape->second.required;
    allowed.insert(allowed.end(), shape->second.optional.begin(), shape->second.optional.end());
    if (std::find(allowed.begin(), allowed.end(), column) == allowed.end())
    {
        Fail("table " + table + " has no column '" + column + "'. Allowed: " + Join(allowed) +
             ".");
    }
    for (const auto& [other, values] : given[table])
    {
        if (values.size() != rows)
        {
            Fail("table " + table + ": column " + column + " has " + std::to_string(rows) +
                 " rows, column " + other + " has " + std::to_string(values.size()));
        }
    }
}

void
Facade::Column(const std::string& table,
               const std::string& column,
               const int64_t* values,
               size_t rows)
{
    m_state->CheckColumn(table, column, rows, m_state->inputs);
    if (IsReal(column))
    {
        m_state->inputReals[table][column].assign(values, values + rows);
        return;
    }
    m_state->inputs[table][column].assign(values, values + rows);
}

void
Facade::RealColumn(const std::string& table,
                   const std::string& column,
                   const double* values,
                   size_t rows)
{
    m_state->CheckColumn(table, column, rows, m_state->inputs);
    if (!IsReal(column))
    {
        Fail("table " + table + ": column " + column +
             " must be whole numbers (int64), not real numbers");
    }
    m_state->inputReals[table][column].assign(values, values + rows);
}

size_t
Facade::State::InputRows(const std::string& table)
{
    const auto& columns = inputs[table];
    if (!columns.empty())
    {
        for (const auto& name : INPUT_SHAPES.at(table).required)
        {
            if (columns.find(name) == columns.end())
            {
                Fail("table " + table + " lacks column " + name);
            }
        }
    }
    return columns.empty() ? 0 : columns.begin()->second.size();
}

int64_t
Facade::State::Cell(const std::string& table,
                    const std::string& column,
                    size_t row,
                    int64_t missing)
{
    const auto& columns = inputs[table];
    const auto found = columns.find(column);
    return found == columns.end() ? missing : found->second[row];
}

FabricTables
Facade::State::MakeTables()
{
    FabricTables tables;
    const auto& reals = inputReals["links"];
    const auto loss = reals.find("loss_ratio");
    if (loss != reals.end() && loss->second.size() != InputRows("links"))
    {
        Fail("table links: column loss_ratio has " + std::to_string(loss->second.size()) +
             " rows, the others have " + std::to_string(InputRows("links")));
    }
    for (size_t i = 0; i < InputRows("nodes"); i++)
    {
        tables.nodes.push_back({Cell("nodes", "node", i, 0),
                                Cell("nodes", "is_switch", i, 0) != 0,
                                Cell("nodes", "tier", i, 0),
                                Cell("nodes", "plane", i, 0)});
    }
    for (size_t i = 0; i < InputRows("links"); i++)
    {
        tables.links.push_back({Cell("links", "node_a", i, 0),
                                Cell("links", "node_b", i, 0),
                                Cell("links", "parallel", i, 0),
                                Cell("links", "rate_bps", i, 0),
                                Cell("links", "delay_ps", i, 0),
                                loss == reals.end() ? 0.0 : loss->second.at(i)});
    }
    for (size_t i = 0; i < InputRows("flows"); i++)
    {
        tables.flows.push_back({Cell("flows", "flow", i, 0),
                                Cell("flows", "src", i, 0),
                                Cell("flows", "dst", i, 0),
                                Cell("flows", "bytes", i, 0),
                                Cell("flows", "start_ps", i, 0),
                                Cell("flows", "transport", i, 0)});
    }
    for (size_t i = 0; i < InputRows("drops"); i++)
    {
        tables.drops.push_back({Cell("drops", "node", i, 0),
                                Cell("drops", "peer", i, 0),
                                Cell("drops", "parallel", i, 0),
                                Cell("drops", "ordinal", i, 0)});
    }
    for (size_t i = 0; i < InputRows("link_events"); i++)
    {
        tables.linkEvents.push_back({Cell("link_events", "time_ps", i, 0),
                                     Cell("link_events", "node_a", i, 0),
                                     Cell("link_events", "node_b", i, 0),
                                     Cell("link_events", "parallel", i, 0),
                                     Cell("link_events", "rate_bps", i, 0)});
    }
    return tables;
}

void
Facade::Build()
{
    m_state->fabric.reset();
    m_state->fabric = TrapFatal(
        [this] { return std::make_unique<Fabric>(m_state->MakeTables(), m_state->options); });
    m_state->simulator->SetFabric(m_state->fabric.get());
    m_state->inputs.clear();
    m_state->inputReals.clear();
}

bool
Facade::RunSlice(int64_t stopPs, double wallSeconds)
{
    return TrapFatal([&] {
        return m_state->simulator->RunSlice(static_cast<uint64_t>(stopPs), wallSeconds);
    });
}

void
Facade::Finish()
{
    TrapFatal([this] {
        m_state->fabric->CheckIdentities();
        m_state->MakeFlows();
        m_state->MakePorts();
        m_state->MakePaths();
        m_state->MakeSummary();
    });
}

void
Facade::State::MakeFlows()
{
    const auto& messages = fabric->Messages();
    OutputTable& table = outputs["flows"];
    table = {};
    const auto add = [&](const std::string& name, auto field) {
        table.Add(name, messages.size(), [&](size_t i) { return field(messages[i]); });
    };
    const auto hostId = [this](uint32_t host) {
        return fabric->GetNode(fabric->GetPort(fabric->PortsOfHost(host).first).node).id;
    };
    add("flow", [](const Message& m) { return m.id; });
    add("src", [&](const Message& m) { return hostId(m.src); });
    add("dst", [&](const Message& m) { return hostId(m.dst); });
    add("bytes", [](const Message& m) { return m.bytes; });
    add("transport", [](const Message& m) { return m.transport; });
    add("start_ps", [](const Message& m) { return m.startPs; });
    add("receiver_end_ps", [](const Message& m) { return m.receiverEndPs; });
    add("sender_end_ps", [](const Message& m) { return m.senderEndPs; });
    add("sent_data_packets", [](const Message& m) { return m.sentPackets; });
    add("retransmitted_packets", [](const Message& m) { return m.retransmittedPackets; });
    add("trimmed_packets", [](const Message& m) { return m.trimmedPackets; });
    add("ecn_marked_packets", [](const Message& m) { return m.markedPackets; });
    add("timeouts", [](const Message& m) { return m.timeouts; });
    add("naks", [](const Message& m) { return m.naks; });
    add("out_of_order_peak_packets", [](const Message& m) { return m.outOfOrderPeak; });
}

void
Facade::State::MakePorts()
{
    const size_t n = fabric->NumPorts();
    OutputTable& table = outputs["ports"];
    table = {};
    const auto add = [&](const std::string& name, auto field) {
        table.Add(name, n, [&](size_t i) {
            const auto port = static_cast<PortId>(i);
            return field(port, fabric->GetPort(port), fabric->Counters(port));
        });
    };
    using Id = PortId;
    using C = PortCounters;
    const uint64_t framing = options.framingBytes;
    add("node", [this](Id, const Port& p, const C&) { return fabric->GetNode(p.node).id; });
    add("peer", [this](Id id, const Port&, const C&) { return fabric->PeerOf(id).first; });
    add("parallel", [this](Id id, const Port&, const C&) { return fabric->PeerOf(id).second; });
    add("rate_bps", [this](Id id, const Port&, const C&) { return fabric->RateBps(id); });
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
    add("dropped_no_route_frames", [](Id, const Port&, const C& c) { return c.droppedNoRoute; });
    add("dropped_link_down_frames", [](Id, const Port&, const C& c) { return c.droppedDown; });
    add("ecn_marked_packets", [](Id, const Port&, const C& c) { return c.marked; });
    add("trimmed_packets", [](Id, const Port&, const C& c) { return c.trimmed; });
    add("pause_frames_sent", [](Id, const Port&, const C& c) { return c.linkControlSent; });
    add("pause_frames_received", [](Id, const Port&, const C& c) { return c.linkControlReceived; });
    add("paused_ps", [this](Id id, const Port&, const C&) { return fabric->PausedPs(id); });
    add("max_queue_bytes", [](Id, const Port& p, const C&) { return p.maxQueuedBytes; });
    add("max_ingress_bytes",
        [this](Id id, const Port&, const C&) { return fabric->IngressPeakBytes(id); });
}

void
Facade::State::MakePaths()
{
    OutputTable& table = outputs["paths"];
    table = {};
    table.names = {"flow", "hop", "node", "peer", "parallel"};
    table.columns.resize(table.names.size());
    const auto& messages = fabric->Messages();
    for (uint32_t message = 0; message < messages.size(); message++)
    {
        int64_t hop = 0;
        for (const PortId port : fabric->PathOf(message))
        {
            const auto [peer, parallel] = fabric->PeerOf(port);
            const std::array<int64_t, 5> row{messages[message].id,
                                             hop++,
                                             fabric->GetNode(fabric->GetPort(port).node).id,
                                             peer,
                                             parallel};
            for (size_t column = 0; column < row.size(); column++)
            {
                table.columns[column].push_back(row[column]);
            }
        }
    }
}

void
Facade::State::MakeSummary()
{
    OutputTable& table = outputs["summary"];
    table = {};
    const auto add = [&table](const std::string& name, uint64_t value) {
        table.Add(name, 1, [value](size_t) { return value; });
    };
    add("now_ps", fabric->NowPs());
    add("events", fabric->Events());
    add("data_packets_delivered", fabric->DataPackets());
    add("frames_allocated_peak", fabric->Frames().Peak());
    add("flows_total", fabric->Messages().size());
    add("flows_done", fabric->FlowsDone());
    add("memory_bytes", fabric->MemoryBytes());
    if (!options.traceArrivals)
    {
        return;
    }
    const auto& seen = fabric->Arrivals();
    OutputTable& arrivals = outputs["arrivals"];
    arrivals = {};
    arrivals.Add("flow", seen.size(), [&](size_t i) {
        return fabric->GetMessage(seen[i].message).id;
    });
    arrivals.Add("packet", seen.size(), [&](size_t i) { return seen[i].packet; });
    arrivals.Add("time_ps", seen.size(), [&](size_t i) { return seen[i].timePs; });
    arrivals.Add("node", seen.size(), [&](size_t i) { return fabric->GetNode(seen[i].node).id; });
}

int64_t
Facade::NowPs() const
{
    return m_state->fabric ? static_cast<int64_t>(m_state->fabric->NowPs()) : 0;
}

uint64_t
Facade::Events() const
{
    return m_state->fabric ? m_state->fabric->Events() : 0;
}

uint64_t
Facade::FlowsDone() const
{
    return m_state->fabric ? m_state->fabric->FlowsDone() : 0;
}

uint64_t
Facade::FlowsTotal() const
{
    return m_state->fabric ? m_state->fabric->Messages().size() : 0;
}

uint64_t
Facade::DataPackets() const
{
    return m_state->fabric ? m_state->fabric->DataPackets() : 0;
}

std::vector<std::string>
Facade::Tables() const
{
    std::vector<std::string> names;
    for (const auto& [name, table] : m_state->outputs)
    {
        names.push_back(name);
    }
    return names;
}

std::vector<std::string>
Facade::Columns(const std::string& table) const
{
    const auto found = m_state->outputs.find(table);
    if (found == m_state->outputs.end())
    {
        Fail("there is no output table '" + table + "'. There are " + Join(Tables()) + ".");
    }
    return found->second.names;
}

size_t
Facade::Rows(const std::string& table) const
{
    return Columns(table).empty() ? 0 : m_state->outputs.at(table).columns[0].size();
}

const int64_t*
Facade::Data(const std::string& table, const std::string& column) const
{
    const auto names = Columns(table);
    for (size_t i = 0; i < names.size(); i++)
    {
        if (names[i] == column)
        {
            return m_state->outputs.at(table).columns[i].data();
        }
    }
    Fail("table " + table + " has no column '" + column + "'. It has " + Join(names) + ".");
}

} // namespace fabric
} // namespace ns3
