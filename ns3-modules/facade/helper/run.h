// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_RUN_H
#define FABRIC_RUN_H

#include "ns3/fabric-options.h"
#include "ns3/fabric-tables.h"
#include "ns3/object.h"
#include "ns3/output-table.h"
#include "ns3/packet-capture.h"
#include "ns3/telemetry.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace ns3
{
namespace fabric
{

class Transport;

/// What the user chose for a run, beside the tables: the network, and who looks at it.
struct RunOptions : FabricOptions
{
    TraceOptions trace;
    std::vector<CaptureOptions> captures; ///< Hosts whose frames go to files
};

/// How far a run has come.
struct RunProgress
{
    uint64_t events{0};
    uint64_t flowsDone{0}; ///< Flows whose sender has every acknowledgement
    uint64_t flowsTotal{0};
    uint64_t tasksDone{0};
    uint64_t tasksTotal{0};
    uint64_t dataPackets{0}; ///< That receiving hosts have accepted
};

/**
 * @ingroup fabric
 * @brief One run of the input tables, as the Facade drives it, whatever engine makes it.
 */
class Run
{
  public:
    virtual ~Run() = default;

    /**
     * Run for about a given time of the wall clock.
     * @param stopPs end of simulated time [ps]
     * @param wallSeconds time after which to return [s]
     * @return true when every flow and task is done, or the stop time is reached, or nothing is
     *         left to do
     */
    virtual bool RunSlice(WorldPs stopPs, double wallSeconds) = 0;
    virtual OutputTables Finish() = 0; ///< Nothing more is executed. @return what became of it

    /// @return why its network cannot be cut into several domains; "" if it can
    virtual std::string WhyOneDomain() const
    {
        return "";
    }

    virtual WorldPs NowPs() const = 0; ///< Simulated time
    virtual RunProgress Progress() const = 0;
    virtual int64_t NextId() const = 0; ///< Of a further flow; ids above are free too

    // ---- for a controller, between two slices
    virtual void ChangeRate(const RateChangeRow& row) = 0;
    virtual void ChangeRoute(const RouteRow& row) = 0;
    /// @return ids of tasks that decide and have ended; the run pauses until this is asked
    virtual std::vector<int64_t> TakeDecided() = 0;
    virtual void Append(FabricTables tables) = 0; ///< Further flows, tasks and dependencies
    virtual OutputTables Look() const = 0;        ///< @return what has been counted so far

    /// @return node ids of switches that wait for each other's buffers for ever; empty if none do
    virtual std::vector<int64_t> DeadlockCycle() const = 0;
    /// @return the end of a transport at a host, by node id; null if there is none
    virtual Transport* TransportAt(int64_t host, uint32_t transport) const = 0;
};

/**
 * @ingroup fabric
 * @brief What makes a run of the input tables, chosen by its TypeId.
 */
class Engine : public Object
{
  public:
    static TypeId GetTypeId();

    /// Abort in one line if it cannot make runs of these types, before there are any tables.
    virtual void Check(const RunOptions&) const
    {
    }

    /// Check the tables and compile them. @return a run at time 0
    virtual std::unique_ptr<Run> Start(FabricTables tables, const RunOptions& options) const = 0;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_RUN_H
