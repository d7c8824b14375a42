// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EVENT_LANES_H
#define FABRIC_EVENT_LANES_H

#include "wires.h"

#include <map>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Gives lanes of the event queue to the delays that most events wait for.
 */
class EventLanes
{
  public:
    EventLanes(EngineState& state, const Wires& wires, Boundary* boundary);

    void Build(const std::vector<Transport::Traits>& transports); ///< How transports cut messages

  private:
    using Lists = std::map<uint64_t, uint32_t>; ///< Of delays that have lanes

    uint32_t EngineOf(PortId port) const;
    PortId FirstToHearOfOthers(const NodeState& node) const;
    bool HearsInOrder() const;
    bool BuildLinkLanes(const Lists& listOf, bool isOrdered);
    bool IsLong(PortId port) const;
    void ExpectGaps();
    void BuildFrameLanes(const std::vector<Transport::Traits>& transports);

    EngineState& m_state;
    Port* m_ports; ///< Of the network
    const Wires& m_wires;
    Boundary* m_boundary; ///< Null: the engine is alone
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EVENT_LANES_H
