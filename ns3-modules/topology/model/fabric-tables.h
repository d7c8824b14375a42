// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TABLES_H
#define FABRIC_TABLES_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace fabric
{

constexpr int64_t MAX_ENGINES = 1024; ///< Of one run

/// One row of the input table "nodes".
struct NodeRow
{
    int64_t id;        ///< Unique
    bool isSwitch;     ///< Otherwise a host
    int64_t tier;      ///< 0 for hosts, 1 for the switches next to them, and so on
    int64_t plane;     ///< Plane of a switch
    int64_t nodeClass; ///< Index of its class: queue, buffer, latency, forwarding
    int64_t engine;    ///< Which engine of the run executes its events
};

/// One row of the input table "links": both directions of a cable.
struct LinkRow
{
    int64_t nodeA;
    int64_t nodeB;
    int64_t parallel;        ///< Index among the links between the same two nodes
    int64_t rateBps;         ///< [bit/s]
    int64_t delayPs;         ///< Propagation [ps]
    int64_t linkClass;       ///< Index of its class: flow control, losses
    double lossRatio{0};     ///< Probability that a frame is lost on the wire [1]
    double bitErrorRatio{0}; ///< Probability that a bit is wrong on the wire [1]
};

/// One row of the input table "flows".
struct FlowRow
{
    int64_t id;         ///< Unique
    int64_t src;        ///< Node id of a host
    int64_t dst;        ///< Node id of a host
    int64_t bytes;      ///< Payload [byte]; 0: no message but a point in time, done when it starts
    int64_t startPs;    ///< [ps]
    int64_t transport;  ///< Index of the transport
    int64_t rateBps{0}; ///< To which it is admitted, on the wire, 0: to any [bit/s]
    int64_t connection{0}; ///< With equal ends: one header for all of them, 0: one of its own
    bool decides{false}; ///< The run pauses when it has arrived, for further tables
};

/// One row of the input table "tasks": what a host does beside sending.
struct TaskRow
{
    int64_t id;          ///< Unique among tasks and flows
    int64_t node;        ///< Node id of a host
    int64_t stream;      ///< Computations of one stream of a node follow each other by their ids
    int64_t durationPs;  ///< 0 of a barrier [ps]
    int64_t startPs;     ///< Least, whatever it waits for [ps]
    bool isBarrier;      ///< A point in time, no computation
    bool decides{false}; ///< Of a barrier: the run pauses there, for further tables
};

/// One row of the input table "drops": a loss that a test or a user scripts.
struct DropRow
{
    int64_t node;     ///< Sending end of the direction
    int64_t peer;     ///< Receiving end
    int64_t parallel; ///< Index among parallel links
    int64_t ordinal;  ///< Which data frame of this direction is lost, from 1
};

/// One row of the input table "link_events": a cable gets another rate.
struct LinkEventRow
{
    int64_t timePs;     ///< [ps]
    int64_t nodeA;      ///< One end
    int64_t nodeB;      ///< Other end
    int64_t parallel;   ///< Index among parallel links
    int64_t rateBps;    ///< New rate, 0 = cut of both directions [bit/s]
    int64_t backBps{0}; ///< Of what node_b sends, 0: the same [bit/s]
};

/// One row of the input table "loss_changes": a direction of a cable loses another share.
struct LossChangeRow
{
    int64_t timePs;          ///< Frames that come then or later [ps]
    int64_t node;            ///< Sending end of the direction
    int64_t peer;            ///< Receiving end
    int64_t parallel;        ///< Index among parallel links
    double lossRatio{0};     ///< Probability that a frame is lost on the wire, 1: all [1]
    double bitErrorRatio{0}; ///< Probability that a bit is wrong on the wire [1]
};

/// One row of the input table "dependencies": a flow or task starts when another has ended.
struct DependencyRow
{
    int64_t flow;  ///< Id of what waits; it starts when all its rows are fulfilled
    int64_t after; ///< Id of what it waits for
    bool atSender; ///< Until the sender has every acknowledgement, not until the last byte is there
    int64_t delayPs; ///< From then on [ps]; > 0 if it starts at another host than knows it
};

/// One row of the input table "routes": one hop of a path that a flow takes, whatever is shortest.
struct RouteRow
{
    int64_t flow;
    int64_t node;      ///< Switch
    int64_t peer;      ///< Where it sends frames of this flow
    int64_t parallel;  ///< Index among parallel links
    bool reverse;      ///< Of the flow's answers
    int64_t fromPs{0}; ///< It holds from then on, until a later row of this node [ps]
};

/// One row of the input table "rate_changes": a flow is admitted to another rate from then on.
struct RateChangeRow
{
    int64_t timePs; ///< [ps]
    int64_t flow;
    int64_t rateBps; ///< On the wire, > 0 [bit/s]
};

/// One row of the input table "sampled": a node whose ports are sampled; no row: all of them.
struct SampledRow
{
    int64_t node;
};

/// @return place of an id in rows that are sorted by it; at once where ids follow each other
template <typename Row>
std::optional<uint32_t>
PlaceOf(const std::vector<Row>& rows, int64_t id)
{
    if (rows.empty() || id < rows.front().id || id > rows.back().id)
    {
        return std::nullopt;
    }
    const auto guess = static_cast<size_t>(id - rows.front().id);
    if (guess < rows.size() && rows[guess].id == id)
    {
        return static_cast<uint32_t>(guess);
    }
    const auto isBefore = [](const Row& row, int64_t x) { return row.id < x; };
    const auto found = std::lower_bound(rows.begin(), rows.end(), id, isBefore);
    if (found->id != id)
    {
        return std::nullopt;
    }
    return static_cast<uint32_t>(found - rows.begin());
}

using NodeById = std::unordered_map<int64_t, const NodeRow*>;

/// The experiment as plain rows.
struct FabricTables
{
    bool isOpen{false}; ///< Further tables come although nothing here decides

    std::vector<NodeRow> nodes;
    std::vector<LinkRow> links;
    std::vector<FlowRow> flows;
    std::vector<TaskRow> tasks;
    std::vector<DropRow> drops;
    std::vector<LinkEventRow> linkEvents;
    std::vector<LossChangeRow> lossChanges;
    std::vector<DependencyRow> dependencies;
    std::vector<SampledRow> sampled;
    std::vector<RouteRow> routes;
    std::vector<RateChangeRow> rateChanges;

    /**
     * Put every table in the order of its ids, so that the order of listing decides nothing.
     * Aborts with one line on the first row that cannot be: duplicate or unknown ids, a rate,
     * delay, size or probability out of range. What waits for what is for TaskGraph to check.
     */
    void SortAndCheck();

    /// The same for further flows, tasks and dependencies in a network whose nodes are checked.
    void SortAndCheckFurther(const NodeById& known);

    /// @return whether the run may pause for further tables
    bool MayGrow() const;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TABLES_H
