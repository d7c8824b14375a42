// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SIMULATOR_IMPL_H
#define FABRIC_SIMULATOR_IMPL_H

#include "ns3/event-impl.h"
#include "ns3/scheduler.h"
#include "ns3/simulator-impl.h"

#include <list>

namespace ns3
{
namespace fabric
{
class PacketLoop;
} // namespace fabric

/**
 * @ingroup fabric
 * @brief Simulator that runs the packet engine and stock ns-3 events on one clock.
 *
 * Stock events keep ns-3's own scheduler and its order (time, uid), so stock models run with an
 * unchanged trace. Events of the engine live in the engine's queue; at one instant they come
 * before stock events.
 */
class FabricSimulatorImpl final : public SimulatorImpl
{
  public:
    static TypeId GetTypeId();
    FabricSimulatorImpl();
    ~FabricSimulatorImpl() override;

    void SetLoop(fabric::PacketLoop* loop); ///< Not owned; null detaches
    /**
     * Run for about a given time of the wall clock.
     * @param stopPs last instant to execute [ps]
     * @param wallSeconds time after which to return [s]
     * @return whether nothing is left to do until `stopPs`, or the engine's run is over
     */
    bool RunSlice(uint64_t stopPs, double wallSeconds);

    void Destroy() override;
    bool IsFinished() const override;
    void Stop() override;
    EventId Stop(const Time& delay) override;
    EventId Schedule(const Time& delay, EventImpl* event) override;
    void ScheduleWithContext(uint32_t context, const Time& delay, EventImpl* event) override;
    EventId ScheduleNow(EventImpl* event) override;
    EventId ScheduleDestroy(EventImpl* event) override;
    void Remove(const EventId& id) override;
    void Cancel(const EventId& id) override;
    bool IsExpired(const EventId& id) const override;
    void Run() override;
    Time Now() const override;
    Time GetDelayLeft(const EventId& id) const override;
    Time GetMaximumSimulationTime() const override;
    void SetScheduler(ObjectFactory schedulerFactory) override;
    uint32_t GetSystemId() const override;
    uint32_t GetContext() const override;
    uint64_t GetEventCount() const override;

  private:
    void DoDispose() override;
    Scheduler::Event Insert(uint32_t context, const Time& delay, EventImpl* event);
    uint64_t NextStockTs() const; ///< Time of the next stock event [ticks of ns-3]
    void RunStockEvent();

    Ptr<Scheduler> m_events;
    std::list<EventId> m_destroyEvents;
    fabric::PacketLoop* m_loop{nullptr};
    bool m_inLoop{false}; ///< The engine is executing: its clock is the current one
    bool m_stop{false};
    uint32_t m_uid;
    uint32_t m_currentUid{0};
    uint64_t m_currentTs{0};
    uint32_t m_currentContext;
    uint64_t m_eventCount{0};
};

} // namespace ns3

#endif // FABRIC_SIMULATOR_IMPL_H
