// SPDX-License-Identifier: GPL-2.0-only

#include "path-scores.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using namespace fabric;

namespace
{

constexpr uint64_t REMEMBERED_PACKETS = 64; ///< Of a path, about: older ones count ever less
constexpr uint32_t MOST_DOUBLINGS = 10;

} // namespace

PathScores::PathScores(uint32_t n)
    : m_order(n),
      m_paths(n)
{
}

uint16_t
PathScores::Next(const Rules& rules, RandomCursor& draws)
{
    uint16_t path = 0;
    do
    {
        path = m_order.Next(draws);
        if (m_order.Rounds() != m_judged)
        {
            m_judged = m_order.Rounds();
            Judge(rules);
        }
    } while (IsExcluded(path));
    return path;
}

void
PathScores::Report(uint16_t path, PathReport::Fate fate)
{
    using Fate = PathReport::Fate;
    Path& its = m_paths[path];
    its.packets++;
    its.faults[TRIMS] += fate == Fate::TRIMMED; // at the last hop no path is to blame
    its.faults[LOSSES] += fate == Fate::TIMED_OUT || fate == Fate::OVERTAKEN;
}

void
PathScores::Judge(const Rules& rules)
{
    uint64_t packets = 0;
    std::array<uint64_t, NUM_FAULTS> faults{};
    size_t excluded = 0;
    for (const Path& path : m_paths)
    {
        packets += path.packets;
        faults[TRIMS] += path.faults[TRIMS];
        faults[LOSSES] += path.faults[LOSSES];
        excluded += path.excludedTo > m_judged;
    }
    if (packets == 0)
    {
        return;
    }
    for (Path& path : m_paths)
    {
        bool isOutlier = false;
        for (size_t fault = 0; fault < NUM_FAULTS; fault++)
        {
            const double expected =
                static_cast<double>(faults[fault]) * path.packets / static_cast<double>(packets);
            isOutlier |= path.faults[fault] - expected >
                         rules.outlierSigmas * std::sqrt(std::max(1.0, expected));
        }
        if (isOutlier && 2 * (excluded + 1) <= m_paths.size())
        {
            const uint32_t doublings = std::min(path.exclusions, MOST_DOUBLINGS);
            path = {.excludedTo = m_judged + (rules.excludedRounds << doublings),
                    .exclusions = path.exclusions + 1};
            excluded++;
        }
    }
    if (packets > REMEMBERED_PACKETS * m_paths.size())
    {
        Forget();
    }
}

/// Halve what is known.
void
PathScores::Forget()
{
    for (Path& path : m_paths)
    {
        path.packets /= 2;
        path.faults[TRIMS] /= 2;
        path.faults[LOSSES] /= 2;
    }
}

} // namespace ns3
