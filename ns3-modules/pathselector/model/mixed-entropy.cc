// SPDX-License-Identifier: GPL-2.0-only

#include "mixed-entropy.h"

#include "ns3/log.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("MixedEntropy");
NS_OBJECT_ENSURE_REGISTERED(MixedEntropy);

TypeId
MixedEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::MixedEntropy")
                            .SetParent<BitmapEntropy>()
                            .SetGroupName("PathSelector")
                            .AddConstructor<MixedEntropy>();
    return tid;
}

void
MixedEntropy::Open(uint32_t slot, uint32_t message)
{
    NS_LOG_FUNCTION(this << slot << message);
    BitmapEntropy::Open(slot, message);
    m_recycled.Open(slot, {});
}

void
MixedEntropy::Close(uint32_t slot)
{
    BitmapEntropy::Close(slot);
    m_recycled.Close(slot);
}

uint16_t
MixedEntropy::Next(uint32_t slot, PortId port)
{
    RecycledEntropies& recycled = m_recycled[slot];
    return recycled.IsEmpty() ? BitmapEntropy::Next(slot, port) : recycled.Pop();
}

void
MixedEntropy::Report(uint32_t slot, const PathReport& report)
{
    using Fate = PathReport::Fate;
    BitmapEntropy::Report(slot, report);
    const bool good = report.fate == Fate::ARRIVED || report.fate == Fate::TRIMMED_AT_LAST_HOP;
    if (good && report.rttPs > 0) // of what was answered itself
    {
        m_recycled[slot].Push(report.entropy);
    }
}

} // namespace ns3
