// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FORWARDING_POLICY_H
#define FABRIC_FORWARDING_POLICY_H

#include "plugin.h"
#include "switch-context.h"

namespace ns3
{
namespace fabric
{

/// What a switch decides on: one frame and the ports that lead nearer to its destination.
struct ForwardingChoice
{
    uint32_t node;         ///< Switch that forwards
    uint32_t group;        ///< Index of the group, unique over all switches and until routes change
    const PortId* members; ///< Ports of the group, in order of peer and parallel index
    uint32_t n;            ///< Number of members, at least 2
};

/**
 * @ingroup fabric
 * @brief Contract: which of several equal-cost paths a switch takes.
 *
 * One object serves all switches of a class; state per switch or group lies in arrays of its own.
 * It is asked only where a group has at least two members, unless it has routes of its own.
 */
class ForwardingPolicy : public Plugin
{
  public:
    /// What a choice depends on, beside the routes.
    enum class Sees
    {
        FRAME,  ///< The frame alone: the choice may be made at any time before
        TURN,   ///< Also the frames that were forwarded before it
        QUEUES, ///< Also queues or the clock: it must be made when the frame is forwarded
    };

    /// What does not change once the attributes are set.
    struct Traits
    {
        Sees sees{Sees::QUEUES};
        bool keepsFlowOnOnePath{false};      ///< Of frames of one message and entropy
        bool hasOwnRoutes{false};            ///< Route is to be asked first, for every frame
        bool keepsOrder{keepsFlowOnOnePath}; ///< Of frames of one message and entropy: they leave
                                             ///< one path for another after a pause alone
        bool hashesEntropy{false}; ///< Members get entropies as if drawn: some several, some none
    };

    static TypeId GetTypeId();

    virtual Traits GetTraits() const
    {
        return {};
    }

    virtual void Attach(SwitchContext& context) = 0; ///< Called once, when ports and routes exist
    virtual void OnRoutesChanged();                  ///< Groups have been numbered anew

    /// @return index into `choice.members`
    virtual uint32_t Select(const ForwardingChoice& choice, const Frame& frame) = 0;

    /// @return egress of a frame whatever the shortest paths are; NO_PORT: choose among these
    virtual PortId Route(uint32_t node, const Frame& frame);
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FORWARDING_POLICY_H
