// SPDX-License-Identifier: GPL-2.0-only

#include "message-table.h"

#include "ns3/abort.h"
#include "ns3/assert.h"

#include <algorithm>
#include <new>

namespace ns3
{
namespace fabric
{

namespace
{

constexpr uint32_t NO_SLOT = 0xffffffff; ///< A transport has no state of it yet
constexpr size_t LARGE_BYTES = 10'000'000;

} // namespace

MessageTable::MessageTable(const FabricNetwork& network,
                           EventQueue& queue,
                           const WorldClock& world,
                           uint64_t seed,
                           uint32_t engine,
                           Tell tell)
    : m_network(network),
      m_queue(queue),
      m_world(world),
      m_seed(seed),
      m_engine(engine),
      m_tell(std::move(tell)),
      m_messages(STEP, CAPACITY),
      m_tuples(STEP, CAPACITY)
{
}

void
MessageTable::MakeRoom()
{
    NS_ABORT_MSG_IF(m_room == CAPACITY, "flows: more than " << CAPACITY << " messages in one run");
    m_room += STEP;
    m_messages.Reserve(m_room);
    m_tuples.Reserve(m_room);
}

uint32_t
MessageTable::Add(const FlowRow& row, uint32_t src, uint32_t dst)
{
    if (m_size == m_room)
    {
        MakeRoom();
    }
    const uint32_t index = m_size++;
    m_left++;
    Message& message = *new (&m_messages[index]) Message{};
    message.bytes = static_cast<uint64_t>(row.bytes);
    message.src = src;
    message.dst = dst;
    message.srcEndpoint = NO_ENDPOINT;
    message.dstEndpoint = NO_ENDPOINT;
    message.senderSlot = NO_SLOT;
    message.receiverSlot = NO_SLOT;
    message.transport = static_cast<uint16_t>(row.transport);
    message.admittedBps = static_cast<uint64_t>(row.rateBps);
    message.id = row.id;
    message.startPs = WorldPs(static_cast<uint64_t>(row.startPs));
    const uint64_t ends = Mix64(static_cast<uint64_t>(row.src)) + static_cast<uint64_t>(row.dst);
    const auto own = row.connection == 0
                         ? static_cast<uint64_t>(row.id)
                         : Mix64(Mix64(ends) ^ static_cast<uint64_t>(row.connection));
    const auto draw = [this](RandomUse use, uint64_t key) {
        return CounterRandom(m_seed, use, key).Bits(0);
    };
    message.tuple = static_cast<uint32_t>(draw(RandomUse::FLOW_TUPLE, Mix64(ends) ^ own));
    message.entropy = static_cast<uint16_t>(draw(RandomUse::PATH_ENTROPY, own));
    m_tuples[index] = message.tuple;
    if (row.decides)
    {
        m_decides.resize(index + 1, false);
        m_decides[index] = true;
    }
    m_nextId = std::max(m_nextId, row.id + 1);
    return index;
}

void
MessageTable::Build(const FabricTables& tables,
                    const std::vector<HostModel>& hosts,
                    const MessageTable* first)
{
    m_hosts = HostCosts(hosts, m_network.LineRatesBps());
    m_rateChanges = tables.rateChanges;
    m_mayGrow = tables.MayGrow();
    if (first)
    {
        ShareMessages(*first);
        return;
    }
    if (m_network.IsOfOneEngine() && tables.flows.size() * sizeof(Message) > LARGE_BYTES)
    {
        m_messages.UseHugePages();
    }
    for (const auto& node : m_network.nodes)
    {
        if (!node.isSwitch)
        {
            m_hostOf[node.id] = node.host;
        }
    }
    AddRows(tables);
    if (!m_mayGrow)
    {
        m_hostOf = {};
    }
    if (!m_network.IsOfOneEngine())
    {
        m_messages.Freeze(m_size);
        m_tuples.Freeze(m_size);
    }
}

/// All that differs between engines is set later.
void
MessageTable::ShareMessages(const MessageTable& first)
{
    m_messages.BeginWith(first.m_messages);
    m_tuples.BeginWith(first.m_tuples);
    m_room = first.m_room;
    m_size = first.m_size;
    m_nextId = first.m_nextId;
    m_decides = first.m_decides;
    m_graph = first.m_graph;
    m_left = m_size + m_graph.NumTasks();
}

void
MessageTable::AddRows(const FabricTables& tables)
{
    for (const auto& row : tables.flows)
    {
        Add(row, m_hostOf.at(row.src), m_hostOf.at(row.dst));
    }
    m_graph.Append(tables);
    m_left += tables.tasks.size();
    m_nextId = std::max(m_nextId, tables.tasks.empty() ? 0 : tables.tasks.back().id + 1);
}

/// Refuse rows that would not be in the order of their ids, or begin in the past.
void
MessageTable::CheckFurther(const FabricTables& tables, EnginePs nowPs) const
{
    const auto now = static_cast<int64_t>(m_world.WorldOf(nowPs).Ps());
    const auto check = [&](const char* name, const auto& rows) {
        for (const auto& row : rows)
        {
            NS_ABORT_MSG_IF(row.id < m_nextId,
                            name << row.id << ": ids from " << m_nextId << " on are free");
            NS_ABORT_MSG_IF(row.startPs < now,
                            name << row.id << ": start_ps " << row.startPs << " is over, it is "
                                 << now << " ps");
        }
    };
    check("flows: flow ", tables.flows);
    check("tasks: task ", tables.tasks);
}

uint32_t
MessageTable::Append(const FabricTables& tables, EnginePs nowPs)
{
    NS_ABORT_MSG_IF(m_size != m_graph.NumMessages(),
                    "tables come while a run goes on, and a transport makes messages of its own; "
                    "take another transport");
    CheckFurther(tables, nowPs);
    const uint32_t message = m_size;
    const uint32_t task = m_graph.NumTasks();
    AddRows(tables);
    if (m_hasBegun)
    {
        BeginFrom(message, task, nowPs);
    }
    return message;
}

/// Schedule what waits for nothing, of messages and tasks from these on.
void
MessageTable::BeginFrom(uint32_t message, uint32_t task, EnginePs nowPs)
{
    const auto begin = [&](uint32_t item) {
        if (!m_graph.Waits(item) && EngineOfItem(item) == m_engine)
        {
            ScheduleItem(item, nowPs);
        }
    };
    for (; message < m_graph.NumMessages(); message++)
    {
        begin(message);
    }
    for (; task < m_graph.NumTasks(); task++)
    {
        begin(TaskGraph::FIRST_TASK + task);
    }
}

void
MessageTable::Begin()
{
    m_hasBegun = true;
    BeginFrom(0, 0, EnginePs());
    for (uint32_t row = 0; row < m_rateChanges.size(); row++)
    {
        if (EngineOfItem(*Find(m_rateChanges[row].flow)) == m_engine)
        {
            ScheduleRateChange(row, EnginePs());
        }
    }
}

void
MessageTable::BuildShare(std::vector<bool> acknowledged)
{
    m_acknowledged = std::move(acknowledged);
    for (uint32_t place = 0; place < m_graph.NumItems(); place++)
    {
        m_left -= EngineOfEnd(m_graph.ItemAt(place)) != m_engine;
    }
}

bool
MessageTable::AnyEndsAtReceiver() const
{
    uint32_t message = 0;
    while (message < m_graph.NumMessages() && !EndsAtReceiver(message))
    {
        message++;
    }
    return message < m_graph.NumMessages();
}

void
MessageTable::Push(ControlIndex what, WorldPs timePs, uint32_t payload, EnginePs nowPs)
{
    m_queue.Push(nowPs.Ps(),
                 {m_world.EngineOf(timePs).Ps(), EventTarget(EventType::CONTROL, what), payload});
}

void
MessageTable::ScheduleRateChange(uint32_t row, EnginePs nowPs)
{
    const WorldPs timePs(static_cast<uint64_t>(m_rateChanges[row].timePs));
    Push(CONTROL_RATE, timePs, row, nowPs);
}

void
MessageTable::AddRateChange(const RateChangeRow& row, EnginePs nowPs)
{
    m_rateChanges.push_back(row);
    ScheduleRateChange(static_cast<uint32_t>(m_rateChanges.size() - 1), nowPs);
}

std::optional<uint32_t>
MessageTable::Find(int64_t id) const
{
    const Message* end = Data() + m_graph.NumMessages();
    const auto isBefore = [](const Message& message, int64_t x) { return message.id < x; };
    const Message* found = std::lower_bound<const Message*>(Data(), end, id, isBefore);
    return found != end && found->id == id ? std::optional(static_cast<uint32_t>(found - Data()))
                                           : std::nullopt;
}

uint32_t
MessageTable::ChangeRate(uint32_t row)
{
    const RateChangeRow& change = m_rateChanges[row];
    const uint32_t message = *Find(change.flow);
    m_messages[message].admittedBps = static_cast<uint64_t>(change.rateBps);
    return message;
}

/// @return index of a message that no table has
uint32_t
MessageTable::AddNew(uint32_t src, uint32_t dst, uint64_t bytes, WorldPs startPs)
{
    const auto idOf = [this](uint32_t host) {
        return m_network.nodes[m_network.hosts[host].node].id;
    };
    return Add({.id = m_nextId,
                .src = idOf(src),
                .dst = idOf(dst),
                .bytes = static_cast<int64_t>(bytes),
                .startPs = static_cast<int64_t>(startPs.Ps()),
                .transport = 0},
               src,
               dst);
}

uint32_t
MessageTable::Create(uint32_t src, uint32_t dst, uint64_t bytes, EnginePs startPs, EnginePs nowPs)
{
    const uint32_t message = AddNew(src, dst, bytes, m_world.WorldOf(startPs));
    Schedule(message, m_messages[message].startPs, nowPs);
    return message;
}

uint32_t
MessageTable::AddDone(uint32_t src, uint32_t dst, EnginePs nowPs)
{
    const uint32_t message = AddNew(src, dst, 0, m_world.WorldOf(nowPs));
    m_messages[message].receiverEndPs = m_messages[message].startPs;
    m_messages[message].senderEndPs = m_messages[message].startPs;
    m_done++;
    m_left--;
    return message;
}

void
MessageTable::Schedule(uint32_t message, WorldPs atPs, EnginePs nowPs)
{
    Push(CONTROL_MESSAGE, atPs, message, nowPs);
}

/// Schedule the start of a message of the table, or the end of a task.
void
MessageTable::ScheduleItem(uint32_t item, EnginePs nowPs)
{
    if (!m_graph.IsTask(item))
    {
        Schedule(item, m_messages[item].startPs, nowPs);
        return;
    }
    const Task& task = m_graph.TaskOf(item);
    Push(CONTROL_TASK, task.startPs + task.durationPs, item, nowPs);
}

/// @return whether hosts have work with a message: not with those of a transport's own
bool
MessageTable::CostsHosts(uint32_t message) const
{
    return !m_hosts.AreFree() && message < m_graph.NumMessages() && m_messages[message].bytes > 0;
}

HostMessage
MessageTable::ForHosts(uint32_t message) const
{
    const Message& its = m_messages[message];
    return {message, its.src, its.dst, its.transport, its.bytes};
}

bool
MessageTable::IsReady(uint32_t message, EnginePs nowPs)
{
    if (!CostsHosts(message)) [[likely]]
    {
        return true;
    }
    const WorldPs now = m_world.WorldOf(nowPs);
    const WorldPs readyPs = m_hosts.Start(ForHosts(message), now);
    if (readyPs > now && readyPs != WorldPs::Never())
    {
        Schedule(message, readyPs, nowPs);
    }
    return readyPs == now;
}

void
MessageTable::Delivered(uint32_t message, EnginePs nowPs)
{
    const WorldPs now = m_world.WorldOf(nowPs);
    End(message, CostsHosts(message) ? m_hosts.Deliver(ForHosts(message), now) : now, nowPs);
}

void
MessageTable::End(uint32_t message, WorldPs receiverEndPs, EnginePs nowPs)
{
    m_messages[message].receiverEndPs = receiverEndPs;
    if (message < m_decides.size() && m_decides[message])
    {
        Push(CONTROL_ARRIVED, receiverEndPs, message, nowPs);
    }
    ReleaseMessage(message, false, receiverEndPs, nowPs);
}

void
MessageTable::Acknowledged(uint32_t message, EnginePs nowPs)
{
    NS_ASSERT_MSG(m_messages[message].receiverEndPs ||
                      EngineOf(m_messages[message].dst) != m_engine,
                  "a message is acknowledged only after it is delivered");
    if (!CostsHosts(message)) [[likely]]
    {
        EndAtSender(message, m_world.WorldOf(nowPs), nowPs);
        return;
    }
    if (EndsAtReceiver(message))
    {
        EndAtSender(message, *m_messages[message].receiverEndPs, nowPs);
        return;
    }
    const auto completed = m_hosts.Complete(ForHosts(message), m_world.WorldOf(nowPs));
    EndAtSender(message, completed.endPs, nowPs);
    if (completed.next)
    {
        Schedule(*completed.next, completed.endPs, nowPs);
    }
}

void
MessageTable::EndAtSender(uint32_t message, WorldPs senderEndPs, EnginePs nowPs)
{
    NS_ASSERT_MSG(!m_messages[message].senderEndPs, "a message is done once");
    m_messages[message].senderEndPs = senderEndPs;
    m_done++;
    m_left--;
    ReleaseMessage(message, true, senderEndPs, nowPs);
}

void
MessageTable::PassPoint(uint32_t message, EnginePs nowPs)
{
    Delivered(message, nowPs);
    Acknowledged(message, nowPs);
}

uint32_t
MessageTable::EngineOf(uint32_t host) const
{
    return m_network.nodes[m_network.hosts[host].node].engine;
}

/// @return engine of the host at which an item starts
uint32_t
MessageTable::EngineOfItem(uint32_t item) const
{
    return m_graph.IsTask(item) ? m_network.nodes[m_graph.TaskOf(item).node].engine
                                : EngineOf(m_messages[item].src);
}

/// @return engine in which an item is done, as its source knows
uint32_t
MessageTable::EngineOfEnd(uint32_t item) const
{
    return !m_graph.IsTask(item) && EndsAtReceiver(item) ? EngineOf(m_messages[item].dst)
                                                         : EngineOfItem(item);
}

/// Messages that were made at run time have no followers.
void
MessageTable::ReleaseMessage(uint32_t message, bool atSender, WorldPs endPs, EnginePs nowPs)
{
    if (message < m_graph.NumMessages())
    {
        Release(message, atSender, endPs, nowPs);
    }
}

void
MessageTable::EndTask(uint32_t item, EnginePs nowPs)
{
    m_graph.EndTask(item);
    m_tasksDone++;
    m_left--;
    if (const Task& task = m_graph.TaskOf(item); task.decides)
    {
        m_decided.push_back(task.id);
    }
    Release(item, false, m_world.WorldOf(nowPs), nowPs);
}

/// An end is known, now or later; what waited for it and for nothing else is scheduled.
void
MessageTable::Release(uint32_t item, bool atSender, WorldPs endPs, EnginePs nowPs)
{
    m_graph.Release(
        item,
        atSender,
        endPs,
        [this](uint32_t message) -> WorldPs& { return m_messages[message].startPs; },
        [this, nowPs](uint32_t ready) { ScheduleItem(ready, nowPs); },
        [this, item](uint32_t follower, WorldPs knownPs) {
            const uint32_t engine = EngineOfItem(follower);
            if (engine != m_engine)
            {
                m_tell(engine, {follower, item, knownPs});
            }
            return engine == m_engine;
        });
}

void
MessageTable::Fulfil(const Fulfilled& fulfilled, EnginePs nowPs)
{
    const auto startOf = [this](uint32_t message) -> WorldPs& {
        return m_messages[message].startPs;
    };
    if (m_graph.Fulfil(fulfilled.item, fulfilled.after, fulfilled.startPs, startOf))
    {
        ScheduleItem(fulfilled.item, nowPs);
    }
}

uint64_t
MessageTable::LeastTellingPs() const
{
    uint64_t leastPs = NEVER_PS;
    m_graph.ForEachFollower([&](uint32_t item, bool atSender, uint32_t other, uint64_t delayPs) {
        const bool atEnd = atSender || m_graph.IsTask(item) || m_messages[item].bytes == 0;
        const uint32_t known = atEnd ? EngineOfEnd(item) : EngineOf(m_messages[item].dst);
        if (EngineOfItem(other) != known)
        {
            leastPs = std::min(leastPs, delayPs);
        }
    });
    return leastPs;
}

uint64_t
MessageTable::MemoryBytes() const
{
    return m_size * (sizeof(Message) + sizeof(uint32_t)) + m_graph.MemoryBytes();
}

} // namespace fabric
} // namespace ns3
