// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FORWARDING_POLICY_H
#define FABRIC_FORWARDING_POLICY_H

#include "frame.h"

#include "ns3/object.h"

namespace ns3
{
namespace fabric
{

class Fabric;

/**
 * @ingroup fabric
 * @brief Contract: which of several equally short ways a switch takes.
 *
 * One object serves all switches; state per switch or group lies in arrays of its own. It is
 * asked only where a group has at least two members.
 */
class ForwardingPolicy : public Object
{
  public:
    static TypeId GetTypeId();

    /// Called when nodes, ports and groups exist, and again whenever the groups have changed.
    virtual void Attach(Fabric& fabric) = 0;

    /**
     * Choose one member of a group.
     * @param node switch that forwards
     * @param group index of the group, unique over all switches
     * @param frame frame to forward
     * @param members ports of the group, in order of peer and parallel index
     * @param n number of members, at least 2
     * @return index into `members`
     */
    virtual uint32_t Select(uint32_t node,
                            uint32_t group,
                            const Frame& frame,
                            const PortId* members,
                            uint32_t n) = 0;

    /// @return whether the choice depends on queues, so that it must be made when the frame is
    /// forwarded and not a few events earlier, while its memory is fetched
    virtual bool LooksAtQueues() const;

    /// @return whether frames of one message and entropy always take the same way
    virtual bool KeepsFlowOnOnePath() const = 0;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FORWARDING_POLICY_H
