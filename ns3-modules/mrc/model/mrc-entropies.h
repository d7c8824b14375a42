// SPDX-License-Identifier: GPL-2.0-only

#ifndef MRC_ENTROPIES_H
#define MRC_ENTROPIES_H

#include "ns3/random-cursor.h"

#include <cstdint>
#include <optional>
#include <vector>

/**
 * @defgroup mrc Multipath Reliable Connection
 */

namespace ns3
{

/**
 * @ingroup mrc
 * @brief The entropies with which a connection sends by one port, and the state of each.
 *
 * The active ones take turns, in an order drawn anew for each round. One that met a mark or a trim
 * is skipped when its turn comes next (SKIP), at most one for each packet. One that lost a packet
 * leaves (ASSUMED_BAD): another path takes its place, and it is probed. After enough answers in a
 * row it is active again, or a path that may be drawn again if its place is taken. A denied one
 * (DENIED) is never used.
 *
 * **Source** MRC as ns3-modules/mrc/README.md quotes it: states (OCP specification 1.0, figure 5),
 * one entropy from SKIP to GOOD for each packet (section 11.2.2), orders drawn anew (9.3.1), a
 * replacement by the same port (arXiv 2605.04333, section 4).
 * **Not modelled** ALWAYS_SKIP: no destination here judges a path.
 */
class MrcEntropies
{
  public:
    /// Of an entropy that is not denied.
    enum class State : uint8_t
    {
        GOOD,
        SKIP,
        ASSUMED_BAD,
    };

    /// What does not change.
    struct Rules
    {
        uint32_t active{1};         ///< How many entropies take turns, > 0
        uint32_t paths{1};          ///< Different entropies that there are, > 0
        uint32_t probeSuccesses{1}; ///< Answers in a row that make one GOOD again, > 0
        uint64_t probeTimeoutPs{1}; ///< A probe is lost after this long [ps]
        bool isWhollyDenied{false}; ///< No entropy of this port is used
        std::vector<uint16_t> denied;
    };

    explicit MrcEntropies(Rules rules);

    /**
     * @param suggested an entropy, drawn for each packet: it fills a place that is free
     * @param draws decide the order of a round
     * @return entropy of the next packet
     */
    uint16_t Next(uint16_t suggested, fabric::RandomCursor& draws);

    void Skip(uint16_t entropy); ///< Its packet came marked, or was trimmed on the way
    void Lose(uint16_t entropy); ///< Its packet is lost
    /// A probe of an entropy was answered, with a mark or without.
    void OnProbe(uint16_t entropy, bool isMarked);
    /// @return the next entropy to probe, if one waits for that; it counts as sent
    std::optional<uint16_t> TakeProbe(uint64_t nowPs);

    uint32_t Active() const ///< Entropies that take turns now: GOOD and SKIP
    {
        return static_cast<uint32_t>(m_active.size());
    }

    bool IsActive(uint16_t entropy) const
    {
        return FindActive(entropy) < m_active.size();
    }

    uint32_t Bad() const ///< Entropies that are ASSUMED_BAD
    {
        return static_cast<uint32_t>(m_bad.size());
    }

    bool IsUsable() const ///< Some path is not known to be bad
    {
        return !m_rules.isWhollyDenied && m_bad.size() + m_rules.denied.size() < m_rules.paths;
    }

    /// @return state of an entropy that was used, none of any other
    std::optional<State> StateOf(uint16_t entropy) const;

  private:
    /// One that takes turns.
    struct Entry
    {
        uint16_t entropy;
        State state{State::GOOD};
    };

    /// One that is probed.
    struct Probed
    {
        uint16_t entropy;
        uint32_t answers{0};     ///< In a row
        bool isAwaited{false}; ///< The last probe is not answered
        uint64_t probedPs{0};    ///< When it was sent [ps]
    };

    size_t FindActive(uint16_t entropy) const; ///< Place of it, or their number
    size_t FindBad(uint16_t entropy) const;    ///< Place of it, or their number
    bool IsDenied(uint16_t entropy) const;
    bool Fill(uint16_t entropy);
    void BeginRound(fabric::RandomCursor& draws);

    Rules m_rules;
    std::vector<Entry> m_active;
    std::vector<Probed> m_bad;
    size_t m_turn{0};      ///< Place of the next one
    size_t m_probeTurn{0}; ///< Place of the next one to probe
};

} // namespace ns3

#endif // MRC_ENTROPIES_H
