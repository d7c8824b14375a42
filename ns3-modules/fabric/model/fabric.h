// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_H
#define FABRIC_H

#include "fabric-classes.h"
#include "fabric-options.h"
#include "wire-losses.h"

#include "ns3/domain-mail.h"
#include "ns3/engine-state.h"
#include "ns3/instant.h"
#include "ns3/link-changes.h"
#include "ns3/link-flow-control.h"
#include "ns3/observer.h"
#include "ns3/packet-loop.h"
#include "ns3/program-door.h"
#include "ns3/switch-program.h"
#include "ns3/transport.h"

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <unordered_map>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief The packet engine: flat arrays of ports, frames and events, and the loop over them.
 *
 * Two events per hop (end of transmission, arrival), store and forward or cut through. All events
 * of one instant are executed in the order (type, index, payload), whatever order they were
 * scheduled in. Plug-ins see it through SwitchView, LinkDoor, ProgramDoor and HostPort alone.
 *
 * In a run of several domains (see Domains) there is one engine for each. Every one of them holds
 * the whole network, but executes the events of its own nodes and hosts alone; what it holds of
 * others is what the tables and the changes of links say of them.
 *
 * Source: the structure is our own; Ethernet framing IEEE 802.3, priorities IEEE 802.1Q.
 * Not modelled: host processing time, cable lengths beyond a delay.
 */
class Fabric final : public PacketLoop,
                     public ObservedRun,
                     private LinkActions,
                     private ProgramActions,
                     private HostActions
{
  public:
    /// @param domain whose events are executed: nodes.domain; 0 is all of them in most runs
    Fabric(FabricTables tables, const FabricOptions& options, uint32_t domain = 0);
    ~Fabric() override;
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    /// Let an observer, which lives as long as this, see the run from now on; before Begin.
    void Attach(Observer& observer);
    void Begin(); ///< Schedule the messages and tasks; without it links change, and no more

    // ---- for the simulator
    uint64_t NowPs() const override ///< Of the world: the clock of the engine and what was skipped
    {
        return m_state.nowPs + m_state.messages.SkippedPs();
    }

    uint64_t NextPs() const override; ///< NEVER_PS also when all is done
    void RunUntil(uint64_t limitPs, std::chrono::steady_clock::time_point deadline) override;
    bool IsOver() const override;
    void LimitTo(uint64_t limitPs) override;
    void AdvanceTo(uint64_t nowPs) override;

    uint64_t Events() const override
    {
        return m_events;
    }

    // ---- for a controller, between two instants
    void ChangeRate(const RateChangeRow& row); ///< Of a flow, from a time on that is not over
    void ChangeRoute(const RouteRow& row); ///< A flow leaves a switch by another link, likewise

    // ---- for a run of several domains
    uint64_t LeastCrossingPs() const; ///< Until what happens here shows elsewhere, at least [ps]
    /// Take what other domains have told this one; afterwards their mail is empty.
    void TakeIn(const std::vector<DomainMail*>& mails);
    /// The domain of a sender tells how many frames an egress has sent until now.
    void LearnSent(PortId foreign, uint64_t sentFrames);

    DomainMail& MailTo(uint32_t other, uint32_t parity) ///< In windows of odd or even number
    {
        return m_mail[other][parity];
    }

    void SetParity(uint32_t parity) ///< Tell others in such windows from now on
    {
        m_parity = parity;
    }

    void GoOn(bool goesOn) ///< Also when all messages and tasks that are done here are
    {
        m_goesOn = goesOn;
    }

    uint64_t DeliveredHere() const ///< Messages that have come to destinations of this domain
    {
        return m_delivered;
    }

    bool IsOwnNode(uint32_t node) const
    {
        return m_state.IsOwnNode(node);
    }

    bool IsOwn(PortId port) const
    {
        return m_state.IsOwn(port);
    }

    const LinkChanges& Changes() const
    {
        return m_changes;
    }

    // ---- what it holds, for results, telemetry and checks
    const FabricOptions& Options() const
    {
        return m_options;
    }

    const FabricNetwork& Network() const
    {
        return m_state.network;
    }

    const MessageBook& Messages() const
    {
        return m_state.messages;
    }

    const FramePool& Frames() const
    {
        return m_state.frames;
    }

    uint64_t DataPackets() const
    {
        return m_dataPackets;
    }

    uint64_t FramesHeldByHosts() const; ///< Given to a transport, neither freed nor sent

    const RouteBook& Routes() const
    {
        return m_state.routes;
    }

    const LinkFlowControl* ControlOf(PortId port) const ///< Of its link, null if there is none
    {
        return m_linkClasses[m_state.network.ports[port].linkClass].control;
    }

    // ---- for observers
    const EngineState& State() const override
    {
        return m_state;
    }

    const std::vector<Ptr<Object>>& Plugins() const override
    {
        return m_plugins;
    }

    WireProfile WireOf(uint32_t transport) const override
    {
        return m_wires[transport];
    }

    Transport& SourceOf(uint32_t message) const override
    {
        return *m_endpoints[m_state.messages[message].srcEndpoint].transport;
    }

    uint64_t LimitPs() const override
    {
        return m_limitPs;
    }

    bool LosesFrames() const override
    {
        return m_losses.Any();
    }

    Datagram DescribeFrame(const Frame& frame) const override;
    WireBytes MacControlOf(PortId from, const Frame& frame) const override;
    void Skip(const SkippedTime& skipped) override;

    /// @return the end of a transport at a host, by node id; null if it has none there
    Transport* TransportAt(int64_t host, uint32_t transport) const;

    uint64_t RuleChanges() const; ///< Of all switch programs
    /// @return egress ports of the links that a single-path message crosses; empty if sprayed
    std::vector<PortId> PathOf(uint32_t message) const;
    uint64_t MemoryBytes() const; ///< Of the engine's arrays [byte]

    void Finish(); ///< Nothing more will be executed: close what is recorded

  private:
    // fabric-build.cc
    void BuildClasses();
    void AttachPlugins();
    void CheckTelemetry() const;
    void CheckMarks() const;
    void CheckDomain() const;
    void BuildNodeClass(const NodeClassOptions& options);
    void BuildEndpoints();
    void BuildReach();
    void BuildLanes();
    uint64_t ArrivalDelayPs(PortId port) const;
    uint32_t DomainOf(PortId port) const;
    PortId FirstToHearOfOthers(const NodeState& node) const;
    bool HearsInOrder() const;
    bool BuildLinkLanes(const std::map<uint64_t, uint32_t>& listOf, bool isOrdered);
    void BuildWires();
    void BuildFrameLanes();
    void BuildOutbox(PortId portId, uint32_t list);
    double FullWireBytes() const;
    void DecideCutThrough(uint32_t node);
    void BuildLinkClass(const LinkClassOptions& options, uint8_t linkClass);
    void CheckClasses() const;
    void BuildEndpointsOf(uint32_t host, const std::vector<bool>& uses);
    void BuildMessages();
    uint32_t AddTimers(SwitchProgram* program, LinkFlowControl* control, uint32_t n);
    uint32_t EndpointOf(uint32_t host, uint32_t transport) const;
    static constexpr uint32_t NO_ENDPOINT = 0xffffffff;

    // fabric.cc, fabric-egress.h, fabric-ingress.h, fabric-fetch.h: the hot path
    void ExecuteAlone(const Event& event);
    template <bool FETCHES>
    void RunEvents(std::chrono::steady_clock::time_point deadline);
    template <bool FETCHES>
    void ExecuteInstant();
    void ExecuteOthers(size_t first, size_t end);
    void ExecuteTimer(uint32_t index, uint32_t token);
    void FetchSoon(const Event& event) const;
    void FetchAccount(PortId ingress) const;
    void FetchForTransmissionDone(uint64_t key);
    void FetchForArrival(size_t i);
    void FetchTransport(uint64_t key) const;
    static void FetchObject(const Transport* transport);
    void Append(PortId portId, Port& port, uint32_t queueClass, FrameId frameId);
    void EnqueueAtSwitch(const NodeClass& owner, PortId portId, FrameId frameId);
    void LeaveBuffer(const Port& port);
    void TransmissionDone(PortId portId);
    void Arrive(PortId portId, FrameId frameId, PortId egress);
    void ArriveAtSwitch(PortId portId, const Port& port, FrameId frameId, PortId egress);
    void ArriveAtHost(PortId portId, const Port& port, FrameId frameId);
    bool Forward(const NodeClass& owner, PortId ingressId, PortId egressId, FrameId frameId);
    PortId Route(const NodeClass& owner, uint32_t node, const Frame& frame) const;
    LinkFlowControl* ControlAt(PortId ingress, uint8_t priority) const;
    void SelectNext(PortId portId, Port& port);
    FrameId PullFromHost(PortId portId, const Port& port, uint32_t ready);
    FrameId PopQueue(PortId portId, Port& port, uint32_t queueClass);
    void Transmit(PortId portId, Port& port, FrameId frameId, uint16_t heldBytes);
    PortQueue& Queue(PortId portId, Port& port, uint32_t queueClass);
    FrameId CountPulled(FrameId frameId);

    // fabric-switching.cc: what few frames go through
    void ShowTransmission(PortId portId, FrameId frameId);
    void ShowArrival(PortId portId, const Frame& frame);
    void ShowDataArrival(const Frame& frame, uint32_t node);
    void ShowPause(PortId portId, uint16_t classes, const LinkMessage& reason);
    PortId Admit(PortId egressId, FrameId frameId);
    PortId TrimAndAsk(PortId egressId, FrameId frameId);
    PortId TrimTail(PortId egressId, FrameId frameId);
    PortId Bounce(PortId egressId, FrameId frameId);
    PortId Drop(PortId egressId, FrameId frameId);
    void CountMark(PortId egressId, uint16_t before, const Frame& frame);
    void CutPayload(PortId egressId, Frame& frame);
    bool MayTrim(PortId egressId, const Frame& frame) const;
    bool IsLossless(PortId egressId, uint32_t priority) const;
    void Depart(PortId portId, FrameId frameId, uint64_t queuedBytes);
    uint32_t AskScheduler(PortId portId, uint32_t ready);
    bool IsLost(PortId portId, const Frame& frame);
    FrameId PullUrgent(PortId portId, const NicState& nic);
    void ReceiveLinkControl(PortId portId, FrameId frameId);
    void PutOnWire(PortId portId, FrameId frameId);
    void PushArrival(PortId portId, uint64_t timePs, FrameId frameId);
    void HandOver(PortId portId, FrameId frameId);
    void HandOverAt(PortId portId, uint64_t timePs, FrameId frameId);
    void Post(DomainMail& mail,
              std::vector<DomainMail::Letter>& letters,
              const DomainMail::Delivery& delivery,
              FrameId frameId);
    void TakeInList(const std::vector<DomainMail*>& mails, uint32_t list);
    void TakeInLoose(const DomainMail& mail);
    FrameId Unfold(const DomainMail& mail, const Frame& frame);
    void CountLost(PortId portId);
    void BeginCutThrough(PortId portId, FrameId frameId);

    // fabric-links.cc: links that change
    void ExecuteChange(uint32_t index, uint32_t row, bool isLast);
    void ChangeLink(uint32_t row);
    void CutPort(PortId portId);
    void EmptyPort(PortId portId);
    void RestorePort(PortId portId);
    void FlushQueue(PortId portId, uint32_t queueClass);
    void MoveControl(PortId portId);
    void Reroute();

    // fabric.cc: what doors lead to, beside the data path
    void StartMessage(uint32_t message);
    void Readmit(uint32_t message);
    void CheckRateChanges(const FabricTables& tables) const;
    void CheckRateChange(uint32_t message) const;
    void Enqueue(PortId port, FrameId frame) override;
    void Kick(uint32_t host) override;
    void Inject(uint32_t node, FrameId frame) override;
    PortId RouteAt(uint32_t node, const Frame& frame) const;
    PortId OwnRoute(const NodeClass& owner, uint32_t node, const Frame& frame) const;
    void SetPaused(PortId portId, uint16_t classes, const LinkMessage& reason) override;
    void SendLinkControl(PortId port, uint32_t word, uint32_t bytes, PortId cause) override;
    void Watch(uint64_t nextPs);
    void Disturb();

    // fabric-actions.cc: the same, and what they ask
    bool TakenByProgram(PortId portId, FrameId frameId);
    void Hold(uint32_t nodeId, FrameId frameId);
    void Account(PortId ingress, FrameId frameId);
    void Release(PortId ingress, uint8_t priority, uint32_t bytes);
    void LetGo(uint32_t nodeId, FrameId frameId);
    FrameId CopyAt(uint32_t node, FrameId frameId) override;
    FrameId AnswerAt(uint32_t node, FrameId frameId, uint8_t priority, uint16_t bytes) override;
    void DiscardAt(uint32_t node, FrameId frameId) override;
    uint32_t CreateMessage(uint32_t endpoint,
                           uint32_t dst,
                           uint64_t bytes,
                           uint64_t startPs) override;
    uint32_t OpenConversation(uint32_t endpoint, uint32_t dst) override;
    void Delivered(uint32_t message) override;
    void Acknowledged(uint32_t message) override;

    FabricOptions m_options;
    std::vector<std::array<DomainMail, 2>> m_mail; ///< By domain: of even, of odd windows
    std::vector<Outbox> m_outboxes;
    /// Lanes of each list of others' mail: of domains of lower, of higher number
    std::array<std::array<uint8_t, 2>, DomainMail::LANES> m_inLanes{};
    std::vector<MailReader> m_readers; ///< Of the mail that is being taken in
    uint32_t m_parity{0};                          ///< Of the window at hand
    EngineState m_state;
    Port* m_ports; ///< Of the network
    LinkChanges m_changes;
    WireLosses m_losses;
    uint64_t m_limitPs{0};
    uint64_t m_watchPs{NEVER_PS};         ///< Watch() is due before the first event after this [ps]
    bool m_showsInstants{false};          ///< To an observer, until Watch() is due again
    uint64_t m_deadlockCheckPs{NEVER_PS}; ///< Next look for a deadlock [ps]
    bool m_deadlocked{false};             ///< Nothing more will be executed
    bool m_goesOn{false};                 ///< Also when all messages and tasks are done
    bool m_fetches{false}; ///< State is too large for a core's cache: fetch it ahead of time
    uint64_t m_events{0};
    uint64_t m_dataPackets{0};
    /// Frames that programs have taken of links that account, and whether these had room
    std::unordered_map<FrameId, bool> m_taken;
    uint64_t m_delivered{0}; ///< Messages that have come to hosts here
    std::vector<NodeClass> m_nodeClasses;
    std::vector<LinkClass> m_linkClasses;
    bool m_linksDiffer{false}; ///< There are several classes of links
    std::vector<Endpoint> m_endpoints;
    std::vector<uint32_t> m_hostOfEndpoint;
    std::vector<uint32_t> m_transportOfEndpoint;
    std::vector<WireProfile> m_wires;       ///< Of each transport of the scenario
    std::vector<uint32_t> m_transportOrder; ///< The most urgent first
    std::vector<TimerOwner> m_timerOwners; ///< By first index
    std::vector<uint64_t> m_askAtPs; ///< Per port with a scheduler: when it is asked again [ps]
    uint32_t m_firstAskTimer{0};     ///< Timer of port 0 to ask again
    std::vector<Ptr<Object>> m_plugins; ///< Owns what the classes and endpoints point to
    std::vector<std::function<void()>> m_attach; ///< While building: plug-ins to attach
    SwitchView m_view{m_state};         ///< For the plug-ins that only look
    std::vector<std::unique_ptr<LinkDoor>> m_linkDoors;
    std::vector<SwitchProgram*> m_programs; ///< Of all classes
    std::vector<std::unique_ptr<ProgramDoor>> m_programDoors;
    std::vector<Observer*> m_observers;
    std::vector<Observer*> m_ofStarts;   ///< Those of them that wish for these
    std::vector<Observer*> m_ofArrivals;
    std::vector<Observer*> m_ofPauses;
    std::vector<Observer*> m_ofFrames;

    Instant m_instant;            ///< Being executed
    std::vector<PortId> m_egress; ///< Of each frame in its arrivals that is at a switch
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_H
