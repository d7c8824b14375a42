// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_SPRAY_CURSORS_H
#define FABRIC_SPRAY_CURSORS_H

#include "switch-context.h"

#include <vector>

namespace ns3
{
namespace fabric
{

/// @return a place in the random stream of each node's choices, which new routes leave as it is
inline std::vector<RandomCursor>
SprayCursors(const SwitchContext& context)
{
    std::vector<RandomCursor> cursors;
    for (uint32_t node = 0; node < context.NumNodes(); node++)
    {
        cursors.push_back(context.CursorOfNode(node, RandomUse::SWITCH_SPRAY));
    }
    return cursors;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_SPRAY_CURSORS_H
