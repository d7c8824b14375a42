// SPDX-License-Identifier: GPL-2.0-only

#include "linked-windows.h"

#include <algorithm>

namespace ns3
{

LinkedWindows::LinkedWindows(uint32_t subflows, double packets)
    : m_subflows(subflows, Subflow{packets})
{
}

double
LinkedWindows::Sum() const
{
    double sum = 0;
    for (const auto& subflow : m_subflows)
    {
        sum += subflow.packets;
    }
    return sum;
}

double
LinkedWindows::Aggressiveness() const
{
    double best = 0;
    double rates = 0;
    for (const auto& subflow : m_subflows)
    {
        const auto rtt = static_cast<double>(subflow.rtt.SmoothedPs());
        if (rtt > 0)
        {
            best = std::max(best, subflow.packets / (rtt * rtt));
            rates += subflow.packets / rtt;
        }
    }
    return Sum() * best / (rates * rates);
}

void
LinkedWindows::OnAck(uint32_t subflow, uint64_t rttPs)
{
    Subflow& answered = m_subflows[subflow];
    answered.rtt.Sample(rttPs);
    const bool isSlowStart = answered.packets < answered.threshold;
    answered.packets += isSlowStart ? 1 : std::min(Aggressiveness() / Sum(), 1 / answered.packets);
}

void
LinkedWindows::OnLoss(uint32_t subflow)
{
    Subflow& lost = m_subflows[subflow];
    lost.threshold = std::max(lost.packets / 2, 2.0);
    lost.packets = lost.threshold;
}

void
LinkedWindows::OnTimeout(uint32_t subflow)
{
    OnLoss(subflow);
    m_subflows[subflow].packets = 1;
}

} // namespace ns3
