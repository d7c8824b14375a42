// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_POSITIVE_TIME_H
#define FABRIC_POSITIVE_TIME_H

#include "ns3/abort.h"
#include "ns3/nstime.h"

#include <string>

namespace ns3
{
namespace fabric
{

/**
 * @param time value of an attribute
 * @param name its type and name, for the message
 * @return the time; aborts if it is not above 0 [ps]
 */
inline uint64_t
PositivePs(const Time& time, const std::string& name)
{
    NS_ABORT_MSG_IF(!time.IsStrictlyPositive(), name << " is " << time << "; it must be above 0");
    return static_cast<uint64_t>(time.GetPicoSeconds());
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_POSITIVE_TIME_H
