// SPDX-License-Identifier: GPL-2.0-only

#include "oversubscription-control.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

namespace
{

constexpr double GAIN = 0.5;
constexpr double TARGET = 0.3; ///< Marked share that is accepted
constexpr double DECREASE = 0.5;
constexpr double INCREASE = 0.01;

} // namespace

OversubscriptionControl::OversubscriptionControl(double least)
    : m_least(least)
{
}

void
OversubscriptionControl::OnData(bool isMarked)
{
    m_wholePackets++;
    m_markedPackets += isMarked;
}

void
OversubscriptionControl::OnTrim(bool atLastHop)
{
    m_trimmedPackets++;
    m_trimmedElsewhere += !atLastHop;
}

bool
OversubscriptionControl::Update()
{
    const bool isBusy = m_wholePackets + m_trimmedPackets > 0;
    const double marked =
        m_wholePackets > 0 ? static_cast<double>(m_markedPackets) / m_wholePackets : 0;
    m_markedShare += GAIN * (marked - m_markedShare);
    const bool isTooMuch = m_markedShare > TARGET;
    if (m_trimmedElsewhere > 0)
    {
        m_share -= static_cast<double>(m_trimmedElsewhere) / (m_wholePackets + m_trimmedPackets);
    }
    if (isTooMuch)
    {
        m_share *= 1 - (m_markedShare - TARGET) * DECREASE;
    }
    if (isTooMuch || m_trimmedElsewhere > 0)
    {
        m_increases = 0;
    }
    else
    {
        m_share += m_markedPackets > 0 ? INCREASE : INCREASE * std::exp2(m_increases);
        m_increases++;
    }
    m_share = std::clamp(m_share, m_least, 1.0);
    m_wholePackets = m_markedPackets = m_trimmedPackets = m_trimmedElsewhere = 0;
    return isBusy;
}

} // namespace ns3
