// SPDX-License-Identifier: GPL-2.0-only

#include "domains.h"

#include "window-barrier.h"

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

constexpr auto NO_DEADLINE = std::chrono::steady_clock::time_point::max();

/// @return an engine for each domain that the table "nodes" names
std::vector<std::unique_ptr<Fabric>>
MakeParts(const FabricTables& tables, const FabricOptions& options)
{
    std::vector<std::unique_ptr<Fabric>> parts;
    int64_t last = 0;
    do
    {
        parts.push_back(
            std::make_unique<Fabric>(tables, options, static_cast<uint32_t>(parts.size())));
        for (const auto& row : tables.nodes)
        {
            last = std::max(last, row.domain);
        }
    } while (parts.size() <= static_cast<size_t>(last));
    return parts;
}

std::vector<const Fabric*>
Pointers(const std::vector<std::unique_ptr<Fabric>>& parts)
{
    std::vector<const Fabric*> pointers(parts.size());
    std::ranges::transform(parts, pointers.begin(), [](auto& part) { return part.get(); });
    return pointers;
}

uint64_t
After(uint64_t timePs)
{
    return timePs == NEVER_PS ? NEVER_PS : timePs + 1;
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
            linkPs = std::min(linkPs, network.counters[port].delayPs);
        }
    }
    return 2 * linkPs; // one link up and one link down
}

} // namespace

Domains::Domains(const FabricTables& tables, const FabricOptions& options)
    : m_parts(MakeParts(tables, options)),
      m_view(Pointers(m_parts)),
      m_mailTo(m_parts.size()),
      m_threads(options.threads),
      m_reports(m_parts.size())
{
    if (IsOne())
    {
        return;
    }
    m_lookaheadPs = LeastAnswerPs(m_parts[0]->Network());
    for (const auto& part : m_parts)
    {
        m_lookaheadPs = std::min(m_lookaheadPs, part->LeastCrossingPs());
    }
    const MessageBook& messages = m_parts[0]->Messages();
    for (uint32_t i = 0; i < messages.Size(); i++)
    {
        m_toDeliver += messages[i].bytes != 0;
    }
    for (PortId port = 0; port < m_view.NumPorts(); port++)
    {
        if (m_view.ControlOf(port))
        {
            m_deadlockCheckPs = 0;
        }
    }
    for (uint32_t i = 0; i < m_parts.size(); i++)
    {
        for (uint32_t other = 0; other < m_parts.size(); other++)
        {
            for (uint32_t parity = 0; other != i && parity < 2; parity++)
            {
                m_mailTo[i][parity].push_back(&m_parts[other]->MailTo(i, parity));
            }
        }
    }
    LookAhead();
    NS_LOG_INFO(m_parts.size() << " domains, windows of " << m_lookaheadPs << " ps");
}

// ---- for the simulator ------------------------------------------------------------------------

uint64_t
Domains::NowPs() const
{
    return IsOne() ? m_parts[0]->NowPs() : m_nowPs;
}

uint64_t
Domains::NextPs() const
{
    if (IsOne())
    {
        return m_parts[0]->NextPs();
    }
    uint64_t nextPs = NEVER_PS;
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
Domains::IsOver() const
{
    return IsOne() ? m_parts[0]->IsOver() : AllDone();
}

void
Domains::LimitTo(uint64_t limitPs)
{
    NS_ABORT_MSG_IF(!IsOne(),
                    "a plug-in schedules an event of stock ns-3, which belongs to no domain: run "
                    "it in one domain (engine.domains)");
    m_parts[0]->LimitTo(limitPs);
}

void
Domains::AdvanceTo(uint64_t nowPs)
{
    m_nowPs = nowPs;
    for (const auto& part : m_parts)
    {
        part->AdvanceTo(nowPs);
    }
}

uint64_t
Domains::Events() const
{
    return m_view.Sum([](const Fabric& part) { return part.Events(); });
}

uint64_t
Domains::FlowsDone() const
{
    return m_view.Sum([](const Fabric& part) { return part.Messages().Done(); });
}

uint64_t
Domains::TasksDone() const
{
    return m_view.Sum([](const Fabric& part) { return part.Messages().TasksDone(); });
}

uint64_t
Domains::DataPackets() const
{
    return m_view.Sum([](const Fabric& part) { return part.DataPackets(); });
}

std::vector<uint32_t>
Domains::DeadlockCycle() const
{
    return FindDeadlock(m_view);
}

void
Domains::Finish()
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

void
Domains::CompleteCaptures()
{
    for (const auto& part : m_parts)
    {
        part->CompleteCaptures();
    }
}

// ---- windows ----------------------------------------------------------------------------------

bool
Domains::AllDone() const
{
    const MessageBook& messages = m_parts[0]->Messages();
    return FlowsDone() == messages.Size() && TasksDone() == messages.Graph().NumTasks();
}

/// @return whether the last message may be acknowledged in a window that begins now
bool
Domains::MayFinish() const
{
    return m_view.Sum([](const Fabric& part) { return part.DeliveredHere(); }) >= m_toDeliver;
}

/// @return end of a window that begins with an event at `nextPs` [ps]
uint64_t
Domains::EndOfWindow(uint64_t nextPs)
{
    uint64_t endPs = MayFinish() ? nextPs + 1 : nextPs + m_lookaheadPs;
    endPs = std::min({endPs, After(m_limitPs), After(m_deadlockCheckPs)});
    const LinkChanges& changes = m_parts[0]->Changes();
    for (; m_nextChange < changes.Size() && changes.TimePs(m_nextChange) <= nextPs; m_nextChange++)
    {
        ExchangeSent(m_nextChange);
    }
    return m_nextChange < changes.Size() ? std::min(endPs, changes.TimePs(m_nextChange)) : endPs;
}

/// Everybody has come to the end of a window: decide on the next one, or none.
void
Domains::Plan()
{
    try
    {
        PlanNext();
    }
    catch (...)
    {
        m_reports[0].error = std::current_exception();
        m_pauses = true;
    }
}

void
Domains::PlanNext()
{
    for (const auto& part : m_parts)
    {
        m_nowPs = std::max(m_nowPs, part->NowPs());
    }
    const uint64_t nextPs = NextPs();
    const bool failed =
        std::ranges::any_of(m_reports, [](auto& report) { return report.error != nullptr; });
    m_pauses = failed || nextPs == NEVER_PS || nextPs > m_limitPs ||
               (m_deadline != NO_DEADLINE && std::chrono::steady_clock::now() >= m_deadline);
    if (!m_pauses && nextPs > m_deadlockCheckPs)
    {
        m_deadlockCheckPs = nextPs / DEADLOCK_CHECK_PS * DEADLOCK_CHECK_PS + DEADLOCK_CHECK_PS;
        m_deadlocked = m_parts[0]->Changes().LastCutPs() < nextPs && !FindDeadlock(m_view).empty();
        m_pauses = m_deadlocked;
    }
    if (m_pauses)
    {
        return;
    }
    m_endPs = EndOfWindow(nextPs);
    m_parity ^= 1;
    m_windows++;
}

void
Domains::RunWindow(uint32_t domain)
{
    Fabric& part = *m_parts[domain];
    Report& report = m_reports[domain];
    try
    {
        part.SetParity(m_parity);
        part.TakeIn(m_mailTo[domain][m_parity ^ 1]);
        part.RunUntil(m_endPs - 1, NO_DEADLINE);
        report.nextPs = part.NextPs();
        for (uint32_t other = 0; other < m_parts.size(); other++)
        {
            report.nextPs = std::min(report.nextPs, part.MailTo(other, m_parity).firstPs);
        }
    }
    catch (...)
    {
        report.error = std::current_exception();
    }
}

void
Domains::RunThreads(uint32_t threads)
{
    const auto domains = static_cast<uint32_t>(m_parts.size());
    WindowBarrier barrier(threads);
    const auto work = [&, this](uint32_t thread) {
        while (!m_pauses)
        {
            for (uint32_t i = thread * domains / threads; i < (thread + 1) * domains / threads; i++)
            {
                RunWindow(i);
            }
            barrier.Meet([this] { Plan(); });
        }
    };
    std::vector<std::jthread> others;
    for (uint32_t thread = 1; thread < threads; thread++)
    {
        others.emplace_back(work, thread);
    }
    work(0);
}

void
Domains::RunUntil(uint64_t limitPs, std::chrono::steady_clock::time_point deadline)
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
    RunThreads(std::clamp<uint32_t>(m_threads, 1, static_cast<uint32_t>(m_parts.size())));
    TakeInAll();
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
Domains::TakeInAll()
{
    for (uint32_t domain = 0; domain < m_parts.size(); domain++)
    {
        m_parts[domain]->TakeIn(m_mailTo[domain][m_parity]);
    }
}

// ---- links that change ------------------------------------------------------------------------

/// A link that crosses is about to change: what was sent until now is known at both ends.
void
Domains::ExchangeSent(uint32_t row)
{
    const PortId end = m_parts[0]->Changes().EndOf(row);
    for (const PortId port : {end, m_view.GetPort(end).peer})
    {
        if (m_view.GetPort(port).crosses)
        {
            Fabric& other = *m_parts[m_view.DomainOf(m_view.GetPort(port).peer)];
            other.LearnSent(port, m_view.GetPort(port).sentFrames);
        }
    }
}

} // namespace fabric
} // namespace ns3
