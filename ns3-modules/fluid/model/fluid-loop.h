// SPDX-License-Identifier: GPL-2.0-only

#ifndef FLUID_LOOP_H
#define FLUID_LOOP_H

#include "fluid-paths.h"

#include "ns3/fabric-tables.h"
#include "ns3/host-costs.h"
#include "ns3/task-graph.h"

#include <array>
#include <chrono>
#include <limits>
#include <optional>
#include <queue>
#include <tuple>
#include <utility>
#include <vector>

namespace ns3
{

/**
 * @ingroup fluid
 * @brief Runs the messages of a fabric at flow level: max-min fair at every moment.
 *
 * From its start a message takes its rate on all links of its path at once, until all its bytes
 * with headers and framing have gone; its last byte is at the destination as much later as the
 * exact time of the message alone is longer than its bytes over the rate that it has alone. So a
 * message alone is exact to the ps, over several paths if the links of each hop are alike.
 * Messages, computations and barriers wait for each other as in the packet engine; a message of no
 * bytes is a point in time. Links change when the tables say so, and routes follow after the
 * convergence time.
 *
 * **Source** fluid limit of ideal congestion control; Massoulié and Roberts, INFOCOM 1999.
 * **Not modelled** queues, losses, marks, pauses and what transports do about them; rates of
 * acknowledgements; a sprayed message over a link that is cut stands still until routes follow.
 */
class FluidLoop
{
  public:
    /// What became of a message or task. Times of what has not happened are none.
    struct Outcome
    {
        std::optional<fabric::WorldPs> startPs;
        std::optional<fabric::WorldPs> receiverEndPs; ///< Of a task its end
        std::optional<fabric::WorldPs> senderEndPs;   ///< Likewise
    };

    /**
     * @param engine in which no message ever starts; links change in it as it is told the time
     * @param tables sorted: messages are in this order
     */
    FluidLoop(fabric::EventEngine& engine, const fabric::FabricTables& tables);

    /// Run until a time or a deadline. @return whether nothing is left to do up to that time
    bool Run(fabric::WorldPs stopPs, std::chrono::steady_clock::time_point deadline);

    /// Take further tables of the engine, sorted and checked; they start from NowPs on.
    void Append(const fabric::FabricTables& tables);

    /// @return ids of messages and barriers that decide and have ended since the last call; Run
    /// stops for them
    std::vector<int64_t> TakeDecided()
    {
        return std::exchange(m_decided, {});
    }

    fabric::WorldPs NowPs() const;
    uint64_t Done(fabric::WorldPs stopPs) const; ///< Messages whose end at the sender is up to then
    uint64_t TasksDone(fabric::WorldPs stopPs) const; ///< Tasks that are over by then

    const fabric::TaskGraph& Graph() const
    {
        return m_graph;
    }

    uint64_t Events() const
    {
        return m_events;
    }

    /// @return data packets of messages that are through
    uint64_t Packets() const
    {
        return m_packets;
    }

    uint64_t PacketsOf(uint32_t message) const; ///< Data packets of a message, none sent twice
    Outcome OutcomeOf(uint32_t item, fabric::WorldPs stopPs) const; ///< Of a message or task
    std::vector<double> PortBytes(); ///< That each port has sent until now, with framing [byte]
    uint64_t MemoryBytes() const;

  private:
    static constexpr fabric::WorldPs NEVER = fabric::WorldPs::Never();

    /// A message of the table.
    struct Message
    {
        fabric::WorldPs startPs; ///< As far as it is known [ps]
        fabric::WorldPs receiverEndPs{NEVER};
        fabric::WorldPs senderEndPs{NEVER};
        bool decides{false}; ///< The run pauses when it has arrived
    };

    /// One that sends now, by its handle in MaxMin.
    struct Sending
    {
        uint32_t message{0};
        double rate{0};     ///< From `since` on [byte/ps]
        double left{0};     ///< At `since` [byte]
        double total{0};    ///< With headers and framing [byte]
        double credited{0}; ///< Of its bytes those that links have counted [byte]
        double since{0};    ///< [ps]
        double beyondPs{0}; ///< From its last byte sent to its last byte received [ps]
        uint64_t ackPs{0};  ///< From then on until its sender knows [ps]
        bool isCut{false};  ///< It has no path yet, so these two are not known
        uint64_t version{0};
    };

    /// When a message is through, if its rate stays.
    struct Finish
    {
        double atPs;
        uint32_t flow;
        uint64_t version;

        bool operator>(const Finish& other) const
        {
            return std::tie(atPs, flow) > std::tie(other.atPs, other.flow);
        }
    };

    /// When a message or task begins.
    struct Start
    {
        fabric::WorldPs atPs;
        uint32_t item;

        bool operator>(const Start& other) const
        {
            return std::tie(atPs, item) > std::tie(other.atPs, other.item);
        }
    };

    void AddItems(const fabric::FabricTables& tables, uint32_t firstTask);
    void BuildChanges(const fabric::FabricTables& tables);
    double NextPs();
    void Execute(double nowPs);
    void Refresh();
    void StartTask(uint32_t item);
    fabric::HostMessage ForHosts(uint32_t index) const;
    void StartMessage(uint32_t index, fabric::WorldPs nowPs);
    void SetTail(Sending& sending, const std::vector<MaxMin::Use>& uses) const;
    void FinishMessage(uint32_t flow);
    void Through(uint32_t index);
    void Release(uint32_t item, bool atSender, fabric::WorldPs endPs);
    fabric::WorldPs StartOf(uint32_t item) const;
    FluidFrames FramesOf(uint64_t bytes, uint32_t transport) const;
    double SlowestPsPerByte(const std::vector<MaxMin::Use>& uses) const;
    void Credit(uint32_t flow);
    void ChangeLinks(fabric::WorldPs nowPs);

    fabric::EventEngine& m_engine;
    const fabric::RunView& m_fabric;
    FluidPaths m_paths;
    MaxMin m_rates;
    std::vector<Message> m_messages;
    std::vector<Sending> m_sending;
    fabric::TaskGraph m_graph;
    fabric::HostCosts m_hosts;
    /// Of each message, and of each task, the last end that it waited for [ps]
    std::array<std::vector<fabric::WorldPs>, 2> m_knownPs;
    std::vector<int64_t> m_decided;         ///< Until somebody asks
    std::vector<bool> m_isAcknowledged;     ///< Per transport
    std::vector<fabric::WorldPs> m_changes; ///< Times at which links or routes change [ps]
    size_t m_nextChange{0};
    std::priority_queue<Start, std::vector<Start>, std::greater<>> m_starts;
    std::priority_queue<Finish, std::vector<Finish>, std::greater<>> m_finishes;
    std::vector<double> m_linkBytes; ///< That the first port of each link has sent [byte]
    uint64_t m_versions{0};          ///< Of predictions of ends
    double m_nowPs{0};
    fabric::WorldPs m_lastEndPs;
    uint64_t m_events{0};
    uint64_t m_packets{0};
};

} // namespace ns3

#endif // FLUID_LOOP_H
