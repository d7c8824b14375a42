// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TYPE_REFERENCE_H
#define FABRIC_TYPE_REFERENCE_H

#include "ns3/abort.h"
#include "ns3/object-factory.h"

#include <sstream>
#include <string>

namespace ns3
{
namespace fabric
{

/**
 * Make the object that a string attribute names, in ns-3's factory notation:
 * "ns3::PermutedEntropy" or "ns3::PermutedEntropy[Paths=64]".
 *
 * @tparam T contract that the type must fulfil
 * @param text value of the attribute
 * @param where type and attribute, for the message
 */
template <typename T>
Ptr<T>
CreateReferenced(const std::string& text, const std::string& where)
{
    const std::string name = text.substr(0, text.find('['));
    TypeId tid;
    NS_ABORT_MSG_IF(!TypeId::LookupByNameFailSafe(name, &tid),
                    where << ": there is no type '" << name << "'");
    NS_ABORT_MSG_IF(!tid.IsChildOf(T::GetTypeId()) || !tid.HasConstructor(),
                    where << ": '" << name << "' is not a " << T::GetTypeId().GetName());
    ObjectFactory factory;
    std::istringstream stream(text);
    stream >> factory;
    return factory.Create<T>();
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TYPE_REFERENCE_H
