// SPDX-License-Identifier: GPL-2.0-only

#ifndef PENALISED_ENTROPIES_H
#define PENALISED_ENTROPIES_H

#include "ns3/path-selector.h"
#include "ns3/random-cursor.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup pathselector
 * @brief All entropies in turn, but for those with a penalty, which are left out that many rounds.
 *
 * A round has the order i XOR r, with r drawn anew for each. For each packet the walk begins at the
 * next of the round; one with a penalty that lies there loses one and is passed over, the others
 * with a penalty behind it are passed over without losing any, so that a penalty lasts the longer
 * the more entropies are bad. If all are, the walk comes round and takes what lies there.
 */
class PenalisedEntropies
{
  public:
    static constexpr uint8_t MARKED = 1;
    static constexpr uint8_t LOST = 4;
    static constexpr uint8_t MOST = 15; ///< Of a timeout, too

    PenalisedEntropies(uint32_t n, fabric::RandomCursor& draws); ///< From 1 to 65536 entropies

    uint16_t Next(fabric::RandomCursor& draws); ///< @return entropy of the next packet
    void Report(uint16_t entropy, fabric::PathReport::Fate fate);

    uint32_t Penalty(uint16_t entropy) const
    {
        return m_penalties[entropy];
    }

  private:
    uint32_t Here() const ///< Of the walk; may be no entropy if n is no power of two
    {
        return m_index ^ m_mask;
    }

    void Advance(fabric::RandomCursor& draws); ///< To the next place that is an entropy

    std::vector<uint8_t> m_penalties; ///< By entropy, at most MOST
    uint32_t m_penalised{0};          ///< How many have one: often nobody needs to be looked up
    uint32_t m_span;                  ///< Places in a round: the next power of two
    uint32_t m_index{0};              ///< Place in the round
    uint32_t m_mask;                  ///< Of this round, "r"
};

} // namespace ns3

#endif // PENALISED_ENTROPIES_H
