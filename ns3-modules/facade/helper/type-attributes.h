// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TYPE_ATTRIBUTES_H
#define FABRIC_TYPE_ATTRIBUTES_H

#include "ns3/type-id.h"

#include <vector>

namespace ns3
{
namespace fabric
{

/// @return attributes of a type: its own, then those that it inherits
inline std::vector<TypeId::AttributeInformation>
AttributesOf(TypeId tid)
{
    std::vector<TypeId::AttributeInformation> found;
    for (bool more = true; more; tid = tid.GetParent())
    {
        for (size_t i = 0; i < tid.GetAttributeN(); i++)
        {
            found.push_back(tid.GetAttribute(i));
        }
        more = tid.HasParent();
    }
    return found;
}

} // namespace fabric
} // namespace ns3

#endif // FABRIC_TYPE_ATTRIBUTES_H
