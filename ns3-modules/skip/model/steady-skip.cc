// SPDX-License-Identifier: GPL-2.0-only

#include "steady-skip.h"

#include "ns3/abort.h"
#include "ns3/link-flow-control.h"
#include "ns3/log.h"
#include "ns3/queue-discipline.h"
#include "ns3/switch-program.h"

#include <algorithm>
#include <utility>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricSkip");

namespace fabric
{

namespace
{

constexpr uint64_t IDLE_CHECK_PS = 1'000'000; ///< While no message is under way
constexpr uint32_t CONFIRMING_WINDOWS = 2;    ///< New ones after a jump before the next
constexpr const char* ASIDE = "; leave out engine.skip";

/// @return frames of data that a port has begun to send
uint64_t
SentData(const Port& port)
{
    const bool carriesControl = port.current != NO_FRAME && port.currentKind != frame_kind::DATA;
    return port.sentFrames - port.sentControl - carriesControl;
}

} // namespace

SteadySkip::SteadySkip(ObservedRun& run, double tolerance, std::optional<uint64_t> samplePs)
    : m_run(run),
      m_engine(run.State()),
      m_samplePs(samplePs),
      m_state(tolerance),
      m_search(m_engine),
      m_firstWindowPs(IDLE_CHECK_PS),
      m_skipped(run)
{
    CheckRun();
    for (const auto& plugin : m_run.Plugins())
    {
        CheckMaySkip(*plugin);
    }
}

/// Messages of other engines go on meanwhile, and who records all that happens misses some of it.
void
SteadySkip::CheckRun() const
{
    const auto& nodes = m_engine.network.nodes;
    NS_ABORT_MSG_IF(std::ranges::any_of(
                        nodes,
                        [this](const NodeState& node) { return node.engine != m_engine.engine; }),
                    "steady states are skipped in one domain" << ASIDE);
    NS_ABORT_MSG_IF(m_run.Wishes() & ALL,
                    "arrivals, pauses and packet captures have all that happens, and what happens "
                    "in a steady state is skipped"
                        << ASIDE);
    NS_ABORT_MSG_IF(m_run.LosesFrames(),
                    "links lose frames at random, or scripted ones: what happens rarely is not "
                    "seen in a steady state"
                        << ASIDE);
}

void
CheckMaySkip(const Object& plugin)
{
    const std::string name = plugin.GetInstanceTypeId().GetName();
    if (const auto* transport = dynamic_cast<const Transport*>(&plugin))
    {
        const auto traits = transport->GetTraits();
        NS_ABORT_MSG_IF(!traits.mayShorten,
                        name << " does not know how to skip a steady state of its messages"
                             << ASIDE);
        NS_ABORT_MSG_IF(!traits.isSteady,
                        name << ": CongestionControl is never at rest: it moves windows or rates "
                                "for longer than a steady state is measured"
                             << ASIDE);
    }
    const auto* program = dynamic_cast<const SwitchProgram*>(&plugin);
    NS_ABORT_MSG_IF(program && !program->GetTraits().maySkip,
                    name << " may have a clock of its own, which a steady state that is skipped "
                            "would stop"
                         << ASIDE);
    const auto* control = dynamic_cast<const LinkFlowControl*>(&plugin);
    NS_ABORT_MSG_IF(control && !control->GetTraits().maySkip,
                    name << " holds messages back by turns that are not steady" << ASIDE);
}

uint32_t
SteadySkip::Wishes() const
{
    return STARTS;
}

void
SteadySkip::OnStart(uint32_t message)
{
    const Message& its = m_engine.messages[message];
    const WireProfile wire = m_run.WireOf(its.transport);
    const uint64_t rttPs =
        m_engine.roundTrips.LongestPs(m_engine.PortOfMessage(message),
                                      its.dst,
                                      {wire.mtuBytes + wire.headerBytes, wire.ackBytes});
    m_active.push_back({message, rttPs, {}, 0, 0});
    OnDisturbance();
}

void
SteadySkip::OnDisturbance()
{
    m_search.Stop();
    m_span.reset();
    if (!m_disturbed)
    {
        // Not at once: of several messages that end together the last one is waited for.
        m_nextCheckPs = std::min(m_nextCheckPs, m_engine.EngineNowPs() + m_firstWindowPs);
        m_disturbed = true;
    }
}

EnginePs
SteadySkip::NextLookPs() const
{
    return SeesInstants() ? EnginePs() : m_nextCheckPs;
}

void
SteadySkip::Look(EnginePs nextPs)
{
    if (nextPs > m_nextCheckPs)
    {
        Check(nextPs);
    }
    CheckPeriod(nextPs);
}

bool
SteadySkip::SeesInstants() const
{
    return m_search.IsOn();
}

void
SteadySkip::Check(EnginePs nextPs)
{
    if (m_disturbed)
    {
        FindActive();
    }
    const Controls controls = FindControls();
    if (controls.move)
    {
        OnDisturbance();
        m_nextCheckPs = nextPs + m_firstWindowPs;
        return;
    }
    if (m_disturbed)
    {
        Begin(nextPs);
        return;
    }
    if (m_search.IsDue())
    {
        Search();
    }
    if (controls.any)
    {
        m_nextCheckPs += m_firstWindowPs; // only what repeats is skipped
        return;
    }
    m_state.Add(Take(m_nextCheckPs));
    m_sinceJump++;
    if (m_sinceJump >= CONFIRMING_WINDOWS)
    {
        std::vector<FlowAhead> ahead;
        for (const Active& active : m_active)
        {
            const MessageProgress now = ProgressOf(active.message);
            const EnginePs turnPs(now.clockPs);
            if (turnPs != EnginePs::Never() && turnPs > nextPs)
            {
                m_slowestPs = std::max(m_slowestPs, turnPs - nextPs);
            }
            const uint64_t skipped = m_skipped.OfMessage(active.message).sent;
            ahead.push_back({now.packets + skipped,
                             uint64_t{now.packets} - now.sent,
                             skipped - active.before.sent,
                             active.errorPackets});
        }
        const auto jump = m_state.Judge(ahead, MostPs(nextPs), m_slowestPs);
        if (jump && !m_search.IsHopeful())
        {
            m_search.Stop();
            Skip(*jump, m_nextCheckPs, nextPs, false);
            m_state.Skipped(jump->byPs);
            m_sinceJump = 0;
        }
    }
    m_nextCheckPs += m_state.WindowPs();
}

SteadySkip::Controls
SteadySkip::FindControls() const
{
    Controls found;
    for (const Active& active : m_active)
    {
        const MessageProgress now = ProgressOf(active.message);
        found.any |= now.isControlled;
        found.move |= now.isControlled && !now.isAtRest;
    }
    return found;
}

/// Find which messages are still under way, and what a round trip takes.
void
SteadySkip::FindActive()
{
    std::erase_if(m_active, [this](const Active& active) {
        return m_engine.messages[active.message].receiverEndPs.has_value();
    });
    uint64_t windowPs = 0;
    for (const Active& active : m_active)
    {
        windowPs = std::max(windowPs, active.rttPs);
    }
    m_firstWindowPs = windowPs ? windowPs : IDLE_CHECK_PS;
}

/// Something has changed: what was measured before says nothing any more.
void
SteadySkip::Begin(EnginePs nextPs)
{
    m_disturbed = false;
    m_sinceJump = CONFIRMING_WINDOWS;
    m_nextCheckPs = nextPs;
    m_slowestPs = 0;
    m_state.Restart(m_firstWindowPs);
    Rebase();
    m_state.Add(Take(m_nextCheckPs));
    m_nextCheckPs += m_firstWindowPs;
    m_disturbed = m_active.empty();
    if (MayRepeat())
    {
        Search();
    }
}

void
SteadySkip::Search()
{
    const MessageProgress first = ProgressOf(m_active.front().message);
    m_search.Restart(m_active.front().message, first.packets - first.sent);
}

/// What was skipped until now is no part of the state at hand.
void
SteadySkip::Rebase()
{
    m_portsBefore = m_skipped.ports;
    for (Active& active : m_active)
    {
        active.before = m_skipped.OfMessage(active.message);
        active.errorPackets += std::exchange(active.errorHerePackets, 0);
    }
}

/// @return time until something happens that no state of the network decides [ps]
uint64_t
SteadySkip::MostPs(EnginePs nextPs) const
{
    const EnginePs endPs = std::min(EnginePs(m_engine.queue.NextControlPs()), m_run.LimitPs());
    const EnginePs aheadPs = nextPs + 2 * EventCalendar::HORIZON_PS; // far, for AdvanceControl
    return endPs > aheadPs ? endPs - aheadPs : 0;
}

MessageProgress
SteadySkip::ProgressOf(uint32_t message) const
{
    return m_run.SourceOf(message).ProgressOf(message);
}

SourceTotals
SteadySkip::SourceOf(uint32_t message) const
{
    const Message& state = m_engine.messages[message];
    const size_t ports = m_engine.reachDiffers
                             ? m_engine.routes.NearestPorts(state.src, state.dst).size()
                             : m_engine.network.hosts[state.src].ports;
    if (ports != 1)
    {
        return {};
    }
    const PortId id = m_engine.PortOfMessage(message);
    const Port& port = m_engine.network.ports[id];
    const RateClass& rate = m_engine.network.rates[port.rate];
    const WireProfile wire = m_run.WireOf(state.transport);
    const uint64_t framing = m_engine.framingBytes;
    return {rate.Ps(wire.mtuBytes + wire.headerBytes + framing),
            rate.Ps(port.sentBytes + port.sentFrames * framing),
            SentData(port)};
}

Snapshot
SteadySkip::Take(EnginePs atPs) const
{
    Snapshot now;
    now.timePs = atPs;
    now.flows.reserve(m_active.size());
    for (const Active& active : m_active)
    {
        const Message& message = m_engine.messages[active.message];
        const MessageProgress progress = ProgressOf(active.message);
        now.flows.push_back({progress.sent,
                             progress.arrived,
                             message.timeouts,
                             {message.sentPackets - progress.sent,
                              message.trimmedPackets,
                              message.markedPackets,
                              message.naks}});
        now.sources.push_back(SourceOf(active.message));
    }
    now.draws = NumDraws();
    now.ports.reserve(m_skipped.ports.size());
    for (PortId id = 0; id < m_skipped.ports.size(); id++)
    {
        const Port& port = m_engine.network.ports[id];
        const PortCounters& counters = m_engine.network.counters[id];
        now.ports.push_back({port.sentFrames,
                             port.sentBytes,
                             SentData(port),
                             port.receivedFrames,
                             counters.droppedBuffer,
                             counters.droppedHeadroom,
                             counters.marked,
                             counters.trimmed,
                             counters.bounced,
                             counters.linkControlSent,
                             counters.linkControlReceived,
                             PausedByClock(m_engine.network, id, atPs)});
    }
    return now;
}

/// @return random numbers that queues have drawn until now
uint64_t
SteadySkip::NumDraws() const
{
    uint64_t draws = 0;
    for (const auto& plugin : m_run.Plugins())
    {
        const auto* discipline = dynamic_cast<const QueueDiscipline*>(PeekPointer(plugin));
        draws += discipline ? discipline->NumDraws() : 0;
    }
    return draws;
}

void
SteadySkip::Skip(const SteadyState::Jump& jump, EnginePs atPs, EnginePs nextPs, bool isExact)
{
    const WorldPs sincePs = m_engine.world.WorldOf(atPs);
    const WorldPs fromPs = m_engine.world.WorldOf(nextPs);
    const std::vector<SkippedTime::Total> before = m_skipped.OfPorts();
    SkippedTime skipped{nextPs, fromPs + jump.byPs, false, {}, {}};
    const uint64_t packets = SkipMessages(jump, skipped);
    SkipPorts(jump);
    skipped.ports = m_skipped.OfPorts();
    m_skipped.states.push_back(
        {sincePs, fromPs, jump.byPs, packets, jump.OverPs(), m_active.size(), isExact});
    Show(skipped, jump.byPs, before);
    m_run.Skip(jump.byPs, skipped.sent);
    NS_LOG_LOGIC("skipped " << jump.byPs << " ps at " << sincePs << " ps");
}

/// @return packets by which messages become shorter
uint64_t
SteadySkip::SkipMessages(const SteadyState::Jump& jump, SkippedTime& skip)
{
    uint64_t skippedPackets = 0;
    for (size_t i = 0; i < m_active.size(); i++)
    {
        const uint32_t index = m_active[i].message;
        const FlowTotals& from = jump.from->flows[i];
        const FlowTotals& to = jump.to->flows[i];
        FlowTotals& skipped = m_skipped.AtMessage(index);
        const FlowTotals& before = m_active[i].before;
        const uint64_t until = before.sent + jump.PacketsOf(i);
        const uint64_t packets = std::max(until, skipped.sent) - skipped.sent;
        skipped.sent += packets;
        skipped.arrived += packets;
        skippedPackets += packets;
        m_active[i].errorHerePackets = jump.errorPackets[i];
        for (size_t c = 0; c < skipped.counts.size(); c++)
        {
            skipped.counts[c] = before.counts[c] + jump.Grown(from.counts[c], to.counts[c]);
        }
        const WireProfile wire = m_run.WireOf(m_engine.messages[index].transport);
        skip.sent.push_back({index, packets, wire.mtuBytes + wire.headerBytes});
    }
    return skippedPackets;
}

/// What a port gets is what its peer sends. Totals never become smaller: samples have them already.
void
SteadySkip::SkipPorts(const SteadyState::Jump& jump)
{
    const auto grown = [&jump](PortId port, size_t total) {
        return jump.Grown(jump.from->ports[port][total], jump.to->ports[port][total]);
    };
    auto& ports = m_skipped.ports;
    for (PortId port = 0; port < ports.size(); port++)
    {
        for (size_t total = 0; total < ports[port].size(); total++)
        {
            const PortId peer = m_engine.network.ports[port].peer;
            const uint64_t until =
                m_portsBefore[port][total] +
                (total == RECEIVED_FRAMES ? grown(peer, SENT_FRAMES) : grown(port, total));
            ports[port][total] = std::max(ports[port][total], until);
        }
    }
}

/**
 * Show what is skipped in pieces that end where samples are taken: what was sent and how long was
 * paused grows evenly; queues are at its end what they were before.
 * @param before what ports had done in all that was skipped until its beginning
 */
void
SteadySkip::Show(const SkippedTime& all,
                 uint64_t byPs,
                 const std::vector<SkippedTime::Total>& before)
{
    if (!m_samplePs)
    {
        m_run.Show(all);
        return;
    }
    std::vector<SkippedTime::Sent> left = all.sent;
    SkippedTime piece = all;
    piece.isSampled = true;
    const WorldPs fromPs = all.untilPs - byPs;
    const WorldPs firstPs((fromPs.Ps() + *m_samplePs - 1) / *m_samplePs * *m_samplePs);
    for (piece.untilPs = firstPs; piece.untilPs < all.untilPs; piece.untilPs += *m_samplePs)
    {
        const auto between = [&](uint64_t from, uint64_t to) {
            const auto grown = static_cast<__uint128_t>(to - from);
            return from + static_cast<uint64_t>(grown * (piece.untilPs - fromPs) / byPs);
        };
        for (size_t i = 0; i < before.size(); i++)
        {
            piece.ports[i] = {between(before[i].sentBytes, all.ports[i].sentBytes),
                              between(before[i].pausedPs, all.ports[i].pausedPs)};
        }
        for (size_t i = 0; i < left.size(); i++)
        {
            const uint64_t packets = all.sent[i].packets;
            piece.sent[i].packets = left[i].packets - (packets - between(0, packets));
            left[i].packets -= piece.sent[i].packets;
        }
        m_run.Show(piece);
    }
    piece = all;
    piece.sent = std::move(left);
    m_run.Show(piece);
}

} // namespace fabric
} // namespace ns3
