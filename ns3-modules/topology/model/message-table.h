// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_MESSAGE_TABLE_H
#define FABRIC_MESSAGE_TABLE_H

#include "fabric-network.h"
#include "host-costs.h"
#include "task-graph.h"

#include "ns3/clocks.h"
#include "ns3/event-queue.h"

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/// A dependency of a message or task is fulfilled: it starts at this time or later.
struct Fulfilled
{
    uint32_t item;
    uint32_t after;  ///< The item that it has waited for
    WorldPs startPs; ///< [ps]
};

/**
 * @brief The messages and tasks of a run: when they start and when they are done.
 *
 * A message of no bytes is a point in time: it is done when it starts. In a run of several engines
 * each has a book of all messages, and keeps what its own hosts do.
 *
 * What it keeps are times of the world, which results have; what it is told are times of the
 * engine's clock.
 */
class MessageTable
{
  public:
    /// Tells another engine that a dependency of one of its messages or tasks is fulfilled.
    using Tell = std::function<void(uint32_t engine, const Fulfilled& fulfilled)>;

    /**
     * @param network lives longer than this
     * @param queue gets the events of starting messages
     * @param world of the engine
     * @param seed of the run
     * @param engine of the hosts whose messages start here
     * @param tell called for messages of other engines
     */
    MessageTable(const FabricNetwork& network,
                 EventQueue& queue,
                 const WorldClock& world,
                 uint64_t seed,
                 uint32_t engine = 0,
                 Tell tell = {});

    /**
     * Take the tables "flows", "tasks", "dependencies" and "rate_changes".
     * @param hosts what messages cost their hosts, by transport
     * @param first messages of the first of several engines, null for that one: they share the
     * memory of messages that neither changes
     */
    void Build(const FabricTables& tables,
               const std::vector<HostModel>& hosts,
               const MessageTable* first);

    void Begin(); ///< Schedule what waits for nothing

    /**
     * Take further messages and tasks; after Begin those that wait for nothing are scheduled.
     * @param tables checked; their ids are behind all others, and no start is over
     * @return the first message
     */
    uint32_t Append(const FabricTables& tables, EnginePs nowPs);

    /// @return whether further tables may come
    bool MayGrow() const
    {
        return m_mayGrow;
    }

    /// @return whether a message or task that decides has ended, and nobody has asked since
    bool IsToDecide() const
    {
        return !m_decided.empty();
    }

    /// @return ids of messages and tasks that decide and have ended since the last call
    std::vector<int64_t> TakeDecided()
    {
        return std::exchange(m_decided, {});
    }

    /// @return index of a new message, whose start is scheduled
    uint32_t Create(uint32_t src, uint32_t dst, uint64_t bytes, EnginePs startPs, EnginePs nowPs);

    /// @return index of a new message of no bytes that is done: frames beside those of the tables
    uint32_t AddDone(uint32_t src, uint32_t dst, EnginePs nowPs);

    /**
     * Find out which messages and tasks are done in this engine.
     * @param acknowledged by transport; messages of the others are done at their receivers
     */
    void BuildShare(std::vector<bool> acknowledged);

    /// @return whether a message of the tables is done when it has arrived
    bool EndsAtReceiver(uint32_t message) const
    {
        return m_messages[message].bytes != 0 && !m_acknowledged[m_messages[message].transport];
    }

    /// @return whether any does
    bool AnyEndsAtReceiver() const;

    /// The event of a message has come. @return whether its transport gets it now, not later
    bool IsReady(uint32_t message, EnginePs nowPs);
    void Delivered(uint32_t message, EnginePs nowPs);    ///< Last byte in order at the destination
    void Acknowledged(uint32_t message, EnginePs nowPs); ///< Known at the source: it is done
    void PassPoint(uint32_t message, EnginePs nowPs);    ///< A message of no bytes has started
    void EndTask(uint32_t item, EnginePs nowPs);         ///< A task is over

    /// A message that decides has arrived, and its host is through with it.
    void Decide(uint32_t message)
    {
        m_decided.push_back(m_messages[message].id);
    }

    /// A row of "rate_changes" comes into force. @return its message
    uint32_t ChangeRate(uint32_t row);
    /// One more row of "rate_changes", of a message that starts in this engine.
    void AddRateChange(const RateChangeRow& row, EnginePs nowPs);
    /// @return index of a message of the table "flows", by its id
    std::optional<uint32_t> Find(int64_t id) const;
    /// Another engine says that a dependency is fulfilled.
    void Fulfil(const Fulfilled& fulfilled, EnginePs nowPs);
    /// @return least delay of a dependency that another engine fulfils, NEVER_PS without any [ps]
    uint64_t LeastTellingPs() const;

    /// @return whether a message has not begun because of others that it waits for
    bool WaitsForOthers(uint32_t message) const
    {
        return message < m_graph.NumMessages() && m_graph.Waits(message);
    }

    /// @return whether nothing is left to be done, of what is done in this engine
    bool AllDone() const
    {
        return m_left == 0;
    }

    const TaskGraph& Graph() const
    {
        return m_graph;
    }

    uint32_t TasksDone() const
    {
        return m_tasksDone;
    }

    uint32_t Size() const
    {
        return m_size;
    }

    /// @return the least id that is free, and those above are too
    int64_t NextId() const
    {
        return m_nextId;
    }

    uint32_t Done() const
    {
        return m_done;
    }

    Message& operator[](uint32_t message)
    {
        return m_messages[message];
    }

    const Message& operator[](uint32_t message) const
    {
        return m_messages[message];
    }

    Message* Data() const
    {
        return m_messages.Data();
    }

    /// @return hash of the header fields of each, as switches see them
    const uint32_t* Tuples() const
    {
        return m_tuples.Data();
    }

    uint64_t MemoryBytes() const;

  private:
    void MakeRoom(); ///< For one step more
    uint32_t AddNew(uint32_t src, uint32_t dst, uint64_t bytes, WorldPs startPs);
    uint32_t Add(const FlowRow& row, uint32_t src, uint32_t dst);
    void AddRows(const FabricTables& tables);
    void ShareMessages(const MessageTable& first);
    void BeginFrom(uint32_t message, uint32_t task, EnginePs nowPs);
    void CheckFurther(const FabricTables& tables, EnginePs nowPs) const;
    bool CostsHosts(uint32_t message) const;
    HostMessage ForHosts(uint32_t message) const;
    void End(uint32_t message, WorldPs receiverEndPs, EnginePs nowPs);
    void EndAtSender(uint32_t message, WorldPs senderEndPs, EnginePs nowPs);
    void ReleaseMessage(uint32_t message, bool atSender, WorldPs endPs, EnginePs nowPs);
    void Release(uint32_t item, bool atSender, WorldPs endPs, EnginePs nowPs);
    void Schedule(uint32_t message, WorldPs atPs, EnginePs nowPs);
    void ScheduleItem(uint32_t item, EnginePs nowPs);
    void ScheduleRateChange(uint32_t row, EnginePs nowPs);
    void Push(ControlIndex what, WorldPs timePs, uint32_t payload, EnginePs nowPs);
    uint32_t EngineOf(uint32_t host) const;
    uint32_t EngineOfItem(uint32_t item) const;
    uint32_t EngineOfEnd(uint32_t item) const;

    static constexpr uint32_t STEP = 1U << 16; ///< 8 MiB of address space
    static constexpr uint32_t CAPACITY = 1U << 26;
    const FabricNetwork& m_network;
    EventQueue& m_queue;
    const WorldClock& m_world;
    uint64_t m_seed;
    uint32_t m_engine;
    Tell m_tell;
    GrowingArray<Message> m_messages;
    GrowingArray<uint32_t> m_tuples;
    uint32_t m_room{STEP}; ///< Messages for which there is room
    uint32_t m_size{0};
    uint32_t m_done{0};
    uint32_t m_tasksDone{0};
    uint64_t m_left{0};               ///< Messages and tasks that are done here, and not yet
    std::vector<bool> m_acknowledged; ///< By transport
    int64_t m_nextId{0};
    bool m_hasBegun{false};
    bool m_mayGrow{false};
    std::vector<bool> m_decides;    ///< By message; shorter if the last ones do not
    std::vector<int64_t> m_decided; ///< Who decides and has ended, until somebody asks
    TaskGraph m_graph;
    HostCosts m_hosts;
    std::unordered_map<int64_t, uint32_t> m_hostOf; ///< By node id, if there may be more rows
    std::vector<RateChangeRow> m_rateChanges;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_MESSAGE_TABLE_H
