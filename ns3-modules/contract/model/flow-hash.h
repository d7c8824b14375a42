// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FLOW_HASH_H
#define FABRIC_FLOW_HASH_H

#include "switch-context.h"

namespace ns3
{
namespace fabric
{

/**
 * @ingroup fabric
 * Hash what a switch sees of a frame. Every switch has a salt of its own, so there is no hash
 * polarisation between tiers.
 * @return 64 bits that depend on the header fields, the direction, the entropy and the switch alone
 */
inline uint64_t
FlowHash(const SwitchContext& context, uint32_t node, const Frame& frame)
{
    const uint64_t header = (uint64_t{context.TupleOf(frame.message)} << 32) |
                            (uint64_t{frame.entropy} << 8) | (frame.flags & frame_flag::REVERSE);
    return Mix64(Mix64(header) ^ context.GetNode(node).salt);
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FLOW_HASH_H
