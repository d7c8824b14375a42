// SPDX-License-Identifier: GPL-2.0-only

#include "host-model.h"

#include "ns3/uinteger.h"

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(Host);

namespace
{

constexpr uint64_t HOUR_PS = 3'600'000'000'000'000;

struct TimeOption
{
    const char* name;
    const char* help;
    uint64_t HostModel::*member;
};

struct LimitOption
{
    const char* name;
    const char* help;
    std::optional<uint64_t> HostModel::*member;
    uint64_t max;
};

constexpr TimeOption TIMES[] = {
    {"MessageTimePs",
     "The sending host is busy so long with each message, one after the other: it writes the work "
     "request and rings the doorbell",
     &HostModel::messageTimePs},
    {"RequestTimePs",
     "The network interface of the sending host is busy so long with each message, one after the "
     "other, before its first frame",
     &HostModel::requestTimePs},
    {"SendDelayPs",
     "From there to the first frame: the interface fetches work request and data",
     &HostModel::sendDelayPs},
    {"DeliveryTimePs",
     "The receiving host is busy so long with each message, one after the other",
     &HostModel::deliveryTimePs},
    {"DeliveryDelayPs",
     "From the last byte at the interface of the destination until the application there has the "
     "message",
     &HostModel::deliveryDelayPs},
    {"CompletionDelayPs",
     "From the last acknowledgement until the application at the source knows",
     &HostModel::completionDelayPs},
    {"MissTimePs",
     "An interface is busy so long with loading a connection that it has not kept",
     &HostModel::missTimePs},
};

constexpr LimitOption LIMITS[] = {
    {"Connections",
     "Peers whose connections an interface keeps, those that it has used last; none keeps all "
     "after their first use",
     &HostModel::connections,
     1'000'000},
    {"Outstanding",
     "Messages from a host to another that are under way at once, further ones wait; none sets no "
     "limit",
     &HostModel::outstanding,
     1'000'000},
    {"BusRateBps",
     "Rate at which payload moves between memory and interface, one message after the other at "
     "each end; none sets no limit",
     &HostModel::busRateBps,
     1'000'000'000'000'000},
};

TypeId
MakeTypeId()
{
    TypeId tid =
        TypeId("ns3::Host").SetParent<Section>().SetGroupName("Fabric").AddConstructor<Host>();
    for (const auto& [name, help, member] : TIMES)
    {
        tid.AddAttribute(name,
                         help,
                         UintegerValue(0),
                         MakeUintegerAccessor(member),
                         MakeUintegerChecker<uint64_t>(0, HOUR_PS));
    }
    for (const auto& [name, help, member, max] : LIMITS)
    {
        tid.AddAttribute(name,
                         help,
                         OptionalUintegerValue(),
                         MakeOptionalUintegerAccessor(member),
                         MakeOptionalUintegerChecker(1, max));
    }
    return tid;
}

} // namespace

TypeId
Host::GetTypeId()
{
    static TypeId tid = MakeTypeId();
    return tid;
}

} // namespace fabric
} // namespace ns3
