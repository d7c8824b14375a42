// SPDX-License-Identifier: GPL-2.0-only

#ifndef EVENT_ENGINE_H
#define EVENT_ENGINE_H

#include "deadlock.h"
#include "held-frames.h"
#include "links.h"
#include "prefetch.h"
#include "run-view.h"

#include "ns3/instant.h"
#include "ns3/packet-loop.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief The packet engine: the loop over events, and the parts that they change.
 *
 * Two events per hop (end of transmission, arrival), store and forward or cut through. All events
 * of one instant are executed in the order (type, index, payload), whatever order they were
 * scheduled in. Plug-ins see it through SwitchContext, LinkContext, ProgramContext and HostContext
 * alone.
 *
 * Its parts own their state: Wires, Nic (hosts), Switching, HeldFrames (programs) and
 * Links; FabricBuilder fills them, RunView is how observers and results see them.
 *
 * A run may have several engines. Every one of them holds the whole network, but executes the
 * events of its own nodes and hosts alone (NodeState::engine); what comes from the others crosses a
 * Boundary.
 *
 * Source: the structure is our own; Ethernet framing IEEE 802.3, priorities IEEE 802.1Q.
 * Not modelled: cable lengths beyond a delay.
 */
class EventEngine final : public PacketLoop
{
  public:
    /**
     * @param tables of the run, sorted
     * @param options of the run
     * @param engine index of this one: whose nodes' events are executed
     * @param boundary takes what others need; null if it is alone
     * @param first engine of the run, whose routes all have; null if this is it
     */
    EventEngine(const FabricTables& tables,
                const FabricOptions& options,
                uint32_t engine = 0,
                Boundary* boundary = nullptr,
                const EventEngine* first = nullptr);
    EventEngine(const EventEngine&) = delete;
    EventEngine& operator=(const EventEngine&) = delete;

    /// Let an observer, which lives as long as this, see the run from now on; before Begin.
    void Attach(Observer& observer);
    void Begin(); ///< Schedule the messages and tasks; without it links change, and no more

    // ---- for the simulator
    WorldPs NowPs() const override
    {
        return m_view.NowPs();
    }

    WorldPs NextPs() const override; ///< Never also when all is done
    void RunUntil(WorldPs limitPs, std::chrono::steady_clock::time_point deadline) override;
    bool IsOver() const override;
    void LimitTo(WorldPs limitPs) override;
    void AdvanceTo(WorldPs nowPs) override;

    uint64_t Events() const override
    {
        return m_events;
    }

    // ---- for a controller, between two instants
    void ChangeRate(const RateChangeRow& row); ///< Of a flow, from a time on that is not over
    void ChangeRoute(const RouteRow& row);     ///< A flow leaves a switch by another link, likewise
    /// Take further flows, tasks and dependencies, which are sorted and checked.
    void Append(FabricTables& tables);

    /// @return ids of tasks that decide and have ended; the run pauses until this is asked
    std::vector<int64_t> TakeDecided()
    {
        return m_state.messages.TakeDecided();
    }

    void FetchAlways() ///< Ask for memory ahead of time also where the state fits a core's cache
    {
        m_fetching = Fetching::ACROSS;
    }

    void SetOpenEnded(bool isOpenEnded) ///< Also when all messages and tasks that are done here are
    {
        m_isOpenEnded = isOpenEnded;
    }

    RunView& View()
    {
        return m_view;
    }

    const RunView& View() const
    {
        return m_view;
    }

    void Finish(); ///< Nothing more will be executed: close what is recorded

  private:
    template <Fetching FETCHING>
    bool RunEvents(std::chrono::steady_clock::time_point deadline);
    template <Fetching FETCHING>
    void ExecuteInstant();
    template <Fetching FETCHING>
    void ExecuteAlone(const Event& event);
    void ExecuteOthers(size_t first, size_t end);
    void ExecuteTimer(uint32_t index, uint32_t token);
    void EndTransmission(PortId portId);
    void Arrive(PortId portId, FrameId frameId, PortId egress);
    void ArriveAtSwitch(PortId portId, const Port& port, FrameId frameId, PortId egress);
    double FullWireBytes() const;

    FabricOptions m_options;
    EngineState m_state;
    Port* m_ports; ///< Of the network
    PluginClasses m_classes;
    Observers m_observers;
    Wires m_wires;
    Nic m_nic;
    Switching m_switching;
    HeldFrames m_held;
    Links m_links;
    RunView m_view;
    DeadlockWatch m_deadlock;
    Prefetch m_prefetch;
    Fetching m_fetching{Fetching::NONE};
    bool m_isOpenEnded{false}; ///< Also when all messages and tasks are done
    uint64_t m_events{0};
    Instant m_instant;            ///< Being executed
    std::vector<NodeRow> m_nodes; ///< Of the tables, if there may be more rows
    NodeById m_nodeById;          ///< Likewise
};

} // namespace fabric
} // namespace ns3

#endif // EVENT_ENGINE_H
