// SPDX-License-Identifier: GPL-2.0-only

#include "packet-run.h"

#include "ns3/abort.h"
#include "ns3/boolean.h"
#include "ns3/fabric-simulator-impl.h"
#include "ns3/partition.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(Engine);
NS_OBJECT_ENSURE_REGISTERED(PacketEngine);

TypeId
Engine::GetTypeId()
{
    static TypeId tid = TypeId("ns3::Engine").SetParent<Object>().SetGroupName("Fabric");
    return tid;
}

TypeId
PacketEngine::GetTypeId()
{
    static TypeId tid = TypeId("ns3::PacketEngine")
                            .SetParent<Engine>()
                            .SetGroupName("Fabric")
                            .AddConstructor<PacketEngine>()
                            .AddAttribute("Threads",
                                          "Threads of the process; the network is cut into at "
                                          "least as many domains, if it can be",
                                          UintegerValue(1),
                                          MakeUintegerAccessor(&PacketEngine::m_threads),
                                          MakeUintegerChecker<uint32_t>(1))
                            .AddAttribute("Domains",
                                          "Domains into which the network is cut; none: as many "
                                          "as threads and the size of its state want",
                                          OptionalUintegerValue(),
                                          MakeOptionalUintegerAccessor(&PacketEngine::m_domains),
                                          MakeOptionalUintegerChecker(1, MAX_ENGINES))
                            .AddAttribute("FetchAlways",
                                          "Memory is asked for ahead of time also where the state "
                                          "fits a core's cache, to compare",
                                          BooleanValue(false),
                                          MakeBooleanAccessor(&PacketEngine::m_fetchesAlways),
                                          MakeBooleanChecker())
                            .AddAttribute("SkipPpm",
                                          "Tolerance of completion times within which steady "
                                          "states are skipped; none skips nothing",
                                          OptionalUintegerValue(),
                                          MakeOptionalUintegerAccessor(&PacketEngine::m_skipPpm),
                                          MakeOptionalUintegerChecker(1, 100'000));
    return tid;
}

void
PacketEngine::Check(const RunOptions& options) const
{
    if (!m_skipPpm)
    {
        return;
    }
    NS_ABORT_MSG_IF(!std::ranges::all_of(options.hosts, &HostModel::IsFree),
                    "steady states are skipped only where hosts cost nothing: leave out "
                    "engine.skip, or transport.host");
    std::vector<ObjectFactory> chosen = options.transports;
    for (const auto& nodes : options.nodeClasses)
    {
        chosen.insert(chosen.end(), nodes.programs.begin(), nodes.programs.end());
    }
    for (const auto& links : options.linkClasses)
    {
        if (links.flowControl.IsTypeIdSet())
        {
            chosen.push_back(links.flowControl);
        }
    }
    for (const auto& factory : chosen)
    {
        CheckMaySkip(*MakePlugin<Plugin>(factory));
    }
}

std::unique_ptr<Run>
PacketEngine::Start(FabricTables tables, const RunOptions& options) const
{
    tables.SortAndCheck();
    const std::string whyOne =
        m_skipPpm ? "steady states are skipped" : ParallelRun::WhyOne(tables, options);
    if (m_domains || (whyOne.empty() && !std::ranges::any_of(tables.nodes, &NodeRow::engine)))
    {
        const std::vector<uint32_t> domains =
            m_domains ? Partition(tables, *m_domains) : ChooseDomains(tables, m_threads);
        for (size_t node = 0; node < domains.size(); node++)
        {
            tables.nodes[node].engine = domains[node];
        }
    }
    auto run = std::make_unique<PacketRun>(tables, options, m_threads, m_skipPpm, whyOne);
    if (m_fetchesAlways)
    {
        run->FetchAlways();
    }
    return run;
}

PacketRun::PacketRun(const FabricTables& tables,
                     const RunOptions& options,
                     uint32_t threads,
                     std::optional<uint64_t> skipPpm,
                     std::string whyOne)
    : m_whyOne(std::move(whyOne)),
      m_simulator(DynamicCast<FabricSimulatorImpl>(Simulator::GetImplementation())),
      m_run(tables, options, threads)
{
    Observe(tables, options);
    if (skipPpm)
    {
        EventEngine& engine = *m_run.Engines()[0];
        const double tolerance = static_cast<double>(*skipPpm) / 1e6;
        m_skip = std::make_unique<SteadySkip>(engine.View(), tolerance, options.trace.samplePs);
        engine.Attach(*m_skip);
    }
    m_run.Begin();
    m_simulator->SetLoop(&m_run);
}

void
PacketRun::FetchAlways()
{
    for (const auto& engine : m_run.Engines())
    {
        engine->FetchAlways();
    }
}

void
PacketRun::Observe(const FabricTables& tables, const RunOptions& options)
{
    for (const auto& engine : m_run.Engines())
    {
        if (options.trace.WantsTelemetry())
        {
            m_telemetry.push_back(
                std::make_unique<Telemetry>(engine->View(), options.trace, tables.sampled));
            engine->Attach(*m_telemetry.back());
        }
        if (!options.captures.empty())
        {
            m_captures.push_back(std::make_unique<PacketCapture>(engine->View(),
                                                                 options.captures,
                                                                 options.trace.snaplenBytes));
            engine->Attach(*m_captures.back());
        }
    }
}

PacketRun::~PacketRun()
{
    m_simulator->SetLoop(nullptr);
}

const RunView&
PacketRun::First() const
{
    return m_run.Parts().First();
}

bool
PacketRun::RunSlice(WorldPs stopPs, double wallSeconds)
{
    return m_simulator->RunSlice(stopPs.Ps(), wallSeconds);
}

OutputTables
PacketRun::Finish()
{
    m_run.Finish();
    OutputTables tables = MakeOutputs(m_run);
    Telemetry::AddTables(tables, m_telemetry);
    if (m_skip)
    {
        m_skip->AddTables(tables);
    }
    for (const auto& capture : m_captures)
    {
        capture->Complete();
    }
    return tables;
}

WorldPs
PacketRun::NowPs() const
{
    return m_run.NowPs();
}

int64_t
PacketRun::NextId() const
{
    return First().Messages().NextId();
}

RunProgress
PacketRun::Progress() const
{
    return {.events = m_run.Events(),
            .flowsDone = m_run.FlowsDone(),
            .flowsTotal = First().Messages().Size(),
            .tasksDone = m_run.TasksDone(),
            .tasksTotal = First().Messages().Graph().NumTasks(),
            .dataPackets = m_run.DataPackets()};
}

void
PacketRun::ChangeRate(const RateChangeRow& row)
{
    NS_ABORT_MSG_IF(m_skip, "a controller needs all of a run; leave out engine.skip");
    m_run.ChangeRate(row);
}

void
PacketRun::ChangeRoute(const RouteRow& row)
{
    m_run.ChangeRoute(row);
}

std::vector<int64_t>
PacketRun::TakeDecided()
{
    return m_run.TakeDecided();
}

void
PacketRun::Append(FabricTables tables)
{
    NS_ABORT_MSG_IF(m_skip, "further tables need all of a run; leave out engine.skip");
    m_run.Append(std::move(tables));
}

OutputTables
PacketRun::Look() const
{
    const FabricParts& parts = m_run.Parts();
    const FabricNetwork& network = First().Network();
    OutputTables tables;
    const auto flow = [&](const std::string& name, auto field) {
        tables["seen_flows"].Add(name, First().Messages().Size(), [&](size_t i) {
            return field(parts.GetMessage(static_cast<uint32_t>(i)));
        });
    };
    const auto port = [&](const std::string& name, auto field) {
        tables["seen_ports"].Add(name, network.NumPorts(), [&](size_t i) {
            return field(static_cast<PortId>(i));
        });
    };
    flow("flow", [](const Message& m) { return m.id; });
    flow("sent_data_packets", [](const Message& m) { return m.sentPackets; });
    flow("retransmitted_packets", [](const Message& m) { return m.retransmittedPackets; });
    flow("bytes", [](const Message& m) { return m.bytes; });
    flow("mtu_bytes", [&](const Message& m) { return First().WireOf(m.transport).mtuBytes; });
    flow("wire_bytes", [&](const Message& m) {
        const WireProfile wire = First().WireOf(m.transport);
        return wire.mtuBytes + wire.headerBytes + First().Options().framingBytes;
    });
    port("node", [&](PortId id) { return NodeIdOf(First(), id); });
    port("peer", [&](PortId id) { return network.PeerOf(id).first; });
    port("parallel", [&](PortId id) { return network.PeerOf(id).second; });
    port("rate_bps", [&](PortId id) {
        return parts.GetPort(id).down ? 0 : parts.OfPort(id).Network().RateBps(id);
    });
    port("sent_bytes", [&](PortId id) {
        const Port& p = parts.GetPort(id);
        return p.sentBytes + First().Options().framingBytes * p.sentFrames;
    });
    return tables;
}

std::vector<int64_t>
PacketRun::DeadlockCycle() const
{
    std::vector<int64_t> ids;
    for (const auto node : m_run.DeadlockCycle())
    {
        ids.push_back(First().Network().nodes[node].id);
    }
    return ids;
}

Transport*
PacketRun::TransportAt(int64_t host, uint32_t transport) const
{
    return First().TransportAt(host, transport);
}

} // namespace fabric
} // namespace ns3
