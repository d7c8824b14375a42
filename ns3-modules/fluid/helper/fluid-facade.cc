// SPDX-License-Identifier: GPL-2.0-only

#include "fluid-facade.h"

#include "ns3/abort.h"
#include "ns3/facade-outputs.h"
#include "ns3/fatal-trap.h"
#include "ns3/fluid-loop.h"
#include "ns3/task-graph.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

namespace ns3
{
namespace fabric
{

namespace
{

/// No message of the fabric itself starts before this [ps].
constexpr int64_t NOT_HERE_PS = int64_t{1} << 60;

/// Columns that have no meaning without packets.
const std::map<std::string, std::vector<std::string>> OF_PACKETS{
    {"flows",
     {"retransmitted_packets", "trimmed_packets", "ecn_marked_packets", "timeouts", "naks",
      "out_of_order_peak_packets"}},
    {"ports",
     {"sent_frames", "sent_data_packets", "received_frames", "dropped_buffer_frames",
      "dropped_headroom_frames", "dropped_loss_frames", "dropped_corrupt_frames",
      "dropped_no_route_frames", "dropped_link_down_frames", "ecn_marked_packets",
      "trimmed_packets", "bounced_packets", "pause_frames_sent", "pause_frames_received",
      "paused_ps", "max_queue_bytes", "max_ingress_bytes"}},
    {"summary", {"frames_allocated_peak", "rule_changes"}},
};

int64_t
OrNone(const std::optional<uint64_t>& ps)
{
    return ps ? static_cast<int64_t>(*ps) : -1;
}

/// Refuse what would make rates wrong: paths that depend on what only packets have.
void
CheckForwarding(const FabricOptions& options)
{
    for (const auto& nodes : options.nodeClasses)
    {
        if (nodes.forwarding.IsTypeIdSet())
        {
            const auto policy = nodes.forwarding.Create<ForwardingPolicy>();
            NS_ABORT_MSG_IF(policy->LooksAt() == ForwardingPolicy::Sees::QUEUES,
                            nodes.forwarding.GetTypeId().GetName()
                                << " chooses by queues or pauses between packets, which the fluid "
                                << "engine has not; use engine packets, or another forwarding");
        }
        for (const auto& factory : nodes.programs)
        {
            const auto program = factory.Create<SwitchProgram>();
            NS_ABORT_MSG_IF(program->Hooks() & (SwitchProgram::ARRIVAL | SwitchProgram::ROUTE),
                            factory.GetTypeId().GetName()
                                << " takes or routes packets, which the fluid engine has not; "
                                << "use engine packets, or leave it out");
        }
    }
}

} // namespace

/// Everything behind the door that is not that of the packets.
struct FluidFacade::Engine
{
    FabricTables tables;
    std::unique_ptr<FluidLoop> loop;
    uint64_t stopPs{0};
};

FluidFacade::FluidFacade()
    : m_engine(std::make_unique<Engine>())
{
}

FluidFacade::~FluidFacade() = default;

void
FluidFacade::Prepare(FabricTables& tables, FabricOptions& options)
{
    CheckForwarding(options);
    tables.SortAndCheck();
    const auto holdsLater = [](const RouteRow& row) { return row.fromPs > 0; };
    NS_ABORT_MSG_IF(!tables.rateChanges.empty() ||
                        std::any_of(tables.routes.begin(), tables.routes.end(), holdsLater),
                    "rate_changes, routes.from_ps: the fluid engine knows no plan that changes; "
                    "use engine packets");
    m_engine->tables = tables;
    for (auto& row : tables.flows)
    {
        row.startPs = NOT_HERE_PS;
    }
    tables.dependencies.clear();
    tables.tasks.clear();
}

void
FluidFacade::Built()
{
    m_engine->loop = std::make_unique<FluidLoop>(GetFabric(), m_engine->tables);
}

bool
FluidFacade::RunSlice(int64_t stopPs, double wallSeconds)
{
    return TrapFatal([&] {
        const auto now = std::chrono::steady_clock::now();
        const auto slice = std::chrono::duration<double>(wallSeconds);
        const auto deadline =
            now + std::chrono::duration_cast<std::chrono::steady_clock::duration>(slice);
        m_engine->stopPs = static_cast<uint64_t>(stopPs);
        return m_engine->loop->Run(m_engine->stopPs, deadline);
    });
}

void
FluidFacade::Finish()
{
    Facade::Finish();
    auto& tables = Outputs();
    FluidLoop& loop = *m_engine->loop;
    const size_t flows = m_engine->tables.flows.size();
    const auto outcome = [&](size_t i) {
        return loop.OutcomeOf(static_cast<uint32_t>(i), m_engine->stopPs);
    };
    tables["flows"].Replace("start_ps", [&](size_t i) { return OrNone(outcome(i).startPs); });
    tables["flows"].Replace("receiver_end_ps",
                            [&](size_t i) { return OrNone(outcome(i).receiverEndPs); });
    tables["flows"].Replace("sender_end_ps",
                            [&](size_t i) { return OrNone(outcome(i).senderEndPs); });
    tables["flows"].Replace("sent_data_packets", [&](size_t i) {
        return outcome(i).receiverEndPs ? loop.PacketsOf(static_cast<uint32_t>(i)) : 0;
    });
    if (loop.Graph().NumTasks() > 0)
    {
        const auto startPs = [&](uint32_t item) { // of a message also one that is yet to come
            const auto ps = outcome(item).startPs;
            return OrNone(ps && *ps <= m_engine->stopPs ? ps : std::nullopt);
        };
        const auto endPs = [&](uint32_t item) { return OrNone(outcome(item).receiverEndPs); };
        const auto decidedBy = [&](uint32_t item) { return loop.Graph().DecidedBy(item); };
        tables["tasks"] = MakeTasks(GetFabric(), loop.Graph(), {startPs, endPs, decidedBy});
    }
    const auto bytes = loop.PortBytes();
    tables["ports"].Replace("sent_bytes", [&](size_t i) { return std::llround(bytes[i]); });
    const std::array<std::pair<const char*, uint64_t>, 5> summary{{
        {"now_ps", static_cast<uint64_t>(NowPs())},
        {"events", Events()},
        {"data_packets_delivered", DataPackets()},
        {"flows_total", flows},
        {"flows_done", FlowsDone()},
    }};
    for (const auto& [column, value] : summary)
    {
        tables["summary"].Replace(column, [value = value](size_t) { return value; });
    }
    tables["summary"].Replace("memory_bytes", [&](size_t) {
        return GetFabric().MemoryBytes() + loop.MemoryBytes();
    });
    for (const auto& [table, columns] : OF_PACKETS)
    {
        for (const auto& column : columns)
        {
            tables[table].Replace(column, [](size_t) { return -1; });
        }
    }
}

int64_t
FluidFacade::NowPs() const
{
    const uint64_t nowPs = m_engine->loop ? m_engine->loop->NowPs() : 0;
    return static_cast<int64_t>(std::min(nowPs, m_engine->stopPs));
}

uint64_t
FluidFacade::Events() const
{
    return m_engine->loop ? m_engine->loop->Events() : 0;
}

uint64_t
FluidFacade::FlowsDone() const
{
    return m_engine->loop ? m_engine->loop->Done(m_engine->stopPs) : 0;
}

uint64_t
FluidFacade::TasksDone() const
{
    return m_engine->loop ? m_engine->loop->TasksDone(m_engine->stopPs) : 0;
}

uint64_t
FluidFacade::TasksTotal() const
{
    return m_engine->loop ? m_engine->loop->Graph().NumTasks() : 0;
}

uint64_t
FluidFacade::DataPackets() const
{
    return m_engine->loop ? m_engine->loop->Packets() : 0;
}

} // namespace fabric
} // namespace ns3
