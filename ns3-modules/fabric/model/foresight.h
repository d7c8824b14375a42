// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FORESIGHT_H
#define FABRIC_FORESIGHT_H

#include "episode.h"
#include "islands.h"
#include "message-book.h"

#include <functional>
#include <queue>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace fabric
{

/// A message that was foreseen and is replayed.
struct Foreseen
{
    uint32_t island;
    uint32_t place;          ///< In its episode
    uint64_t deliveredPs;    ///< Of the world [ps]
    uint64_t acknowledgedPs; ///< Likewise [ps]
    bool hasBegun;
};

/// An end of one of these for which others wait that are not foreseen.
struct ForeseenEnd
{
    uint64_t timePs; ///< Of the world [ps]
    uint32_t message;
    bool atSender;
};

/**
 * @ingroup fabric
 * @brief Tells whether episodes that are remembered will happen again, before they do.
 *
 * The messages and tasks of the run are followed from now to the end of the episode. Ends of tasks
 * and of what was foreseen before are known; of any other message only that it is not over before
 * its bytes have left its host. So the start of an item that waits for such a one is not known,
 * only a time before which it cannot be. The episode will be as it was if just its messages start
 * on the island, each at a time that is known and the same as then, and no other may until it is
 * over.
 */
class Foresight
{
  public:
    /// @param isExact whether what is executed is executed packet by packet, with nothing skipped
    Foresight(const FabricNetwork& network,
              const MessageBook& book,
              const Islands& islands,
              bool isExact);

    /// An episode that may happen on an island from now on.
    struct Guess
    {
        uint32_t island;
        const Episode* episode;
        const std::vector<uint32_t>* starting; ///< Messages of the island that start now
        std::vector<uint32_t> found; ///< If it will: its messages in the run, in its order
        size_t left{0};              ///< Messages of it that are yet to be found
        uint64_t endPs{0};           ///< Of the world [ps]
    };

    /// What else goes on.
    struct Present
    {
        uint64_t nowPs;                        ///< Of the world [ps]
        const std::vector<uint32_t>& underWay; ///< Messages that are executed, or start now
        const std::unordered_map<uint32_t, Foreseen>& foreseen; ///< Messages elsewhere
        const std::vector<ForeseenEnd>& ends;                   ///< Of these
    };

    /// @return whether all of these will happen, which are on different islands
    bool AreSure(std::vector<Guess>& guesses, const Present& present);

  private:
    enum class What
    {
        START,
        DELIVERED, ///< Also the end of a task
        ACKNOWLEDGED,
    };

    /// Something that will happen, or may from this time on.
    struct Occurrence
    {
        uint64_t timePs;
        uint32_t round; ///< Of the instant: what follows at once comes in the next one
        uint32_t item;
        What what;
        bool isCertain;

        bool operator>(const Occurrence& other) const
        {
            return std::tie(timePs, round, item, what) >
                   std::tie(other.timePs, other.round, other.item, other.what);
        }
    };

    /// What is known of an item that waits.
    struct Outlook
    {
        uint32_t waitsFor;
        uint64_t startPs; ///< Not before this [ps]
        bool isCertain;   ///< At this time, if all that it waits for are over
        uint64_t asked;   ///< Number of the question
    };

    void Begin(const std::vector<Guess>& guesses, const Present& present);
    bool Start(const Occurrence& start, std::vector<Guess>& guesses, uint64_t nowPs);
    bool StartHere(const Occurrence& start, Guess& guess, uint64_t nowPs);
    void StartElsewhere(const Occurrence& start);
    void End(const Occurrence& end, const Present& present);
    Outlook& OutlookOf(uint32_t item);
    void Expect(uint64_t timePs, uint32_t round, uint32_t item, What what, bool isCertain);
    uint64_t LeastPs(uint32_t message) const;
    uint32_t GuessOf(uint32_t message) const;

    const MessageBook& m_book;
    const Islands& m_islands;
    bool m_isExact;
    std::vector<uint64_t> m_hostBps; ///< Of all ports of each host [bit/s]
    uint64_t m_endPs{0};             ///< Nothing after this matters [ps]
    std::priority_queue<Occurrence, std::vector<Occurrence>, std::greater<>> m_ahead;
    std::vector<uint32_t> m_guessOf; ///< Of each island, or NO_GUESS
    std::vector<Outlook> m_outlook; ///< Of each item
    uint64_t m_asked{0};            ///< Questions
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FORESIGHT_H
