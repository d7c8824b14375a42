// SPDX-License-Identifier: GPL-2.0-only

#ifndef ENTROPY_ORDER_H
#define ENTROPY_ORDER_H

#include "ns3/random-cursor.h"

#include <array>
#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup pathselector
 * @brief Every entropy of [0, n) once, in an order drawn anew for each round.
 *
 * Up to MOST_LISTED the order is a shuffled list. Beyond, it is a keyed permutation that needs no
 * memory: a Feistel network of four rounds over the least even number of bits, walked until it
 * falls below n.
 *
 * **Source**: Luby and Rackoff, "How to Construct Pseudorandom Permutations from Pseudorandom
 * Functions", SIAM Journal on Computing 17(2), 1988; cycle walking: Black and Rogaway, "Ciphers
 * with Arbitrary Finite ParallelRun", CT-RSA 2002, section 4. Mix64 is in the place of the
 * function.
 */
class EntropyOrder
{
  public:
    static constexpr uint32_t MOST_LISTED = 1024;

    explicit EntropyOrder(uint32_t n); ///< From 1 to 65536

    /// @return next entropy; draws the order of a round as it begins
    uint16_t Next(fabric::RandomCursor& draws);

    /// @return whether the next entropy begins a round
    bool IsRoundOver() const
    {
        return m_next == m_n;
    }

    /// @return rounds begun so far
    uint32_t Rounds() const
    {
        return m_rounds;
    }

  private:
    void Shuffle(fabric::RandomCursor& draws);
    uint32_t Permute(uint32_t i) const;

    uint16_t* List()
    {
        return m_n <= FEW ? m_few.data() : m_many.data();
    }

    static constexpr uint32_t FEW = 64;

    uint32_t m_n;
    uint32_t m_next;                   ///< Place in the round
    uint32_t m_rounds{0};              ///< Begun
    uint32_t m_halfBits{0};            ///< Of the Feistel network, 0: the order is a list
    uint64_t m_key{0};                 ///< Of the Feistel network, this round
    std::array<uint16_t, FEW> m_few{}; ///< The list while it is short
    std::vector<uint16_t> m_many;      ///< The list of more than FEW and up to MOST_LISTED
};

} // namespace ns3

#endif // ENTROPY_ORDER_H
