// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-facade.h"

#include "facade-error.h"
#include "facade-inputs.h"
#include "facade-outputs.h"
#include "fatal-trap.h"
#include "packet-run.h"
#include "trait-description.h"
#include "type-attributes.h"

#include "ns3/abort.h"
#include "ns3/combination.h"
#include "ns3/fabric-simulator-impl.h"
#include "ns3/global-value.h"
#include "ns3/simulator.h"
#include "ns3/string.h"

#include <map>
#include <stdexcept>

namespace ns3
{
namespace fabric
{

/// What has been said so far, and the run.
struct Facade::State
{
    RunOptions options;
    std::vector<ObjectFactory> factories;
    std::vector<TypeId> factoryTypes;
    FacadeInputs inputs;
    bool isOpen{false};
    Ptr<fabric::Engine> engine{CreateObject<PacketEngine>()};
    std::unique_ptr<Run> run;
    OutputTables outputs;
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
}

Facade::~Facade()
{
    m_state->run.reset();
    Simulator::Destroy();
}

uint32_t
Facade::Factory(const std::string& typeId)
{
    TypeId tid;
    if (!TypeId::LookupByNameFailSafe(typeId, &tid))
    {
        Refuse("there is no TypeId '" + typeId + "' in the loaded libraries");
    }
    if (!tid.HasConstructor())
    {
        Refuse("'" + typeId + "' is abstract; name a type derived from it");
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
        for (const auto& attribute : AttributesOf(tid))
        {
            names.push_back(attribute.name);
        }
        Refuse(tid.GetName() + " has no attribute '" + name + "'. It has " + Join(names) + ".");
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
        Refuse(tid.GetName() + ": " + name + " cannot be '" + value + "'; allowed is " + range +
               " (" + info.help + ")");
    }
    m_state->factories[factory].Set(name, *parsed);
}

/// @return class of an index, made with all before it if it is new
template <typename Class>
static Class&
ClassAt(std::vector<Class>& classes, uint32_t index)
{
    if (index > 255)
    {
        Refuse("class " + std::to_string(index) + "; there may be 0 to 255");
    }
    classes.resize(std::max<size_t>(classes.size(), index + 1));
    return classes[index];
}

void
Facade::LinkClass(uint32_t index)
{
    ClassAt(m_state->options.linkClasses, index);
}

void
Facade::Use(const std::string& role, uint32_t factory, uint32_t index)
{
    const TypeId tid = m_state->factoryTypes.at(factory);
    const bool isOfLinks = role == "flow_control" || role == "loss_model";
    auto& nodes = ClassAt(m_state->options.nodeClasses, isOfLinks ? 0 : index);
    auto& links = ClassAt(m_state->options.linkClasses, isOfLinks ? index : 0);
    const std::map<std::string, std::pair<ObjectFactory*, TypeId>> roles{
        {"forwarding", {&nodes.forwarding, ForwardingPolicy::GetTypeId()}},
        {"queue", {&nodes.queue, QueueDiscipline::GetTypeId()}},
        {"scheduler", {&nodes.scheduler, EgressScheduler::GetTypeId()}},
        {"program", {nullptr, SwitchProgram::GetTypeId()}},
        {"flow_control", {&links.flowControl, LinkFlowControl::GetTypeId()}},
        {"loss_model", {&links.loss, LossModel::GetTypeId()}},
    };
    const auto found = roles.find(role);
    if (found == roles.end())
    {
        Refuse("there is no role '" + role +
               "'. Allowed: flow_control, forwarding, loss, program, queue, scheduler.");
    }
    const auto& [place, contract] = found->second;
    if (!tid.IsChildOf(contract))
    {
        Refuse(tid.GetName() + " cannot be used as " + role + ": it is not a " +
               contract.GetName());
    }
    if (place)
    {
        *place = m_state->factories[factory];
    }
    else
    {
        nodes.programs.push_back(m_state->factories[factory]);
    }
}

void
Facade::Check(uint32_t factory) const
{
    TrapFatal([&] { MakePlugin<Plugin>(m_state->factories.at(factory)); });
}

std::string
Facade::TraitsOf(uint32_t factory) const
{
    return TrapFatal([&] { return DescribeTraits(m_state->factories.at(factory)); });
}

void
Facade::CheckCombination() const
{
    const auto& options = m_state->options;
    TrapFatal([&] {
        fabric::CheckCombination(options.nodeClasses[0],
                                 options.linkClasses[0],
                                 options.transports);
        m_state->engine->Check(options);
    });
}

uint32_t
Facade::Transport(uint32_t factory)
{
    const TypeId tid = m_state->factoryTypes.at(factory);
    if (!tid.IsChildOf(fabric::Transport::GetTypeId()))
    {
        Refuse(tid.GetName() + " is not a transport (" + fabric::Transport::GetTypeId().GetName() +
               ")");
    }
    m_state->options.transports.push_back(m_state->factories[factory]);
    return static_cast<uint32_t>(m_state->options.transports.size() - 1);
}

void
Facade::Engine(uint32_t factory)
{
    const TypeId tid = m_state->factoryTypes.at(factory);
    if (!tid.IsChildOf(fabric::Engine::GetTypeId()))
    {
        Refuse(tid.GetName() + " is not an engine (" + fabric::Engine::GetTypeId().GetName() + ")");
    }
    m_state->engine = m_state->factories[factory].Create<fabric::Engine>();
}

/// Copy the options of one kind from a section that has some.
template <typename Options>
static void
TakeOptions(const fabric::Section& section, Options& into)
{
    if (const auto* options = dynamic_cast<const Options*>(&section))
    {
        into = *options;
    }
}

void
Facade::Section(uint32_t factory, uint32_t index)
{
    const TypeId tid = m_state->factoryTypes.at(factory);
    if (!tid.IsChildOf(fabric::Section::GetTypeId()))
    {
        Refuse(tid.GetName() + " is not a section (" + fabric::Section::GetTypeId().GetName() +
               ")");
    }
    const auto section = m_state->factories[factory].Create<fabric::Section>();
    auto& options = m_state->options;
    TakeOptions<WireModel>(*section, options);
    TakeOptions<RouteModel>(*section, options);
    TakeOptions<SwitchModel>(*section, ClassAt(options.nodeClasses, index));
    TakeOptions<TraceOptions>(*section, options.trace);
    if (dynamic_cast<const HostModel*>(PeekPointer(section)))
    {
        TakeOptions<HostModel>(*section, ClassAt(options.hosts, index));
    }
}

void
Facade::Seed(uint64_t seed)
{
    m_state->options.seed = seed;
}

void
Facade::Column(const std::string& table,
               const std::string& column,
               const int64_t* values,
               size_t rows)
{
    m_state->inputs.Add(table, column, values, rows);
}

void
Facade::RealColumn(const std::string& table,
                   const std::string& column,
                   const double* values,
                   size_t rows)
{
    m_state->inputs.AddReal(table, column, values, rows);
}

void
Facade::Capture(int64_t host, const std::string& path)
{
    m_state->options.captures.push_back({host, path});
}

void
Facade::Open()
{
    m_state->isOpen = true;
}

void
Facade::Build()
{
    m_state->run.reset();
    TrapFatal([this] {
        FabricTables tables = m_state->inputs.Tables();
        tables.isOpen = m_state->isOpen;
        m_state->inputs = {};
        m_state->run = m_state->engine->Start(std::move(tables), m_state->options);
    });
}

bool
Facade::RunSlice(int64_t stopPs, double wallSeconds)
{
    return TrapFatal([&] {
        return m_state->run->RunSlice(WorldPs(static_cast<uint64_t>(stopPs)), wallSeconds);
    });
}

void
Facade::Finish()
{
    TrapFatal([this] { m_state->outputs = m_state->run->Finish(); });
}

std::string
Facade::ThrownAt() const
{
    return fabric::ThrownAt();
}

void
PyorchTraceCrashes(const char* path)
{
    TraceCrashes(path);
}

/// Give a part the role that it has.
static void
Add(Facade& facade, const PyorchPart& part)
{
    const uint32_t factory = facade.Factory(part.typeId);
    for (size_t i = 0; i < part.count; i++)
    {
        facade.Attribute(factory, part.attributes[2 * i], part.attributes[2 * i + 1]);
    }
    if (part.role == std::string("section"))
    {
        facade.Section(factory);
        return;
    }
    if (part.role == std::string("engine"))
    {
        facade.Engine(factory);
        return;
    }
    facade.Check(factory);
    if (part.role == std::string("transport"))
    {
        facade.Transport(factory);
    }
    else
    {
        facade.Use(part.role, factory);
    }
}

const char*
PyorchRefusal(const PyorchPart* parts,
              size_t numParts,
              const PyorchColumn* columns,
              size_t numColumns)
{
    static std::string said;
    said.clear();
    Facade facade;
    try
    {
        for (size_t i = 0; i < numParts; i++)
        {
            Add(facade, parts[i]);
        }
        facade.CheckCombination();
        for (size_t i = 0; i < numColumns; i++)
        {
            facade.Column(columns[i].table, columns[i].column, columns[i].values, columns[i].rows);
        }
        if (numColumns > 0)
        {
            facade.Build();
        }
    }
    catch (const std::exception& error)
    {
        said = error.what() + ("\n" + facade.ThrownAt());
    }
    return said.c_str();
}

// ---- for a controller -------------------------------------------------------------------------

void
Facade::ChangeRate(int64_t timePs, int64_t flow, int64_t rateBps)
{
    TrapFatal([&] { m_state->run->ChangeRate({timePs, flow, rateBps}); });
}

void
Facade::ChangeRoute(int64_t fromPs,
                    int64_t flow,
                    int64_t node,
                    int64_t peer,
                    int64_t parallel,
                    bool reverse)
{
    TrapFatal([&] { m_state->run->ChangeRoute({flow, node, peer, parallel, reverse, fromPs}); });
}

std::vector<int64_t>
Facade::Decided()
{
    return m_state->run->TakeDecided();
}

void
Facade::Append()
{
    TrapFatal([this] {
        FabricTables tables = m_state->inputs.Tables();
        m_state->inputs = {};
        m_state->run->Append(std::move(tables));
    });
}

int64_t
Facade::Send(int64_t src, int64_t dst, int64_t bytes, int64_t startPs, int64_t transport)
{
    return TrapFatal([&] {
        const int64_t id = m_state->run->NextId();
        FabricTables tables;
        tables.flows.push_back({.id = id,
                                .src = src,
                                .dst = dst,
                                .bytes = bytes,
                                .startPs = startPs,
                                .transport = transport,
                                .decides = true});
        m_state->run->Append(std::move(tables));
        return id;
    });
}

void
Facade::Look()
{
    TrapFatal([this] { m_state->outputs = m_state->run->Look(); });
}

// ---- what is asked of a run -------------------------------------------------------------------

std::string
Facade::WhyOneDomain() const
{
    return m_state->run->WhyOneDomain();
}

std::vector<int64_t>
Facade::DeadlockCycle() const
{
    return m_state->run->DeadlockCycle();
}

fabric::Transport*
Facade::TransportAt(int64_t host, uint32_t transport) const
{
    return m_state->run ? m_state->run->TransportAt(host, transport) : nullptr;
}

namespace
{

/// @return how far a run has come; nothing has happened in one that is not there
RunProgress
ProgressOf(const std::unique_ptr<Run>& run)
{
    return run ? run->Progress() : RunProgress{};
}

} // namespace

int64_t
Facade::NowPs() const
{
    return m_state->run ? static_cast<int64_t>(m_state->run->NowPs().Ps()) : 0;
}

uint64_t
Facade::Events() const
{
    return ProgressOf(m_state->run).events;
}

uint64_t
Facade::FlowsDone() const
{
    return ProgressOf(m_state->run).flowsDone;
}

uint64_t
Facade::FlowsTotal() const
{
    return ProgressOf(m_state->run).flowsTotal;
}

uint64_t
Facade::TasksDone() const
{
    return ProgressOf(m_state->run).tasksDone;
}

uint64_t
Facade::TasksTotal() const
{
    return ProgressOf(m_state->run).tasksTotal;
}

uint64_t
Facade::DataPackets() const
{
    return ProgressOf(m_state->run).dataPackets;
}

// ---- output tables ----------------------------------------------------------------------------

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
    return FindTable(m_state->outputs, table).names;
}

size_t
Facade::Rows(const std::string& table) const
{
    const OutputTable& found = FindTable(m_state->outputs, table);
    return found.columns.empty() ? 0 : found.columns[0].size();
}

const int64_t*
Facade::Data(const std::string& table, const std::string& column) const
{
    const OutputTable& found = FindTable(m_state->outputs, table);
    return found.columns[FindColumn(found, table, column)].data();
}

void
Facade::Drop(const std::string& table, const std::string& column)
{
    OutputTable& found = FindTable(m_state->outputs, table);
    const auto place = static_cast<std::ptrdiff_t>(FindColumn(found, table, column));
    found.names.erase(found.names.begin() + place);
    found.columns.erase(found.columns.begin() + place);
}

} // namespace fabric
} // namespace ns3
