// SPDX-License-Identifier: GPL-2.0-only

#include "random-entropy.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("RandomEntropy");
NS_OBJECT_ENSURE_REGISTERED(RandomEntropy);

namespace
{

constexpr uint32_t ENTROPIES = 1U << 16;

} // namespace

TypeId
RandomEntropy::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RandomEntropy")
                            .SetParent<PathSelector>()
                            .SetGroupName("PathSelector")
                            .AddConstructor<RandomEntropy>()
                            .AddAttribute("Paths",
                                          "Number of entropies to draw from [1], 0 = all 65536",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&RandomEntropy::m_paths),
                                          MakeUintegerChecker<uint32_t>(0, ENTROPIES));
    return tid;
}

void
RandomEntropy::Open(uint32_t slot, uint32_t message)
{
    NS_LOG_FUNCTION(this << slot << message);
    m_flows.Open(slot, DrawsOf(message));
}

uint16_t
RandomEntropy::Next(uint32_t slot, PortId)
{
    return static_cast<uint16_t>(m_flows[slot].Below(m_paths ? m_paths : ENTROPIES));
}

} // namespace ns3
