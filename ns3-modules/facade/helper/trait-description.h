// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TRAIT_DESCRIPTION_H
#define FABRIC_TRAIT_DESCRIPTION_H

#include <string>

namespace ns3
{

class ObjectFactory;

namespace fabric
{

/**
 * Say what a plug-in is like with its attributes, for those who warn of what goes badly together.
 * @return traits of a forwarding policy or a transport as an object of JSON; no others have any
 */
std::string DescribeTraits(const ObjectFactory& factory);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TRAIT_DESCRIPTION_H
