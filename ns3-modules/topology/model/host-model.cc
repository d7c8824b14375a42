// SPDX-License-Identifier: GPL-2.0-only

#include "host-model.h"

#include "ns3/uinteger.h"

#include <algorithm>

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
     "The network interface of the sending host is busy so long with each work request, one after "
     "the other, before the first frame of its payload",
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
    {"BusRoundTripPs",
     "From asking memory for payload, or sending it there, until the credit may be used again",
     &HostModel::busRoundTripPs},
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
    {"BusCreditBytes",
     "Payload that an interface may have asked memory for, or sent there, at once: it moves no "
     "faster than this in each BusRoundTrip; none sets no limit",
     &HostModel::busCreditBytes,
     1'000'000'000},
    {"RequestSizeBytes",
     "Payload of a work request: a longer message has several; none sets no limit",
     &HostModel::requestSizeBytes,
     1'000'000'000'000},
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

uint64_t
MovePs(uint64_t bytes, const std::optional<uint64_t>& rateBps)
{
    constexpr __uint128_t BIT_PS = 8'000'000'000'000; // of a byte at 1 bit/s
    return rateBps ? static_cast<uint64_t>((BIT_PS * bytes + *rateBps - 1) / *rateBps) : 0;
}

uint64_t
HostModel::BusPs(uint64_t bytes) const
{
    const uint64_t ratePs = MovePs(bytes, busRateBps);
    if (!busCreditBytes)
    {
        return ratePs;
    }
    const auto product = static_cast<__uint128_t>(bytes) * busRoundTripPs;
    const auto creditPs = static_cast<uint64_t>((product + *busCreditBytes - 1) / *busCreditBytes);
    return std::max(ratePs, creditPs);
}

uint64_t
HostModel::Requests(uint64_t bytes) const
{
    return requestSizeBytes ? std::max<uint64_t>(1, (bytes + *requestSizeBytes - 1) /
                                                        *requestSizeBytes)
                            : 1;
}

TypeId
Host::GetTypeId()
{
    static TypeId tid = MakeTypeId();
    return tid;
}

} // namespace fabric
} // namespace ns3
