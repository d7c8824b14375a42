// SPDX-License-Identifier: GPL-2.0-only

#include "foresight.h"

#include <algorithm>
#include <tuple>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr uint32_t NO_GUESS = 0xffffffff;

} // namespace

Foresight::Foresight(const FabricNetwork& network,
                     const MessageBook& book,
                     const Islands& islands,
                     bool isExact)
    : m_book(book),
      m_islands(islands),
      m_isExact(isExact),
      m_guessOf(islands.Size(), NO_GUESS)
{
    for (const HostState& host : network.hosts)
    {
        uint64_t& rateBps = m_hostBps.emplace_back(0);
        for (PortId port = host.firstPort; port < host.firstPort + host.ports; port++)
        {
            rateBps += network.RateBps(port);
        }
    }
}

/// @return time that the bytes of a message take to leave its host, at least [ps]
uint64_t
Foresight::LeastPs(uint32_t index) const
{
    constexpr unsigned __int128 PS_PER_SECOND_AND_BYTE = 8'000'000'000'000;
    const Message& message = m_book[index];
    const auto leastPs =
        static_cast<uint64_t>(message.bytes * PS_PER_SECOND_AND_BYTE / m_hostBps[message.src]);
    return m_isExact ? leastPs : leastPs / 2; // of a jump a tenth may be wrong
}

void
Foresight::Expect(uint64_t timePs, uint32_t round, uint32_t item, What what, bool isCertain)
{
    if (timePs <= m_endPs)
    {
        m_ahead.push({timePs, round, item, what, isCertain});
    }
}

/// @return place of the guess for the island of a message, NO_GUESS if there is none
uint32_t
Foresight::GuessOf(uint32_t message) const
{
    const uint32_t island = m_islands.Of(message);
    return island == Islands::NOWHERE ? NO_GUESS : m_guessOf[island];
}

bool
Foresight::AreSure(std::vector<Guess>& guesses, const Present& present)
{
    uint64_t looks = 0; // who looks further than the packets that it saves had better execute them
    for (uint32_t i = 0; i < guesses.size(); i++)
    {
        Guess& guess = guesses[i];
        looks += guess.episode->packets;
        guess.left = guess.episode->messages.size();
        guess.found.assign(guess.left, NO_MESSAGE);
        guess.endPs = present.nowPs + guess.episode->lengthPs;
        m_guessOf[guess.island] = i;
    }
    Begin(guesses, present);
    bool isSure = true;
    for (; isSure && !m_ahead.empty() && looks > 0; looks--)
    {
        const Occurrence next = m_ahead.top();
        m_ahead.pop();
        if (next.what != What::START)
        {
            End(next, present);
        }
        else
        {
            isSure = Start(next, guesses, present.nowPs);
        }
    }
    for (const Guess& guess : guesses)
    {
        isSure = isSure && m_ahead.empty() && guess.left == 0;
        m_guessOf[guess.island] = NO_GUESS;
    }
    return isSure;
}

/// Take in what is under way or has its time.
void
Foresight::Begin(const std::vector<Guess>& guesses, const Present& present)
{
    m_ahead = {};
    m_asked++;
    m_outlook.resize(m_book.Graph().NumMessages() + m_book.Graph().NumTasks());
    m_endPs = 0;
    for (const Guess& guess : guesses)
    {
        m_endPs = std::max(m_endPs, guess.endPs);
    }
    for (const Guess& guess : guesses)
    {
        for (const uint32_t message : *guess.starting)
        {
            Expect(present.nowPs, 0, message, What::START, true);
        }
    }
    for (const auto& [timePs, item] : m_book.Agenda())
    {
        if (timePs > m_endPs)
        {
            break;
        }
        if (!present.foreseen.contains(item))
        {
            const bool isTask = m_book.Graph().IsTask(item);
            Expect(timePs,
                   timePs == present.nowPs,
                   item,
                   isTask ? What::DELIVERED : What::START,
                   true);
        }
    }
    for (const uint32_t message : present.underWay)
    {
        if (GuessOf(message) != NO_GUESS)
        {
            continue; // it starts now, as above
        }
        if (!m_book[message].receiverEndPs)
        {
            Expect(present.nowPs, 0, message, What::DELIVERED, false);
        }
        Expect(present.nowPs, 0, message, What::ACKNOWLEDGED, false);
    }
    for (const ForeseenEnd& end : present.ends)
    {
        if (end.timePs > present.nowPs) // else it has been
        {
            Expect(end.timePs,
                   0,
                   end.message,
                   end.atSender ? What::ACKNOWLEDGED : What::DELIVERED,
                   true);
        }
    }
}

/// @return whether a message that starts, or may, leaves the episodes what they were
bool
Foresight::Start(const Occurrence& start, std::vector<Guess>& guesses, uint64_t nowPs)
{
    if (const uint32_t guess = GuessOf(start.item); guess != NO_GUESS)
    {
        return StartHere(start, guesses[guess], nowPs);
    }
    StartElsewhere(start);
    return true;
}

bool
Foresight::StartHere(const Occurrence& start, Guess& guess, uint64_t nowPs)
{
    if (start.timePs > guess.endPs)
    {
        return true;
    }
    if (!start.isCertain)
    {
        return false;
    }
    if (start.timePs == guess.endPs && start.round > 0)
    {
        return true; // all is over at the beginning of that instant: another episode
    }
    const Message& message = m_book[start.item];
    const Island& island = m_islands[guess.island];
    const EpisodeStart its{start.timePs - nowPs,
                           island.PlaceOfHost(message.src),
                           island.PlaceOfHost(message.dst),
                           message.bytes,
                           message.transport};
    const auto& messages = guess.episode->messages;
    const auto isBefore = [](const EpisodeMessage& one, const EpisodeStart& other) {
        return std::tie(one.start.afterPs, one.start.src) < std::tie(other.afterPs, other.src);
    };
    auto place = static_cast<size_t>(
        std::lower_bound(messages.begin(), messages.end(), its, isBefore) - messages.begin());
    while (place < messages.size() && guess.found[place] != NO_MESSAGE)
    {
        place++;
    }
    if (place == messages.size() || messages[place].start != its)
    {
        return false;
    }
    guess.found[place] = start.item;
    guess.left--;
    Expect(nowPs + messages[place].deliveredPs, 0, start.item, What::DELIVERED, true);
    Expect(nowPs + messages[place].acknowledgedPs, 0, start.item, What::ACKNOWLEDGED, true);
    return true;
}

void
Foresight::StartElsewhere(const Occurrence& start)
{
    const bool isPoint = m_book[start.item].bytes == 0;
    const uint64_t endPs = start.timePs + (isPoint ? 0 : LeastPs(start.item));
    const bool isCertain = isPoint && start.isCertain;
    Expect(endPs, start.round, start.item, What::DELIVERED, isCertain);
    Expect(endPs, start.round, start.item, What::ACKNOWLEDGED, isCertain);
}

Foresight::Outlook&
Foresight::OutlookOf(uint32_t item)
{
    Outlook& outlook = m_outlook[item];
    if (outlook.asked != m_asked)
    {
        const TaskGraph& graph = m_book.Graph();
        outlook = {graph.WaitsFor(item),
                   graph.IsTask(item) ? graph.TaskOf(item).startPs : m_book[item].startPs,
                   true,
                   m_asked};
    }
    return outlook;
}

/// Tell who waits for an end.
void
Foresight::End(const Occurrence& end, const Present& present)
{
    const TaskGraph& graph = m_book.Graph();
    const bool atSender = end.what == What::ACKNOWLEDGED;
    graph.ForEachFollowerOf(end.item, atSender, [&](uint32_t follower, uint64_t delayPs) {
        if (present.foreseen.contains(follower))
        {
            return;
        }
        const bool isTask = graph.IsTask(follower);
        Outlook& outlook = OutlookOf(follower);
        outlook.startPs = std::max(outlook.startPs, end.timePs + delayPs);
        outlook.isCertain = outlook.isCertain && end.isCertain;
        if (--outlook.waitsFor > 0)
        {
            return;
        }
        const uint64_t durationPs = isTask ? graph.TaskOf(follower).durationPs : 0;
        const uint64_t timePs = outlook.startPs + durationPs;
        Expect(timePs,
               timePs == end.timePs ? end.round + 1 : 0,
               follower,
               isTask ? What::DELIVERED : What::START,
               outlook.isCertain);
    });
}

} // namespace fabric
} // namespace ns3
