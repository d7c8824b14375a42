// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_STEADY_SKIP_H
#define FABRIC_STEADY_SKIP_H

#include "period-search.h"
#include "skipped-totals.h"

#include <optional>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * Abort in one line if steady states cannot be skipped where there is this plug-in: what the engine
 * does not see may depend on the length of messages, on a clock of its own, or move slowly.
 */
void CheckMaySkip(const Object& plugin);

/**
 * @ingroup fabric
 * @brief Skips steady states: takes time out of the engine's clock and packets out of messages.
 *
 * Nothing that is under way is touched. While all messages keep their rates, time that goes by
 * moves every sequence number and every time by the same amount, and no frame, timer, window,
 * account or draw knows the difference. So instead of moving all of these forward, messages that
 * were to go on for that time are made shorter by the packets they would have sent, and what is
 * to happen at times of the world (messages that start, links that change, the end of the run)
 * comes earlier on the engine's clock. Results add both again.
 *
 * A congestion control moves windows and rates for longer than a steady state is measured. So with
 * one only what repeats to the picosecond is skipped, while all controls are at rest.
 *
 * **Source** Our own. That packet simulation of training can skip its steady states: Long et al.,
 * NSDI 2026.
 * **Not modelled** Partitions that are steady each for itself; transients that were seen before.
 */
class SteadySkip final : public Observer
{
  public:
    /**
     * Abort in one line if something in the network cannot be skipped.
     * @param run lives longer than this
     * @param tolerance of completion times [1]
     * @param samplePs when others take samples: at its multiples; none: never [ps]
     */
    SteadySkip(ObservedRun& run, double tolerance, std::optional<uint64_t> samplePs);

    uint32_t Wishes() const override;
    void OnStart(uint32_t message) override;
    void OnDisturbance() override;
    EnginePs NextLookPs() const override;
    void Look(EnginePs nextPs) override; ///< Skip what is steady before the next event
    bool SeesInstants() const override;
    void OnInstant(const Instant& instant) override;

    /// Add what was skipped to what was executed, and tables of what was skipped.
    void AddTables(OutputTables& tables) const
    {
        m_skipped.AddTables(tables, m_samplePs);
    }

  private:
    /// A message under way.
    struct Active
    {
        uint32_t message;
        uint64_t rttPs;          ///< Of its unloaded path [ps]
        FlowTotals before;       ///< Skipped before the state at hand began
        double errorPackets;     ///< What was skipped in earlier states may be wrong by so many
        double errorHerePackets; ///< and in this one
    };

    /// What congestion controls do to the messages under way.
    struct Controls
    {
        bool any{false};  ///< There is one
        bool move{false}; ///< One is not at rest
    };

    void CheckRun() const;
    void Check(EnginePs nextPs);
    void CheckPeriod(EnginePs nextPs);
    void FindActive();
    Controls FindControls() const;
    void Begin(EnginePs nextPs);
    void Search(); ///< What repeats to the picosecond
    uint64_t MostPs(EnginePs nextPs) const;
    MessageProgress ProgressOf(uint32_t message) const;
    SourceTotals SourceOf(uint32_t message) const;
    Snapshot Take(EnginePs atPs) const;
    uint64_t NumDraws() const;
    void Rebase();
    bool MayRepeat() const;
    void SkipPeriods(EnginePs nextPs);
    void Skip(const SteadyState::Jump& jump, EnginePs atPs, EnginePs nextPs, bool isExact);
    uint64_t SkipMessages(const SteadyState::Jump& jump, SkippedTime& skipped);
    void SkipPorts(const SteadyState::Jump& jump);
    void Show(const SkippedTime& all, uint64_t byPs, const std::vector<SkippedTime::Total>& before);

    ObservedRun& m_run;
    const EngineState& m_engine;
    std::optional<uint64_t> m_samplePs;
    SteadyState m_state;
    PeriodSearch m_search;
    std::optional<PeriodSearch::Span> m_span; ///< Whole periods of the state at hand
    std::vector<Active> m_active;             ///< In the order in which they started
    EnginePs m_nextCheckPs;
    uint64_t m_firstWindowPs; ///< After something has changed [ps]
    bool m_disturbed{true};
    uint64_t m_slowestPs{0}; ///< Longest wait for a congestion control, in the state at hand [ps]
    uint32_t m_sinceJump{0}; ///< Snapshots since the last jump
    SkippedTotals m_skipped;
    std::vector<PortTotals> m_portsBefore; ///< When the state at hand began
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_STEADY_SKIP_H
