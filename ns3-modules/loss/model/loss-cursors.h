// SPDX-License-Identifier: GPL-2.0-only

#ifndef LOSS_CURSORS_H
#define LOSS_CURSORS_H

#include "ns3/switch-view.h"

#include <vector>

/**
 * @defgroup loss Losses on wires
 * @brief What becomes of frames on the links of a class.
 */

namespace ns3
{

/// @return a place in the random stream of the losses of each direction, by receiving port
inline std::vector<fabric::RandomCursor>
LossCursors(const fabric::SwitchView& view)
{
    std::vector<fabric::RandomCursor> cursors;
    for (fabric::PortId port = 0; port < view.NumPorts(); port++)
    {
        cursors.push_back(view.CursorOfPort(port, fabric::RandomUse::LOSS_MODEL));
    }
    return cursors;
}

} // namespace ns3

#endif // LOSS_CURSORS_H
