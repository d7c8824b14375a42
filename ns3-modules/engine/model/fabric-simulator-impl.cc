// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-simulator-impl.h"

#include "packet-loop.h"

#include "ns3/abort.h"
#include "ns3/assert.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <chrono>
#include <limits>

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(FabricSimulatorImpl);

namespace
{
constexpr uint64_t NEVER = std::numeric_limits<uint64_t>::max();
constexpr auto NO_DEADLINE = std::chrono::steady_clock::time_point::max();
} // namespace

TypeId
FabricSimulatorImpl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::FabricSimulatorImpl")
                            .SetParent<SimulatorImpl>()
                            .SetGroupName("Fabric")
                            .AddConstructor<FabricSimulatorImpl>();
    return tid;
}

FabricSimulatorImpl::FabricSimulatorImpl()
    : m_uid(EventId::UID::VALID),
      m_currentContext(Simulator::NO_CONTEXT)
{
}

FabricSimulatorImpl::~FabricSimulatorImpl() = default;

void
FabricSimulatorImpl::DoDispose()
{
    while (m_events && !m_events->IsEmpty())
    {
        m_events->RemoveNext().impl->Unref();
    }
    m_events = nullptr;
    SimulatorImpl::DoDispose();
}

void
FabricSimulatorImpl::Destroy()
{
    while (!m_destroyEvents.empty())
    {
        Ptr<EventImpl> event = m_destroyEvents.front().PeekEventImpl();
        m_destroyEvents.pop_front();
        if (!event->IsCancelled())
        {
            event->Invoke();
        }
    }
}

void
FabricSimulatorImpl::SetLoop(fabric::PacketLoop* loop)
{
    NS_ABORT_MSG_IF(loop && Time::GetResolution() != Time::PS,
                    "The packet engine counts picoseconds: call Time::SetResolution(Time::PS) "
                    "before the first event");
    m_loop = loop;
}

void
FabricSimulatorImpl::SetScheduler(ObjectFactory schedulerFactory)
{
    auto scheduler = schedulerFactory.Create<Scheduler>();
    while (m_events && !m_events->IsEmpty())
    {
        scheduler->Insert(m_events->RemoveNext());
    }
    m_events = scheduler;
}

uint32_t
FabricSimulatorImpl::GetSystemId() const
{
    return 0;
}

uint64_t
FabricSimulatorImpl::NextStockTs() const
{
    return m_events->IsEmpty() ? NEVER : m_events->PeekNext().key.m_ts;
}

namespace
{

/// True as long as it lives, also if what happens meanwhile throws.
class InLoop
{
  public:
    explicit InLoop(bool& flag)
        : m_flag(flag)
    {
        m_flag = true;
    }

    ~InLoop()
    {
        m_flag = false;
    }

  private:
    bool& m_flag;
};

} // namespace

void
FabricSimulatorImpl::RunStockEvent()
{
    const Scheduler::Event next = m_events->RemoveNext();
    PreEventHook(EventId(next.impl, next.key.m_ts, next.key.m_context, next.key.m_uid));
    NS_ASSERT_MSG(next.key.m_ts >= m_currentTs, "an event lies in the past");
    m_eventCount++;
    m_currentTs = next.key.m_ts;
    m_currentContext = next.key.m_context;
    m_currentUid = next.key.m_uid;
    if (m_loop)
    {
        m_loop->AdvanceTo(fabric::WorldPs(m_currentTs));
    }
    next.impl->Invoke();
    next.impl->Unref();
}

void
FabricSimulatorImpl::Run()
{
    m_stop = false;
    RunSlice(NEVER - 1, std::numeric_limits<double>::infinity());
}

bool
FabricSimulatorImpl::RunSlice(uint64_t stopPs, double wallSeconds)
{
    using Clock = std::chrono::steady_clock;
    const auto deadline = wallSeconds > 1e6
                              ? NO_DEADLINE
                              : Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(wallSeconds));
    while (!m_stop && !(m_loop && m_loop->IsOver()))
    {
        const uint64_t engineTs = m_loop ? m_loop->NextPs().Ps() : NEVER;
        const uint64_t stockTs = NextStockTs();
        if (std::min(engineTs, stockTs) > stopPs)
        {
            return true;
        }
        if (engineTs <= stockTs)
        {
            m_currentContext = Simulator::NO_CONTEXT;
            {
                const InLoop inLoop(m_inLoop);
                m_loop->RunUntil(fabric::WorldPs(std::min(stockTs, stopPs)), deadline);
            }
            if (m_loop->NowPs().Ps() > m_currentTs)
            {
                m_currentTs = m_loop->NowPs().Ps();
                m_currentUid = 0; // no stock event of this instant has been executed
            }
        }
        else
        {
            RunStockEvent();
        }
        if (deadline != NO_DEADLINE && Clock::now() >= deadline)
        {
            return false;
        }
    }
    return true;
}

Scheduler::Event
FabricSimulatorImpl::Insert(uint32_t context, const Time& delay, EventImpl* event)
{
    NS_ASSERT_MSG(delay.IsPositive(), "an event lies in the past");
    Scheduler::Event entry;
    entry.impl = event;
    entry.key.m_ts = static_cast<uint64_t>((Now() + delay).GetTimeStep());
    entry.key.m_context = context;
    entry.key.m_uid = m_uid++;
    m_events->Insert(entry);
    if (m_inLoop)
    {
        m_loop->LimitTo(fabric::WorldPs(entry.key.m_ts));
    }
    return entry;
}

EventId
FabricSimulatorImpl::Schedule(const Time& delay, EventImpl* event)
{
    const auto entry = Insert(GetContext(), delay, event);
    return EventId(event, entry.key.m_ts, entry.key.m_context, entry.key.m_uid);
}

void
FabricSimulatorImpl::ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event)
{
    Insert(context, delay, event);
}

EventId
FabricSimulatorImpl::ScheduleNow(EventImpl* event)
{
    return Schedule(Time(0), event);
}

EventId
FabricSimulatorImpl::ScheduleDestroy(EventImpl* event)
{
    EventId id(Ptr<EventImpl>(event, false), m_currentTs, 0xffffffff, EventId::UID::DESTROY);
    m_destroyEvents.push_back(id);
    m_uid++;
    return id;
}

void
FabricSimulatorImpl::Stop()
{
    m_stop = true;
}

EventId
FabricSimulatorImpl::Stop(const Time& delay)
{
    return Simulator::Schedule(delay, &Simulator::Stop);
}

Time
FabricSimulatorImpl::Now() const
{
    return TimeStep(m_inLoop ? m_loop->NowPs().Ps() : m_currentTs);
}

Time
FabricSimulatorImpl::GetDelayLeft(const EventId& id) const
{
    return IsExpired(id) ? TimeStep(0) : TimeStep(id.GetTs()) - Now();
}

void
FabricSimulatorImpl::Remove(const EventId& id)
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        m_destroyEvents.remove(id);
        return;
    }
    if (IsExpired(id))
    {
        return;
    }
    Scheduler::Event event;
    event.impl = id.PeekEventImpl();
    event.key.m_ts = id.GetTs();
    event.key.m_context = id.GetContext();
    event.key.m_uid = id.GetUid();
    m_events->Remove(event);
    event.impl->Cancel();
    event.impl->Unref();
}

void
FabricSimulatorImpl::Cancel(const EventId& id)
{
    if (!IsExpired(id))
    {
        id.PeekEventImpl()->Cancel();
    }
}

bool
FabricSimulatorImpl::IsExpired(const EventId& id) const
{
    if (id.GetUid() == EventId::UID::DESTROY)
    {
        for (const auto& pending : m_destroyEvents)
        {
            if (pending == id)
            {
                return id.PeekEventImpl() == nullptr || id.PeekEventImpl()->IsCancelled();
            }
        }
        return true;
    }
    const auto now = static_cast<uint64_t>(Now().GetTimeStep());
    const bool isOfThisInstant = id.GetTs() == now && now == m_currentTs;
    return id.PeekEventImpl() == nullptr || id.GetTs() < now ||
           (isOfThisInstant && id.GetUid() <= m_currentUid) || id.PeekEventImpl()->IsCancelled();
}

bool
FabricSimulatorImpl::IsFinished() const
{
    return m_stop || (m_events->IsEmpty() && (!m_loop || m_loop->NextPs().Ps() == NEVER));
}

Time
FabricSimulatorImpl::GetMaximumSimulationTime() const
{
    return TimeStep(0x7fffffffffffffffLL);
}

uint32_t
FabricSimulatorImpl::GetContext() const
{
    return m_currentContext;
}

uint64_t
FabricSimulatorImpl::GetEventCount() const
{
    return m_eventCount + (m_loop ? m_loop->Events() : 0);
}

} // namespace ns3
