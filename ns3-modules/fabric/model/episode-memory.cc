// SPDX-License-Identifier: GPL-2.0-only

#include "episode-memory.h"

#include "fabric.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricMemory");

namespace fabric
{

namespace
{

constexpr size_t MOST_EPISODES = 4;           ///< That are kept of one opening
constexpr uint64_t LONG_PACKETS = 4096;       ///< With more a message has steady states
constexpr size_t MOST_REMEMBERED = 4'000'000; ///< Messages of all episodes that are kept

} // namespace

EpisodeMemory::EpisodeMemory(Fabric& fabric)
    : m_fabric(fabric),
      m_islands((CheckTypes(), fabric)),
      m_foresight(fabric.m_network, fabric.m_messages, m_islands, fabric.m_skip == nullptr),
      m_activities(m_islands.Size()),
      m_memories(m_islands.NumShapes()),
      m_place(fabric.m_messages.Size(), NO_MESSAGE),
      m_isReplayed(fabric.m_messages.Size())
{
}

uint64_t
EpisodeMemory::NowPs() const
{
    return m_fabric.NowPs();
}

// ---- messages that are executed ----------------------------------------------------------------

void
EpisodeMemory::AddUnderWay(uint32_t message)
{
    m_place[message] = static_cast<uint32_t>(m_underWay.size());
    m_underWay.push_back(message);
}

void
EpisodeMemory::RemoveUnderWay(uint32_t message)
{
    const uint32_t place = m_place[message];
    m_underWay[place] = m_underWay.back();
    m_place[m_underWay[place]] = place;
    m_underWay.pop_back();
}

bool
EpisodeMemory::Takes(uint32_t message)
{
    const uint32_t island = m_islands.Of(message);
    if (island == Islands::NOWHERE)
    {
        AddUnderWay(message);
        return false;
    }
    Activity& activity = m_activities[island];
    if (activity.replayed)
    {
        Begin(message);
        return true;
    }
    AddUnderWay(message);
    if (activity.executed > 0)
    {
        Execute(message);
        return false;
    }
    if (activity.starting.empty())
    {
        m_undecided.push_back(island);
    }
    activity.starting.push_back(message);
    return true;
}

void
EpisodeMemory::Execute(uint32_t message)
{
    Activity& activity = m_activities[m_islands.Of(message)];
    activity.executed++;
    if (activity.recording && MaySkip(message))
    {
        StopRecording(activity);
    }
    if (activity.recording)
    {
        activity.recording->Add(message);
    }
}

/// @return whether a message is better left to those who skip steady states: while an episode is
/// recorded all must be executed
bool
EpisodeMemory::MaySkip(uint32_t index) const
{
    const Message& message = m_fabric.m_messages[index];
    const uint64_t mtuBytes = m_fabric.WireOf(message.transport).mtuBytes;
    return m_fabric.m_skip && message.bytes > LONG_PACKETS * mtuBytes;
}

void
EpisodeMemory::Ended(uint32_t message)
{
    RemoveUnderWay(message);
    const uint32_t island = m_islands.Of(message);
    if (island != Islands::NOWHERE && --m_activities[island].executed == 0 &&
        m_activities[island].recording)
    {
        CloseRecording(island);
    }
}

// ---- what is to become of an episode -----------------------------------------------------------

void
EpisodeMemory::Decide()
{
    if (m_undecided.size() > 1)
    {
        TryTogether();
    }
    for (const uint32_t island : m_undecided)
    {
        if (!m_activities[island].replayed)
        {
            DecideOn(island);
        }
    }
    m_undecided.clear();
}

/// Islands that do the same at the same time are foreseen at once, or each would look at all.
void
EpisodeMemory::TryTogether()
{
    std::vector<Foresight::Guess> guesses;
    for (const uint32_t island : m_undecided)
    {
        if (const Memory* memory = MemoryOf(island); memory && !memory->episodes.empty())
        {
            guesses.push_back(GuessOf(island, memory->episodes.front()));
        }
    }
    if (guesses.size() > 1)
    {
        TryReplay(guesses);
    }
}

Foresight::Guess
EpisodeMemory::GuessOf(uint32_t island, const Episode& episode) const
{
    return {island, &episode, &m_activities[island].starting, {}, 0, 0};
}

/// @return what is remembered of how things begin on an island, null if that says nothing
EpisodeMemory::Memory*
EpisodeMemory::MemoryOf(uint32_t island)
{
    if (!IsQuiet(m_islands[island]))
    {
        return nullptr;
    }
    return &m_memories[m_islands[island].shape][OpeningOf(island)];
}

void
EpisodeMemory::DecideOn(uint32_t island)
{
    if (Memory* memory = MemoryOf(island))
    {
        for (auto episode = memory->episodes.begin(); episode != memory->episodes.end(); ++episode)
        {
            std::vector<Foresight::Guess> guess{GuessOf(island, *episode)};
            if (TryReplay(guess))
            {
                memory->episodes.splice(memory->episodes.begin(), memory->episodes, episode);
                return;
            }
        }
        const bool hasRoom =
            memory->episodes.size() < MOST_EPISODES && m_remembered < MOST_REMEMBERED;
        if (memory->isMet && !memory->isRecorded && hasRoom)
        {
            Record(island, *memory);
        }
        memory->isMet = true;
    }
    Activity& activity = m_activities[island];
    for (const uint32_t message : activity.starting)
    {
        Execute(message);
        m_fabric.Launch(message);
    }
    activity.starting.clear();
}

/// @return whether no frame of before is left
bool
EpisodeMemory::IsQuiet(const Island& island) const
{
    uint64_t sent = 0;
    uint64_t received = 0;
    bool isQuiet = true;
    for (const PortId id : island.ports)
    {
        const Port& port = m_fabric.m_ports[id];
        sent += port.sentFrames;
        received += port.receivedFrames;
        isQuiet = isQuiet && port.current == NO_FRAME && port.queued == 0;
    }
    return isQuiet && sent == received;
}

EpisodeMemory::Opening
EpisodeMemory::OpeningOf(uint32_t island) const
{
    std::vector<std::array<uint64_t, 4>> starts;
    for (const uint32_t index : m_activities[island].starting)
    {
        const Message& message = m_fabric.m_messages[index];
        starts.push_back({m_islands[island].PlaceOfHost(message.src),
                          m_islands[island].PlaceOfHost(message.dst),
                          message.bytes,
                          message.transport});
    }
    std::ranges::sort(starts);
    Opening opening;
    for (const auto& start : starts)
    {
        opening.insert(opening.end(), start.begin(), start.end());
    }
    return opening;
}

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

// ---- to record ---------------------------------------------------------------------------------

void
EpisodeMemory::Record(uint32_t island, Memory& memory)
{
    m_activities[island].recording.emplace(m_fabric, m_islands[island]);
    m_activities[island].memory = &memory;
    memory.isRecorded = true;
    m_recording++;
}

void
EpisodeMemory::CloseRecording(uint32_t island)
{
    Activity& activity = m_activities[island];
    if (auto episode = activity.recording->Written(); episode && IsQuiet(m_islands[island]))
    {
        m_remembered += episode->messages.size();
        activity.memory->episodes.push_back(std::move(*episode));
    }
    StopRecording(activity);
}

void
EpisodeMemory::StopRecording(Activity& activity)
{
    activity.memory->isRecorded = false;
    activity.recording->RestorePeaks();
    activity.recording.reset();
    m_recording--;
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
