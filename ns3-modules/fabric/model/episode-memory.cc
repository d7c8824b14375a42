// SPDX-License-Identifier: GPL-2.0-only

// EpisodeMemory: what is executed, what becomes of it, and what is recorded.

#include "episode-memory.h"

#include "fabric.h"

#include <algorithm>
#include <utility>

namespace ns3
{
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

} // namespace fabric
} // namespace ns3
