// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TELEMETRY_H
#define FABRIC_TELEMETRY_H

#include "trace-options.h"

#include "ns3/observer.h"
#include "ns3/output-table.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/// A data packet seen by its destination host.
struct Arrival
{
    WorldPs timePs;
    uint32_t message;
    uint32_t packet;
    uint32_t node;
};

/// What an egress holds at one time, and what it did since the sample before.
struct PortSample
{
    WorldPs timePs;
    PortId port;
    uint64_t queuedBytes; ///< Waiting, the frame on the wire excluded [byte]
    uint64_t sentBytes;   ///< Of frames begun, with framing [byte]
    uint64_t pausedPs;    ///< With any priority paused [ps]
};

/// What the destination of a message got since the sample before.
struct FlowSample
{
    WorldPs timePs;
    uint32_t message;
    uint32_t packets; ///< Data packets, all copies
    uint64_t bytes;   ///< Of these, with headers, without framing [byte]
};

/// A time during which the other end held back one priority of an egress.
struct Pause
{
    WorldPs startPs;
    std::optional<WorldPs> endPs; ///< None if it lasted to the end of the run
    PortId port;
    uint32_t priority;
    std::optional<WorldPs> sentPs; ///< When the other end decided to [ps]; none: it did not
    PortId toward;                 ///< As in PauseReason
};

/**
 * @ingroup fabric
 * @brief Series and logs of a run, for those who ask; the engine has none of this otherwise.
 *
 * A sample holds the state after all events of its instant, and only what is not zero: a port or
 * message without a row neither held nor did anything. The last sample lies at the end of the run,
 * so sums over all samples are the totals of the run.
 */
class Telemetry final : public Observer
{
  public:
    /**
     * @param run lives longer than this
     * @param options what is recorded
     * @param rows nodes whose ports are sampled; none: all
     */
    Telemetry(const ObservedRun& run,
              const TraceOptions& options,
              const std::vector<SampledRow>& rows);

    uint32_t Wishes() const override;
    void OnDataArrived(const Frame& frame, uint32_t node) override;
    void OnPauseChanged(PortId port,
                        uint16_t before,
                        uint16_t after,
                        const PauseReason& reason) override;
    void OnSkip(const SkippedTime& piece) override; ///< Take the sample at its end
    EnginePs NextLookPs() const override;
    void Look(EnginePs nextPs) override; ///< Take the samples that lie before that
    void Finish() override;              ///< Take the last sample
    uint64_t MemoryBytes() const override;

    /// Add the tables of what was recorded in the engines of a run, in one order.
    static void AddTables(OutputTables& tables,
                          const std::vector<std::unique_ptr<Telemetry>>& byEngine);

  private:
    void Sample(WorldPs timePs);
    void SampleUntil(WorldPs nextPs);
    void SamplePort(size_t index, WorldPs timePs, EnginePs executedPs);
    void SampleFlows(WorldPs timePs);
    void CountArrived(uint32_t message, uint32_t packets, uint64_t bytes);

    /// What has come in for a message since the last sample.
    struct Arrived
    {
        uint32_t packets{0};
        uint64_t bytes{0};
    };

    using Totals = SkippedTime::Total;
    using ByEngine = std::vector<std::unique_ptr<Telemetry>>;

    template <typename Row, typename Key>
    static std::vector<Row> Merged(const ByEngine& all,
                                   std::vector<Row> Telemetry::*rows,
                                   Key&& key);
    static OutputTable ArrivalTable(const ByEngine& all);
    static OutputTable PortTable(const ByEngine& all);
    static OutputTable FlowTable(const ByEngine& all);
    static OutputTable PauseTable(const ByEngine& all);

    const EngineState& m_state;
    uint64_t m_samplePs;
    WorldPs m_nextSamplePs;
    bool m_logsArrivals;
    bool m_logsPauses;
    std::vector<PortId> m_sampled;
    std::vector<Totals> m_before;      ///< Of each sampled port, when it was last sampled
    std::vector<Totals> m_skipped;     ///< Of each, what was skipped until the sample at hand
    std::vector<size_t> m_holding;     ///< Sampled ports that held or were held back just then
    std::vector<Arrived> m_arrived;    ///< Of each message
    std::vector<uint32_t> m_receiving; ///< Messages with anything in m_arrived
    std::map<std::pair<PortId, uint32_t>, size_t> m_open; ///< Row of each pause in force
    std::vector<Arrival> m_arrivals;
    std::vector<PortSample> m_portSamples;
    std::vector<FlowSample> m_flowSamples;
    std::vector<Pause> m_pauses;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TELEMETRY_H
