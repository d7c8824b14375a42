// SPDX-License-Identifier: GPL-2.0-only

#ifndef SPRAY_CURSORS_H
#define SPRAY_CURSORS_H

#include "ns3/switch-view.h"

#include <vector>

namespace ns3
{

/// @return a place in the random stream of each node's choices, which new routes leave as it is
inline std::vector<fabric::RandomCursor>
SprayCursors(const fabric::SwitchView& view)
{
    std::vector<fabric::RandomCursor> cursors;
    for (uint32_t node = 0; node < view.NumNodes(); node++)
    {
        cursors.push_back(view.CursorOfNode(node, fabric::RandomUse::SWITCH_SPRAY));
    }
    return cursors;
}

} // namespace ns3

#endif // SPRAY_CURSORS_H
