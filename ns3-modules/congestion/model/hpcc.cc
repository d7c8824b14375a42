// SPDX-License-Identifier: GPL-2.0-only

#include "hpcc.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(Hpcc);

TypeId
Hpcc::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::Hpcc")
                          .SetParent<CongestionControl>()
                          .SetGroupName("Congestion")
                          .AddConstructor<Hpcc>(),
                      100)
            .AddAttribute("Eta",
                          "Utilisation to keep to [1]",
                          DoubleValue(0.95),
                          MakeDoubleAccessor(&Hpcc::m_eta),
                          MakeDoubleChecker<double>(0.01, 1.0))
            .AddAttribute("MaxStage",
                          "Round trips of additive increase before a multiplicative one [1]",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Hpcc::m_maxStage),
                          MakeUintegerChecker<uint32_t>());
    return tid;
}

/// Equation 2: bytes on the way and in the queue, over what the link holds.
double
Hpcc::LoadOf(const PathLoad::Change& link, double rttSeconds) const
{
    const double queuedBytes = std::min(link.queuedBefore, link.queuedBytes);
    return queuedBytes / (link.bytesPerSecond * rttSeconds) +
           link.sentBytes / (link.bytesPerSecond * link.seconds);
}

double
Hpcc::NewWindow(Flow& flow, bool endsRound) const
{
    const double increase = flow.fullBytes * (1 - m_eta) / m_expectedFlows; // "W_AI"
    const bool multiplies = flow.load >= m_eta || flow.stage >= m_maxStage;
    if (endsRound)
    {
        flow.stage = multiplies ? 0 : flow.stage + 1;
    }
    return (multiplies ? flow.referenceBytes * m_eta / flow.load : flow.referenceBytes) + increase;
}

} // namespace ns3
