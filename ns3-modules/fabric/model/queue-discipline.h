// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_QUEUE_DISCIPLINE_H
#define FABRIC_QUEUE_DISCIPLINE_H

#include "frame.h"

#include "ns3/object.h"

namespace ns3
{
namespace fabric
{

class Fabric;

/**
 * @ingroup fabric
 * @brief Contract: what a switch port does with a frame that wants into its queue or out of it.
 *
 * One object serves all switch ports; state per port lies in arrays of its own. The queue itself
 * (one per priority, first in first out, strict priority) belongs to the fabric.
 */
class QueueDiscipline : public Object
{
  public:
    /// What to do with an arriving frame.
    enum class Verdict
    {
        ADMIT,
        DROP,
        TRIM, ///< Cut to TrimBytes, set TRIMMED and ask again at TrimPriority
    };

    static TypeId GetTypeId();

    /// Called once when the ports exist.
    virtual void Attach(Fabric& fabric) = 0;

    /**
     * Decide on an arriving frame; may mark it.
     * @param port egress port
     * @param frame the frame
     * @param queuedBytes bytes waiting at this priority of the port, without this frame [byte]
     */
    virtual Verdict Admit(PortId port, Frame& frame, uint32_t queuedBytes) = 0;

    /// A frame leaves its queue for the wire; `queuedBytes` stay behind [byte]. May mark it.
    virtual void Depart(PortId port, Frame& frame, uint32_t queuedBytes) = 0;

    /// @return size to which a frame of this priority is trimmed [byte]
    virtual uint32_t TrimBytes(uint8_t priority) const;
    /// @return new priority of a frame of this priority that is trimmed
    virtual uint8_t TrimPriority(uint8_t priority) const;
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_QUEUE_DISCIPLINE_H
