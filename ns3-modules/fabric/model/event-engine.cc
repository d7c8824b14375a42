// SPDX-License-Identifier: GPL-2.0-only

#include "event-engine.h"

#include "fabric-builder.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/log.h"

#include <algorithm>
#include <bit>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("EventEngine");

namespace fabric
{

namespace
{

/// What a core's own cache has for the state of ports; more of it is fetched ahead of time [byte].
constexpr size_t CACHE_BYTES = 250'000;
/// The same for frames on wires, which are met in the order in which they were sent [byte].
constexpr size_t FRAME_CACHE_BYTES = 4'000'000;

constexpr uint64_t EVENTS_PER_CLOCK_CHECK = 1 << 16;

/// How many events ahead of the current one their memory is fetched.
constexpr size_t FETCH_AHEAD = 8;

/// Instants of fewer events than this on average are too short to fetch within them.
constexpr uint64_t MANY_EVENTS = 2;

} // namespace

// ---- construction -----------------------------------------------------------------------------

EventEngine::EventEngine(const FabricTables& tables,
                         const FabricOptions& options,
                         uint32_t engine,
                         Boundary* boundary,
                         const EventEngine* first)
    : m_options(options),
      m_state(
          tables,
          options.seed,
          options.framingBytes,
          {options.nodeClasses.begin(), options.nodeClasses.end()},
          engine,
          [boundary](uint32_t other, const Fulfilled& fulfilled) {
              boundary->Tell(other, fulfilled);
          },
          first ? &first->m_state : nullptr),
      m_ports(m_state.network.ports.Data()),
      m_classes(m_state),
      m_wires(m_state, m_classes, m_observers, boundary),
      m_nic(m_state, m_classes, m_wires, m_observers),
      m_switching(m_state, m_classes, m_wires),
      m_held(m_state, m_classes, m_switching),
      m_links(m_state, m_classes, {m_observers, m_wires, m_nic, m_switching}),
      m_view(m_options, m_state, m_classes, m_wires, m_nic, m_switching, m_observers),
      m_deadlock(m_view),
      m_prefetch(m_state, m_classes, m_nic, m_switching)
{
    if (boundary)
    {
        boundary->Attach(m_state);
    }
    FabricBuilder(m_options,
                  m_state,
                  m_classes,
                  {m_observers, m_wires, m_nic, m_switching},
                  boundary)
        .Build(tables, m_links, m_held, first ? &first->m_state.messages : nullptr);
    if (m_state.messages.MayGrow())
    {
        m_nodes = tables.nodes;
        for (const auto& node : m_nodes)
        {
            m_nodeById[node.id] = &node;
        }
    }
    m_isOpenEnded = boundary || std::ranges::any_of(m_nic.Traits(), &Transport::Traits::isOpen);
    if (m_state.network.NumPorts() * sizeof(Port) > CACHE_BYTES ||
        FullWireBytes() > FRAME_CACHE_BYTES)
    {
        m_fetching = Fetching::WITHIN;
    }
    std::vector<PortId> peers;
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        peers.push_back(m_ports[port].peer);
    }
    m_instant.SetPorts(std::move(peers));
    if (first) // whose ports all may ask for while a run is built
    {
        m_state.network.ShareForeign(engine);
    }
    const auto isControlled = [](const LinkClass& link) { return link.control != nullptr; };
    if (!boundary && std::ranges::any_of(m_classes.links, isControlled))
    {
        m_observers.Add(m_deadlock);
    }
    NS_LOG_INFO(m_state.network.nodes.size()
                << " nodes, " << m_state.network.NumPorts() << " ports, " << m_state.messages.Size()
                << " messages");
}

/// @return memory of the frames that all wires can hold [byte]
double
EventEngine::FullWireBytes() const
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

void
EventEngine::Attach(Observer& observer)
{
    m_observers.Add(observer);
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        if (m_observers.AnyWishes(Observer::FRAMES) && m_state.IsOwn(port))
        {
            m_ports[port].isWatched = true;
        }
    }
}

void
EventEngine::Begin()
{
    m_state.messages.Begin();
}

void
EventEngine::Finish()
{
    m_observers.Finish();
    m_state.frames.GiveBack(); // results are about to take memory
}

// ---- for a controller -------------------------------------------------------------------------

void
EventEngine::ChangeRate(const RateChangeRow& row)
{
    const std::string name = "rate_changes: flow " + std::to_string(row.flow);
    const auto message = m_state.messages.Find(row.flow);
    NS_ABORT_MSG_IF(!message, name << ": there is no such flow");
    NS_ABORT_MSG_IF(row.timePs < static_cast<int64_t>(NowPs().Ps()),
                    name << ": " << row.timePs << " ps is over, it is " << NowPs() << " ps");
    NS_ABORT_MSG_IF(row.rateBps <= 0, name << ": rate_bps is " << row.rateBps << ", not > 0");
    if (m_state.IsOwnNode(m_state.network.hosts[m_state.messages[*message].src].node))
    {
        m_nic.CheckRateChange(*message);
        m_state.messages.AddRateChange(row, m_state.EngineNowPs());
    }
}

void
EventEngine::ChangeRoute(const RouteRow& row)
{
    const std::string name = "routes: flow " + std::to_string(row.flow);
    const auto message = m_state.messages.Find(row.flow);
    NS_ABORT_MSG_IF(!message, name << ": there is no such flow");
    NS_ABORT_MSG_IF(row.fromPs < static_cast<int64_t>(NowPs().Ps()),
                    name << ": " << row.fromPs << " ps is over, it is " << NowPs() << " ps");
    const PortId port = m_state.network.FindPort(row.node, row.peer, row.parallel);
    NS_ABORT_MSG_IF(port == NO_PORT || !m_state.network.nodes[m_ports[port].node].isSwitch,
                    name << ": there is no link from a switch " << row.node << " to node "
                         << row.peer << " (parallel " << row.parallel << ")");
    m_state.routes.Schedule(*message, row, m_ports[port].node, port, m_state.EngineNowPs());
}

void
EventEngine::Append(FabricTables& tables)
{
    if (!tables.tasks.empty())
    {
        tables.nodes = m_nodes;
    }
    tables.SortAndCheckFurther(m_nodeById);
    for (const auto& row : tables.flows)
    {
        CheckTransport(row.id, row.transport, m_nic.Traits().size());
        CheckBytes(row.id, row.bytes, m_nic.Traits()[row.transport]);
    }
    const uint32_t first = m_state.messages.Append(tables, m_state.EngineNowPs());
    m_nic.GiveEnds(first);
    m_state.FindReach(first);
}

// ---- the loop ---------------------------------------------------------------------------------

WorldPs
EventEngine::NextPs() const
{
    const bool isDone = m_state.messages.AllDone() && !m_isOpenEnded;
    const uint64_t nextPs = isDone || m_observers.EndRun() ? NEVER_PS : m_state.queue.NextPs();
    return nextPs == NEVER_PS ? WorldPs::Never() : m_state.world.WorldOf(EnginePs(nextPs));
}

bool
EventEngine::IsOver() const
{
    const MessageTable& messages = m_state.messages;
    return messages.IsToDecide() || (!m_isOpenEnded && messages.Size() > 0 && messages.AllDone());
}

void
EventEngine::LimitTo(WorldPs limitPs)
{
    m_state.limitPs = std::min(m_state.limitPs, m_state.world.EngineOf(limitPs));
}

void
EventEngine::AdvanceTo(WorldPs nowPs)
{
    NS_ASSERT_MSG(nowPs >= NowPs() && nowPs <= NextPs(), "events would be passed over");
    const EnginePs clockPs = m_state.world.EngineOf(nowPs);
    if (clockPs > m_observers.NextLookPs())
    {
        m_observers.Look(clockPs);
    }
    m_state.nowPs = clockPs.Ps();
}

// ---- one event --------------------------------------------------------------------------------

FABRIC_HOT void
EventEngine::EndTransmission(PortId portId)
{
    Port& port = m_ports[portId];
    const FrameId frameId = port.current;
    if (port.currentKind != frame_kind::DATA)
    {
        port.sentControl++;
    }
    if (!port.isHost && port.currentKind != frame_kind::LINK_CONTROL)
    {
        m_switching.LeaveBuffer(port);
    }
    m_wires.EndTransmission(m_state, portId, port, frameId);
    port.current = NO_FRAME;
    if (port.isHost)
    {
        m_nic.Select(portId, port);
    }
    else
    {
        m_switching.Select(portId, port);
    }
}

FABRIC_HOT void
EventEngine::ArriveAtSwitch(PortId portId, const Port& port, FrameId frameId, PortId egress)
{
    Frame& frame = m_state.frames[frameId];
    const NodeClass& owner = m_classes.nodes[port.nodeClass];
    frame.ingress = static_cast<uint16_t>(portId - m_state.network.nodes[port.node].firstPort);
    frame.hops++;
    if (!owner.onArrival.empty() && m_held.Takes(portId, frameId)) [[unlikely]]
    {
        return;
    }
    m_switching.Receive(owner, portId, port, frameId, egress);
}

FABRIC_HOT void
EventEngine::Arrive(PortId portId, FrameId frameId, PortId egress)
{
    Port& port = m_ports[portId];
    const Frame& frame = m_state.frames[frameId];
    if (port.lossy && m_wires.IsLost(portId, frame)) [[unlikely]]
    {
        m_state.frames.Free(frameId);
        return;
    }
    port.receivedFrames++;
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        m_links.Receive(portId, frameId);
    }
    else if (port.isHost)
    {
        m_nic.Receive(portId, port, frameId);
    }
    else
    {
        ArriveAtSwitch(portId, port, frameId, egress);
    }
}

/// Call the owner of a timer; those of hosts come first.
void
EventEngine::ExecuteTimer(uint32_t index, uint32_t token)
{
    if (index < m_nic.NumEnds()) [[likely]]
    {
        m_nic.EndAt(index).OnTimer(token);
        return;
    }
    const TimerOwner& owner = m_classes.OwnerOf(index);
    if (owner.program)
    {
        owner.program->OnTimer(index - owner.first);
    }
    else if (owner.control)
    {
        owner.control->OnTimer(index - owner.first);
    }
    else
    {
        m_switching.AskAgain(index - owner.first);
    }
}

// ---- one instant ------------------------------------------------------------------------------

/// Execute the only event of an instant; it waited in a lane, in the calendar or on a wire.
template <Fetching FETCHING>
FABRIC_HOT void
EventEngine::ExecuteAlone(const Event& event)
{
    const uint32_t index = event.target & EVENT_INDEX_MASK;
    if (event.Type() == EventType::ARRIVE)
    {
        Arrive(index, event.payload, m_prefetch.TakeEgressOf<FETCHING>(event.payload));
    }
    else
    {
        EndTransmission(index);
    }
}

/**
 * Execute the events of this instant, with the memory of the next ones on its way.
 *
 * Events look at their port, which was asked for when they were still in their lane, then at what
 * lies behind it, then at the transport; each is fetched a few events before. What changes the
 * network (CONTROL) comes before any frame is routed.
 */
template <Fetching FETCHING>
FABRIC_HOT void
EventEngine::ExecuteInstant()
{
    constexpr bool FETCHES = FETCHING == Fetching::WITHIN;
    constexpr uint64_t FIRST_TX_DONE = uint64_t{EventTarget(EventType::TX_DONE, 0)} << 32;
    KeyList& others = m_instant.others;
    const auto timers = static_cast<size_t>(
        std::lower_bound(others.begin(), others.end(), FIRST_TX_DONE) - others.begin());
    if (timers != 0)
    {
        ExecuteOthers(0, timers);
    }

    KeyList& transmitted = m_instant.transmitted;
    size_t n = transmitted.Size();
    for (size_t i = 0; i < n; i++)
    {
        if (FETCHES && i + FETCH_AHEAD < n)
        {
            m_prefetch.ForTransmissionDone(transmitted[i + FETCH_AHEAD]);
        }
        EndTransmission(IndexOf(transmitted[i]));
    }

    KeyList& arrived = m_instant.arrived;
    n = arrived.Size();
    if (FETCHES)
    {
        m_prefetch.Expect(n);
    }
    for (size_t i = 0; FETCHES && i < std::min(n, FETCH_AHEAD); i++)
    {
        m_prefetch.ForArrival(arrived[i], i);
    }
    for (size_t i = 0; i < n; i++)
    {
        if (FETCHES && i + FETCH_AHEAD < n)
        {
            m_prefetch.ForArrival(arrived[i + FETCH_AHEAD], i + FETCH_AHEAD);
            m_prefetch.ForTransport(arrived[i + FETCH_AHEAD / 2]);
        }
        const uint64_t key = arrived[i];
        const auto frame = static_cast<FrameId>(key);
        const PortId egress =
            FETCHES ? m_prefetch.EgressOf(i) : m_prefetch.TakeEgressOf<FETCHING>(frame);
        Arrive(IndexOf(key), frame, egress);
    }

    if (timers != others.Size())
    {
        ExecuteOthers(timers, others.Size());
    }
}

/// Execute events up to the limit.
/// @return whether there are more, and time for them
template <Fetching FETCHING>
bool
EventEngine::RunEvents(std::chrono::steady_clock::time_point deadline)
{
    const Ahead<FETCHING> ahead{m_prefetch};
    const uint64_t firstEvent = m_events;
    uint64_t instants = 0;
    while (!m_state.messages.AllDone() || m_isOpenEnded)
    {
        const EventQueue::Due due = m_state.queue.FindNext();
        if (EnginePs(due.timePs) > m_state.limitPs || due.timePs == NEVER_PS)
        {
            return false;
        }
        bool isShown = false;
        if (EnginePs(due.timePs) > m_observers.NextLookPs()) [[unlikely]]
        {
            m_observers.Look(EnginePs(due.timePs));
            if (m_observers.EndRun())
            {
                return false;
            }
            isShown = m_observers.SeeInstants();
        }
        m_state.nowPs = due.timePs;
        if (!isShown && m_state.queue.IsAlone(due, ahead))
        {
            ExecuteAlone<FETCHING>(m_state.queue.PopAlone(due, ahead));
            m_events++;
        }
        else
        {
            m_state.queue.PopInstant(due, m_instant, ahead);
            m_instant.Order(m_state.frames);
            if (isShown)
            {
                m_observers.OnInstant(m_instant);
            }
            ExecuteInstant<FETCHING>();
            m_events += m_instant.Size();
        }
        instants++;
        if (m_events - firstEvent >= EVENTS_PER_CLOCK_CHECK) [[unlikely]]
        {
            const bool areMany = m_events - firstEvent >= MANY_EVENTS * instants;
            m_fetching = FETCHING == Fetching::NONE ? FETCHING
                         : areMany                  ? Fetching::WITHIN
                                                    : Fetching::ACROSS;
            return std::chrono::steady_clock::now() < deadline;
        }
    }
    return false;
}

void
EventEngine::RunUntil(WorldPs limitPs, std::chrono::steady_clock::time_point deadline)
{
    m_state.limitPs = m_state.world.EngineOf(limitPs);
    bool goesOn = true;
    while (goesOn)
    {
        const Fetching before = m_fetching;
        goesOn = before == Fetching::NONE     ? RunEvents<Fetching::NONE>(deadline)
                 : before == Fetching::WITHIN ? RunEvents<Fetching::WITHIN>(deadline)
                                              : RunEvents<Fetching::ACROSS>(deadline);
        if (m_fetching != before)
        {
            // Only ACROSS takes routes that are known early. One that it left behind would be that
            // of another frame by the time it is taken.
            m_prefetch.ForgetRoutes();
        }
    }
}

/// Execute changes of links and routes, starts of messages, ends of tasks, and timers.
void
EventEngine::ExecuteOthers(size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
    {
        const auto target = static_cast<uint32_t>(m_instant.others[i] >> 32);
        const auto payload = static_cast<uint32_t>(m_instant.others[i]);
        const uint32_t index = target & EVENT_INDEX_MASK;
        if (target >> EVENT_INDEX_BITS == static_cast<uint32_t>(EventType::TIMER))
        {
            ExecuteTimer(index, payload);
            continue;
        }
        m_prefetch.ForgetRoutes();
        if (index == CONTROL_MESSAGE)
        {
            m_nic.StartMessage(payload);
        }
        else if (index == CONTROL_TASK)
        {
            m_state.messages.EndTask(payload, m_state.EngineNowPs());
        }
        else if (index == CONTROL_ARRIVED)
        {
            m_state.messages.Decide(payload);
        }
        else if (index == CONTROL_ROUTE)
        {
            m_events -= m_state.engine != 0; // each engine executes it, and it is one
            m_state.routes.Take(payload);
        }
        else if (index == CONTROL_RATE)
        {
            m_nic.Readmit(m_state.messages.ChangeRate(payload));
        }
        else
        {
            // What follows from changes follows once, from all of this instant together.
            const bool isLast =
                i + 1 == end || static_cast<uint32_t>(m_instant.others[i + 1] >> 32) != target;
            m_events -= m_state.engine != 0;
            m_links.Execute(index, payload, isLast);
        }
    }
    if (m_state.messages.IsToDecide())
    {
        LimitTo(NowPs()); // all of this time comes first
    }
}

} // namespace fabric
} // namespace ns3
