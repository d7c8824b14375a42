// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "ns3/abort.h"
#include "ns3/link-door.h"
#include "ns3/log.h"
#include "ns3/program-door.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricBuild");

namespace fabric
{

namespace
{

/// What a core's own cache has for the state of ports; more of it is fetched ahead of time [byte].
constexpr size_t CACHE_BYTES = 250'000;
/// The same for frames on wires, which are met in the order in which they were sent [byte].
constexpr size_t FRAME_CACHE_BYTES = 4'000'000;

/// Make an object of a factory, or null when the user chose none.
template <typename T>
T*
Make(const ObjectFactory& factory, std::vector<Ptr<Object>>& owner)
{
    if (!factory.IsTypeIdSet())
    {
        return nullptr;
    }
    const auto object = MakePlugin<T>(factory);
    owner.push_back(object);
    return PeekPointer(object);
}

/// @return least size with which a discipline that is quiet up to `quietBytes` must be called
uint64_t
CallAt(uint64_t quietBytes)
{
    return quietBytes == 0 || quietBytes == QueueDiscipline::ALWAYS ? quietBytes : quietBytes + 1;
}

/// Let the switches of a class call a program where it wants to be called.
void
Hook(NodeClass& owner, SwitchProgram* program)
{
    const std::pair<SwitchProgram::Hook, std::vector<SwitchProgram*>*> lists[] = {
        {SwitchProgram::ARRIVAL, &owner.onArrival},
        {SwitchProgram::DEPARTURE, &owner.onDeparture},
        {SwitchProgram::ROUTE, &owner.onRoute},
    };
    for (const auto& [hook, list] : lists)
    {
        if (program->Hooks() & hook)
        {
            list->push_back(program);
        }
    }
    owner.writesIntHops |= program->WritesIntHops();
}

/// @return one more than the largest domain of a node
uint32_t
NumDomains(const FabricTables& tables)
{
    int64_t last = 0;
    for (const auto& row : tables.nodes)
    {
        last = std::max(last, row.domain);
    }
    return static_cast<uint32_t>(last + 1);
}

} // namespace

Fabric::Fabric(FabricTables tables, const FabricOptions& options, uint32_t domain)
    : m_options(options),
      m_mail((tables.SortAndCheck(), NumDomains(tables))),
      m_state(tables,
              options.seed,
              options.framingBytes,
              {options.nodeClasses.begin(), options.nodeClasses.end()},
              domain,
              [this](uint32_t other, const Fulfilled& fulfilled) {
                  m_mail[other][m_parity].fulfilled.push_back(fulfilled);
                  m_mail[other][m_parity].Expect(fulfilled.startPs);
              }),
      m_ports(m_state.network.ports.Data()),
      m_changes(m_state.network),
      m_losses(m_state.network)
{
    CheckClasses();
    m_state.messages.Build(tables);
    BuildEndpoints();
    m_changes.Build(tables.linkEvents, m_options.convergencePs, m_state.queue);
    CheckRateChanges(tables);
    m_state.routes.List(tables.routes, tables.flows, m_state.queue);
    m_state.routes.Reserve(tables.routes, tables.flows, m_state.messages.Data());
    m_losses.Build(tables);
    BuildReach();
    BuildClasses();
    BuildLanes();
    AttachPlugins();
    CheckTelemetry();
    CheckMarks();
    CheckDomain();
    m_fetches = m_state.network.NumPorts() * sizeof(Port) > CACHE_BYTES ||
                FullWireBytes() > FRAME_CACHE_BYTES;
    std::vector<PortId> peers;
    for (PortId id = 0; id < m_state.network.NumPorts(); id++)
    {
        Port& port = m_ports[id];
        port.isWatched = m_linkClasses[port.linkClass].watchesSenders;
        peers.push_back(port.peer);
    }
    m_instant.SetPorts(std::move(peers));
    for (const auto& link : m_linkClasses)
    {
        if (link.control && m_mail.size() == 1)
        {
            m_deadlockCheckPs = 0;
            m_watchPs = 0;
        }
    }
    NS_LOG_INFO(m_state.network.nodes.size() << " nodes, " << m_state.network.NumPorts()
                                             << " ports, " << m_state.messages.Size()
                                             << " messages");
}

/// @return memory of the frames that all wires can hold [byte]
double
Fabric::FullWireBytes() const
{
    double frames = 0;
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        const RateClass& rate = m_state.network.rates[m_ports[port].rate];
        frames += static_cast<double>(m_ports[port].delayPs) /
                  static_cast<double>(rate.Ps(m_state.framingBytes + m_state.largestFrameBytes));
    }
    return frames * (sizeof(Frame) + sizeof(Event));
}

Fabric::~Fabric()
{
    for (auto& plugin : m_plugins)
    {
        plugin->Dispose();
    }
}

/// Every class that a row names must be described.
void
Fabric::CheckClasses() const
{
    for (const auto& node : m_state.network.nodes)
    {
        NS_ABORT_MSG_IF(node.nodeClass >= m_options.nodeClasses.size(),
                        "nodes: node " << node.id << ": class is " << int{node.nodeClass}
                                       << ", but there are " << m_options.nodeClasses.size()
                                       << " classes of nodes, counted from 0");
    }
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        NS_ABORT_MSG_IF(m_ports[port].linkClass >= m_options.linkClasses.size(),
                        "links: class is " << int{m_ports[port].linkClass} << ", but there are "
                                           << m_options.linkClasses.size()
                                           << " classes of links, counted from 0");
    }
}

// ---- plug-ins of switches and links -----------------------------------------------------------

void
Fabric::BuildClasses()
{
    m_linkClasses.resize(m_options.linkClasses.size());
    m_linksDiffer = m_linkClasses.size() > 1;
    for (size_t i = 0; i < m_options.linkClasses.size(); i++)
    {
        BuildLinkClass(m_options.linkClasses[i], static_cast<uint8_t>(i));
    }
    for (const auto& options : m_options.nodeClasses)
    {
        BuildNodeClass(options);
    }
    for (uint32_t node = 0; node < m_state.network.nodes.size(); node++)
    {
        DecideCutThrough(node);
    }
}

/// Doors know sizes, buffers and latencies of everything, so plug-ins are attached only now.
void
Fabric::AttachPlugins()
{
    for (auto& attach : m_attach)
    {
        attach();
    }
    m_attach.clear();
    for (auto& link : m_linkClasses)
    {
        link.losslessMask = link.control ? link.control->LosslessClasses() : 0;
        link.countedMask = link.control ? link.control->CountedClasses() : 0;
        link.memory = link.control ? link.control->Memory() : LinkFlowControl::PortMemory{};
    }
    for (size_t i = 0; i < m_nodeClasses.size(); i++)
    {
        NodeClass& owner = m_nodeClasses[i];
        for (uint8_t c = 0; c < MAX_CLASSES; c++)
        {
            const auto quiet = owner.discipline ? owner.discipline->Quiet(c)
                                                : QueueDiscipline::QuietBytes{
                                                      QueueDiscipline::ALWAYS,
                                                      QueueDiscipline::ALWAYS};
            owner.callAdmitAt[c] = CallAt(quiet.admit);
            owner.callDepartAt[c] =
                owner.onDeparture.empty() && !owner.scheduler ? CallAt(quiet.depart) : 0;
        }
    }
}

/// Who reads in-band telemetry needs it of every switch, or the busiest link may be missing.
void
Fabric::CheckTelemetry() const
{
    const auto reads = [](const Endpoint& end) { return end.transport->NeedsIntHops(); };
    const auto reader = std::find_if(m_endpoints.begin(), m_endpoints.end(), reads);
    if (reader == m_endpoints.end())
    {
        return;
    }
    for (const auto& node : m_state.network.nodes)
    {
        NS_ABORT_MSG_IF(node.isSwitch && !m_nodeClasses[node.nodeClass].writesIntHops,
                        reader->transport->GetInstanceTypeId().GetName()
                            << ": its CongestionControl reads in-band telemetry, which switch "
                            << node.id
                            << " does not write; give all switches a program that does: "
                               "switch: {programs: [{type: ns3::InbandTelemetry}]}");
    }
}

/// Who waits for marks needs a queue that sets them, wherever it is.
void
Fabric::CheckMarks() const
{
    std::array<bool, NUM_PRIORITIES> marks{};
    for (const auto& node : m_state.network.nodes)
    {
        const auto* queue = m_nodeClasses[node.nodeClass].discipline;
        for (uint8_t priority = 0; node.isSwitch && queue && priority < marks.size(); priority++)
        {
            marks[priority] |= queue->Marks(priority);
        }
    }
    for (const auto& end : m_endpoints)
    {
        NS_ABORT_MSG_IF(end.transport->NeedsMarks() && !marks[end.priority],
                        end.transport->GetInstanceTypeId().GetName()
                            << ": only marks tell it, or its CongestionControl, of queues, and no "
                               "switch marks priority "
                            << +end.priority
                            << "; give switches a queue that does, with KminBytes below "
                               "LimitBytes: switch: {queue: {type: ns3::RedEcn}}");
    }
}

void
Fabric::BuildLinkClass(const LinkClassOptions& options, uint8_t linkClass)
{
    LinkClass& link = m_linkClasses[linkClass];
    if (auto* loss = Make<WireLoss>(options.loss, m_plugins))
    {
        m_losses.UseModel(linkClass, loss);
        m_attach.push_back([this, loss] { loss->Attach(m_view); });
    }
    link.control = Make<LinkFlowControl>(options.flowControl, m_plugins);
    if (!link.control)
    {
        return;
    }
    const uint32_t first = AddTimers(nullptr, link.control, m_state.network.NumPorts());
    LinkActions& actions = *this;
    m_linkDoors.push_back(std::make_unique<LinkDoor>(m_state, actions, first, linkClass));
    m_attach.push_back(
        [control = link.control, door = m_linkDoors.back().get()] { control->Attach(*door); });
    link.watchesSenders = link.control->WatchesSenders();
    const uint32_t classes = link.control->NumClasses();
    NS_ABORT_MSG_IF(classes > MAX_CLASSES,
                    link.control->GetInstanceTypeId().GetName()
                        << " has " << classes << " classes; at most " << MAX_CLASSES);
}

void
Fabric::BuildNodeClass(const NodeClassOptions& options)
{
    NodeClass& owner = m_nodeClasses.emplace_back();
    NS_ABORT_MSG_IF(options.bufferBytes && *options.bufferBytes == 0,
                    "a switch with a buffer of 0 bytes forwards nothing; leave it out for a "
                    "buffer without limit");
    owner.bufferBytes = options.bufferBytes.value_or(0);
    owner.latencyPs = options.latencyPs;
    owner.cutThroughBytes = options.cutThroughBytes;
    owner.forwarding = Make<ForwardingPolicy>(options.forwarding, m_plugins);
    owner.discipline = Make<QueueDiscipline>(options.queue, m_plugins);
    owner.scheduler = Make<EgressScheduler>(options.scheduler, m_plugins);
    for (const auto& factory : options.programs)
    {
        auto* program = Make<SwitchProgram>(factory, m_plugins);
        m_programs.push_back(program);
        const auto nodes = static_cast<uint32_t>(m_state.network.nodes.size());
        const uint32_t first = AddTimers(program, nullptr, nodes);
        ProgramActions& actions = *this;
        m_programDoors.push_back(std::make_unique<ProgramDoor>(m_state, actions, first));
        m_attach.push_back(
            [program, door = m_programDoors.back().get()] { program->Attach(*door); });
        Hook(owner, program);
    }
    if (auto* policy = owner.forwarding)
    {
        m_attach.push_back([this, policy] { policy->Attach(m_view); });
        owner.hasOwnRoutes = policy->HasOwnRoutes();
        // A turn is taken by what is forwarded, so not before it is sure that a frame will be.
        const bool mayVanish = m_losses.Any() || m_changes.Any() || !owner.onArrival.empty();
        owner.routesEarly = policy->LooksAt() == ForwardingPolicy::Sees::FRAME ||
                            (policy->LooksAt() == ForwardingPolicy::Sees::TURN && !mayVanish);
    }
    owner.routesEarly = owner.routesEarly && owner.onArrival.empty() && owner.onRoute.empty();
    owner.hasOwnRoutes = owner.hasOwnRoutes || !owner.onRoute.empty();
    if (auto* discipline = owner.discipline)
    {
        m_attach.push_back([this, discipline] { discipline->Attach(m_view); });
    }
    if (auto* scheduler = owner.scheduler)
    {
        m_attach.push_back([this, scheduler] { scheduler->Attach(m_view); });
        if (m_askAtPs.empty())
        {
            m_askAtPs.assign(m_state.network.NumPorts(), NEVER_PS);
            m_firstAskTimer = AddTimers(nullptr, nullptr, m_state.network.NumPorts());
        }
    }
    const Routing& routing = m_state.routes.InForce();
    for (uint32_t group = 0; group < routing.NumGroups() && !owner.forwarding; group++)
    {
        const auto members = routing.GetGroup(group);
        const uint8_t nodeClass = m_ports[routing.Members(members)[0]].nodeClass;
        NS_ABORT_MSG_IF(members.size > 1 && nodeClass + 1U == m_nodeClasses.size(),
                        "forwarding: a switch has several paths to a destination, so a "
                        "forwarding policy is needed, for example ns3::EcmpHash");
    }
}

/// @return index of the first of `n` timers that belong to one plug-in
uint32_t
Fabric::AddTimers(SwitchProgram* program, LinkFlowControl* control, uint32_t n)
{
    const auto first = m_timerOwners.empty() ? static_cast<uint32_t>(m_endpoints.size())
                                             : m_timerOwners.back().first + m_timerOwners.back().n;
    NS_ABORT_MSG_IF(uint64_t{first} + n > EVENT_INDEX_MASK, "too many plug-ins with timers");
    m_timerOwners.push_back({first, n, program, control});
    return first;
}

} // namespace fabric
} // namespace ns3
