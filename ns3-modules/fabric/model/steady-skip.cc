// SPDX-License-Identifier: GPL-2.0-only

#include "steady-skip.h"

#include "episode-memory.h"
#include "fabric.h"

#include "ns3/abort.h"
#include "ns3/log.h"

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

/// @return frames of data that a port has begun to send
uint64_t
SentData(const Port& port)
{
    const bool carriesControl = port.current != NO_FRAME && port.currentKind != frame_kind::DATA;
    return port.sentFrames - port.sentControl - carriesControl;
}

} // namespace

SteadySkip::SteadySkip(Fabric& fabric, double tolerance)
    : m_fabric(fabric),
      m_state(tolerance),
      m_search(fabric),
      m_nextCheckPs(0),
      m_firstWindowPs(IDLE_CHECK_PS),
      m_ports(fabric.Network().NumPorts())
{
    CheckTypes();
}

/// What the engine does not see may depend on the length of messages or on a clock of its own.
void
SteadySkip::CheckTypes() const
{
    constexpr const char* ASIDE = "; leave out engine.skip";
    for (const auto& end : m_fabric.m_endpoints)
    {
        NS_ABORT_MSG_IF(!end.transport->MayShorten(),
                        end.transport->GetInstanceTypeId().GetName()
                            << " does not know how to skip a steady state of its messages"
                            << ASIDE);
    }
    for (const auto* program : m_fabric.m_programs)
    {
        NS_ABORT_MSG_IF(!program->MaySkip(),
                        program->GetInstanceTypeId().GetName()
                            << " may have a clock of its own, which a steady state that is "
                               "skipped would stop"
                            << ASIDE);
    }
    for (const auto& link : m_fabric.m_linkClasses)
    {
        NS_ABORT_MSG_IF(link.control && !link.control->MaySkip(),
                        link.control->GetInstanceTypeId().GetName()
                            << " holds messages back by turns that are not steady" << ASIDE);
    }
    const FabricOptions& options = m_fabric.m_options;
    NS_ABORT_MSG_IF(options.traceArrivals || options.tracePauses || !options.captures.empty(),
                    "arrivals, pauses and packet captures have all that happens, and "
                    "what happens in a steady state is skipped"
                        << ASIDE);
    NS_ABORT_MSG_IF(m_fabric.m_losses.Any(),
                    "links lose frames at random, or scripted ones: what happens rarely is not "
                    "seen in a steady state"
                        << ASIDE);
}

void
SteadySkip::Started(uint32_t message)
{
    const WireProfile wire = m_fabric.WireOf(m_fabric.m_messages[message].transport);
    const uint64_t rttPs = m_fabric.BaseRttPs(message,
                                              m_fabric.PortOfMessage(message),
                                              wire.mtuBytes + wire.headerBytes,
                                              wire.ackBytes);
    m_active.push_back({message, rttPs, {}, 0, 0});
    Disturbed();
}

void
SteadySkip::Disturbed()
{
    m_search.Stop();
    m_span.reset();
    if (!m_disturbed)
    {
        // Not at once: of several messages that end together the last one is waited for.
        m_nextCheckPs = std::min(m_nextCheckPs, m_fabric.m_nowPs + m_firstWindowPs);
        m_fabric.m_watchPs = std::min(m_fabric.m_watchPs, m_nextCheckPs);
        m_disturbed = true;
    }
}

void
SteadySkip::Check(uint64_t nextPs)
{
    if (m_disturbed)
    {
        Begin(nextPs);
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
            if (now.clockPs != NEVER_PS && now.clockPs > nextPs)
            {
                m_slowestPs = std::max(m_slowestPs, now.clockPs - nextPs);
            }
            const uint64_t skipped = OfMessage(active.message).sent;
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

/// Something has changed: what was measured before says nothing any more.
void
SteadySkip::Begin(uint64_t nextPs)
{
    m_disturbed = false;
    std::erase_if(m_active, [this](const Active& active) {
        return m_fabric.m_messages[active.message].receiverEndPs.has_value();
    });
    uint64_t windowPs = 0;
    for (const Active& active : m_active)
    {
        windowPs = std::max(windowPs, active.rttPs);
    }
    m_firstWindowPs = windowPs ? windowPs : IDLE_CHECK_PS;
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
        m_search.Restart(m_active.front().message);
    }
}

/// What was skipped until now is no part of the state at hand.
void
SteadySkip::Rebase()
{
    m_portsBefore = m_ports;
    for (Active& active : m_active)
    {
        active.before = OfMessage(active.message);
        active.errorPackets += std::exchange(active.errorHerePackets, 0);
    }
}

/// @return time until something happens that no state of the network decides [ps]
uint64_t
SteadySkip::MostPs(uint64_t nextPs) const
{
    if (m_fabric.m_memory && m_fabric.m_memory->IsRecording())
    {
        return 0;
    }
    const uint64_t endPs = std::min(m_fabric.m_queue.NextControlPs(), m_fabric.m_limitPs);
    const uint64_t aheadPs = nextPs + 2 * EventWheel::HORIZON_PS; // AdvanceControl wants them far
    return endPs > aheadPs ? endPs - aheadPs : 0;
}

MessageProgress
SteadySkip::ProgressOf(uint32_t message) const
{
    const uint32_t end = m_fabric.m_messages[message].srcEndpoint;
    return m_fabric.m_endpoints[end].transport->ProgressOf(message);
}

SourceTotals
SteadySkip::SourceOf(uint32_t message) const
{
    const Message& state = m_fabric.m_messages[message];
    const size_t ports = m_fabric.m_reachDiffers
                             ? m_fabric.m_routes.NearestPorts(state.src, state.dst).size()
                             : m_fabric.m_network.hosts[state.src].ports;
    if (ports != 1)
    {
        return {};
    }
    const PortId id = m_fabric.PortOfMessage(message);
    const Port& port = m_fabric.m_ports[id];
    const RateClass& rate = m_fabric.m_network.rates[port.rate];
    const WireProfile wire = m_fabric.WireOf(state.transport);
    const uint64_t framing = m_fabric.m_options.framingBytes;
    return {rate.Ps(wire.mtuBytes + wire.headerBytes + framing),
            rate.Ps(port.sentBytes + port.sentFrames * framing),
            SentData(port)};
}

Snapshot
SteadySkip::Take(uint64_t atPs) const
{
    Snapshot now;
    now.timePs = atPs;
    now.flows.reserve(m_active.size());
    for (const Active& active : m_active)
    {
        const Message& message = m_fabric.m_messages[active.message];
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
    now.ports.reserve(m_ports.size());
    for (PortId id = 0; id < m_ports.size(); id++)
    {
        const Port& port = m_fabric.m_ports[id];
        const PortCounters& counters = m_fabric.m_network.counters[id];
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
                             m_fabric.PausedByClock(id, atPs)});
    }
    return now;
}

void
SteadySkip::Skip(const SteadyState::Jump& jump, uint64_t atPs, uint64_t nextPs, bool isExact)
{
    Telemetry::Skipped sampled{nextPs + m_fabric.m_messages.SkippedPs(), jump.byPs, {}};
    const uint64_t skippedPackets = SkipMessages(jump, sampled);
    SkipPorts(jump);
    if (m_fabric.m_telemetry)
    {
        m_fabric.m_telemetry->Skip(sampled);
    }
    m_skips.push_back({atPs + m_fabric.m_messages.SkippedPs(),
                       jump.byPs,
                       skippedPackets,
                       jump.OverPs(),
                       m_active.size(),
                       isExact});
    m_fabric.m_dataPackets += skippedPackets;
    m_fabric.m_messages.Skip(jump.byPs);
    m_fabric.m_limitPs -= jump.byPs;
    NS_LOG_LOGIC("skipped " << jump.byPs << " ps at " << m_fabric.NowPs() << " ps");
}

/// @return packets by which messages are shorter now
uint64_t
SteadySkip::SkipMessages(const SteadyState::Jump& jump, Telemetry::Skipped& sampled)
{
    uint64_t skippedPackets = 0;
    m_messages.resize(m_fabric.m_messages.Size());
    for (size_t i = 0; i < m_active.size(); i++)
    {
        const uint32_t index = m_active[i].message;
        const FlowTotals& from = jump.from->flows[i];
        const FlowTotals& to = jump.to->flows[i];
        FlowTotals& skipped = m_messages[index];
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
        Message& message = m_fabric.m_messages[index];
        message.bytes -= packets * m_fabric.WireOf(message.transport).mtuBytes;
        for (const uint32_t end : {message.srcEndpoint, message.dstEndpoint})
        {
            m_fabric.m_endpoints[end].transport->Shorten(index, static_cast<uint32_t>(packets));
        }
        sampled.packets.emplace_back(index, packets);
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
    for (PortId port = 0; port < m_ports.size(); port++)
    {
        for (size_t total = 0; total < m_ports[port].size(); total++)
        {
            const bool isReceived = total == RECEIVED_FRAMES;
            const uint64_t until = m_portsBefore[port][total] +
                                   (isReceived ? grown(m_fabric.m_ports[port].peer, SENT_FRAMES)
                                               : grown(port, total));
            m_ports[port][total] = std::max(m_ports[port][total], until);
        }
    }
}

const FlowTotals&
SteadySkip::OfMessage(uint32_t message) const
{
    static const FlowTotals NOTHING;
    return message < m_messages.size() ? m_messages[message] : NOTHING;
}

} // namespace fabric
} // namespace ns3
