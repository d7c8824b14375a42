// SPDX-License-Identifier: GPL-2.0-only

#include "smartt-window.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

namespace
{

constexpr double REFERENCE_BPS = 100e9;
constexpr double MARKED_GAIN = 0.125;

} // namespace

SmarttWindow::SmarttWindow(const Rules& rules, const CongestionControl::Path& path)
    : m_mtuBytes(path.mtuBytes),
      m_baseRttPs(path.baseRttPs)
{
    const double packetBytes = path.mtuBytes + path.headerBytes;
    const auto rateBps = static_cast<double>(path.lineRateBps);
    const auto rttPs = static_cast<double>(path.baseRttPs);
    m_bdpBytes = rateBps * rttPs / 8e12 * m_mtuBytes / packetBytes;
    m_mostBytes = std::max(m_mtuBytes, rules.startBdp * m_bdpBytes);
    m_windowBytes = m_mostBytes;
    m_goodTargetBytes = m_windowBytes;
    m_fastBytes = rules.fastPackets * m_mtuBytes * rateBps / REFERENCE_BPS;
    m_targetRttPs = static_cast<uint64_t>(rttPs * (1 + rules.targetShare));
    const double packetPs = packetBytes * 8e12 / rateBps;
    m_fastRttPs = static_cast<uint64_t>(rttPs + rules.fastDelayPackets * packetPs);
}

void
SmarttWindow::OnSent(uint32_t bytes)
{
    m_inFlightBytes += bytes;
}

void
SmarttWindow::Set(double bytes)
{
    m_windowBytes = std::clamp(bytes, m_mtuBytes, m_mostBytes);
}

void
SmarttWindow::OnAck(const Rules& rules, const Ack& ack, uint64_t nowPs)
{
    m_inFlightBytes = ack.inFlightBytes;
    m_roundBytes += ack.arrivedBytes;
    const bool isOld = m_ignoredBytes > 0;
    m_ignoredBytes -= std::min(m_ignoredBytes, ack.arrivedBytes + ack.lostBytes);
    m_hasLoss |= ack.lostBytes > 0 && !isOld;
    if (QuickAdapt(rules, nowPs) || isOld)
    {
        return;
    }
    Set(m_windowBytes - static_cast<double>(ack.lostBytes));
    if (ack.arrivedBytes > 0 && !FastIncrease(rules, ack))
    {
        Adjust(rules, ack);
    }
}

/// At the end of a round trip with losses: the window is what arrived in it.
bool
SmarttWindow::QuickAdapt(const Rules& rules, uint64_t nowPs)
{
    if (nowPs < m_roundEndPs)
    {
        return false;
    }
    const bool isDue = m_hasLoss && m_roundEndPs != 0;
    if (isDue)
    {
        Set(rules.quickShare * static_cast<double>(m_roundBytes));
        m_ignoredBytes = m_inFlightBytes;
        m_hasLoss = false;
        m_isFast = false;
        m_goodBytes = 0;
        m_goodTargetBytes = m_windowBytes;
    }
    m_roundBytes = 0;
    m_roundEndPs = nowPs + m_baseRttPs;
    return isDue;
}

/// After a window without mark or delay: a few packets more for each that arrives.
bool
SmarttWindow::FastIncrease(const Rules& rules, const Ack& ack)
{
    if (rules.fastPackets == 0)
    {
        return false;
    }
    if (ack.markedBytes > 0 || ack.rttPs > m_fastRttPs)
    {
        m_isFast = false;
        m_goodBytes = 0;
        m_goodTargetBytes = m_windowBytes;
        return false;
    }
    const auto arrivedBytes = static_cast<double>(ack.arrivedBytes);
    m_goodBytes += arrivedBytes;
    m_isFast |= m_goodBytes > m_goodTargetBytes;
    if (m_isFast)
    {
        Set(m_windowBytes + m_fastBytes * arrivedBytes / m_mtuBytes);
    }
    return m_isFast;
}

/// The four cases, each for one packet of payload, times the packets that arrived.
void
SmarttWindow::Adjust(const Rules& rules, const Ack& ack)
{
    const bool isMarked = ack.markedBytes > 0;
    m_markedShare += MARKED_GAIN * ((isMarked ? 1.0 : 0.0) - m_markedShare);
    const auto rtt = static_cast<double>(ack.rttPs);
    const auto target = static_cast<double>(m_targetRttPs);
    const double perWindow = m_mtuBytes / m_windowBytes;
    double change = 0;
    if (!isMarked)
    {
        change = rules.fairIncrease * perWindow;
        if (rtt < target) // proportional to what is left
        {
            change += std::min(rules.proportionalIncrease * (target - rtt) / rtt * perWindow, 1.0);
        }
    }
    else if (rules.waitShare == 0 || m_markedShare > rules.waitShare)
    {
        change = -rules.fairDecrease * m_windowBytes / m_bdpBytes;
        if (rtt > target) // proportional to what is too much, one packet at most
        {
            change -= rules.proportionalDecrease * (rtt - target) / rtt;
            change = std::max(change, -1.0);
        }
    }
    Set(m_windowBytes + change * static_cast<double>(ack.arrivedBytes));
}

void
SmarttWindow::OnTimeout()
{
    Set(m_windowBytes - static_cast<double>(m_inFlightBytes));
    m_inFlightBytes = 0;
    m_hasLoss = true;
}

} // namespace ns3
