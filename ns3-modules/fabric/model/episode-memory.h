// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EPISODE_MEMORY_H
#define FABRIC_EPISODE_MEMORY_H

#include "episode-recording.h"
#include "foresight.h"
#include "islands.h"

#include <list>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace fabric
{

class Fabric;

/**
 * @ingroup fabric
 * @brief Replays what has happened before instead of executing it: to the picosecond the same.
 *
 * An episode is what happens on an island, a part of the network that no frame leaves, from one
 * time when nothing is under way to the next. It is decided by the messages that start. Those that
 * start together at the beginning of an episode are its opening; what follows the second time that
 * an opening is met is recorded. When it is met again, and Foresight finds that the episode will be
 * the same, its messages end when they did and count what they counted, and no packet is executed.
 * Islands of one shape share what they remember.
 *
 * **Source** Our own. That transients of training that were met before need not be simulated:
 * Long et al., NSDI 2026.
 * **Not modelled** Where frames have a choice of paths, what draws random numbers, what depends on
 * what was before; parts of an episode; what is like another episode but not the same.
 */
class EpisodeMemory
{
  public:
    /// Abort in one line if the network has what cannot be remembered. @param fabric outlives this
    explicit EpisodeMemory(Fabric& fabric);

    /// A message starts. @return whether it is replayed or waits for Decide
    bool Takes(uint32_t message);
    /// All that starts in this part of the instant has been told: execute it or replay it.
    void Decide();
    void Ended(uint32_t message);        ///< One that was executed is acknowledged
    void Deliver(uint32_t message);      ///< One that is replayed has arrived
    void Acknowledge(uint32_t message);  ///< The same, as its source knows
    void Finish();                       ///< Count at ports what was replayed

    bool IsRecording() const ///< Then all must be executed
    {
        return m_recording > 0;
    }

    /// An episode that was replayed.
    struct Replay
    {
        uint64_t timePs; ///< When it began, of the world [ps]
        uint64_t lengthPs;
        uint64_t packets; ///< Data, all copies
        uint64_t messages;
    };

    const std::vector<Replay>& Replays() const
    {
        return m_replays;
    }

    /// @return data packets of a message that were replayed
    uint64_t PacketsOf(uint32_t message) const;

  private:
    /// How an episode begins: source, destination, bytes and transport of its first messages.
    using Opening = std::vector<uint64_t>;

    /// What is remembered of an opening.
    struct Memory
    {
        std::list<Episode> episodes; ///< That began so
        bool isMet{false};
        bool isRecorded{false}; ///< One is being recorded
    };

    /// An episode that is replayed.
    struct Replayed
    {
        const Episode* episode;
        uint64_t startPs; ///< Of the world [ps]
        size_t left;      ///< Messages that are not acknowledged
    };

    /// What goes on on an island.
    struct Activity
    {
        std::vector<uint32_t> starting; ///< Wait for Decide
        uint32_t executed{0};           ///< Messages under way
        std::optional<EpisodeRecording> recording;
        Memory* memory{nullptr}; ///< For what is being recorded
        std::optional<Replayed> replayed;
        std::map<const Episode*, uint64_t> times; ///< So often was each replayed
    };

    void CheckTypes() const;
    uint64_t NowPs() const;
    void Execute(uint32_t message);
    void AddUnderWay(uint32_t message);
    void RemoveUnderWay(uint32_t message);
    void DecideOn(uint32_t island);
    bool MaySkip(uint32_t message) const;
    bool IsQuiet(const Island& island) const;
    Opening OpeningOf(uint32_t island) const;
    void TryTogether();
    bool TryReplay(std::vector<Foresight::Guess>& guesses);
    Foresight::Guess GuessOf(uint32_t island, const Episode& episode) const;
    Memory* MemoryOf(uint32_t island);
    void Begin(uint32_t message);
    void Schedule(uint32_t message, uint64_t worldPs, uint32_t what);
    void Record(uint32_t island, Memory& memory);
    void CloseRecording(uint32_t island);
    void StopRecording(Activity& activity);
    void Foresee(uint32_t island, const std::vector<uint32_t>& messages);
    const EpisodeMessage& RoleOf(const Foreseen& foreseen) const;

    Fabric& m_fabric;
    Islands m_islands;
    Foresight m_foresight;
    std::vector<Activity> m_activities;                ///< By island
    std::vector<std::map<Opening, Memory>> m_memories; ///< By shape
    std::vector<uint32_t> m_undecided;                 ///< Islands with messages that wait
    std::vector<uint32_t> m_underWay;                  ///< Messages that are executed
    std::vector<uint32_t> m_place;                     ///< Of a message in these
    std::unordered_map<uint32_t, Foreseen> m_foreseen; ///< Messages of episodes under way
    std::vector<ForeseenEnd> m_ends;                   ///< Of these
    std::vector<bool> m_isReplayed;                    ///< Of each message
    uint32_t m_recording{0}; ///< Episodes
    size_t m_remembered{0};  ///< Messages of all episodes
    std::vector<Replay> m_replays;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EPISODE_MEMORY_H
