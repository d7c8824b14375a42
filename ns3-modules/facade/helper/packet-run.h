// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_PACKET_RUN_H
#define FABRIC_PACKET_RUN_H

#include "facade-outputs.h"
#include "run.h"

#include "ns3/parallel-run.h"
#include "ns3/steady-skip.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{

class FabricSimulatorImpl;

namespace fabric
{

/**
 * @ingroup fabric
 * @brief A run of packets, beside the events of stock ns-3.
 */
class PacketRun final : public Run
{
  public:
    /**
     * @param tables input
     * @param options network and observers
     * @param threads of the process; at most one for each domain helps
     * @param skipPpm tolerance of completion times within which steady states are skipped [ppm]
     * @param whyOne why it has one domain, if it could have no more
     */
    PacketRun(const FabricTables& tables,
              const RunOptions& options,
              uint32_t threads,
              std::optional<uint64_t> skipPpm,
              std::string whyOne);
    ~PacketRun() override;

    void FetchAlways(); ///< See EventEngine

    bool RunSlice(WorldPs stopPs, double wallSeconds) override;
    OutputTables Finish() override;

    std::string WhyOneDomain() const override
    {
        return m_whyOne;
    }

    WorldPs NowPs() const override;
    RunProgress Progress() const override;
    int64_t NextId() const override;
    void ChangeRate(const RateChangeRow& row) override;
    void ChangeRoute(const RouteRow& row) override;
    std::vector<int64_t> TakeDecided() override;
    void Append(FabricTables tables) override;
    OutputTables Look() const override;
    std::vector<int64_t> DeadlockCycle() const override;
    Transport* TransportAt(int64_t host, uint32_t transport) const override;

  private:
    void Observe(const FabricTables& tables, const RunOptions& options);
    const RunView& First() const;

    std::string m_whyOne;
    Ptr<FabricSimulatorImpl> m_simulator;
    ParallelRun m_run;
    std::vector<std::unique_ptr<Telemetry>> m_telemetry;    ///< By engine; none if nobody asked
    std::vector<std::unique_ptr<PacketCapture>> m_captures; ///< Likewise
    std::unique_ptr<SteadySkip> m_skip;
};

/**
 * @ingroup fabric
 * @brief Makes runs of packets.
 */
class PacketEngine final : public Engine
{
  public:
    static TypeId GetTypeId();
    void Check(const RunOptions& options) const override;
    std::unique_ptr<Run> Start(FabricTables tables, const RunOptions& options) const override;

  private:
    uint32_t m_threads;
    std::optional<uint64_t> m_domains;
    bool m_fetchesAlways;
    std::optional<uint64_t> m_skipPpm;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_PACKET_RUN_H
