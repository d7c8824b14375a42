// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_ISLANDS_H
#define FABRIC_ISLANDS_H

#include "ns3/frame.h"

#include <cstdint>
#include <vector>

namespace ns3
{
namespace fabric
{

class Fabric;

/// Switches that links join, and the ports of hosts that lead to them.
struct Island
{
    std::vector<uint32_t> hosts;    ///< Dense indices, rising
    std::vector<uint32_t> switches; ///< Places in the table of nodes, rising
    std::vector<PortId> ports;      ///< Of both, rising
    uint32_t shape{0};              ///< Islands of one shape are alike, port by port
    bool mayReplay{true};           ///< Nothing but the messages decides what happens here

    uint32_t PlaceOfHost(uint32_t host) const; ///< @return its place among the hosts
};

/**
 * @ingroup fabric
 * @brief Parts of a network that no frame connects: hosts do not forward.
 *
 * What happens on an island depends on its messages alone if no frame has a choice of paths there,
 * every host has one port and one transport to it, and messages go at whatever rate they may.
 */
class Islands
{
  public:
    static constexpr uint32_t NOWHERE = 0xffffffff;

    explicit Islands(const Fabric& fabric);

    uint32_t Size() const
    {
        return static_cast<uint32_t>(m_islands.size());
    }

    const Island& operator[](uint32_t island) const
    {
        return m_islands[island];
    }

    /// @return island on which all frames of a message stay; NOWHERE: it is none that may replay
    uint32_t Of(uint32_t message) const
    {
        return m_ofMessage[message];
    }

    uint32_t NumShapes() const
    {
        return m_shapes;
    }

  private:
    void Join();
    void AddPorts();
    void FindChoices();
    void PlaceMessages();
    void FindShapes();
    uint32_t IslandOfPort(PortId port) const;

    const Fabric& m_fabric;
    std::vector<Island> m_islands;
    std::vector<uint32_t> m_ofNode; ///< Of each switch
    std::vector<uint32_t> m_ofMessage;
    uint32_t m_shapes{0};
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_ISLANDS_H
