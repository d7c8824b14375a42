// SPDX-License-Identifier: GPL-2.0-only

#ifndef PATH_SCORES_H
#define PATH_SCORES_H

#include "entropy-order.h"

#include "ns3/path-selector.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup pathselector
 * @brief All paths in turn, but for those on which more was trimmed, or lost, than on the mean one.
 *
 * Before each round, whose order is drawn anew, every path is judged: of its n packets whose fate
 * is known, as many are expected to have been trimmed as on the mean path. One with more than that
 * by so many standard deviations of a Poisson count is left out for some rounds, twice as many each
 * time, and begins again with empty counts. The same holds for losses. Half of the paths stay.
 */
class PathScores
{
  public:
    /// What does not change; the names are those of the attributes of ScoredEntropy.
    struct Rules
    {
        double outlierSigmas;    ///< [1]
        uint32_t excludedRounds; ///< The first time [1]
    };

    explicit PathScores(uint32_t n); ///< From 1 to 65536 paths

    uint16_t Next(const Rules& rules, fabric::RandomCursor& draws); ///< @return path to take
    void Report(uint16_t path, fabric::PathReport::Fate fate);

    uint32_t Round() const ///< Of the last packet, from 1 up
    {
        return m_order.Rounds();
    }

  private:
    /// What can be wrong with a path.
    enum Fault : size_t
    {
        TRIMS,
        LOSSES,
        NUM_FAULTS,
    };

    /// What is known of a path.
    struct Path
    {
        uint32_t packets{0}; ///< Whose fate is known
        std::array<uint32_t, NUM_FAULTS> faults{};
        uint32_t excludedTo{0}; ///< First round in which it takes part again
        uint32_t exclusions{0}; ///< So far
    };

    bool IsExcluded(uint16_t path) const
    {
        return m_paths[path].excludedTo > Round();
    }

    void Judge(const Rules& rules);
    void Forget();

    EntropyOrder m_order;
    std::vector<Path> m_paths;
    uint32_t m_judged{0}; ///< Last round that was begun
};

} // namespace ns3

#endif // PATH_SCORES_H
