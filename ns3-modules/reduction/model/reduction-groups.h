// SPDX-License-Identifier: GPL-2.0-only

#ifndef REDUCTION_GROUPS_H
#define REDUCTION_GROUPS_H

#include "ns3/fabric-state.h"

#include <array>
#include <functional>
#include <optional>
#include <vector>

/**
 * @defgroup reduction In-network reduction
 * @brief Switches add up what hosts send, and send the sum to all of them.
 */

namespace ns3
{

/**
 * @ingroup reduction
 * @brief Ranks whose contributions are in a frame, as words of its FrameNote.
 */
class RankSet
{
  public:
    static constexpr uint32_t MOST_RANKS = 192;

    RankSet() = default;
    explicit RankSet(const uint64_t (&words)[3]);
    static RankSet Of(uint32_t rank);
    static RankSet All(uint32_t ranks);

    bool Has(uint32_t rank) const;
    bool Meets(const RankSet& other) const;
    uint32_t First() const; ///< Of a set that is not empty
    RankSet& operator|=(const RankSet& other);
    bool operator==(const RankSet& other) const = default;
    void Store(uint64_t (&words)[3]) const;

  private:
    std::array<uint64_t, 3> m_words{};
};

/**
 * @ingroup reduction
 * @brief Who reduces with whom: messages that follow each other in the table and close a ring.
 *
 * Rank r's message leads to the next rank, the last one's to rank 0. It stands for what rank r
 * gives; it is delivered when the next rank has the whole result.
 */
class ReductionGroups
{
  public:
    struct Group
    {
        uint32_t first; ///< Message of rank 0; those of the others follow
        uint32_t ranks;
    };

    /**
     * @param numMessages of all transports
     * @param messageAt a message by its index
     * @param transport index of the transport whose messages are reduced
     */
    ReductionGroups(uint32_t numMessages,
                    const std::function<const fabric::Message&(uint32_t)>& messageAt,
                    uint32_t transport);

    /// @return index of the group of a message, none if its transport is another one
    std::optional<uint32_t> GroupOf(uint32_t message) const;
    const Group& operator[](uint32_t group) const;

    /// @return the message that is delivered when this rank has the result
    static uint32_t ResultOf(const Group& group, uint32_t rank)
    {
        return group.first + (rank + group.ranks - 1) % group.ranks;
    }

  private:
    std::vector<Group> m_groups;
    std::vector<uint32_t> m_groupOf; ///< Per message; past the end: none
};

} // namespace ns3

#endif // REDUCTION_GROUPS_H
