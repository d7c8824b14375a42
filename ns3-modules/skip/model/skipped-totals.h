// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SKIPPED_TOTALS_H
#define FABRIC_SKIPPED_TOTALS_H

#include "steady-state.h"

#include "ns3/observer.h"
#include "ns3/output-table.h"

#include <optional>
#include <vector>

namespace ns3
{
namespace fabric
{

/// Place of each total in PortTotals.
enum PortTotal : size_t
{
    SENT_FRAMES,
    SENT_BYTES, ///< Without framing [byte]
    SENT_DATA,  ///< Frames of data
    RECEIVED_FRAMES,
    DROPPED_BUFFER,
    DROPPED_HEADROOM,
    MARKED,
    TRIMMED,
    BOUNCED,
    LINK_CONTROL_SENT,
    LINK_CONTROL_RECEIVED,
    PAUSED_PS,
};

/// A steady state that was skipped, or part of one.
struct SkippedState
{
    WorldPs timePs;      ///< When it began [ps]
    WorldPs fromPs;      ///< When the next event would have been [ps]
    uint64_t byPs;       ///< How long it was [ps]
    uint64_t packets;    ///< Of all messages under way
    uint64_t measuredPs; ///< For how long their rates had been measured [ps]
    uint64_t messages;   ///< Under way
    bool isExact;        ///< Whole periods, each as long as what was measured
};

/**
 * @ingroup fabric
 * @brief What was skipped of a run until now, and its tables.
 */
class SkippedTotals
{
  public:
    explicit SkippedTotals(const ObservedRun& run); ///< Lives longer than this

    std::vector<SkippedState> states;
    std::vector<PortTotals> ports; ///< By port

    FlowTotals& AtMessage(uint32_t message);           ///< To be changed
    const FlowTotals& OfMessage(size_t message) const; ///< `sent` are also those that arrived
    std::vector<SkippedTime::Total> OfPorts() const;   ///< What observers are told of each

    /**
     * Add what was skipped to what was executed, and tables of what was skipped.
     * @param samplePs when samples were taken: at its multiples; none: never [ps]
     */
    void AddTables(OutputTables& tables, std::optional<uint64_t> samplePs) const;

  private:
    OutputTable StateTable() const;
    OutputTable FlowTable() const;
    OutputTable SampleTable(uint64_t samplePs) const;

    const ObservedRun& m_run;
    const EngineState& m_engine;
    std::vector<FlowTotals> m_messages;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_SKIPPED_TOTALS_H
