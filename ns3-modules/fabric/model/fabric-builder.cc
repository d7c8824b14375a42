// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-builder.h"

#include "combination.h"
#include "event-lanes.h"

#include "ns3/abort.h"

#include <algorithm>
#include <set>
#include <utility>

namespace ns3
{
namespace fabric
{

namespace
{

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
        if (program->GetTraits().hooks & hook)
        {
            list->push_back(program);
        }
    }
    owner.writesIntHops |= program->GetTraits().writesIntHops;
}

} // namespace

FabricBuilder::FabricBuilder(const FabricOptions& options,
                             EngineState& state,
                             PluginClasses& classes,
                             const Links::Parts& parts,
                             Boundary* boundary)
    : m_options(options),
      m_state(state),
      m_ports(state.network.ports.Data()),
      m_classes(classes),
      m_wires(parts.wires),
      m_nic(parts.nic),
      m_switching(parts.switching),
      m_boundary(boundary)
{
}

void
FabricBuilder::Build(const FabricTables& tables,
                     LinkActions& links,
                     ProgramActions& programs,
                     const MessageTable* first)
{
    CheckClasses();
    m_state.messages.Build(tables, m_options.hosts, first);
    m_nic.Build(m_options.transports, !m_boundary, m_classes.owned);
    m_wires.Changes().Build(tables.linkEvents,
                            m_options.convergencePs,
                            m_state.world,
                            m_state.queue);
    for (const auto& row : tables.rateChanges)
    {
        m_nic.CheckRateChange(*PlaceOf(tables.flows, row.flow));
    }
    m_state.routes.List(tables.routes, tables.flows);
    m_state.routes.Reserve(tables.routes, tables.flows, m_state.messages.Data());
    m_wires.Losses().Build(tables);
    m_state.FindReach(0);
    BuildClasses(links, programs);
    m_wires.FindDelays();
    EventLanes(m_state, m_wires, m_boundary).Build(m_nic.Traits());
    CheckCombinations();
    AttachPlugins();
    CheckTelemetry();
    CheckMarks();
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        if (m_classes.links[m_ports[port].linkClass].watchesSenders && m_state.IsOwn(port))
        {
            m_ports[port].isWatched = true;
        }
    }
}

/// Every class that a row names must be described.
void
FabricBuilder::CheckClasses() const
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

void
FabricBuilder::BuildClasses(LinkActions& links, ProgramActions& programs)
{
    m_classes.links.resize(m_options.linkClasses.size());
    m_classes.linksDiffer = m_classes.links.size() > 1;
    for (size_t i = 0; i < m_options.linkClasses.size(); i++)
    {
        BuildLinkClass(m_options.linkClasses[i], static_cast<uint8_t>(i), links);
    }
    for (const auto& options : m_options.nodeClasses)
    {
        BuildNodeClass(options, programs);
    }
    for (uint32_t node = 0; node < m_state.network.nodes.size(); node++)
    {
        m_wires.DecideCutThrough(node);
    }
}

void
FabricBuilder::BuildLinkClass(const LinkClassOptions& options,
                              uint8_t linkClass,
                              LinkActions& actions)
{
    LinkClass& link = m_classes.links[linkClass];
    if (auto* loss = Make<LossModel>(options.loss, m_classes.owned))
    {
        m_wires.Losses().UseModel(linkClass, loss);
        m_attach.push_back([this, loss] { loss->Attach(m_classes.context); });
    }
    link.control = Make<LinkFlowControl>(options.flowControl, m_classes.owned);
    if (!link.control)
    {
        return;
    }
    const uint32_t first = AddTimers(nullptr, link.control, m_state.network.NumPorts());
    m_classes.linkContexts.push_back(
        std::make_unique<LinkContext>(m_state, actions, first, linkClass));
    m_attach.push_back([control = link.control, context = m_classes.linkContexts.back().get()] {
        control->Attach(*context);
    });
    const auto traits = link.control->GetTraits();
    link.watchesSenders = traits.watchesSenders;
    link.losslessMask = traits.losslessClasses;
    link.countedMask = traits.countedClasses;
    NS_ABORT_MSG_IF(traits.numClasses > MAX_CLASSES,
                    link.control->GetInstanceTypeId().GetName()
                        << " has " << traits.numClasses << " classes; at most " << MAX_CLASSES);
}

void
FabricBuilder::BuildNodeClass(const NodeClassOptions& options, ProgramActions& actions)
{
    NodeClass& owner = m_classes.nodes.emplace_back();
    owner.bufferBytes = options.bufferBytes.value_or(0);
    owner.forwarding = Make<ForwardingPolicy>(options.forwarding, m_classes.owned);
    owner.discipline = Make<QueueDiscipline>(options.queue, m_classes.owned);
    owner.scheduler = Make<EgressScheduler>(options.scheduler, m_classes.owned);
    for (const auto& factory : options.programs)
    {
        auto* program = Make<SwitchProgram>(factory, m_classes.owned);
        m_classes.programs.push_back(program);
        const auto nodes = static_cast<uint32_t>(m_state.network.nodes.size());
        const uint32_t first = AddTimers(program, nullptr, nodes);
        m_classes.programContexts.push_back(
            std::make_unique<ProgramContext>(m_state, actions, first));
        m_attach.push_back([program, context = m_classes.programContexts.back().get()] {
            program->Attach(*context);
        });
        Hook(owner, program);
    }
    if (auto* policy = owner.forwarding)
    {
        m_attach.push_back([this, policy] { policy->Attach(m_classes.context); });
        const auto traits = policy->GetTraits();
        owner.hasOwnRoutes = traits.hasOwnRoutes;
        owner.keepsFlowOnOnePath = traits.keepsFlowOnOnePath;
        // A turn is taken by what is forwarded, so not before it is sure that a frame will be.
        const bool mayVanish =
            m_wires.Losses().Any() || m_wires.Changes().Any() || !owner.onArrival.empty();
        owner.routesAnyTime = traits.sees == ForwardingPolicy::Sees::FRAME;
        owner.routesEarly =
            owner.routesAnyTime || (traits.sees == ForwardingPolicy::Sees::TURN && !mayVanish);
    }
    owner.routesEarly = owner.routesEarly && owner.onArrival.empty() && owner.onRoute.empty();
    owner.routesAnyTime = owner.routesAnyTime && owner.routesEarly;
    owner.hasOwnRoutes = owner.hasOwnRoutes || !owner.onRoute.empty();
    if (auto* discipline = owner.discipline)
    {
        m_attach.push_back([this, discipline] { discipline->Attach(m_classes.context); });
    }
    if (auto* scheduler = owner.scheduler)
    {
        m_attach.push_back([this, scheduler] { scheduler->Attach(m_classes.context); });
        if (!m_hasAskTimers)
        {
            m_switching.UseAskTimers(AddTimers(nullptr, nullptr, m_state.network.NumPorts()));
            m_hasAskTimers = true;
        }
    }
    const Routing& routing = m_state.routes.InForce();
    for (uint32_t group = 0; group < routing.NumGroups() && !owner.forwarding; group++)
    {
        const auto members = routing.GetGroup(group);
        const uint8_t nodeClass = m_ports[routing.Members(members)[0]].nodeClass;
        NS_ABORT_MSG_IF(members.size > 1 && nodeClass + 1U == m_classes.nodes.size(),
                        "forwarding: a switch has several paths to a destination, so a "
                        "forwarding policy is needed, for example ns3::EcmpHash");
    }
}

/// Of each class of switches and each class of links at them.
void
FabricBuilder::CheckCombinations() const
{
    std::set<std::pair<uint8_t, uint8_t>> met;
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        if (!m_ports[port].isHost)
        {
            met.emplace(m_ports[port].nodeClass, m_ports[port].linkClass);
        }
    }
    std::vector<Sender> senders;
    for (size_t i = 0; i < m_options.transports.size(); i++)
    {
        senders.push_back({m_options.transports[i].GetTypeId().GetName(), m_nic.Traits()[i]});
        NS_ABORT_MSG_IF(i < m_options.hosts.size() && m_options.hosts[i].outstanding &&
                            !m_nic.Traits()[i].isAcknowledged,
                        "ns3::Host: Outstanding: the source of a message of "
                            << senders.back().type
                            << " does not learn of its end; leave outstanding out");
    }
    for (const auto& [nodeClass, linkClass] : met)
    {
        const NodeClass& its = m_classes.nodes[nodeClass];
        CheckCombination({its.discipline, its.scheduler, m_classes.links[linkClass].control},
                         senders);
    }
    CheckPrograms({m_classes.programs.begin(), m_classes.programs.end()});
}

/// Contexts know sizes, buffers and latencies of everything, so plug-ins are attached only now.
void
FabricBuilder::AttachPlugins()
{
    for (auto& attach : m_attach)
    {
        attach();
    }
    m_attach.clear();
    for (auto& link : m_classes.links)
    {
        link.memory = link.control ? link.control->Memory() : LinkFlowControl::PortMemory{};
    }
    for (size_t i = 0; i < m_classes.nodes.size(); i++)
    {
        NodeClass& owner = m_classes.nodes[i];
        for (uint8_t c = 0; c < MAX_CLASSES; c++)
        {
            owner.queueTraits[c] =
                owner.discipline ? owner.discipline->GetTraits(c) : QueueDiscipline::Traits{};
            const auto quiet =
                owner.discipline
                    ? owner.discipline->Quiet(c)
                    : QueueDiscipline::QuietBytes{QueueDiscipline::ALWAYS, QueueDiscipline::ALWAYS};
            owner.callAdmitAt[c] = CallAt(quiet.admit);
            owner.callDepartAt[c] =
                owner.onDeparture.empty() && !owner.scheduler ? CallAt(quiet.depart) : 0;
        }
    }
}

/// @return index of the first of `n` timers that belong to one plug-in
uint32_t
FabricBuilder::AddTimers(SwitchProgram* program, LinkFlowControl* control, uint32_t n)
{
    const auto& timers = m_classes.timers;
    const uint32_t first = timers.empty() ? m_nic.NumEnds() : timers.back().first + timers.back().n;
    NS_ABORT_MSG_IF(uint64_t{first} + n > EVENT_INDEX_MASK, "too many plug-ins with timers");
    m_classes.timers.push_back({first, n, program, control});
    return first;
}

/// Who reads in-band telemetry needs it of every switch, or the busiest link may be missing.
void
FabricBuilder::CheckTelemetry() const
{
    const Transport* reader = nullptr;
    for (uint32_t i = 0; i < m_nic.NumEnds() && !reader; i++)
    {
        reader = m_nic.TraitsOf(i).needsIntHops ? &m_nic.EndAt(i) : nullptr;
    }
    for (const auto& node : m_state.network.nodes)
    {
        NS_ABORT_MSG_IF(reader && node.isSwitch && !m_classes.nodes[node.nodeClass].writesIntHops,
                        reader->GetInstanceTypeId().GetName()
                            << ": its CongestionControl reads in-band telemetry, which switch "
                            << node.id
                            << " does not write; give all switches a program that does: "
                               "switch: {programs: [{type: ns3::InbandTelemetry}]}");
    }
}

/// Who waits for marks needs a queue that sets them, wherever it is.
void
FabricBuilder::CheckMarks() const
{
    std::array<bool, NUM_PRIORITIES> marks{};
    for (const auto& node : m_state.network.nodes)
    {
        const auto& traits = m_classes.nodes[node.nodeClass].queueTraits;
        for (uint8_t priority = 0; node.isSwitch && priority < marks.size(); priority++)
        {
            marks[priority] |= traits[priority].marks;
        }
    }
    for (uint32_t i = 0; i < m_nic.NumEnds(); i++)
    {
        const uint8_t priority = m_nic.TraitsOf(i).dataPriority;
        NS_ABORT_MSG_IF(m_nic.TraitsOf(i).needsMarks && !marks[priority],
                        m_nic.EndAt(i).GetInstanceTypeId().GetName()
                            << ": only marks tell it, or its CongestionControl, of queues, and no "
                               "switch marks priority "
                            << +priority
                            << "; give switches a queue that does, with KminBytes below "
                               "LimitBytes: switch: {queue: {type: ns3::RedEcn}}");
    }
}

} // namespace fabric
} // namespace ns3
