// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PERIOD_SEARCH_H
#define FABRIC_PERIOD_SEARCH_H

#include "repetition.h"
#include "steady-state.h"

#include "ns3/engine-state.h"
#include "ns3/instant.h"

#include <functional>
#include <optional>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Looks for a state of the network that repeats to the picosecond.
 *
 * Arrivals of the packets of one message at its destination cut time into parts. Of each part a
 * hash is kept of all frames that came to any port: when, where, of what kind and message, how many
 * packets behind the last one that this message has sent. Parts that repeat, for a span in which
 * all that was under way has arrived, with as much under way and waiting at every port at its end
 * as at its beginning, and nothing lost, are a period: what decides what comes next is all in them,
 * if transports MayRepeat. A path that is drawn for each packet would have to be drawn alike
 * Repetition::LEAST times. A search takes about a fifth of the CPU of the run while it is on, so
 * it ends with a part of the message, and begins only where little was searched in vain.
 */
class PeriodSearch
{
  public:
    using Take = std::function<Snapshot(EnginePs atPs)>; ///< Totals after an instant [ps]

    explicit PeriodSearch(const EngineState& state);

    /// Look, by the arrivals of a message that has so many packets left: now, or when less than a
    /// part of the run was searched in vain.
    void Restart(uint32_t reference, uint32_t packets);
    void Stop();

    /// @return whether a search that was put off should be restarted now
    bool IsDue() const
    {
        return m_isPutOff && MayBegin();
    }

    bool IsOn() const
    {
        return m_isOn;
    }

    /// See the events of an instant before they are executed.
    void Trace(const Instant& instant);

    /// @return whether it may be worth while to wait for it
    bool IsHopeful() const;

    /// Whole periods, from one instant to another.
    struct Span
    {
        Snapshot from;
        Snapshot to;
    };

    /// @return a span, if the last instant has ended one
    std::optional<Span> Look(const Take& take);

    /// After a span was given: see whether what comes is as it was a period before.
    void SetOpenEnded()
    {
        m_isOn = true;
        m_beganPs = m_state.EngineNowPs();
    }

    /// @return whether it is, if the last instant has ended a part
    std::optional<bool> GoesOn();

    EnginePs CutPs() const ///< When the last part ended [ps]
    {
        return m_cutPs;
    }

  private:
    bool MayBegin() const;
    uint64_t Of(const Frame& frame) const;
    uint64_t Queues() const;
    bool IsCovered(const Snapshot& from, const Snapshot& to) const;
    void Begin(size_t period, const Take& take);
    const EngineState& m_state;
    bool m_isOn{false};
    bool m_isPutOff{false}; ///< Until less of the run was searched in vain
    EnginePs m_beganPs;     ///< When this search began [ps]
    uint64_t m_inVainPs{0}; ///< Searched since the last period was found [ps]
    bool m_isCut{false}; ///< The last instant has ended a part
    uint32_t m_reference{0};
    size_t m_most{0};   ///< Parts of this search
    EnginePs m_cutPs;   ///< When the part at hand began [ps]
    uint64_t m_hash{0}; ///< Of the part at hand
    Repetition m_parts;
    size_t m_nextLook{0}; ///< Parts
    size_t m_period{0};   ///< Parts, 0: none was found
    size_t m_since{0};    ///< Parts at the beginning of the span
    size_t m_length{0};   ///< Of the span, in parts
    Snapshot m_from;      ///< Its beginning
    uint64_t m_queues{0}; ///< Then
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PERIOD_SEARCH_H
