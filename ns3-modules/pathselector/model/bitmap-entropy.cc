// SPDX-License-Identifier: GPL-2.0-only

#include "bitmap-entropy.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("BitmapEntropy");
NS_OBJECT_ENSURE_REGISTERED(BitmapEntropy);

TypeId
BitmapEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::BitmapEntropy")
                            .SetParent<PathSelector>()
                            .SetGroupName("PathSelector")
                            .AddConstructor<BitmapEntropy>()
                            .AddAttribute("Paths",
                                          "Number of entropies [1]",
                                          UintegerValue(256),
                                          MakeUintegerAccessor(&BitmapEntropy::m_paths),
                                          MakeUintegerChecker<uint32_t>(1, 65536));
    return tid;
}

void
BitmapEntropy::Open(uint32_t slot, uint32_t message)
{
    NS_LOG_FUNCTION(this << slot << message);
    RandomCursor draws = DrawsOf(message);
    const PenalisedEntropies entropies(m_paths, draws);
    m_flows.Open(slot, BitmapFlow{draws, entropies});
}

uint16_t
BitmapEntropy::Next(uint32_t slot, PortId)
{
    BitmapFlow& flow = m_flows[slot];
    return flow.entropies.Next(flow.draws);
}

void
BitmapEntropy::Report(uint32_t slot, const PathReport& report)
{
    m_flows[slot].entropies.Report(report.entropy, report.fate);
}

} // namespace ns3
