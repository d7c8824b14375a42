// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_WIRE_LOSS_H
#define FABRIC_WIRE_LOSS_H

#include "plugin.h"
#include "switch-context.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * @brief Contract: what becomes of a frame on the wire.
 *
 * One object serves all links of a class; state per direction lies in arrays of its own, addressed
 * by the port that receives. Link control is never lost (docs/limitations.md).
 */
class LossModel : public Plugin
{
  public:
    /// What becomes of a frame.
    enum class Fate
    {
        ARRIVES,
        LOST,    ///< Counted in lostFrames
        CORRUPT, ///< Came with a bit error, counted in corruptFrames
    };

    static TypeId GetTypeId();

    virtual void Attach(SwitchContext& context) = 0; ///< Called once, when the ports exist
    virtual Fate Judge(PortId receiver, const Frame& frame) = 0; ///< Once per frame, in their order
};

} // namespace fabric
} // namespace ns3

#endif // FABRIC_WIRE_LOSS_H
