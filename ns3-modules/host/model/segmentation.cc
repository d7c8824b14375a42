// SPDX-License-Identifier: GPL-2.0-only

#include "segmentation.h"

#include "ns3/abort.h"

#include <cstdlib>

namespace ns3
{
namespace fabric
{

void
Segmentation::FailTooMany(uint64_t bytes) const
{
    NS_ABORT_MSG("a message of " << bytes << " bytes has more than " << MAX_PACKETS
                                 << " packets of MtuBytes = " << mtuBytes
                                 << "; make MtuBytes larger or the message smaller");
    std::abort(); // not reached
}

} // namespace fabric
} // namespace ns3
