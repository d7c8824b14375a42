// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_HOST_COSTS_H
#define FABRIC_HOST_COSTS_H

#include "host-model.h"

#include "ns3/clocks.h"

#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace fabric
{

/// A message, as far as it matters to the hosts at its ends.
struct HostMessage
{
    uint32_t index;
    uint32_t src;
    uint32_t dst;
    uint32_t transport;
    uint64_t bytes;
};

/**
 * @ingroup fabric
 * @brief What messages cost the hosts at their ends: when transports get them, and when
 * applications know that they have arrived.
 *
 * At its source a message waits for a place among those of its connection (Outstanding), is then
 * posted by the host (MessageTime), taken by the network interface (MissTime, RequestTime) and read
 * from memory (SendDelay, BusRate, BusCredit); each of these serves one message at a time, in the
 * order in which they come. With a bus slower than the ports it begins so late that its last byte
 * is sent when it is read, and with several work requests (RequestSize) so late that the last one
 * is taken in time. At its destination it is written to memory (BusRate), its connection is loaded
 * if it was not kept (MissTime), and the host takes it (DeliveryTime, DeliveryDelay). Each
 * transport has interfaces of its own.
 *
 * What is asked of one host comes in the order of time, so that no event is needed but one for each
 * message that has to wait at its source.
 *
 * **Source** our own, after the stages that Kalia, Kaminsky and Andersen measure, "Design
 * Guidelines for High Performance RDMA Systems", USENIX ATC 2016, section 2.
 * **Not modelled** a buffer of the interface that fills while the bus is busy, the order in which
 * frames of several messages share a bus, several cores that post.
 */
class HostCosts
{
  public:
    HostCosts() = default;

    /**
     * @param models by transport; further transports cost nothing
     * @param lineBps by host, the rates of its ports added up [bit/s]
     */
    HostCosts(std::vector<HostModel> models, std::vector<uint64_t> lineBps);

    bool AreFree() const ///< Whether no transport costs anything
    {
        return m_interfaces.empty();
    }

    /**
     * The time of a message has come, or a time that this has returned.
     * @return when its transport gets it, now if at once; Never: when Complete says so
     */
    WorldPs Start(const HostMessage& message, WorldPs nowPs);

    /// The last byte has come. @return when the application at the destination has it
    WorldPs Deliver(const HostMessage& message, WorldPs nowPs);

    /// What follows when the source learns that a message has arrived.
    struct Completed
    {
        WorldPs endPs;                ///< Then the application knows
        std::optional<uint32_t> next; ///< A message that has waited for this, and starts then
    };

    Completed Complete(const HostMessage& message, WorldPs nowPs);

  private:
    /// What a network interface keeps of its peers, the one that it has used last in front.
    class Kept
    {
      public:
        /// @return whether a peer was kept; now it is
        bool Use(uint32_t peer, std::optional<uint64_t> room);

      private:
        std::list<uint32_t> m_order;
        std::unordered_map<uint32_t, std::list<uint32_t>::iterator> m_places;
    };

    /// The messages of a connection that are under way, and those that wait.
    struct Connection
    {
        uint64_t underWay{0};
        std::deque<uint32_t> waiting;
    };

    /// One end of a transport at a host.
    struct Interface
    {
        WorldPs hostFreePs;      ///< For the next message to post
        WorldPs requestFreePs;   ///< For the next work request
        WorldPs readFreePs;      ///< From memory
        std::optional<WorldPs> writtenPs; ///< To memory, the last message
        WorldPs deliveredFreePs; ///< For the next message to take
        Kept kept;
        std::unordered_map<uint32_t, Connection> connections; ///< By destination, with Outstanding
    };

    enum class Stage : uint8_t
    {
        NEW,
        HAS_PLACE,
        POSTED
    };

    const HostModel* ModelOf(uint32_t transport) const;
    Interface& InterfaceOf(uint32_t transport, uint32_t host);
    uint64_t LoadPs(const HostModel& model, Interface& its, uint32_t peer) const;
    uint64_t LatenessPs(const HostModel& model,
                        const HostMessage& message,
                        uint64_t furtherPs) const;

    std::vector<uint64_t> m_lineBps; ///< By host [bit/s]
    std::vector<HostModel> m_models;
    std::vector<Interface> m_interfaces; ///< By transport and host
    std::vector<Stage> m_stages;         ///< By message
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_HOST_COSTS_H
