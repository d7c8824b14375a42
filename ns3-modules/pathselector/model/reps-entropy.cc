// SPDX-License-Identifier: GPL-2.0-only

#include "reps-entropy.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("RepsEntropy");
NS_OBJECT_ENSURE_REGISTERED(RepsEntropy);

TypeId
RepsEntropy::GetTypeId()
{
    using T = RepsEntropy;
    static TypeId tid =
        TypeId("ns3::RepsEntropy")
            .SetParent<PathSelector>()
            .SetGroupName("PathSelector")
            .AddConstructor<RepsEntropy>()
            .AddAttribute("Paths",
                          "Number of entropies to explore [1]",
                          UintegerValue(256),
                          MakeUintegerAccessor(&T::m_paths),
                          MakeUintegerChecker<uint32_t>(1, 65536))
            .AddAttribute("RingEntries",
                          "Entropies that are remembered [1]",
                          UintegerValue(8),
                          MakeUintegerAccessor(&T::m_ringEntries),
                          MakeUintegerChecker<uint32_t>(1, 65535))
            .AddAttribute("LifetimeUses",
                          "How often an entropy is used again after each acknowledgement [1]; the "
                          "number of packets that one acknowledgement answers is a good one",
                          UintegerValue(1),
                          MakeUintegerAccessor(&T::m_lifetimeUses),
                          MakeUintegerChecker<uint32_t>(1, 65535))
            .AddAttribute("FreezeTime",
                          "How long only known entropies are used after a timeout",
                          TimeValue(MilliSeconds(10)),
                          MakeTimeAccessor(&T::m_freezeTime),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("ExplorePackets",
                          "Packets with random entropies after that [packet]",
                          UintegerValue(16),
                          MakeUintegerAccessor(&T::m_explorePackets),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

void
RepsEntropy::Attach(HostContext& host)
{
    PathSelector::Attach(host);
    m_rules = {.entropies = m_paths,
               .ringEntries = m_ringEntries,
               .lifetimeUses = m_lifetimeUses,
               .explorePackets = m_explorePackets,
               .freezePs = static_cast<uint64_t>(m_freezeTime.GetPicoSeconds())};
}

void
RepsEntropy::Open(uint32_t slot, uint32_t message)
{
    NS_LOG_FUNCTION(this << slot << message);
    m_flows.Open(slot, RepsFlow{DrawsOf(message), {}});
}

uint16_t
RepsEntropy::Next(uint32_t slot, PortId)
{
    RepsFlow& flow = m_flows[slot];
    return flow.state.Next(m_rules, flow.draws, Host().NowPs());
}

void
RepsEntropy::Report(uint32_t slot, const PathReport& report)
{
    m_flows[slot].state.Report(m_rules, report, Host().NowPs());
}

} // namespace ns3
