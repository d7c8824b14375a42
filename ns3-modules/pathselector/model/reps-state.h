// SPDX-License-Identifier: GPL-2.0-only

#ifndef REPS_STATE_H
#define REPS_STATE_H

#include "ns3/path-selector.h"
#include "ns3/random-cursor.h"

#include <cstdint>
#include <vector>

namespace ns3
{

/**
 * @ingroup pathselector
 * @brief What recycled entropy packet spraying (REPS) knows of one flow.
 *
 * A ring of the entropies that came back without a mark; the oldest is sent next and thereby
 * leaves, whatever comes too many pushes the oldest out. When there is none, a random one is
 * explored. After a timeout the ring is frozen for a while: used entries are sent again in turn,
 * because an unknown entropy may lie on a dead path and a known one did not.
 */
class RepsState
{
  public:
    /// What does not change; the names are those of the attributes of RepsEntropy.
    struct Rules
    {
        uint32_t entropies;      ///< Random ones are below [1]
        uint32_t ringEntries;    ///< > 0 [1]
        uint32_t lifetimeUses;   ///< How often an entry is sent, > 0 [1]
        uint32_t explorePackets; ///< With random entropies after a freeze [packet]
        uint64_t freezePs;       ///< [ps]
    };

    /// @return entropy of the next packet
    uint16_t Next(const Rules& rules, fabric::RandomCursor& draws, uint64_t nowPs);

    /// Something is known of a packet; what was not answered itself (rttPs 0) teaches nothing.
    void Report(const Rules& rules, const fabric::PathReport& report, uint64_t nowPs);

    bool IsFrozen() const
    {
        return m_frozenUntilPs != 0;
    }

  private:
    /// A place of the ring.
    struct Entry
    {
        uint16_t entropy;
        uint16_t usesLeft;
    };

    void Store(const Rules& rules, uint16_t entropy);
    void Thaw(const Rules& rules, uint64_t nowPs);

    std::vector<Entry> m_ring;   ///< At most ringEntries
    uint32_t m_head{0};          ///< Where the next is stored
    uint32_t m_fresh{0};         ///< Entries with uses left: the last ones before the head
    uint32_t m_cycle{0};         ///< Next used entry to send again while frozen
    uint32_t m_explore{0};       ///< Packets to come with random entropies
    uint64_t m_frozenUntilPs{0}; ///< 0: it is not [ps]
};

} // namespace ns3

#endif // REPS_STATE_H
