// SPDX-License-Identifier: GPL-2.0-only

#include "parallel-run.h"

#include "window-crew.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>
#include <thread>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("FabricDomains");

namespace fabric
{

namespace
{

constexpr const char* ASIDE = ": run it in one domain";
constexpr const char* DECIDES =
    "further messages may come, and all domains would have to learn of them";
constexpr auto NO_DEADLINE = std::chrono::steady_clock::time_point::max();

/// @return what one engine of several cannot know of a plug-in; "" if it can know all
std::string
WhyOne(const Object& plugin)
{
    const std::string name = plugin.GetInstanceTypeId().GetName();
    const auto* program = dynamic_cast<const SwitchProgram*>(&plugin);
    if (program && program->GetTraits().knowsAllSwitches)
    {
        return name + " knows what all switches do";
    }
    const auto* transport = dynamic_cast<const Transport*>(&plugin);
    if (transport && transport->GetTraits().usesStockEvents)
    {
        return name + " schedules events of stock ns-3, which belong to no domain";
    }
    return transport && transport->GetTraits().isOpen
               ? name + " sends more than the messages of the tables"
               : "";
}

/// @return one more than the largest domain of a node
uint32_t
NumDomains(const FabricTables& tables)
{
    int64_t last = 0;
    for (const auto& row : tables.nodes)
    {
        last = std::max(last, row.engine);
    }
    return static_cast<uint32_t>(std::min(last, MAX_ENGINES - 1) + 1);
}

std::vector<std::unique_ptr<DomainBoundary>>
MakeBoundaries(uint32_t domains)
{
    std::vector<std::unique_ptr<DomainBoundary>> boundaries;
    for (uint32_t i = 0; i < domains && domains > 1; i++)
    {
        boundaries.push_back(std::make_unique<DomainBoundary>());
    }
    return boundaries;
}

/// @return an engine for each boundary, or one without
std::vector<std::unique_ptr<EventEngine>>
MakeParts(const FabricTables& tables,
          const FabricOptions& options,
          const std::vector<std::unique_ptr<DomainBoundary>>& boundaries)
{
    std::vector<std::unique_ptr<EventEngine>> parts;
    if (boundaries.empty())
    {
        parts.push_back(std::make_unique<EventEngine>(tables, options));
    }
    for (const auto& boundary : boundaries)
    {
        const auto engine = static_cast<uint32_t>(parts.size());
        const EventEngine* first = parts.empty() ? nullptr : parts.front().get();
        parts.push_back(
            std::make_unique<EventEngine>(tables, options, engine, boundary.get(), first));
    }
    return parts;
}

std::vector<const RunView*>
Views(const std::vector<std::unique_ptr<EventEngine>>& parts)
{
    std::vector<const RunView*> views(parts.size());
    std::ranges::transform(parts, views.begin(), [](auto& part) { return &part->View(); });
    return views;
}

/// @return least time in which an acknowledgement reaches the source of a message [ps]
uint64_t
LeastAnswerPs(const FabricNetwork& network)
{
    uint64_t linkPs = NEVER_PS / 2;
    for (const auto& host : network.hosts)
    {
        for (PortId port = host.firstPort; port < host.firstPort + host.ports; port++)
        {
            linkPs = std::min(linkPs, network.ports[port].delayPs);
        }
    }
    return 2 * linkPs; // one link up and one link down
}

} // namespace

ParallelRun::ParallelRun(const FabricTables& tables, const FabricOptions& options, uint32_t threads)
    : m_boundaries(MakeBoundaries(NumDomains(tables))),
      m_parts(MakeParts(tables, options, m_boundaries)),
      m_view(Views(m_parts)),
      m_outboxesTo(m_parts.size()),
      m_threads(std::clamp<uint32_t>(threads, 1, static_cast<uint32_t>(m_parts.size()))),
      m_reports(m_parts.size())
{
    if (IsOne())
    {
        return;
    }
    for (const RunView* part : m_view.All())
    {
        for (const auto& plugin : part->Plugins())
        {
            const std::string why = fabric::WhyOne(*plugin);
            NS_ABORT_MSG_IF(!why.empty(), why << ASIDE);
        }
    }
    NS_ABORT_MSG_IF(m_view.First().Messages().MayGrow(), DECIDES << ASIDE);
    m_lookaheadPs = LeastAnswerPs(m_view.First().Network());
    for (const auto& boundary : m_boundaries)
    {
        m_lookaheadPs = std::min(m_lookaheadPs, boundary->LeastCrossingPs());
    }
    NS_ABORT_MSG_IF(m_lookaheadPs == 0,
                    "dependencies: a flow starts in another domain at the moment in which the one "
                    "before it ends; give it a delay_ps, or both hosts one domain");
    const MessageTable& messages = m_view.First().Messages();
    for (uint32_t i = 0; i < messages.Size(); i++)
    {
        m_toDeliver += messages[i].bytes != 0;
    }
    m_toDeliver = messages.AnyEndsAtReceiver() ? 0 : m_toDeliver;
    for (PortId port = 0; port < m_view.NumPorts(); port++)
    {
        if (m_view.ControlOf(port))
        {
            m_deadlockCheckPs = WorldPs();
        }
    }
    for (uint32_t i = 0; i < m_parts.size(); i++)
    {
        for (uint32_t other = 0; other < m_parts.size(); other++)
        {
            for (uint32_t parity = 0; other != i && parity < 2; parity++)
            {
                m_outboxesTo[i][parity].push_back(&m_boundaries[other]->OutboxTo(i, parity));
            }
        }
    }
    NS_LOG_INFO(m_parts.size() << " domains, windows of " << m_lookaheadPs << " ps");
}

std::string
ParallelRun::WhyOne(const FabricTables& tables, const FabricOptions& options)
{
    if (tables.MayGrow())
    {
        return DECIDES;
    }
    std::vector<ObjectFactory> chosen = options.transports;
    for (const NodeClassOptions& node : options.nodeClasses)
    {
        chosen.insert(chosen.end(), node.programs.begin(), node.programs.end());
    }
    for (const ObjectFactory& factory : chosen)
    {
        const std::string why = fabric::WhyOne(*factory.Create<Object>());
        if (!why.empty())
        {
            return why;
        }
    }
    return "";
}

void
ParallelRun::Begin()
{
    for (const auto& part : m_parts)
    {
        part->Begin();
    }
    LookAhead();
}

// ---- for the simulator ------------------------------------------------------------------------

WorldPs
ParallelRun::NowPs() const
{
    return IsOne() ? m_parts[0]->NowPs() : m_nowPs;
}

WorldPs
ParallelRun::NextPs() const
{
    if (IsOne())
    {
        return m_parts[0]->NextPs();
    }
    WorldPs nextPs = WorldPs::Never();
    if (!AllDone() && !m_deadlocked)
    {
        for (const auto& report : m_reports)
        {
            nextPs = std::min(nextPs, report.nextPs);
        }
    }
    return nextPs;
}

bool
ParallelRun::IsOver() const
{
    return IsOne() ? m_parts[0]->IsOver() : AllDone();
}

void
ParallelRun::LimitTo(WorldPs limitPs)
{
    NS_ABORT_MSG_IF(!IsOne(),
                    "a plug-in schedules an event of stock ns-3, which belongs to no domain: its "
                    "Traits say usesStockEvents, and it is run in one domain");
    m_parts[0]->LimitTo(limitPs);
}

void
ParallelRun::AdvanceTo(WorldPs nowPs)
{
    m_nowPs = nowPs;
    for (const auto& part : m_parts)
    {
        part->AdvanceTo(nowPs);
    }
}

uint64_t
ParallelRun::Events() const
{
    uint64_t events = 0;
    for (const auto& part : m_parts)
    {
        events += part->Events();
    }
    return events;
}

uint64_t
ParallelRun::FlowsDone() const
{
    return m_view.Sum([](const RunView& part) { return part.Messages().Done(); });
}

uint64_t
ParallelRun::TasksDone() const
{
    return m_view.Sum([](const RunView& part) { return part.Messages().TasksDone(); });
}

uint64_t
ParallelRun::DataPackets() const
{
    return m_view.Sum([](const RunView& part) { return part.DataPackets(); });
}

std::vector<uint32_t>
ParallelRun::DeadlockCycle() const
{
    return FindDeadlock(m_view);
}

void
ParallelRun::Finish()
{
    if (!IsOne())
    {
        AdvanceTo(m_nowPs); // some have been idle since
    }
    CheckIdentities(m_view);
    for (const auto& part : m_parts)
    {
        part->Finish();
    }
}

// ---- for a controller -------------------------------------------------------------------------

void
ParallelRun::ChangeRate(const RateChangeRow& row)
{
    for (const auto& part : m_parts)
    {
        part->ChangeRate(row);
    }
    LookAhead();
}

void
ParallelRun::ChangeRoute(const RouteRow& row)
{
    for (const auto& part : m_parts)
    {
        part->ChangeRoute(row);
    }
    LookAhead();
}

std::vector<int64_t>
ParallelRun::TakeDecided()
{
    return m_parts[0]->TakeDecided();
}

void
ParallelRun::Append(FabricTables tables)
{
    m_parts[0]->Append(tables);
}

/// Learn when something happens next in each domain; nothing is on its way between them.
void
ParallelRun::LookAhead()
{
    for (uint32_t i = 0; i < m_parts.size(); i++)
    {
        m_reports[i].nextPs = m_parts[i]->NextPs();
    }
}

// ---- windows ----------------------------------------------------------------------------------

void
ParallelRun::RunWindow(uint32_t domain)
{
    EventEngine& part = *m_parts[domain];
    DomainBoundary& boundary = *m_boundaries[domain];
    Report& report = m_reports[domain];
    try
    {
        if (m_phase != Phase::REST)
        {
            boundary.SetParity(m_parity);
            boundary.Import(m_outboxesTo[domain][m_parity ^ 1]);
        }
        part.SetOpenEnded(m_phase != Phase::DONE);
        part.RunUntil(m_endPs - 1, NO_DEADLINE);
        part.SetOpenEnded(true);
        report.nextPs = part.NextPs();
        for (uint32_t other = 0; other < m_parts.size(); other++)
        {
            report.nextPs = std::min(report.nextPs, boundary.OutboxTo(other, m_parity).firstPs);
        }
    }
    catch (...)
    {
        report.error = std::current_exception();
    }
}

void
ParallelRun::RunThreads(uint32_t threads)
{
    if (m_pauses)
    {
        return;
    }
    WindowCrew crew(threads, static_cast<uint32_t>(m_parts.size()), m_threads.Active());
    const auto takePart = [&, this](uint32_t thread) {
        crew.TakePart(
            thread,
            [this](uint32_t domain) { RunWindow(domain); },
            [this] {
                m_threads.OnWindow(Events());
                Plan();
                return m_pauses ? 0 : m_threads.Active();
            });
    };
    std::vector<std::jthread> others;
    for (uint32_t thread = 1; thread < threads; thread++)
    {
        others.emplace_back(takePart, thread);
    }
    takePart(0);
}

void
ParallelRun::RunUntil(WorldPs limitPs, std::chrono::steady_clock::time_point deadline)
{
    if (IsOne())
    {
        m_parts[0]->RunUntil(limitPs, deadline);
        return;
    }
    m_limitPs = limitPs;
    m_deadline = NO_DEADLINE; // at least one window
    Plan();
    m_deadline = deadline;
    RunThreads(m_threads.Most());
    ImportAll();
    for (auto& report : m_reports)
    {
        if (report.error)
        {
            std::rethrow_exception(report.error);
        }
    }
}

/// What was told in the last window: afterwards every frame is in a pool.
void
ParallelRun::ImportAll()
{
    for (uint32_t domain = 0; domain < m_boundaries.size(); domain++)
    {
        m_boundaries[domain]->Import(m_outboxesTo[domain][m_parity]);
    }
}

} // namespace fabric
} // namespace ns3
