// SPDX-License-Identifier: GPL-2.0-only

#include "fluid-engine.h"

#include "ns3/abort.h"
#include "ns3/fabric-parts.h"
#include "ns3/facade-outputs.h"
#include "ns3/fluid-loop.h"
#include "ns3/task-graph.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(FluidEngine);

namespace
{

/// Refuse what would make rates wrong: paths that depend on what only packets have.
void
CheckForwarding(const FabricOptions& options)
{
    for (const auto& nodes : options.nodeClasses)
    {
        if (nodes.forwarding.IsTypeIdSet())
        {
            const auto policy = MakePlugin<ForwardingPolicy>(nodes.forwarding);
            NS_ABORT_MSG_IF(policy->GetTraits().sees == ForwardingPolicy::Sees::QUEUES,
                            nodes.forwarding.GetTypeId().GetName()
                                << " chooses by queues or pauses between packets, which the fluid "
                                << "engine has not; use engine packets, or another forwarding");
        }
        for (const auto& factory : nodes.programs)
        {
            const auto program = MakePlugin<SwitchProgram>(factory);
            constexpr uint32_t TAKES = SwitchProgram::ARRIVAL | SwitchProgram::ROUTE;
            NS_ABORT_MSG_IF(program->GetTraits().hooks & TAKES,
                            factory.GetTypeId().GetName()
                                << " takes or routes packets, which the fluid engine has not; "
                                << "use engine packets, or leave it out");
        }
    }
}

/// Refuse plans that change while the run goes on.
void
CheckPlans(const FabricTables& tables)
{
    const auto holdsLater = [](const RouteRow& row) { return row.fromPs > 0; };
    NS_ABORT_MSG_IF(!tables.rateChanges.empty() ||
                        std::any_of(tables.routes.begin(), tables.routes.end(), holdsLater),
                    "rate_changes, routes.from_ps: the fluid engine knows no plan that changes; "
                    "use engine packets");
}

/// A run at flow level: the network, its routes and its messages are those of a run of packets, of
/// which none is ever sent.
class FluidRun final : public Run
{
  public:
    FluidRun(const FabricTables& tables, const RunOptions& options)
        : m_engine(tables, options),
          m_fabric(m_engine.View()),
          m_loop(m_engine, tables)
    {
    }

    bool RunSlice(WorldPs stopPs, double wallSeconds) override
    {
        using Clock = std::chrono::steady_clock;
        const std::chrono::duration<double> slice(wallSeconds);
        m_stopPs = stopPs;
        const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(slice);
        return m_loop.Run(stopPs, deadline);
    }

    WorldPs NowPs() const override
    {
        return std::min(m_loop.NowPs(), m_stopPs);
    }

    int64_t NextId() const override
    {
        return m_fabric.Messages().NextId();
    }

    RunProgress Progress() const override
    {
        return {.events = m_loop.Events(),
                .flowsDone = m_loop.Done(m_stopPs),
                .flowsTotal = m_fabric.Messages().Size(),
                .tasksDone = m_loop.TasksDone(m_stopPs),
                .tasksTotal = m_loop.Graph().NumTasks(),
                .dataPackets = m_loop.Packets()};
    }

    void ChangeRate(const RateChangeRow&) override
    {
        RefuseControl();
    }

    void ChangeRoute(const RouteRow&) override
    {
        RefuseControl();
    }

    std::vector<int64_t> TakeDecided() override
    {
        return m_loop.TakeDecided();
    }

    void Append(FabricTables tables) override
    {
        m_engine.Append(tables);
        m_loop.Append(tables);
    }

    OutputTables Look() const override
    {
        RefuseControl();
        return {};
    }

    std::vector<int64_t> DeadlockCycle() const override
    {
        return {};
    }

    Transport* TransportAt(int64_t, uint32_t) const override
    {
        return nullptr;
    }

    OutputTables Finish() override
    {
        OutputTables tables;
        tables["flows"] = Flows();
        tables["ports"] = Ports();
        tables["paths"] = MakePaths(FabricParts({&m_fabric}));
        if (m_loop.Graph().NumTasks() > 0)
        {
            tables["tasks"] = Tasks();
        }
        tables["summary"] = Summary();
        tables["process"].Add("engine_memory_bytes", 1, [this](size_t) {
            return m_fabric.MemoryBytes() + m_loop.MemoryBytes();
        });
        tables["transports"] = MakeTransports(m_fabric);
        return tables;
    }

  private:
    static void RefuseControl()
    {
        NS_ABORT_MSG("a controller looks at packets; use engine packets, or leave it out");
    }

    FluidLoop::Outcome OutcomeOf(size_t item) const
    {
        return m_loop.OutcomeOf(static_cast<uint32_t>(item), m_stopPs);
    }

    OutputTable Flows() const
    {
        const MessageTable& messages = m_fabric.Messages();
        OutputTable table;
        const auto add = [&](const std::string& name, auto value) {
            table.Add(name, messages.Size(), value);
        };
        const auto hostId = [&](uint32_t host) { return HostIdOf(m_fabric, host); };
        add("flow", [&](size_t i) { return messages[i].id; });
        add("src", [&](size_t i) { return hostId(messages[i].src); });
        add("dst", [&](size_t i) { return hostId(messages[i].dst); });
        add("bytes", [&](size_t i) { return messages[i].bytes; });
        add("transport", [&](size_t i) { return messages[i].transport; });
        add("start_ps", [&](size_t i) { return TimeOrNone(OutcomeOf(i).startPs); });
        add("receiver_end_ps", [&](size_t i) { return TimeOrNone(OutcomeOf(i).receiverEndPs); });
        add("sender_end_ps", [&](size_t i) { return TimeOrNone(OutcomeOf(i).senderEndPs); });
        add("sent_data_packets", [&](size_t i) {
            return OutcomeOf(i).receiverEndPs ? m_loop.PacketsOf(static_cast<uint32_t>(i)) : 0;
        });
        return table;
    }

    OutputTable Ports()
    {
        const FabricNetwork& network = m_fabric.Network();
        const std::vector<double> bytes = m_loop.PortBytes();
        OutputTable table;
        const auto add = [&](const std::string& name, auto value) {
            table.Add(name, network.NumPorts(), [&](size_t i) {
                return value(static_cast<PortId>(i));
            });
        };
        add("node", [&](PortId id) { return NodeIdOf(m_fabric, id); });
        add("peer", [&](PortId id) { return network.PeerOf(id).first; });
        add("parallel", [&](PortId id) { return network.PeerOf(id).second; });
        add("rate_bps", [&](PortId id) { return network.FirstRateBps(id); });
        add("sent_bytes", [&](PortId id) { return std::llround(bytes[id]); });
        return table;
    }

    OutputTable Tasks() const
    {
        const auto startPs = [&](uint32_t item) { // of a message also one that is yet to come
            const auto ps = OutcomeOf(item).startPs;
            return TimeOrNone(ps && *ps <= m_stopPs ? ps : std::nullopt);
        };
        const auto endPs = [&](uint32_t item) { return TimeOrNone(OutcomeOf(item).receiverEndPs); };
        const auto decidedBy = [&](uint32_t item) { return m_loop.Graph().DecidedBy(item); };
        return MakeTasks(m_fabric, m_loop.Graph(), {startPs, endPs, decidedBy});
    }

    OutputTable Summary() const
    {
        OutputTable table;
        const RunProgress progress = Progress();
        const std::array<std::pair<const char*, uint64_t>, 5> cells{{
            {"now_ps", NowPs().Ps()},
            {"events", progress.events},
            {"data_packets_delivered", progress.dataPackets},
            {"flows_total", progress.flowsTotal},
            {"flows_done", progress.flowsDone},
        }};
        for (const auto& [column, value] : cells)
        {
            table.Add(column, 1, [value = value](size_t) { return value; });
        }
        return table;
    }

    EventEngine m_engine;
    const RunView& m_fabric;
    FluidLoop m_loop;
    WorldPs m_stopPs;
};

} // namespace

TypeId
FluidEngine::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FluidEngine")
                            .SetParent<Engine>()
                            .SetGroupName("Fluid")
                            .AddConstructor<FluidEngine>();
    return tid;
}

std::unique_ptr<Run>
FluidEngine::Start(FabricTables tables, const RunOptions& options) const
{
    CheckForwarding(options);
    tables.SortAndCheck();
    CheckPlans(tables);
    for (auto& node : tables.nodes)
    {
        node.engine = 0; // one for the whole network
    }
    return std::make_unique<FluidRun>(tables, options);
}

} // namespace ns3
