// SPDX-License-Identifier: GPL-2.0-only

// EpisodeMemory: what is replayed, and what may not be.

#include "episode-memory.h"

#include "fabric.h"

#include "ns3/abort.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace fabric
{

// ---- to replay ---------------------------------------------------------------------------------

bool
EpisodeMemory::TryReplay(std::vector<Foresight::Guess>& guesses)
{
    for (const Foresight::Guess& guess : guesses)
    {
        // A run that ends in the middle has counted what was until then.
        if (m_fabric.m_nowPs + guess.episode->lengthPs > m_fabric.m_limitPs)
        {
            return false;
        }
    }
    if (!m_foresight.AreSure(guesses, {NowPs(), m_underWay, m_foreseen, m_ends}))
    {
        return false;
    }
    for (const Foresight::Guess& guess : guesses)
    {
        Activity& activity = m_activities[guess.island];
        const Episode& episode = *guess.episode;
        activity.replayed = {&episode, NowPs(), guess.found.size()};
        Foresee(guess.island, guess.found);
        for (const uint32_t message : std::exchange(activity.starting, {}))
        {
            RemoveUnderWay(message);
            Begin(message);
        }
        m_replays.push_back({NowPs(), episode.lengthPs, episode.packets, guess.found.size()});
    }
    return true;
}

/// Note of all messages of an episode when they will end, and who else waits for that.
void
EpisodeMemory::Foresee(uint32_t island, const std::vector<uint32_t>& messages)
{
    const Episode& episode = *m_activities[island].replayed->episode;
    const uint64_t nowPs = NowPs();
    std::erase_if(m_ends, [nowPs](const ForeseenEnd& end) { return end.timePs <= nowPs; });
    for (uint32_t place = 0; place < messages.size(); place++)
    {
        const EpisodeMessage& its = episode.messages[place];
        m_foreseen[messages[place]] = {island,
                                       place,
                                       nowPs + its.deliveredPs,
                                       nowPs + its.acknowledgedPs,
                                       false};
    }
    for (const uint32_t message : messages)
    {
        for (const bool atSender : {false, true})
        {
            const Foreseen& its = m_foreseen[message];
            bool isAwaited = false;
            m_fabric.m_messages.Graph().ForEachFollowerOf(
                message,
                atSender,
                [&](uint32_t follower, uint64_t) {
                    isAwaited = isAwaited || !m_foreseen.contains(follower);
                });
            if (isAwaited)
            {
                m_ends.push_back({atSender ? its.acknowledgedPs : its.deliveredPs,
                                  message,
                                  atSender});
            }
        }
    }
}

/// A message of an episode that is replayed starts, as was foreseen.
void
EpisodeMemory::Begin(uint32_t message)
{
    const auto found = m_foreseen.find(message);
    NS_ABORT_MSG_IF(found == m_foreseen.end() || found->second.hasBegun ||
                        NowPs() != m_activities[found->second.island].replayed->startPs +
                                       RoleOf(found->second).start.afterPs,
                    "identity: message " << m_fabric.m_messages[message].id << " starts at "
                                         << NowPs()
                                         << " ps, where another episode is replayed");
    found->second.hasBegun = true;
    m_isReplayed[message] = true;
    Schedule(message, found->second.deliveredPs, CONTROL_DELIVERED);
    Schedule(message, found->second.acknowledgedPs, CONTROL_ACKNOWLEDGED);
}

void
EpisodeMemory::Schedule(uint32_t message, uint64_t worldPs, uint32_t what)
{
    m_fabric.m_queue.Push(m_fabric.m_nowPs,
                          {worldPs - m_fabric.m_messages.SkippedPs(),
                           EventTarget(EventType::CONTROL, what),
                           message});
}

const EpisodeMessage&
EpisodeMemory::RoleOf(const Foreseen& foreseen) const
{
    return m_activities[foreseen.island].replayed->episode->messages[foreseen.place];
}

void
EpisodeMemory::Deliver(uint32_t index)
{
    const EpisodeMessage& its = RoleOf(m_foreseen.at(index));
    Message& message = m_fabric.m_messages[index];
    message.sentPackets = its.sentPackets;
    message.markedPackets = its.markedPackets;
    message.outOfOrderPeak = its.outOfOrderPeak;
    m_fabric.m_dataPackets += its.sentPackets;
    m_fabric.m_delivered++;
    m_fabric.m_messages.Delivered(index, m_fabric.m_nowPs);
}

void
EpisodeMemory::Acknowledge(uint32_t message)
{
    const auto found = m_foreseen.find(message);
    Activity& activity = m_activities[found->second.island];
    m_foreseen.erase(found);
    if (--activity.replayed->left == 0)
    {
        activity.times[activity.replayed->episode]++;
        activity.replayed.reset();
    }
    m_fabric.m_messages.Acknowledged(message, m_fabric.m_nowPs);
}

uint64_t
EpisodeMemory::PacketsOf(uint32_t message) const
{
    const bool isReplayed = message < m_isReplayed.size() && m_isReplayed[message];
    return isReplayed ? m_fabric.m_messages[message].sentPackets : 0;
}

// ---- results -----------------------------------------------------------------------------------

void
EpisodeMemory::Finish()
{
    for (uint32_t island = 0; island < m_activities.size(); island++)
    {
        Activity& activity = m_activities[island];
        if (activity.recording)
        {
            StopRecording(activity);
        }
        for (const auto& [episode, times] : std::exchange(activity.times, {}))
        {
            EpisodeRecording::Count(m_fabric, m_islands[island], *episode, times);
        }
    }
}

// ---- what cannot be remembered -----------------------------------------------------------------

void
EpisodeMemory::CheckTypes() const
{
    constexpr const char* ASIDE = "; leave out engine.remember";
    for (const auto& end : m_fabric.m_endpoints)
    {
        NS_ABORT_MSG_IF(!end.transport->MayReplay(),
                        end.transport->GetInstanceTypeId().GetName()
                            << ", as it is set, lets what was before decide what becomes of a "
                               "message"
                            << ASIDE);
    }
    for (const auto& owner : m_fabric.m_nodeClasses)
    {
        NS_ABORT_MSG_IF(owner.discipline && !owner.discipline->MayReplay(),
                        owner.discipline->GetInstanceTypeId().GetName()
                            << ", as it is set, may draw random numbers, which an episode that is "
                               "replayed would leave out"
                            << ASIDE);
        NS_ABORT_MSG_IF(owner.scheduler,
                        owner.scheduler->GetInstanceTypeId().GetName()
                            << " may know of what was before" << ASIDE);
    }
    for (const auto* program : m_fabric.m_programs)
    {
        NS_ABORT_MSG(program->GetInstanceTypeId().GetName()
                     << " may know of what was before" << ASIDE);
    }
    for (const auto& link : m_fabric.m_linkClasses)
    {
        NS_ABORT_MSG_IF(link.control,
                        link.control->GetInstanceTypeId().GetName()
                            << " may hold back what is under way for what was before" << ASIDE);
    }
    const FabricOptions& options = m_fabric.m_options;
    NS_ABORT_MSG_IF(options.traceArrivals || options.tracePauses || options.samplePs ||
                        !options.captures.empty(),
                    "samples, arrivals, pauses and packet captures have all that happens, and "
                    "what is replayed does not"
                        << ASIDE);
    NS_ABORT_MSG_IF(m_fabric.m_losses.Any(),
                    "links lose frames at random, or scripted ones: what happens once does not "
                    "happen again"
                        << ASIDE);
    NS_ABORT_MSG_IF(m_fabric.m_changes.Any(),
                    "links change, and what happened before happens no more" << ASIDE);
}

} // namespace fabric
} // namespace ns3
