// SPDX-License-Identifier: GPL-2.0-only

#include "srd-limit.h"

#include <algorithm>

namespace ns3
{

namespace
{

constexpr double LEAST = 1.0 / 256;     ///< Rate [packet]
constexpr double INCREASE = 0.125;      ///< In an unloaded round trip, at first [packet]
constexpr double MOST_INCREASE = 0.25;  ///< Of the rate in that time [1]
constexpr double DRAIN = 0.9;           ///< Of the estimate after congestion [1]
constexpr uint32_t MOST_DOUBLINGS = 16; ///< Of the increase

} // namespace

SrdLimit::SrdLimit(double packets,
                   double mostPackets,
                   uint64_t baseRttPs,
                   double headroom,
                   double tolerance)
    : m_packets(packets),
      m_mostPackets(mostPackets),
      m_baseRttPs(static_cast<double>(baseRttPs)),
      m_headroom(headroom),
      m_tolerance(tolerance)
{
}

bool
SrdLimit::OnAnswer(const Answer& answer)
{
    m_answered += m_hasBegun ? answer.packets : 0;
    if (m_hasBegun && answer.sentPs < m_answerPs)
    {
        return false; // its packet left before the round began
    }
    if (m_hasBegun)
    {
        EndRound(answer);
    }
    m_hasBegun = true;
    m_hasTimedOut = false;
    m_answerPs = answer.nowPs;
    m_sentPs = answer.sentPs;
    m_answered = 0;
    return true;
}

void
SrdLimit::EndRound(const Answer& answer)
{
    const auto answeredPs = static_cast<double>(answer.nowPs - m_answerPs);
    const auto sentPs = static_cast<double>(answer.sentPs - m_sentPs);
    const bool isFaster = answeredPs > (1 + m_tolerance) * sentPs;
    if (!answer.isMostSlow && !isFaster)
    {
        const uint32_t doublings = std::min(m_quietRounds, MOST_DOUBLINGS);
        const double packets = INCREASE * static_cast<double>(1U << doublings);
        const double trips = std::min(answeredPs / m_baseRttPs, std::max(1.0, 1 / m_packets));
        m_packets += trips * std::min(packets, MOST_INCREASE * m_packets);
        m_packets = std::min(m_packets, m_mostPackets);
        m_quietRounds++;
        return;
    }
    m_quietRounds = 0;
    const double estimate = m_answered * m_baseRttPs / answeredPs;
    m_packets = std::clamp(DRAIN * estimate, LEAST, m_mostPackets);
}

void
SrdLimit::OnTimeout()
{
    if (!m_hasTimedOut)
    {
        m_hasTimedOut = true;
        m_hasBegun = false; // a round that was silent says nothing
        m_answered = 0;
        m_quietRounds = 0;
        m_packets = std::max(LEAST, m_packets / 2);
    }
}

} // namespace ns3
