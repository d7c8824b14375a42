// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_MESSAGE_BOOK_H
#define FABRIC_MESSAGE_BOOK_H

#include "ns3/event-queue.h"
#include "ns3/fabric-network.h"

#include <unordered_map>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief The messages of a run: when they start, what waits for them, when they are done.
 *
 * A message of no bytes is a point in time: it is done when it starts. With dependencies that have
 * delays such points are compute times and joins.
 */
class MessageBook
{
  public:
    /// Events of starting messages go to `queue`.
    MessageBook(const FabricNetwork& network, EventQueue& queue, uint64_t seed);

    /// Take the tables "flows" and "dependencies" and schedule what waits for nothing.
    void Build(const FabricTables& tables);

    /// @return index of a new message, whose start is scheduled
    uint32_t Create(uint32_t src, uint32_t dst, uint64_t bytes, uint64_t startPs, uint64_t nowPs);

    /// @return index of a new message of no bytes that is done: frames beside those of the tables
    uint32_t AddDone(uint32_t src, uint32_t dst, uint64_t nowPs);

    void Delivered(uint32_t message, uint64_t nowPs);    ///< Last byte in order at the destination
    void Acknowledged(uint32_t message, uint64_t nowPs); ///< Known at the source: it is done
    void PassPoint(uint32_t message, uint64_t nowPs);    ///< A message of no bytes has started

    /// @return whether a message has not begun because of others that it waits for
    bool WaitsForOthers(uint32_t message) const
    {
        return message < m_waitsFor.size() && m_waitsFor[message] > 0;
    }

    uint32_t Size() const
    {
        return m_size;
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

    /// @return index of each message of the table, by its id
    const std::unordered_map<int64_t, uint32_t>& Ids() const
    {
        return m_ids;
    }

    uint64_t MemoryBytes() const;

  private:
    /// A message that waits for another, and how long after that it starts.
    struct Follower
    {
        uint32_t message;
        uint64_t delayPs;
    };

    uint32_t AddNew(uint32_t src, uint32_t dst, uint64_t bytes, uint64_t startPs);
    uint32_t Add(const FlowRow& row, uint32_t src, uint32_t dst);
    void BuildDependencies(const std::vector<DependencyRow>& rows);
    void Release(uint32_t message, bool atSender, uint64_t nowPs);
    void Schedule(uint32_t message, uint64_t nowPs);

    static constexpr uint32_t CAPACITY = 1U << 26;
    const FabricNetwork& m_network;
    EventQueue& m_queue;
    uint64_t m_seed;
    ReservedArray<Message> m_messages;
    ReservedArray<uint32_t> m_tuples;
    uint32_t m_size{0};
    uint32_t m_done{0};
    int64_t m_nextId{0};
    std::unordered_map<int64_t, uint32_t> m_ids;
    std::vector<Follower> m_followers;     ///< By message and end: sorted
    std::vector<uint32_t> m_firstFollower; ///< Per message twice: of the receiver, of the sender
    std::vector<uint32_t> m_waitsFor;      ///< Dependencies left of each message
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_MESSAGE_BOOK_H
