// SPDX-License-Identifier: GPL-2.0-only

#include "mixed-entropy.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("MixedEntropy");
NS_OBJECT_ENSURE_REGISTERED(MixedEntropy);

TypeId
MixedEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::MixedEntropy")
                            .SetParent<PathSelector>()
                            .SetGroupName("Entropy")
                            .AddConstructor<MixedEntropy>()
                            .AddAttribute("Paths",
                                          "Number of entropies [1]",
                                          UintegerValue(256),
                                          MakeUintegerAccessor(&MixedEntropy::m_paths),
                                          MakeUintegerChecker<uint32_t>(1, 65536));
    return tid;
}

void
MixedEntropy::Open(uint32_t slot, uint32_t message)
{
    NS_LOG_FUNCTION(this << slot << message);
    const auto id = static_cast<uint64_t>(Host().GetMessage(message).id);
    RandomCursor draws(Host().Stream(RandomUse::PATH_ENTROPY, id));
    const PenalisedEntropies entropies(m_paths, draws);
    m_flows.Open(slot, Flow{draws, entropies});
}

void
MixedEntropy::Close(uint32_t slot)
{
    m_flows.Close(slot);
}

uint16_t
MixedEntropy::Next(uint32_t slot, PortId)
{
    Flow& flow = m_flows[slot];
    if (flow.recycled.empty())
    {
        return flow.entropies.Next(flow.draws);
    }
    const uint16_t entropy = flow.recycled.front();
    flow.recycled.pop_front();
    return entropy;
}

void
MixedEntropy::Report(uint32_t slot, const PathReport& report)
{
    using Fate = PathReport::Fate;
    Flow& flow = m_flows[slot];
    flow.entropies.Report(report.entropy, report.fate);
    const bool good = report.fate == Fate::ARRIVED || report.fate == Fate::TRIMMED_AT_LAST_HOP;
    if (good && report.rttPs > 0) // of what was answered itself
    {
        flow.recycled.push_back(report.entropy);
    }
}

bool
MixedEntropy::NeedsReports() const
{
    return true;
}

} // namespace ns3
