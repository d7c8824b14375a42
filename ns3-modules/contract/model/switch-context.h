// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SWITCH_CONTEXT_H
#define FABRIC_SWITCH_CONTEXT_H

#include "ns3/engine-state.h"
#include "ns3/random-cursor.h"

#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief What plug-ins of switches and links may know: clock, ports, queues, routes, draws.
 *
 * Nothing can be changed through it. It lives as long as the run.
 */
class SwitchContext
{
  public:
    explicit SwitchContext(const EngineState& state);

    uint64_t NowPs() const
    {
        return *m_nowPs;
    }

    const Port& GetPort(PortId port) const
    {
        return m_ports[port];
    }

    const NodeState& GetNode(uint32_t node) const
    {
        return m_nodes[node];
    }

    uint32_t NumNodes() const;
    uint32_t NumHosts() const;
    PortId NumPorts() const;
    /// @return routes in force; another object after a change
    const Routing& Routes() const;
    uint32_t NumMessages() const; ///< Of all hosts, by the order of their ids
    const Message& GetMessage(uint32_t message) const;

    /// @return hash of the header fields of a message, as switches see them
    uint32_t TupleOf(uint32_t message) const
    {
        return m_tuples[message];
    }

    /// @return the ports of a host that are nearest to another, by the routes in force
    std::vector<PortId> NearestPorts(uint32_t host, uint32_t dst) const;
    /// @return host that a frame comes from (dense index)
    uint32_t SourceOf(const Frame& frame) const;

    /// @return bytes waiting in one class of an egress [byte]
    uint64_t QueuedBytes(PortId port, uint32_t queueClass) const;
    /// @return what an egress has put on its wire until now, with framing [byte]
    uint64_t SentBytes(PortId port) const;
    /// @return size of the frame that leaves a class of an egress next, 0 if there is none [byte]
    uint32_t HeadBytes(PortId port, uint32_t queueClass) const;
    /// @return buffer of the switch, none if it is unlimited [byte]
    std::optional<uint64_t> BufferBytes(uint32_t node) const;
    /// @return buffer of the switch that is free; it has one [byte]
    uint64_t FreeBytes(uint32_t node) const;

    /// @return rate of this port's link now [bit/s]
    uint64_t RateBps(PortId port) const;
    /// @return propagation delay of this port's link [ps]
    uint64_t DelayPs(PortId port) const;
    /// @return time from the last bit in to the egress queue at the owner of a port [ps]
    uint64_t ProcessingDelayPs(PortId port) const;
    /// @return time to put a frame on the wire of this port [ps]
    uint64_t SerialisationPs(PortId port, uint32_t frameBytes) const;
    /// @return what a frame takes of the wire beyond its size [byte]
    uint64_t FramingBytes() const;
    /// @return largest frame that a transport of the scenario sends all the time [byte]
    uint32_t LargestFrameBytes() const;
    /// @return node id at the other end, and index among parallel links
    std::pair<int64_t, uint32_t> PeerOf(PortId port) const;

    /// @return least of the rates on the path from a port to a destination, by the routes in force;
    /// paths that run side by side add up [bit/s]
    double CapacityBps(PortId port, uint32_t dst) const;
    /// @return the same of what the messages leave that are admitted to a rate on listed paths
    double FreeBps(PortId port, uint32_t dst) const;
    /// @return egress that the table "routes" names for a message (or its answers) at a node,
    /// NO_PORT if it names none
    PortId ListedRoute(uint32_t message, bool reverse, uint32_t node) const;

    /// @return the same context for another plug-in of a kind at each port: its draws are its own
    SwitchContext Another(uint32_t number) const;

    RandomCursor CursorOfNode(uint32_t node, RandomUse use) const; ///< From the first draw on
    RandomCursor CursorOfPort(PortId port, RandomUse use) const;   ///< From the first draw on

  private:
    const EngineState& m_state;
    const uint64_t* m_nowPs;
    const Port* m_ports;
    const NodeState* m_nodes;
    const uint32_t* m_tuples;
    uint32_t m_number{0}; ///< Of a plug-in among those of its kind at a port
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_SWITCH_CONTEXT_H
