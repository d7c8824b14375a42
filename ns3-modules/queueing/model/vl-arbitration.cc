// SPDX-License-Identifier: GPL-2.0-only

#include "vl-arbitration.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <bit>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("VlArbitration");
NS_OBJECT_ENSURE_REGISTERED(VlArbitration);

namespace
{

constexpr uint64_t WEIGHT_UNIT_BYTES = 64;
constexpr uint64_t LIMIT_UNIT_BYTES = 4096;
constexpr uint32_t NO_HIGH_LIMIT = 255;
constexpr uint64_t MOST_WEIGHT = 255;
constexpr size_t MOST_ENTRIES = 64;

void
CheckTable(const ClassValues& table, const std::string& name)
{
    NS_ABORT_MSG_IF(table.Entries().size() > MOST_ENTRIES,
                    name << " has " << table.Entries().size() << " entries, at most "
                         << MOST_ENTRIES << " are allowed");
    for (const auto& [lane, weight] : table.Entries())
    {
        NS_ABORT_MSG_IF(weight > MOST_WEIGHT,
                        name << " gives lane " << lane << " a weight of " << weight << ", at most "
                             << MOST_WEIGHT << " is allowed");
    }
}

} // namespace

TypeId
VlArbitration::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::VlArbitration")
            .SetParent<EgressScheduler>()
            .SetGroupName("Queueing")
            .AddConstructor<VlArbitration>()
            .AddAttribute("HighTable",
                          "High-priority table, as lane:weight,lane:weight; a lane may come again, "
                          "its weight is 0 to 255 [64 byte]",
                          ClassValuesValue(),
                          MakeClassValuesAccessor(&VlArbitration::m_highTable),
                          MakeClassValuesChecker())
            .AddAttribute("LowTable",
                          "Low-priority table, in the same form [64 byte]",
                          ClassValuesValue(),
                          MakeClassValuesAccessor(&VlArbitration::m_lowTable),
                          MakeClassValuesChecker())
            .AddAttribute("HighLimit",
                          "Sent by the high table before the low one may send a frame [4096 byte], "
                          "0 = one frame, 255 = no limit",
                          UintegerValue(NO_HIGH_LIMIT),
                          MakeUintegerAccessor(&VlArbitration::m_highLimit),
                          MakeUintegerChecker<uint32_t>(0, NO_HIGH_LIMIT));
    return tid;
}

void
VlArbitration::Check() const
{
    CheckTable(m_highTable, Name("HighTable"));
    CheckTable(m_lowTable, Name("LowTable"));
}

void
VlArbitration::CheckClasses(uint32_t classes, const std::string& control) const
{
    for (const auto& [table, name] :
         {std::pair{&m_highTable, "HighTable"}, std::pair{&m_lowTable, "LowTable"}})
    {
        for (const auto& [lane, weight] : table->Entries())
        {
            NS_ABORT_MSG_IF(lane >= classes,
                            Name(name) << " names lane " << lane << ", but the links of " << control
                                       << " have lanes 0 to " << classes - 1
                                       << ". Take it out, or add lanes");
        }
    }
}

void
VlArbitration::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_arbiters.assign(context.NumPorts(), {});
}

/// @return entry whose lane goes next, none if no lane of the table is ready
std::optional<size_t>
VlArbitration::Pick(const ClassValues& table, const Place& place, uint32_t ready)
{
    const auto& entries = table.Entries();
    const auto isReady = [&](size_t i) {
        return ((ready >> entries[i].queueClass) & 1) && entries[i].value > 0;
    };
    if (place.left > 0 && isReady(place.entry))
    {
        return place.entry;
    }
    for (size_t step = 1; step <= entries.size(); step++)
    {
        const size_t entry = (place.entry + step) % entries.size();
        if (isReady(entry))
        {
            return entry;
        }
    }
    return std::nullopt;
}

bool
VlArbitration::HighMayGo(const Arbiter& arbiter) const
{
    return m_highLimit == NO_HIGH_LIMIT || arbiter.highBytes == 0 ||
           arbiter.highBytes < m_highLimit * LIMIT_UNIT_BYTES;
}

EgressScheduler::Choice
VlArbitration::Next(PortId port, uint32_t ready)
{
    const Arbiter& arbiter = m_arbiters[port];
    const auto high = Pick(m_highTable, arbiter.high, ready);
    const auto low = Pick(m_lowTable, arbiter.low, ready);
    if (high && (HighMayGo(arbiter) || !low))
    {
        return {m_highTable.Entries()[*high].queueClass};
    }
    if (low)
    {
        return {m_lowTable.Entries()[*low].queueClass};
    }
    return {static_cast<uint32_t>(std::bit_width(ready)) - 1};
}

void
VlArbitration::Sent(PortId port, uint32_t queueClass, uint64_t wireBytes)
{
    // A lane that is in both tables was sent by the one that Next would ask first.
    Arbiter& arbiter = m_arbiters[port];
    const uint32_t lane = 1U << queueClass;
    const auto high = Pick(m_highTable, arbiter.high, lane);
    const auto low = Pick(m_lowTable, arbiter.low, lane);
    const bool fromHigh = high && (HighMayGo(arbiter) || !low);
    if (!fromHigh && !low)
    {
        return;
    }
    Place& place = fromHigh ? arbiter.high : arbiter.low;
    const size_t entry = fromHigh ? *high : *low;
    if (place.entry != entry || place.left <= 0)
    {
        const auto& entries = (fromHigh ? m_highTable : m_lowTable).Entries();
        place = {entry, static_cast<int64_t>(entries[entry].value)};
    }
    place.left -= static_cast<int64_t>((wireBytes + WEIGHT_UNIT_BYTES - 1) / WEIGHT_UNIT_BYTES);
    arbiter.highBytes = fromHigh ? arbiter.highBytes + wireBytes : 0;
}

} // namespace ns3
