// SPDX-License-Identifier: GPL-2.0-only

#include "fluid-loop.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FluidLoop");

using namespace fabric;

namespace
{

/// Messages that end within this time are through together; times come out in whole ps.
constexpr double INSTANT_PS = 0.25;

/// @return time of a message that is alone on its path, or on links of several side by side [ps]
uint64_t
AlonePs(const FluidFrames& frames,
        const std::vector<FluidHop>& path,
        const std::vector<FluidHopLinks>& spread)
{
    const auto isOne = [](const FluidHopLinks& hop) { return hop.links == 1; };
    if (std::all_of(spread.begin(), spread.end(), isOne))
    {
        return UnloadedPs(frames, path);
    }
    uint64_t fixedPs = 0;
    for (const FluidHop& hop : path)
    {
        fixedPs += hop.delayPs + hop.processingDelayPs;
    }
    return fixedPs + SpreadPs(frames, spread);
}

} // namespace

FluidLoop::FluidLoop(EventEngine& engine, const FabricTables& tables)
    : m_engine(engine),
      m_fabric(engine.View()),
      m_paths(m_fabric, tables.linkEvents.empty() && !m_fabric.Messages().MayGrow()),
      m_rates(m_paths.Capacities()),
      m_graph(tables),
      m_hosts(m_fabric.Options().hosts, m_fabric.Network().LineRatesBps()),
      m_linkBytes(m_paths.NumLinks(), 0)
{
    NS_LOG_FUNCTION(this);
    for (const auto& factory : m_fabric.Options().transports)
    {
        m_isAcknowledged.push_back(MakePlugin<Transport>(factory)->GetTraits().isAcknowledged);
    }
    BuildChanges(tables);
    AddItems(tables, 0);
}

void
FluidLoop::Append(const FabricTables& tables)
{
    const uint32_t tasks = m_graph.NumTasks();
    m_graph.Append(tables);
    AddItems(tables, tasks);
}

/// Take messages and tasks of tables that are in the graph, from these on.
void
FluidLoop::AddItems(const FabricTables& tables, uint32_t firstTask)
{
    const auto firstMessage = static_cast<uint32_t>(m_messages.size());
    for (const auto& row : tables.flows)
    {
        const WorldPs startPs(static_cast<uint64_t>(row.startPs));
        m_messages.push_back({.startPs = startPs, .decides = row.decides});
    }
    if (!tables.dependencies.empty() || m_graph.NumTasks() > 0 || !m_knownPs[0].empty())
    {
        m_knownPs[0].resize(m_graph.NumMessages());
        m_knownPs[1].resize(m_graph.NumTasks());
    }
    const auto begin = [this](uint32_t item) {
        if (!m_graph.Waits(item))
        {
            m_starts.push({StartOf(item), item});
        }
    };
    for (uint32_t message = firstMessage; message < m_graph.NumMessages(); message++)
    {
        begin(message);
    }
    for (uint32_t task = firstTask; task < m_graph.NumTasks(); task++)
    {
        begin(TaskGraph::FIRST_TASK + task);
    }
}

void
FluidLoop::BuildChanges(const FabricTables& tables)
{
    NS_ABORT_MSG_IF(!tables.lossChanges.empty(),
                    "loss_changes: the fluid engine has no frames to lose; use ns3::PacketEngine");
    for (const auto& row : tables.linkEvents)
    {
        const WorldPs timePs(static_cast<uint64_t>(row.timePs));
        m_changes.push_back(timePs);
        m_changes.push_back(timePs + m_fabric.Options().convergencePs);
    }
    std::sort(m_changes.begin(), m_changes.end());
    m_changes.erase(std::unique(m_changes.begin(), m_changes.end()), m_changes.end());
}

// ---- the loop ---------------------------------------------------------------------------------

double
FluidLoop::NextPs()
{
    while (!m_finishes.empty() &&
           m_sending[m_finishes.top().flow].version != m_finishes.top().version)
    {
        m_finishes.pop(); // its rate has changed since
    }
    double next = std::numeric_limits<double>::infinity();
    if (!m_finishes.empty())
    {
        next = m_finishes.top().atPs;
    }
    if (!m_starts.empty())
    {
        next = std::min(next, static_cast<double>(m_starts.top().atPs.Ps()));
    }
    const bool anyLeft = next < std::numeric_limits<double>::infinity() || m_rates.Size() > 0;
    if (m_nextChange < m_changes.size() && anyLeft)
    {
        next = std::min(next, static_cast<double>(m_changes[m_nextChange].Ps()));
    }
    return next;
}

bool
FluidLoop::Run(WorldPs stopPs, std::chrono::steady_clock::time_point deadline)
{
    constexpr uint64_t EVENTS_PER_CLOCK_CHECK = 64;
    uint64_t rounds = 0;
    while (true)
    {
        const double next = NextPs();
        const bool isToDecide =
            !m_decided.empty() && next > m_nowPs; // all of this time comes first
        if (!(next <= static_cast<double>(stopPs.Ps())) || std::isinf(next) || isToDecide)
        {
            return true;
        }
        Execute(next);
        if (++rounds % EVENTS_PER_CLOCK_CHECK == 0 && std::chrono::steady_clock::now() >= deadline)
        {
            return false;
        }
    }
}

/// All that happens at one instant: ends first, then changes of links, then starts.
void
FluidLoop::Execute(double nowPs)
{
    m_nowPs = std::max(m_nowPs, nowPs);
    while (!m_finishes.empty() && m_finishes.top().atPs <= m_nowPs + INSTANT_PS)
    {
        const Finish finish = m_finishes.top();
        m_finishes.pop();
        if (m_sending[finish.flow].version == finish.version)
        {
            FinishMessage(finish.flow);
        }
    }
    while (m_nextChange < m_changes.size() &&
           static_cast<double>(m_changes[m_nextChange].Ps()) <= m_nowPs)
    {
        ChangeLinks(m_changes[m_nextChange++]);
    }
    while (!m_starts.empty() && static_cast<double>(m_starts.top().atPs.Ps()) <= m_nowPs)
    {
        const Start start = m_starts.top();
        m_starts.pop();
        if (m_graph.IsTask(start.item))
        {
            StartTask(start.item);
        }
        else
        {
            StartMessage(start.item, start.atPs);
        }
    }
    Refresh();
}

/// Rates after what has changed, and when messages are through with them.
void
FluidLoop::Refresh()
{
    for (const uint32_t flow : m_rates.Solve())
    {
        Sending& sending = m_sending[flow];
        const double newRate = m_rates.RateOf(flow);
        sending.left -= sending.rate * (m_nowPs - sending.since);
        sending.rate = newRate;
        sending.since = m_nowPs;
        sending.version = ++m_versions;
        if (newRate > 0)
        {
            m_finishes.push(
                {m_nowPs + std::max(0.0, sending.left) / newRate, flow, sending.version});
        }
    }
}

// ---- messages and tasks -----------------------------------------------------------------------

WorldPs
FluidLoop::StartOf(uint32_t item) const
{
    return m_graph.IsTask(item) ? m_graph.TaskOf(item).startPs : m_messages[item].startPs;
}

/// Its end is known now: it depends on nothing else.
void
FluidLoop::StartTask(uint32_t item)
{
    m_events++;
    const Task& task = m_graph.TaskOf(item);
    const WorldPs endPs = task.startPs + task.durationPs;
    m_graph.EndTask(item);
    if (task.decides)
    {
        m_decided.push_back(task.id);
    }
    m_lastEndPs = std::max(m_lastEndPs, endPs);
    Release(item, false, endPs);
}

HostMessage
FluidLoop::ForHosts(uint32_t index) const
{
    const auto& its = m_fabric.Messages()[index];
    return {index, its.src, its.dst, its.transport, its.bytes};
}

/// A message begins, or has arrived if it decides.
void
FluidLoop::StartMessage(uint32_t index, WorldPs nowPs)
{
    Message& message = m_messages[index];
    m_events++;
    if (message.receiverEndPs != NEVER)
    {
        m_decided.push_back(m_fabric.Messages()[index].id);
        return;
    }
    if (m_fabric.Messages()[index].bytes == 0)
    {
        message.receiverEndPs = message.startPs;
        message.senderEndPs = message.startPs;
        Through(index);
        return;
    }
    const WorldPs readyPs = m_hosts.Start(ForHosts(index), nowPs);
    if (readyPs > nowPs)
    {
        if (readyPs != NEVER)
        {
            m_starts.push({readyPs, index});
        }
        return;
    }
    auto uses = m_paths.UsesOf(index);
    Sending sending{.message = index, .since = m_nowPs, .version = ++m_versions};
    SetTail(sending, uses);
    sending.left = sending.total;
    const uint32_t flow = m_rates.Add(std::move(uses));
    if (flow >= m_sending.size())
    {
        m_sending.resize(flow + 1);
    }
    m_sending[flow] = sending;
}

/// What follows the last byte sent is what the message takes alone beyond the slowest of its links.
void
FluidLoop::SetTail(Sending& sending, const std::vector<MaxMin::Use>& uses) const
{
    const auto& its = m_fabric.Messages()[sending.message];
    const auto hops = m_paths.HopsOf(sending.message);
    const FluidFrames frames = FramesOf(its.bytes, its.transport);
    const uint64_t alonePs = AlonePs(frames, hops, m_paths.LinksOf(sending.message));
    const uint64_t ack = std::max(m_fabric.WireOf(its.transport).ackBytes, MIN_FRAME_BYTES) +
                         m_fabric.Options().framingBytes;
    const double slowest = SlowestPsPerByte(uses);
    sending.isCut = slowest == 0;
    sending.total = static_cast<double>(frames.WireBytes());
    sending.beyondPs = std::max(0.0, static_cast<double>(alonePs) - sending.total * slowest);
    sending.ackPs = m_isAcknowledged[its.transport] ? FramePs(ack, hops) : 0;
}

void
FluidLoop::FinishMessage(uint32_t flow)
{
    Sending& sending = m_sending[flow];
    Message& message = m_messages[sending.message];
    sending.left = 0;
    m_events++;
    m_packets += PacketsOf(sending.message);
    Credit(flow);
    sending.version = ++m_versions;
    m_rates.Remove(flow);
    const WorldPs endPs(static_cast<uint64_t>(std::llround(m_nowPs + sending.beyondPs)));
    const HostMessage its = ForHosts(sending.message);
    message.receiverEndPs = m_hosts.Deliver(its, endPs);
    message.senderEndPs = message.receiverEndPs;
    if (m_isAcknowledged[its.transport])
    {
        const auto completed = m_hosts.Complete(its, endPs + sending.ackPs);
        message.senderEndPs = completed.endPs;
        if (completed.next)
        {
            m_starts.push({completed.endPs, *completed.next});
        }
    }
    Through(sending.message);
}

/// The ends of a message are known: those that wait for them may start.
void
FluidLoop::Through(uint32_t index)
{
    const Message& message = m_messages[index];
    m_lastEndPs = std::max(m_lastEndPs, message.senderEndPs);
    if (message.decides)
    {
        m_starts.push({message.receiverEndPs, index});
    }
    Release(index, false, message.receiverEndPs);
    Release(index, true, message.senderEndPs);
}

void
FluidLoop::Release(uint32_t item, bool atSender, WorldPs endPs)
{
    m_graph.Release(
        item,
        atSender,
        endPs,
        [this](uint32_t message) -> WorldPs& { return m_messages[message].startPs; },
        [this](uint32_t ready) { m_starts.push({StartOf(ready), ready}); },
        [this, endPs](uint32_t follower, WorldPs) {
            WorldPs& knownPs = m_knownPs[TaskGraph::IsTask(follower)][TaskGraph::IndexOf(follower)];
            knownPs = std::max(knownPs, endPs);
            return true;
        });
}

FluidFrames
FluidLoop::FramesOf(uint64_t bytes, uint32_t transport) const
{
    const WireProfile wire = m_fabric.WireOf(transport);
    const auto onWire = [&](uint64_t payload, uint32_t more) {
        return std::max<uint64_t>(payload + wire.headerBytes + more, MIN_FRAME_BYTES) +
               m_fabric.Options().framingBytes;
    };
    const uint64_t packets = (bytes + wire.mtuBytes - 1) / wire.mtuBytes;
    const uint64_t last = bytes - (packets - 1) * wire.mtuBytes;
    return {.first = onWire(packets == 1 ? bytes : wire.mtuBytes, wire.firstHeaderBytes),
            .middle = onWire(wire.mtuBytes, 0),
            .last = onWire(last, 0),
            .packets = packets};
}

uint64_t
FluidLoop::PacketsOf(uint32_t index) const
{
    const auto& message = m_fabric.Messages()[index];
    const uint64_t mtu = m_fabric.WireOf(message.transport).mtuBytes;
    return (message.bytes + mtu - 1) / mtu;
}

/// @return time of a byte of a message that has its links for itself, 0 if one is cut [ps]
double
FluidLoop::SlowestPsPerByte(const std::vector<MaxMin::Use>& uses) const
{
    double slowest = 0;
    for (const auto& use : uses)
    {
        const double capacity = m_rates.Capacity(use.link);
        if (capacity <= 0)
        {
            return 0;
        }
        slowest = std::max(slowest, use.share / capacity);
    }
    return slowest;
}

} // namespace ns3
