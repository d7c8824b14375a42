// SPDX-License-Identifier: GPL-2.0-only

#include "switch-model.h"

#include "ns3/uinteger.h"

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(SwitchClass);
NS_OBJECT_ENSURE_REGISTERED(Switch);

TypeId
SwitchClass::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::SwitchClass")
            .SetParent<Section>()
            .SetGroupName("Fabric")
            .AddConstructor<SwitchClass>()
            .AddAttribute("BufferBytes",
                          "Packet memory of each switch, which all its ports share; none takes "
                          "every frame",
                          OptionalUintegerValue(),
                          MakeOptionalUintegerAccessor(&SwitchModel::bufferBytes),
                          MakeOptionalUintegerChecker(1),
                          TypeId::SupportLevel::SUPPORTED,
                          REQUIRED)
            .AddAttribute("ProcessingDelayPs",
                          "From the last bit of a frame in to the earliest first bit out",
                          UintegerValue(0),
                          MakeUintegerAccessor(&SwitchModel::processingDelayPs),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("CutThroughBytes",
                          "A frame is forwarded once this much of it is in, at most a full frame; "
                          "all of it if the switch has a port faster than that by which it comes; "
                          "none is store and forward",
                          OptionalUintegerValue(),
                          MakeOptionalUintegerAccessor(&SwitchModel::cutThroughBytes),
                          MakeOptionalUintegerChecker(1));
    return tid;
}

TypeId
Switch::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Switch")
            .SetParent<SwitchClass>()
            .SetGroupName("Fabric")
            .AddConstructor<Switch>()
            .AddAttribute("ConvergencePs",
                          "From the failure or return of a link to routes that know of it; what is "
                          "over sooner is not noticed",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RouteModel::convergencePs),
                          MakeUintegerChecker<uint64_t>());
    return tid;
}

} // namespace fabric
} // namespace ns3
