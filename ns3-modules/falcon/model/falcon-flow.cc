// SPDX-License-Identifier: GPL-2.0-only

#include "falcon-flow.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

namespace
{

constexpr double LEAST_SCALED = 0.1;     ///< "min_flow_scaling_window" [packet]
constexpr double RTT_SMOOTHING = 0.75;   ///< "rtt_smoothing_alpha" [1]
constexpr double CONGESTED_RATIO = 1.01; ///< "plb_target_rtt_multiplier" [1]

} // namespace

double
FalconRules::TargetPs(double windowPackets, uint32_t links) const
{
    const double alphaPs =
        scalingRangePs / (1 / std::sqrt(LEAST_SCALED) - 1 / std::sqrt(mostPackets));
    const double scalingPs = alphaPs / std::sqrt(windowPackets) - alphaPs / std::sqrt(mostPackets);
    return baseTargetPs + links * hopTargetPs + std::clamp(scalingPs, 0.0, scalingRangePs);
}

bool
FalconFlow::OnAck(const FalconRules& rules, const FalconAck& ack)
{
    const uint64_t rttPs = ack.nowPs - ack.sentPs;
    const auto delayPs = static_cast<double>(rttPs);
    m_smoothedPs = m_smoothedPs == 0
                       ? rttPs
                       : static_cast<uint64_t>(RTT_SMOOTHING * static_cast<double>(m_smoothedPs) +
                                               (1 - RTT_SMOOTHING) * delayPs);
    if (ack.sentPs >= m_latestPs)
    {
        m_latestPs = ack.sentPs;
        m_waitPs =
            rttPs + static_cast<uint64_t>(rules.rackShare * static_cast<double>(m_smoothedPs));
    }
    m_timeouts = 0;
    const double targetPs = rules.TargetPs(m_packets, ack.links);
    const bool repaths = Repaths(rules, ack, delayPs > CONGESTED_RATIO * targetPs);
    if (delayPs < targetPs)
    {
        m_packets += rules.increasePackets * ack.packets / std::max(1.0, m_packets);
        m_packets = std::min(m_packets, rules.mostPackets);
    }
    else
    {
        const double decrease = rules.beta * (delayPs - targetPs) / delayPs;
        Decrease(rules, 1 - std::min(decrease, rules.mostDecrease), rttPs, ack.nowPs);
    }
    return repaths;
}

/// At most once per round trip.
void
FalconFlow::Decrease(const FalconRules& rules, double factor, uint64_t rttPs, uint64_t nowPs)
{
    if (nowPs - m_decreasePs >= rttPs)
    {
        m_decreasePs = nowPs;
        m_packets = std::max(rules.leastPackets, m_packets * factor);
    }
}

/// Count an answer into the rounds of PLB. @return whether there were enough congested ones
bool
FalconFlow::Repaths(const FalconRules& rules, const FalconAck& ack, bool isCongested)
{
    m_roundPackets += ack.packets;
    m_congestedPackets += isCongested ? ack.packets : 0;
    if (m_roundPackets < ack.roundEnds || rules.repathRounds == 0)
    {
        return false;
    }
    const bool wasCongested = m_congestedPackets >= rules.congestedShare * m_roundPackets;
    m_congestedRounds = wasCongested ? m_congestedRounds + 1 : 0;
    m_roundPackets = 0;
    m_congestedPackets = 0;
    if (m_congestedRounds < rules.repathRounds)
    {
        return false;
    }
    m_congestedRounds = 0;
    return true;
}

void
FalconFlow::OnTimeout(const FalconRules& rules, uint64_t nowPs)
{
    m_timeouts++;
    if (m_timeouts >= rules.resetTimeouts)
    {
        m_packets = rules.leastPackets;
    }
    else if (m_timeouts == 1)
    {
        Decrease(rules, 1 - rules.mostDecrease, m_smoothedPs, nowPs);
    }
}

} // namespace ns3
