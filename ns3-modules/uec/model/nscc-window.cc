// SPDX-License-Identifier: GPL-2.0-only

#include "nscc-window.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

namespace
{

constexpr double REFERENCE_RTT_PS = 12e6;
constexpr double REFERENCE_BYTES = 100e9 / 8e12 * REFERENCE_RTT_PS; ///< 150 000
constexpr double DELAY_GAIN = 0.0125;
constexpr double GAMMA = 0.8;       ///< Of the share that is above the target
constexpr double LEAST_LEFT = 0.5;  ///< Of a window after a decrease
constexpr double QUIET_PS = 1e6;    ///< A delay below this is none
constexpr double QUICK_TARGETS = 4; ///< Target delays that ask for a quick adaption
constexpr double OWED_PACKETS = 8;  ///< Arrivals after which what is owed is added [packet]

} // namespace

NsccWindow::NsccWindow(const Rules& rules, const CongestionControl::Path& path)
    : m_packetBytes(path.mtuBytes + path.headerBytes),
      m_wireShare(m_packetBytes / path.mtuBytes),
      m_baseRttPs(path.baseRttPs),
      m_networkRttPs(rules.networkRttPs ? rules.networkRttPs : path.baseRttPs)
{
    const double bytesPerPs = static_cast<double>(path.lineRateBps) / 8e12;
    const auto networkPs = static_cast<double>(m_networkRttPs);
    const double mss = path.mtuBytes;
    m_is.scale = bytesPerPs * networkPs / REFERENCE_BYTES;
    m_is.targetPs = rules.targetShare * networkPs;
    m_is.delayScale = m_is.targetPs / REFERENCE_RTT_PS;
    m_is.proportional = 4 * mss * m_is.scale * m_is.delayScale / m_is.targetPs;
    m_is.fair = 5 * mss * m_is.scale;
    m_is.each = 0.15 * mss * m_is.scale;
    m_is.fast = 0.25 * m_is.scale;
    m_is.quickPs = QUICK_TARGETS * m_is.targetPs;
    const double productBytes = bytesPerPs * static_cast<double>(m_baseRttPs);
    m_mostBytes = std::max(m_packetBytes, rules.mostBdp * productBytes);
    m_windowBytes = m_mostBytes;
}

void
NsccWindow::OnSent(uint32_t payloadBytes)
{
    m_inFlightBytes += payloadBytes * m_wireShare;
}

void
NsccWindow::Bound()
{
    m_windowBytes = std::clamp(m_windowBytes, m_packetBytes, m_mostBytes);
}

void
NsccWindow::OnAck(const Rules& rules, const CongestionControl::Ack& ack, uint64_t nowPs)
{
    const double bytes = static_cast<double>(ack.arrivedBytes) * m_wireShare;
    m_inFlightBytes = static_cast<double>(ack.inFlightBytes) * m_wireShare;
    m_roundBytes += bytes;
    m_arrivedBytes += bytes;
    m_ignoredBytes += bytes;
    if (ack.lostBytes > 0)
    {
        Nack(rules, static_cast<double>(ack.lostBytes) * m_wireShare, ack.atLastHop, nowPs);
        return;
    }
    const bool isMarked = ack.isMarked;
    const uint64_t waitedPs = std::max(ack.rttPs, m_baseRttPs) - m_baseRttPs;
    const auto delayPs = static_cast<double>(waitedPs);
    Smooth(delayPs, isMarked);
    if (QuickAdapt(rules, false, isMarked, delayPs, nowPs))
    {
        return;
    }
    if (!isMarked && delayPs >= m_is.targetPs)
    {
        m_owed += m_is.fair * bytes;
    }
    else if (!isMarked)
    {
        IncreaseProportionally(bytes, delayPs);
    }
    else if (delayPs >= m_is.targetPs)
    {
        Decrease(nowPs);
    } // else the path selector reacts
    Bound();
    if (m_arrivedBytes > OWED_PACKETS * m_packetBytes || nowPs - m_addedPs > m_networkRttPs)
    {
        Fulfil(nowPs);
    }
}

void
NsccWindow::Nack(const Rules& rules, double lostBytes, bool atLastHop, uint64_t nowPs)
{
    m_ignoredBytes += lostBytes;
    Smooth(static_cast<double>(m_networkRttPs), true);
    m_hasLoss = true;
    if (!QuickAdapt(rules, true, true, 0, nowPs) && !(rules.ignoresLastHopTrims && atLastHop))
    {
        m_windowBytes -= lostBytes;
        Bound();
    }
}

/**
 * At the end of a round with losses or much delay in which little arrived: the window is that.
 * @return whether it was done, or what was heard is of before
 */
bool
NsccWindow::QuickAdapt(const Rules& rules,
                       bool isLoss,
                       bool isMarked,
                       double delayPs,
                       uint64_t nowPs)
{
    bool isDone = m_ignoredBytes < m_toIgnoreBytes && isMarked;
    if (!isDone && nowPs > m_roundEndPs)
    {
        const bool isBad = m_hasLoss || isLoss || delayPs > m_is.quickPs;
        const double little = m_mostBytes / static_cast<double>(uint64_t{1} << rules.quickGate);
        if (m_roundEndPs != 0 && isBad && m_roundBytes < little)
        {
            m_windowBytes = std::max(m_roundBytes, m_packetBytes);
            m_toIgnoreBytes = m_inFlightBytes;
            m_ignoredBytes = 0;
            m_hasLoss = false;
            isDone = true;
        }
        m_roundBytes = 0;
        m_roundEndPs = nowPs + m_baseRttPs + static_cast<uint64_t>(m_is.targetPs);
    }
    if (isDone)
    {
        m_owed = 0;
        m_arrivedBytes = 0;
    }
    return isDone;
}

void
NsccWindow::Smooth(double delayPs, bool isMarked)
{
    // A long wait without a mark is about to end.
    const bool isOver = !isMarked && delayPs > m_is.targetPs;
    const double sample = isOver ? 0.25 * static_cast<double>(m_baseRttPs) : delayPs;
    m_delayPs += DELAY_GAIN * (sample - m_delayPs);
}

void
NsccWindow::IncreaseProportionally(double bytes, double delayPs)
{
    const bool isQuiet = delayPs < QUIET_PS;
    m_quietBytes = isQuiet ? m_quietBytes + bytes : 0;
    m_isFast = isQuiet && (m_isFast || m_quietBytes > m_windowBytes);
    if (m_isFast)
    {
        m_windowBytes += bytes * m_is.fast;
        return;
    }
    m_owed += m_is.proportional * bytes * (m_is.targetPs - delayPs);
}

void
NsccWindow::Decrease(uint64_t nowPs)
{
    m_isFast = false;
    m_quietBytes = 0;
    if (m_delayPs > m_is.targetPs && nowPs - m_decreasedPs > m_baseRttPs)
    {
        const double left = 1 - GAMMA * (m_delayPs - m_is.targetPs) / m_delayPs;
        m_windowBytes *= std::max(left, LEAST_LEFT);
        m_decreasedPs = nowPs;
    }
}

void
NsccWindow::Fulfil(uint64_t nowPs)
{
    m_windowBytes += m_owed / m_windowBytes;
    if (nowPs - m_addedPs >= m_networkRttPs)
    {
        m_windowBytes += m_is.each;
        m_addedPs = nowPs;
    }
    m_owed = 0;
    m_arrivedBytes = 0;
    Bound();
}

void
NsccWindow::OnTimeout()
{
    m_windowBytes -= m_inFlightBytes;
    m_inFlightBytes = 0;
    Bound();
}

} // namespace ns3
