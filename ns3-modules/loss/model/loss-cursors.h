// SPDX-License-Identifier: GPL-2.0-only

#ifndef LOSS_CURSORS_H
#define LOSS_CURSORS_H

#include "ns3/switch-context.h"

#include <vector>

/**
 * @defgroup loss Losses on wires
 * @brief What becomes of frames on the links of a class.
 */

namespace ns3
{

/// @return a place in the random stream of the losses of each direction, by receiving port
inline std::vector<fabric::RandomCursor>
LossCursors(const fabric::SwitchContext& context)
{
    std::vector<fabric::RandomCursor> cursors;
    for (fabric::PortId port = 0; port < context.NumPorts(); port++)
    {
        cursors.push_back(context.CursorOfPort(port, fabric::RandomUse::LOSS_MODEL));
    }
    return cursors;
}

} // namespace ns3

#endif // LOSS_CURSORS_H
