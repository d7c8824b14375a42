// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_H
#define FABRIC_H

#include "congestion-control.h"
#include "event-queue.h"
#include "fabric-random.h"
#include "fabric-state.h"
#include "fabric-tables.h"
#include "forwarding-policy.h"
#include "frame.h"
#include "key-list.h"
#include "link-flow-control.h"
#include "packet-capture.h"
#include "queue-discipline.h"
#include "routing.h"
#include "telemetry.h"
#include "transport.h"

#include "ns3/object-factory.h"

#include <chrono>
#include <memory>
#include <unordered_map>

namespace ns3
{
namespace fabric
{

/// What the user chose for a run, beside the tables.
struct FabricOptions
{
    uint64_t seed{1};          ///< Root of every random stream
    uint64_t framingBytes{20}; ///< Preamble, delimiter and gap: on the wire, not in buffers [byte]
    uint64_t bufferBytes{0};   ///< Buffer of each switch, 0 = unlimited [byte]
    uint64_t switchDelayPs{0}; ///< From the last bit in to the queue of the egress port [ps]
    uint64_t cutThroughBytes{0}; ///< Forward once this much is in, 0 = store and forward [byte]
    uint64_t convergencePs{0};   ///< From a link's failure or return to new routes [ps]
    bool traceArrivals{false};   ///< Record every data packet at its destination host
    bool tracePauses{false};     ///< Record every pause of an egress
    uint64_t samplePs{0};        ///< Period of samples of ports and flows, 0 = none [ps]
    std::vector<CaptureOptions> captures; ///< Hosts whose frames go to files
    ObjectFactory forwarding;
    ObjectFactory queue;
    ObjectFactory flowControl;             ///< No TypeId set: none
    std::vector<ObjectFactory> transports; ///< In the order of flows.transport
};

/**
 * @ingroup fabric
 * @brief The packet engine: flat arrays of ports, frames and events, and the loop over them.
 *
 * Two events per hop (end of transmission, arrival), strict priorities, store and forward or cut
 * through. All events of one instant are executed in the order (type, index, payload), whatever
 * order they were scheduled in.
 *
 * Source: the structure is our own; Ethernet framing IEEE 802.3, priorities IEEE 802.1Q.
 * Not modelled: host processing time, cable lengths beyond a delay.
 */
class Fabric
{
  public:
    Fabric(FabricTables tables, const FabricOptions& options);
    ~Fabric();
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;

    // ---- for FabricSimulatorImpl
    /// @return time of the next event, NEVER_PS if there is none or all flows are done [ps]
    uint64_t NextPs() const;
    /// Execute all events up to and including a time [ps], or until the wall clock's deadline.
    void RunUntil(uint64_t limitPs, std::chrono::steady_clock::time_point deadline);
    /// Stop RunUntil after the instant at `limitPs`: an event of stock ns-3 lies there [ps].
    void LimitTo(uint64_t limitPs);

    // ---- for transports, policies and flow control
    uint64_t NowPs() const
    {
        return m_nowPs;
    }

    FramePool& Frames()
    {
        return m_frames;
    }

    Message& GetMessage(uint32_t message)
    {
        return m_messages[message];
    }

    CounterRandom Stream(RandomUse use, uint64_t key) const
    {
        return CounterRandom(m_options.seed, use, key);
    }

    /// @return free random number of a port's own stream, in [0, 1)
    double PortReal(PortId port, RandomUse use);

    const Port& GetPort(PortId port) const
    {
        return m_ports[port];
    }

    PortId NumPorts() const
    {
        return static_cast<PortId>(m_ports.size());
    }

    NodeState& GetNode(uint32_t node)
    {
        return m_nodes[node];
    }

    uint32_t NumHosts() const
    {
        return static_cast<uint32_t>(m_hosts.size());
    }

    uint32_t NumNodes() const
    {
        return static_cast<uint32_t>(m_nodes.size());
    }

    const Routing& Routes() const
    {
        return *m_routing;
    }

    const FabricOptions& Options() const
    {
        return m_options;
    }

    void SetTimer(uint32_t endpoint, uint64_t atPs, uint32_t token);
    void Enqueue(PortId port, FrameId frame);    ///< Put a frame into a port's queue
    void Kick(uint32_t host);                    ///< Let idle ports of a host ask again
    void SetPaused(PortId port, uint16_t mask);  ///< Hold back classes of an egress
    void SendLinkControl(PortId port, uint32_t aux, uint32_t bytes); ///< To the other end
    void CountMark(PortId port);                 ///< An ECN mark was set at this egress
    void MessageDelivered(uint32_t message);     ///< Every payload byte is at the destination
    void MessageAcknowledged(uint32_t message);  ///< The source knows it

    /// @return largest frame that a transport of the scenario sends all the time [byte]
    uint32_t LargestFrameBytes() const
    {
        return m_largestFrameBytes;
    }

    /// @return time to put a frame on the wire of this port [ps]
    uint64_t SerialisationPs(PortId port, uint32_t frameBytes) const;
    /// @return rate of this port's link [bit/s]
    uint64_t RateBps(PortId port) const;
    /// @return propagation delay of this port's link [ps]
    uint64_t DelayPs(PortId port) const;
    /// @return port of the source host by which a message leaves if it keeps to one path
    PortId PortOfMessage(uint32_t message) const;
    /// @return ports of a host: first, number
    std::pair<PortId, uint32_t> PortsOfHost(uint32_t host) const
    {
        return {m_hosts[host].firstPort, m_hosts[host].ports};
    }

    /// @return whether a host reaches another, as far as routes know, only by its other ports
    bool LeadsNowhere(PortId port, uint32_t dst) const
    {
        return m_newRouting && OthersLead(port, dst);
    }

    /// @return unloaded round trip of a data frame and its acknowledgement [ps]
    uint64_t BaseRttPs(uint32_t message, uint32_t dataBytes, uint32_t ackBytes);
    /// @return number of paths of a message: product of the choices on the way, at most 65535
    uint32_t PathsOfMessage(uint32_t message) const;

    // ---- results
    uint64_t Events() const
    {
        return m_events;
    }

    uint32_t FlowsDone() const
    {
        return m_flowsDone;
    }

    const std::vector<Message>& Messages() const
    {
        return m_messages;
    }

    const PortCounters& Counters(PortId port) const
    {
        return m_counters[port];
    }

    /// @return series and logs, null if nobody asked for any
    const Telemetry* GetTelemetry() const
    {
        return m_telemetry.get();
    }

    /// @return whether a message has not begun because of others that it waits for
    bool WaitsForOthers(uint32_t message) const
    {
        const auto left = m_waitsFor.find(message);
        return left != m_waitsFor.end() && left->second > 0;
    }

    uint64_t DataPackets() const
    {
        return m_dataPackets;
    }

    /// @return time this egress was held back so far [ps]
    uint64_t PausedPs(PortId port) const;
    /// @return the same at a time before the next event [ps]
    uint64_t PausedPs(PortId port, uint64_t atPs) const;
    /// @return node id at the other end, and index among parallel links
    std::pair<int64_t, uint32_t> PeerOf(PortId port) const;
    /// @return most bytes that flow control ever accounted to this ingress [byte]
    uint32_t IngressPeakBytes(PortId port) const;
    /// @return egress ports of the links that a single-path message crosses; empty if sprayed
    std::vector<PortId> PathOf(uint32_t message);
    /// @return what a frame looks like behind its UDP header
    Datagram DescribeFrame(const Frame& frame) const;
    /// @return what a frame of link control looks like behind its EtherType
    WireBytes MacControlOf(const Frame& frame) const;
    void CompleteCaptures(); ///< Nothing more is captured; the files are whole
    /// @return memory of the engine's arrays [byte]
    uint64_t MemoryBytes() const;
    /// @return nodes (dense indices) that wait for each other's buffers for ever; empty if none do
    std::vector<uint32_t> DeadlockCycle() const;
    /// Abort naming the first identity that does not hold.
    void CheckIdentities() const;
    /// Nothing more will be executed: close what is recorded.
    void Finish();

  private:
    /// Serialisation times of one link rate.
    struct RateClass
    {
        uint64_t rateBps;
        uint64_t psPerByte; ///< 0 when not a whole number [ps]
        uint32_t laneBytes[3]{0, 0, 0};
        uint64_t lanePs[3]{0, 0, 0};
        uint8_t lane[3]{0, 0, 0};
        uint32_t lanes{0};

        uint64_t Ps(uint64_t wireBytes) const;
    };

    // fabric-build.cc
    void BuildPorts();
    void BuildEndpoints();
    void BuildLanes();
    void BuildDrops();
    void BuildLinkEvents();
    void BuildDependencies();
    void BuildTelemetry();
    void ScheduleControl();
    PortId FindPort(int64_t node, int64_t peer, int64_t parallel) const;

    // fabric.cc and fabric-data-path.h: the hot path
    void GatherInstant();
    void OrderInstant();
    void SortTransmissions();
    void ExecuteInstant();
    void ExecuteOthers(size_t first, size_t end);
    void ExecuteChange(uint32_t index, uint32_t event, bool isLast);
    void FetchPort(uint64_t key) const;
    void FetchForTransmissionDone(uint64_t key) const;
    void FetchForArrival(size_t i);
    void FetchTransport(uint64_t key) const;
    void EnqueueHot(PortId portId, FrameId frameId);
    void TransmissionDone(PortId portId);
    void Arrive(PortId portId, FrameId frameId, PortId egress);
    void ArriveAtSwitch(PortId portId, FrameId frameId, PortId egress);
    void ArriveAtHost(PortId portId, FrameId frameId);
    bool LoseOnWire(PortId portId, const Frame& frame);
    bool LostByCut(PortId portId);
    void Forward(PortId ingressId, PortId egressId, FrameId frameId);
    PortId Route(uint32_t node, const Frame& frame);
    void SelectNext(PortId portId);
    FrameId PullFromHost(PortId portId, uint32_t ready);
    FrameId PopQueue(Port& port, uint32_t queueClass);
    void Transmit(PortId portId, FrameId frameId);
    void StartMessage(uint32_t message);
    void Watch(uint64_t nextPs);
    void Release(const std::vector<uint32_t>& messages);

    // fabric-links.cc: links that change
    void ChangeLink(uint32_t event);
    void CutPort(PortId portId);
    void RestorePort(PortId portId);
    void FlushQueues(PortId portId);
    void DecideCutThrough(uint32_t node);
    void NoticeLink(uint32_t event);
    void Reroute();
    bool OthersLead(PortId port, uint32_t dst) const;
    uint8_t RateIndex(uint64_t rateBps);

    FabricOptions m_options;
    FabricTables m_tables;
    std::vector<PortId> m_linkEventPort; ///< One port of the link of each row of link_events
    std::unordered_map<PortId, uint32_t> m_lastFlip; ///< By such a port: last row to cut or restore
    uint64_t m_nowPs{0};
    uint64_t m_limitPs{0};
    uint64_t m_watchPs{NEVER_PS};         ///< Watch() is due before the first event after this [ps]
    uint64_t m_deadlockCheckPs{NEVER_PS}; ///< Next look for a deadlock [ps]
    uint64_t m_lastCutPs{0};              ///< Latest row of link_events that cuts [ps]
    bool m_deadlocked{false};             ///< Nothing more will be executed
    uint64_t m_events{0};
    uint64_t m_dataPackets{0};
    uint32_t m_flowsDone{0};
    uint32_t m_largestFrameBytes{MIN_FRAME_BYTES};
    EventQueue m_queue;
    FramePool m_frames;
    std::vector<Port> m_ports;
    std::vector<PortCounters> m_counters;
    std::vector<NodeState> m_nodes;
    std::vector<RateClass> m_rates;
    std::vector<Message> m_messages;
    std::unique_ptr<Routing> m_nominalRouting; ///< Of the network as built
    std::unique_ptr<Routing> m_newRouting;     ///< Of the network as it is, after a change
    const Routing* m_routing{nullptr};         ///< The one in force
    Ptr<ForwardingPolicy> m_forwardingPolicy;
    Ptr<QueueDiscipline> m_queueDiscipline;
    Ptr<LinkFlowControl> m_flowControl;
    ForwardingPolicy* m_forwarding{nullptr};     ///< Plain pointers for the hot path
    QueueDiscipline* m_discipline{nullptr};
    LinkFlowControl* m_control{nullptr};
    std::unique_ptr<PacketCapture> m_capture;    ///< Null unless a host is captured
    bool m_routeEarly{true};                     ///< No policy needs to see the queues
    uint32_t m_losslessMask{0};                  ///< Bit per lossless priority

    /// One transport object at one host.
    struct Endpoint
    {
        Transport* transport;
        uint8_t priority; ///< Of its data
        uint32_t turn{0}; ///< At the first of those that are equally urgent: who is asked first
    };

    /// The endpoints and the node of one host.
    struct HostState
    {
        uint32_t node;
        uint32_t firstEndpoint{0};
        uint32_t endpoints{0};
        PortId firstPort{NO_PORT};
        uint32_t ports{0};
    };

    std::vector<Ptr<Transport>> m_transports; ///< Owns what the endpoints point to
    std::vector<Endpoint> m_endpoints;
    std::vector<HostState> m_hosts;

    // The instant being executed, in parts of one type. A key is target << 32 | payload.
    KeyList m_transmitted;                ///< TX_DONE
    KeyList m_arrived;                    ///< ARRIVE
    std::vector<uint64_t> m_others;       ///< CONTROL and TIMER
    bool m_arrivedInOrder{false};         ///< All of m_arrived waited in one lane
    std::vector<PortId> m_egress;         ///< Of each frame in m_arrived that is at a switch
    std::vector<uint64_t> m_present;      ///< Bit per port of a TX_DONE
    std::vector<uint64_t> m_presentWords; ///< Bit per word of m_present in use

    /// By receiving port: frames ever sent to it when its link was last cut, until all are lost
    std::unordered_map<PortId, uint64_t> m_sentBeforeCut;

    /// Scripted losses of one direction, by the receiving port.
    struct DropScript
    {
        uint64_t seen{0};               ///< Data frames so far
        std::vector<uint64_t> ordinals; ///< Ascending
    };

    std::unordered_map<PortId, DropScript> m_drops;
    std::unordered_map<PortId, double> m_lossRatio;     ///< By receiving port [1]
    std::unordered_map<PortId, double> m_bitErrorRatio; ///< By receiving port [1]

    /// What waits for a message.
    struct Followers
    {
        std::vector<uint32_t> ofReceiver; ///< Released when it is complete at its destination
        std::vector<uint32_t> ofSender;   ///< Released when its source knows that
    };

    std::unordered_map<uint32_t, Followers> m_followers; ///< By message
    std::unordered_map<uint32_t, uint32_t> m_waitsFor;   ///< Dependencies left of each message

    std::unique_ptr<Telemetry> m_telemetry;
    PortId m_forwardingTo{NO_PORT}; ///< Egress of the frame that flow control is just asked about
    PauseReason m_pauseReason;      ///< Of the PAUSE or RESUME that has just arrived
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_H
