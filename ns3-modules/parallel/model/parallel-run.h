// SPDX-License-Identifier: GPL-2.0-only

#ifndef PARALLEL_RUN_H
#define PARALLEL_RUN_H

#include "domain-boundary.h"
#include "thread-choice.h"

#include "ns3/event-engine.h"

#include <array>
#include <exception>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief A run: one engine for each domain of its network, on one thread or several.
 *
 * What happens in a domain shows in another only after the least delay of a link between them, the
 * lookahead. So all domains execute a window of that length, which begins at the earliest event of
 * any, and then tell each other what has crossed. Nothing but that is ever written by one domain
 * and read by another, and each window ends at a barrier. The events of an instant are executed in
 * an order that does not depend on domains, so nothing in the results does, nor on threads.
 *
 * A window is cut where a link changes, and where a deadlock is looked for. The run ends with the
 * instant in which the last message or task is done. In a window that may be the last, each domain
 * stops when all is done that is done there; then all go on to the last of these instants, or, if
 * some domain has come to the end of the window, to that.
 *
 * **Source**: conservative windows: Lubachevsky, CACM 32(1), 1989; the structure is our own.
 * **Not modelled** in several domains: messages made at run time, programs that know all switches,
 * and plug-ins that schedule events of stock ns-3; see WhyOne.
 */
class ParallelRun final : public PacketLoop
{
  public:
    /**
     * @param tables sorted
     * @param options of the run
     * @param threads of the process; at most one for each domain helps
     */
    ParallelRun(const FabricTables& tables, const FabricOptions& options, uint32_t threads);

    /// @return why a run of several domains cannot have all that these ask for; "" if it can
    static std::string WhyOne(const FabricTables& tables, const FabricOptions& options);

    WorldPs NowPs() const override;
    WorldPs NextPs() const override;
    bool IsOver() const override;
    void RunUntil(WorldPs limitPs, std::chrono::steady_clock::time_point deadline) override;
    void LimitTo(WorldPs limitPs) override;
    void AdvanceTo(WorldPs nowPs) override;
    uint64_t Events() const override;

    const FabricParts& Parts() const
    {
        return m_view;
    }

    /// @return the engines, by domain
    const std::vector<std::unique_ptr<EventEngine>>& Engines()
    {
        return m_parts;
    }

    // ---- for a controller, between two instants
    void ChangeRate(const RateChangeRow& row);
    void ChangeRoute(const RouteRow& row);
    std::vector<int64_t> TakeDecided();
    void Append(FabricTables tables);

    uint64_t FlowsDone() const;
    uint64_t TasksDone() const;
    uint64_t DataPackets() const;
    std::vector<uint32_t> DeadlockCycle() const; ///< Nodes (dense indices)

    uint64_t Windows() const ///< So far; 0 in one domain
    {
        return m_windows;
    }

    uint64_t WindowsOnOneThread() const ///< Of these, where there were several threads
    {
        return m_threads.WindowsOnOne();
    }

    void Begin();  ///< Schedule the messages and tasks; before this, observers are attached
    void Finish(); ///< Nothing more will be executed: check the identities, close what is recorded

  private:
    /// What a domain says at a barrier; each on a cache line of its own.
    struct alignas(64) Report
    {
        /// Its own next event, and the first of what it told [ps]
        WorldPs nextPs{WorldPs::Never()};
        std::exception_ptr error;
    };

    bool IsOne() const
    {
        return m_parts.size() == 1;
    }

    void LookAhead();
    bool AllDone() const;
    bool MayFinish() const;
    WorldPs EndOfWindow(WorldPs nextPs);
    void Plan();
    bool PlanRest();
    void PlanNext();
    void RunWindow(uint32_t domain);
    void RunThreads(uint32_t threads);
    void ImportAll();
    void ExchangeSent(uint32_t row);

    std::vector<std::unique_ptr<DomainBoundary>> m_boundaries; ///< By domain; none if there is one
    std::vector<std::unique_ptr<EventEngine>> m_parts;         ///< By domain
    FabricParts m_view;
    /// What a domain is told by all others, in windows of even and of odd number
    std::vector<std::array<std::vector<DomainOutbox*>, 2>> m_outboxesTo;
    ThreadChoice m_threads;
    uint64_t m_lookaheadPs{NEVER_PS}; ///< Of all links between domains [ps]
    uint64_t m_toDeliver{0}; ///< Messages with payload that must come before the run may end
    WorldPs m_deadlockCheckPs{WorldPs::Never()};
    bool m_deadlocked{false};
    uint32_t m_nextChange{0}; ///< First row of link_events that is not in force

    WorldPs m_nowPs;
    WorldPs m_limitPs;
    WorldPs m_endPs;      ///< Of the window at hand: its events are before this [ps]
    uint32_t m_parity{0}; ///< Of its number
    uint64_t m_windows{0};
    /// How far domains go in a window.
    enum class Phase
    {
        WHOLE, ///< To its end; it is not the last
        DONE,  ///< To its end, or until all is done that is done there
        REST,  ///< The rest of it
    };

    Phase m_phase{Phase::WHOLE};
    bool m_pauses{false}; ///< No further window for now
    std::chrono::steady_clock::time_point m_deadline;
    std::vector<Report> m_reports; ///< By domain
};

} // namespace fabric
} // namespace ns3

#endif // PARALLEL_RUN_H
