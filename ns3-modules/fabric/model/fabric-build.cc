// SPDX-License-Identifier: GPL-2.0-only

#include "fabric.h"

#include "ns3/abort.h"
#include "ns3/link-door.h"
#include "ns3/log.h"
#include "ns3/packet-capture.h"
#include "ns3/program-door.h"

#include <algorithm>
#include <map>
#include <set>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricBuild");

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
    const auto object = factory.Create<T>();
    owner.push_back(object);
    return PeekPointer(object);
}

/// @return least size with which a discipline that is quiet up to `quietBytes` must be called
uint64_t
CallAt(uint64_t quietBytes)
{
    return quietBytes == 0 || quietBytes == QueueDiscipline::ALWAYS ? quietBytes : quietBytes + 1;
}

} // namespace

Fabric::Fabric(FabricTables tables, const FabricOptions& options)
    : m_options(options),
      m_network((tables.SortAndCheck(), tables), options.seed),
      m_ports(m_network.ports.Data()),
      m_messages(m_network, m_queue, options.seed),
      m_routes(m_network),
      m_routing(&m_routes.InForce()),
      m_changes(m_network),
      m_losses(m_network)
{
    CheckClasses();
    m_messages.Build(tables);
    BuildEndpoints();
    m_changes.Build(tables.linkEvents, m_options.convergencePs, m_queue);
    m_routes.List(tables.routes, m_messages.Ids());
    m_losses.Build(tables);
    BuildReach();
    BuildClasses();
    BuildLanes();
    AttachPlugins();
    if (!m_options.captures.empty())
    {
        m_capture = std::make_unique<PacketCapture>(*this);
    }
    m_present.assign(m_network.NumPorts() / 64 + 1, 0);
    m_presentWords.assign(m_network.NumPorts() / 4096 + 1, 0);
    BuildTelemetry(tables.sampled);
    NS_LOG_INFO(m_network.nodes.size() << " nodes, " << m_network.NumPorts() << " ports, "
                                       << m_messages.Size() << " messages");
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
    for (const auto& node : m_network.nodes)
    {
        NS_ABORT_MSG_IF(node.nodeClass >= m_options.nodeClasses.size(),
                        "nodes: node " << node.id << ": class is " << int{node.nodeClass}
                                       << ", but there are " << m_options.nodeClasses.size()
                                       << " classes of nodes, counted from 0");
    }
    for (PortId port = 0; port < m_network.NumPorts(); port++)
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
    for (size_t i = 0; i < m_options.linkClasses.size(); i++)
    {
        BuildLinkClass(m_options.linkClasses[i], static_cast<uint8_t>(i));
    }
    for (const auto& options : m_options.nodeClasses)
    {
        BuildNodeClass(options);
    }
    for (uint32_t node = 0; node < m_network.nodes.size(); node++)
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
    const uint32_t first = AddTimers(nullptr, link.control, m_network.NumPorts());
    m_linkDoors.push_back(std::make_unique<LinkDoor>(*this, first, linkClass));
    m_attach.push_back(
        [control = link.control, door = m_linkDoors.back().get()] { control->Attach(*door); });
    link.watchesSenders = link.control->WatchesSenders();
    const uint32_t classes = link.control->NumClasses();
    NS_ABORT_MSG_IF(classes > MAX_CLASSES,
                    link.control->GetInstanceTypeId().GetName()
                        << " has " << classes << " classes; at most " << MAX_CLASSES);
    if (classes > NUM_PRIORITIES)
    {
        m_laneQueues.resize(size_t{m_network.NumPorts()} * NUM_PRIORITIES);
    }
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
        const auto nodes = static_cast<uint32_t>(m_network.nodes.size());
        const uint32_t first = AddTimers(program, nullptr, nodes);
        m_programDoors.push_back(std::make_unique<ProgramDoor>(*this, first));
        m_attach.push_back(
            [program, door = m_programDoors.back().get()] { program->Attach(*door); });
        if (program->Hooks() & SwitchProgram::ARRIVAL)
        {
            owner.onArrival.push_back(program);
        }
        if (program->Hooks() & SwitchProgram::DEPARTURE)
        {
            owner.onDeparture.push_back(program);
        }
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
    owner.routesEarly = owner.routesEarly && owner.onArrival.empty();
    if (auto* discipline = owner.discipline)
    {
        m_attach.push_back([this, discipline] { discipline->Attach(m_view); });
    }
    if (auto* scheduler = owner.scheduler)
    {
        m_attach.push_back([this, scheduler] { scheduler->Attach(m_view); });
        if (m_askAtPs.empty())
        {
            m_askAtPs.assign(m_network.NumPorts(), NEVER_PS);
            m_firstAskTimer = AddTimers(nullptr, nullptr, m_network.NumPorts());
        }
    }
    for (uint32_t group = 0; group < m_routing->NumGroups() && !owner.forwarding; group++)
    {
        const auto members = m_routing->GetGroup(group);
        const uint8_t nodeClass = m_ports[m_routing->Members(members)[0]].nodeClass;
        NS_ABORT_MSG_IF(members.size > 1 && nodeClass + 1U == m_nodeClasses.size(),
                        "forwarding: a switch has several ways to a destination, so a "
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

// ---- hosts ------------------------------------------------------------------------------------

uint32_t
Fabric::EndpointOf(uint32_t host, uint32_t transport) const
{
    const HostState& state = m_network.hosts[host];
    for (uint32_t i = state.firstEndpoint; i < state.firstEndpoint + state.endpoints; i++)
    {
        if (m_transportOfEndpoint[i] == transport)
        {
            return i;
        }
    }
    return NO_ENDPOINT;
}

void
Fabric::BuildEndpoints()
{
    const size_t transports = m_options.transports.size();
    std::vector<std::vector<bool>> uses(m_network.hosts.size(), std::vector<bool>(transports));
    for (uint32_t i = 0; i < m_messages.Size(); i++)
    {
        const Message& message = m_messages[i];
        NS_ABORT_MSG_IF(message.transport >= transports,
                        "flows: flow " << message.id << ": transport is "
                                       << static_cast<int32_t>(message.transport)
                                       << ", but there are " << transports
                                       << " transports, counted from 0");
        if (message.bytes != 0)
        {
            uses[message.src][message.transport] = true;
            uses[message.dst][message.transport] = true;
        }
    }
    std::vector<std::pair<int, uint32_t>> order; // (-priority, index) of each transport
    for (uint32_t transport = 0; transport < transports; transport++)
    {
        const auto sample = m_options.transports[transport].Create<Transport>();
        order.emplace_back(-int{sample->DataPriority()}, transport);
        m_wires.push_back(sample->Wire());
    }
    std::sort(order.begin(), order.end());
    for (const auto& [priority, transport] : order)
    {
        m_transportOrder.push_back(transport);
    }
    for (uint32_t host = 0; host < m_network.hosts.size(); host++)
    {
        BuildEndpointsOf(host, uses[host]);
    }
    BuildMessages();
}

/// Endpoints of a host are contiguous, the most urgent first.
void
Fabric::BuildEndpointsOf(uint32_t host, const std::vector<bool>& uses)
{
    HostState& state = m_network.hosts[host];
    state.firstEndpoint = static_cast<uint32_t>(m_endpoints.size());
    for (const uint32_t transport : m_transportOrder)
    {
        if (!uses[transport])
        {
            continue;
        }
        auto* object = Make<Transport>(m_options.transports[transport], m_plugins);
        const auto endpoint = static_cast<uint32_t>(m_endpoints.size());
        m_endpoints.push_back({object, object->DataPriority()});
        m_hostOfEndpoint.push_back(host);
        m_transportOfEndpoint.push_back(transport);
        state.endpoints++;
        state.variesUrgency |= object->VariesUrgency();
        object->Attach(HostPort(*this, endpoint, host));
    }
}

void
Fabric::BuildMessages()
{
    for (uint32_t i = 0; i < m_messages.Size(); i++)
    {
        Message& message = m_messages[i];
        if (message.bytes == 0)
        {
            continue;
        }
        message.srcEndpoint = EndpointOf(message.src, message.transport);
        message.dstEndpoint = EndpointOf(message.dst, message.transport);
    }
}

/// Every flow needs a port that leads to its destination; find out whether all its ports do.
void
Fabric::BuildReach()
{
    const auto nodeId = [this](uint32_t host) {
        return m_network.nodes[m_network.hosts[host].node].id;
    };
    for (uint32_t i = 0; i < m_messages.Size(); i++)
    {
        const Message& message = m_messages[i];
        if (message.bytes == 0)
        {
            continue;
        }
        for (const auto& [src, dst] : {std::pair{message.src, message.dst},
                                      std::pair{message.dst, message.src}})
        {
            const size_t nearest = m_routes.NearestPorts(src, dst).size();
            NS_ABORT_MSG_IF(nearest == 0,
                            "flows: flow " << message.id << ": no path from host " << nodeId(src)
                                           << " to host " << nodeId(dst)
                                           << "; the links do not connect them");
            m_reachDiffers |= nearest != m_network.hosts[src].ports;
        }
    }
}

// ---- events -----------------------------------------------------------------------------------

/// The delays that most events wait for get lanes: propagation first, then full frames and
/// acknowledgements. What finds no lane goes through the wheel, or waits on its wire.
void
Fabric::BuildLanes()
{
    const auto delayOf = [this](PortId port) {
        const Port& peer = m_ports[m_ports[port].peer];
        return m_network.counters[port].delayPs +
               (peer.isHost ? 0 : m_nodeClasses[peer.nodeClass].latencyPs);
    };
    std::map<uint64_t, size_t> uses;
    for (PortId port = 0; port < m_network.NumPorts(); port++)
    {
        uses[delayOf(port)]++;
    }
    std::vector<std::pair<size_t, uint64_t>> delays;
    for (const auto& [delayPs, n] : uses)
    {
        delays.emplace_back(n, delayPs);
    }
    std::sort(delays.rbegin(), delays.rend());
    constexpr size_t LINK_LANES = 4;
    std::map<uint64_t, uint8_t> laneOf;
    for (size_t i = 0; i < std::min(delays.size(), LINK_LANES); i++)
    {
        laneOf[delays[i].second] = m_queue.LaneFor(delays[i].second);
    }
    bool anyWire = false;
    for (PortId port = 0; port < m_network.NumPorts(); port++)
    {
        const auto lane = laneOf.find(delayOf(port));
        m_ports[port].lane = lane == laneOf.end() ? EventQueue::NO_LANE : lane->second;
        anyWire |= m_network.counters[port].delayPs >= EventWheel::HORIZON_PS &&
                   (lane == laneOf.end() || m_ports[port].cutsThrough);
    }
    m_queue.SetWires(anyWire ? m_network.NumPorts() : 0);
    BuildFrameLanes();
}

void
Fabric::BuildFrameLanes()
{
    std::vector<uint32_t> sizes;
    for (const auto& wire : m_wires)
    {
        const uint32_t fullBytes = wire.mtuBytes + wire.headerBytes;
        for (const auto bytes : {fullBytes, wire.ackBytes, fullBytes + wire.firstHeaderBytes})
        {
            const uint32_t frameBytes = std::max(MIN_FRAME_BYTES, bytes);
            if (std::find(sizes.begin(), sizes.end(), frameBytes) == sizes.end())
            {
                sizes.push_back(frameBytes);
            }
        }
    }
    for (const auto bytes : sizes)
    {
        m_largestFrameBytes = std::max(m_largestFrameBytes, bytes);
        for (auto& rate : m_network.rates)
        {
            if (rate.lanes == std::size(rate.lane))
            {
                continue;
            }
            const uint64_t ps = rate.Ps(bytes + m_options.framingBytes);
            const uint8_t lane = m_queue.LaneFor(ps);
            if (lane != EventQueue::NO_LANE)
            {
                rate.laneBytes[rate.lanes] = bytes;
                rate.lanePs[rate.lanes] = ps;
                rate.lane[rate.lanes] = lane;
                rate.lanes++;
            }
        }
    }
}

void
Fabric::BuildTelemetry(const std::vector<SampledRow>& rows)
{
    std::set<int64_t> ids;
    for (const auto& row : rows)
    {
        ids.insert(row.node);
    }
    std::vector<PortId> sampled;
    for (PortId port = 0; port < m_network.NumPorts() && m_options.samplePs; port++)
    {
        if (ids.empty() || ids.contains(m_network.nodes[m_ports[port].node].id))
        {
            sampled.push_back(port);
        }
    }
    if (m_options.samplePs || m_options.traceArrivals || m_options.tracePauses)
    {
        m_telemetry = std::make_unique<Telemetry>(*this, std::move(sampled));
        m_watchPs = m_telemetry->NextSamplePs();
    }
    for (const auto& link : m_linkClasses)
    {
        if (link.control)
        {
            m_deadlockCheckPs = 0;
            m_watchPs = 0;
        }
    }
}

} // namespace fabric
} // namespace ns3
