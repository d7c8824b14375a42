// SPDX-License-Identifier: GPL-2.0-only

#include "power-tcp.h"

#include "ns3/double.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(PowerTcp);

TypeId
PowerTcp::GetTypeId()
{
    static TypeId tid = AddAttributes(TypeId("ns3::PowerTcp")
                                          .SetParent<CongestionControl>()
                                          .SetGroupName("Congestion")
                                          .AddConstructor<PowerTcp>(),
                                      10)
                            .AddAttribute("Gamma",
                                          "Weight of the newest window [1]",
                                          DoubleValue(0.9),
                                          MakeDoubleAccessor(&PowerTcp::m_gamma),
                                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

/// Function normPower of the paper: 1 on a link that is full and has no queue.
double
PowerTcp::LoadOf(const PathLoad::Change& link, double rttSeconds) const
{
    const double growthBytes = link.queuedBytes - link.queuedBefore;
    const double current = (growthBytes + link.sentBytes) / link.seconds; // "lambda"
    const double heldBytes = link.bytesPerSecond * rttSeconds;
    const double voltage = link.queuedBytes + heldBytes; // "nu"
    return current * voltage / (link.bytesPerSecond * heldBytes);
}

double
PowerTcp::NewWindow(Flow& flow, bool) const
{
    const double increase = flow.fullBytes / m_expectedFlows; // "beta"
    const double power = std::max(flow.load, 1e-9);           // a queue may drain unseen
    return m_gamma * (flow.referenceBytes / power + increase) + (1 - m_gamma) * flow.windowBytes;
}

} // namespace ns3
