// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_ROUTE_TABLE_H
#define FABRIC_ROUTE_TABLE_H

#include "fabric-network.h"
#include "routing.h"

#include "ns3/clocks.h"
#include "ns3/event-queue.h"

#include <memory>
#include <unordered_map>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @brief The routes of a run: those of the network as built, those in force, those listed.
 */
class RouteTable
{
  public:
    /// @param nominal routes of the network as built; null: they are found
    RouteTable(const FabricNetwork& network,
               EventQueue& queue,
               const WorldClock& world,
               std::shared_ptr<const Routing> nominal);

    /// @return the routes of the network as built, for another engine of the run
    std::shared_ptr<const Routing> ShareNominal() const
    {
        return m_nominal;
    }

    const Routing& Nominal() const
    {
        return *m_nominal;
    }

    const Routing& InForce() const
    {
        return *m_inForce;
    }

    void Follow(); ///< Routes take notice of which links are avoided

    /// Take the table "routes", and schedule what holds from a later time on. Messages are in the
    /// order of their ids.
    void List(const std::vector<RouteRow>& rows, const std::vector<FlowRow>& flows);
    /// From some time on, a message leaves a node by a port.
    void Schedule(uint32_t message,
                  const RouteRow& row,
                  uint32_t node,
                  PortId port,
                  EnginePs nowPs);
    void Take(uint32_t change); ///< A route that was scheduled comes into force
    /// Messages that are admitted to a rate leave the rest of the links that are listed for them
    /// from the start.
    void Reserve(const std::vector<RouteRow>& rows,
                 const std::vector<FlowRow>& flows,
                 const Message* messages);
    /// @return egress that is listed for a message at a node, NO_PORT if none is
    PortId Listed(uint32_t message, bool reverse, uint32_t node) const;

    /// @return links from a port of a host to another host by these routes, FAR if there is no path
    uint32_t DistanceFrom(PortId port, uint32_t dst, const Routing& routing) const;
    /// @return whether a port of a host is one of its nearest to another host, by routes in force
    bool IsNearest(PortId port, uint32_t dst) const;
    /// @return the ports of a host that are nearest to another by these routes
    std::vector<PortId> NearestPorts(uint32_t host, uint32_t dst, const Routing& routing) const;

    /// @return the same in the network as built
    std::vector<PortId> NearestPorts(uint32_t host, uint32_t dst) const
    {
        return NearestPorts(host, dst, *m_nominal);
    }

    /// @return least of the rates from an egress on to a host; parallel paths add up, and cables
    /// between the same two nodes share what is behind them by their rates [bit/s]
    double CapacityBps(PortId port, uint32_t dst) const;
    /// @return the same of what is not reserved
    double FreeBps(PortId port, uint32_t dst) const;

    uint64_t MemoryBytes() const; ///< Of what no other engine has found

  private:
    using Capacities = std::unordered_map<uint64_t, double>; ///< By node and class [bit/s]

    /// A route that holds from some time on.
    struct Later
    {
        uint64_t key; ///< Of m_listed
        PortId port;
    };

    double Own(PortId port, const Capacities& known) const;
    double Together(PortId port, const Capacities& known) const;
    double OfPort(PortId port, uint32_t dst, Capacities& known) const;
    double OfNode(uint32_t node, uint32_t dst, Capacities& known) const;

    const FabricNetwork& m_network;
    EventQueue& m_queue;
    const WorldClock& m_world;
    const bool m_isFirst; ///< It has found the nominal routes, which others share
    std::shared_ptr<const Routing> m_nominal;
    std::unique_ptr<Routing> m_new; ///< After a change
    const Routing* m_inForce;
    std::unordered_map<uint64_t, PortId> m_listed;    ///< By message, direction and node
    std::vector<Later> m_later;                       ///< Those that were scheduled
    std::unordered_map<PortId, double> m_reservedBps; ///< Of what is listed and admitted [bit/s]
    mutable Capacities m_capacityBps;
    mutable Capacities m_freeBps;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_ROUTE_TABLE_H
