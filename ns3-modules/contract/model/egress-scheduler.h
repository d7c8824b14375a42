// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_EGRESS_SCHEDULER_H
#define FABRIC_EGRESS_SCHEDULER_H

#include "plugin.h"
#include "switch-context.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Contract: which class of a switch's egress goes next. Without one: strict priority.
 *
 * One object serves all ports of the switches of a class; state per port lies in arrays of its
 * own. Frames of link control go before everything and are not asked about.
 */
class EgressScheduler : public Plugin
{
  public:
    /// The class to serve now, or the time at which to ask again.
    struct Choice
    {
        uint32_t queueClass;     ///< One that is ready, NONE: none may go yet
        uint64_t notBeforePs{0}; ///< With NONE: when one may; a frame that comes asks earlier [ps]
    };

    static constexpr uint32_t NONE = 0xffffffff;

    static TypeId GetTypeId();

    /**
     * Abort, as Check does, if an attribute names a class that the links do not have.
     * @param classes of the links: 0 to classes - 1
     * @param control type of the flow control that says so
     */
    virtual void CheckClasses(uint32_t classes, const std::string& control) const;

    virtual void Attach(SwitchContext& context) = 0; ///< Called once, when the ports exist

    /**
     * @param port egress port
     * @param ready bit per class that has frames and is not held back, at least one
     */
    virtual Choice Next(PortId port, uint32_t ready) = 0;

    /// A frame of a class leaves by this port; `wireBytes` with framing [byte].
    virtual void Sent(PortId port, uint32_t queueClass, uint64_t wireBytes) = 0;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_EGRESS_SCHEDULER_H
