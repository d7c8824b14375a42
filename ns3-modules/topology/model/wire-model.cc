// SPDX-License-Identifier: GPL-2.0-only

#include "wire-model.h"

#include "ns3/uinteger.h"

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(Wire);

TypeId
Wire::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Wire")
            .SetParent<Section>()
            .SetGroupName("Fabric")
            .AddConstructor<Wire>()
            .AddAttribute("FramingBytes",
                          "Preamble, start delimiter and gap of each frame, which take time on the "
                          "wire and no buffer",
                          UintegerValue(20),
                          MakeUintegerAccessor(&WireModel::framingBytes),
                          MakeUintegerChecker<uint64_t>());
    return tid;
}

} // namespace fabric
} // namespace ns3
