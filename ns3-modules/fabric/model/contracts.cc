// SPDX-License-Identifier: GPL-2.0-only

#include "congestion-control.h"
#include "forwarding-policy.h"
#include "link-flow-control.h"
#include "path-selector.h"
#include "queue-discipline.h"

#include <limits>

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(ForwardingPolicy);
NS_OBJECT_ENSURE_REGISTERED(QueueDiscipline);
NS_OBJECT_ENSURE_REGISTERED(LinkFlowControl);
NS_OBJECT_ENSURE_REGISTERED(PathSelector);
NS_OBJECT_ENSURE_REGISTERED(CongestionControl);

TypeId
ForwardingPolicy::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricForwardingPolicy").SetParent<Object>().SetGroupName("Fabric");
    return tid;
}

bool
ForwardingPolicy::LooksAtQueues() const
{
    return false;
}

TypeId
QueueDiscipline::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricQueueDiscipline").SetParent<Object>().SetGroupName("Fabric");
    return tid;
}

uint32_t
QueueDiscipline::TrimBytes(uint8_t) const
{
    return MIN_FRAME_BYTES;
}

uint8_t
QueueDiscipline::TrimPriority(uint8_t) const
{
    return NUM_PRIORITIES - 1;
}

TypeId
LinkFlowControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricLinkFlowControl").SetParent<Object>().SetGroupName("Fabric");
    return tid;
}

void
LinkFlowControl::Fetch(PortId) const
{
}

WireBytes
LinkFlowControl::MacControl(const Frame&) const
{
    return {};
}

TypeId
PathSelector::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricPathSelector").SetParent<Object>().SetGroupName("Fabric");
    return tid;
}

void
PathSelector::Close(uint32_t)
{
}

void
PathSelector::Feedback(uint32_t, uint16_t, bool, bool)
{
}

int32_t
PathSelector::Constant(Fabric&, uint32_t) const
{
    return -1;
}

TypeId
CongestionControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::FabricCongestionControl").SetParent<Object>().SetGroupName("Fabric");
    return tid;
}

void
CongestionControl::OnSent(uint64_t, uint32_t)
{
}

void
CongestionControl::OnNotification(uint64_t)
{
}

void
CongestionControl::OnLoss(uint64_t, bool)
{
}

uint64_t
CongestionControl::NextUpdatePs() const
{
    return std::numeric_limits<uint64_t>::max();
}

void
CongestionControl::OnUpdate(uint64_t)
{
}

} // namespace fabric
} // namespace ns3
