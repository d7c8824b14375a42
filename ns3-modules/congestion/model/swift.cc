// SPDX-License-Identifier: GPL-2.0-only

#include "swift.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(Swift);

TypeId
Swift::GetTypeId()
{
    static TypeId tid = AddWindows(
        TypeId("ns3::Swift")
            .SetParent<CongestionControl>()
            .SetGroupName("Congestion")
            .AddConstructor<Swift>()
            .AddAttribute("BaseTarget",
                          "Delay to keep to, without hops and flow scaling",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Swift::m_baseTarget),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("HopTarget",
                          "More of it for each link on the way",
                          TimeValue(NanoSeconds(3053)),
                          MakeTimeAccessor(&Swift::m_hopTarget),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("ScalingRange",
                          "Most that flow scaling adds, \"fs_range\"",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&Swift::m_scalingRange),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("FsMinCwndPackets",
                          "Window at which flow scaling adds most [packet], \"fs_min_cwnd\"",
                          DoubleValue(0.1),
                          MakeDoubleAccessor(&Swift::m_scalingFew),
                          MakeDoubleChecker<double>(1e-6, 1e6))
            .AddAttribute("FsMaxCwndPackets",
                          "Window from which on it adds nothing [packet], \"fs_max_cwnd\"",
                          DoubleValue(100),
                          MakeDoubleAccessor(&Swift::m_scalingMany),
                          MakeDoubleChecker<double>(1e-6, 1e6)));
    return tid;
}

TypeId
Swift::AddWindows(TypeId tid)
{
    return tid
        .AddAttribute("Increase",
                      "Packets by which a window grows per round trip [packet], \"ai\"",
                      DoubleValue(1),
                      MakeDoubleAccessor(&Swift::m_increase),
                      MakeDoubleChecker<double>(0.0, 1e6))
        .AddAttribute("Beta",
                      "Strength of decreases [1]",
                      DoubleValue(0.8),
                      MakeDoubleAccessor(&Swift::m_beta),
                      MakeDoubleChecker<double>(0.0, 1.0))
        .AddAttribute("MaxDecrease",
                      "Most that a window loses at once [1], \"max_mdf\"",
                      DoubleValue(0.5),
                      MakeDoubleAccessor(&Swift::m_mostDecrease),
                      MakeDoubleChecker<double>(0.0, 1.0))
        .AddAttribute("ResetTimeouts",
                      "Timeouts in a row after which the window is the least [1]",
                      UintegerValue(5),
                      MakeUintegerAccessor(&Swift::m_resetTimeouts),
                      MakeUintegerChecker<uint32_t>(1))
        .AddAttribute("MinWindowPackets",
                      "Least window [packet]",
                      DoubleValue(0.01),
                      MakeDoubleAccessor(&Swift::m_leastPackets),
                      MakeDoubleChecker<double>(1e-6, 1e6))
        .AddAttribute("InitialPackets",
                      "First window [packet], 0 = one bandwidth-delay product of the path",
                      DoubleValue(0),
                      MakeDoubleAccessor(&Swift::m_initialPackets),
                      MakeDoubleChecker<double>(0.0, 1e6));
}

void
Swift::Check() const
{
    NS_ABORT_MSG_IF(m_scalingFew >= m_scalingMany,
                    Name("FsMinCwndPackets")
                        << " is " << m_scalingFew << "; it must be below FsMaxCwndPackets, "
                        << m_scalingMany);
}

void
Swift::Attach(HostContext& host)
{
    CongestionControl::Attach(host);
    const auto rangePs = static_cast<double>(m_scalingRange.GetPicoSeconds());
    m_scalingAlphaPs = rangePs / (1 / std::sqrt(m_scalingFew) - 1 / std::sqrt(m_scalingMany));
    m_scalingBetaPs = -m_scalingAlphaPs / std::sqrt(m_scalingMany);
}

void
Swift::Open(uint32_t slot, const Path& path)
{
    Flow& flow = m_flows.Open(slot);
    flow.mtuBytes = path.mtuBytes;
    flow.frameBits = 8.0 * (path.mtuBytes + path.headerBytes);
    flow.rttPs = static_cast<double>(path.baseRttPs);
    flow.hops = path.hops;
    const double bdpPackets =
        static_cast<double>(path.lineRateBps) * flow.rttPs * 1e-12 / flow.frameBits;
    flow.windowPackets = m_initialPackets > 0 ? m_initialPackets : std::max(1.0, bdpPackets);
}

double
Swift::TargetPs(uint32_t slot, double windowPackets) const
{
    const double scalingPs = m_scalingAlphaPs / std::sqrt(windowPackets) + m_scalingBetaPs;
    const auto rangePs = static_cast<double>(m_scalingRange.GetPicoSeconds());
    return static_cast<double>(m_baseTarget.GetPicoSeconds()) +
           m_flows[slot].hops * static_cast<double>(m_hopTarget.GetPicoSeconds()) +
           std::clamp(scalingPs, 0.0, rangePs);
}

void
Swift::OnAck(uint32_t slot, const Ack& ack)
{
    Flow& flow = m_flows[slot];
    const double targetPs = TargetPs(slot, flow.windowPackets);
    const double arrived = static_cast<double>(ack.arrivedBytes) / flow.mtuBytes;
    flow.rttPs = static_cast<double>(ack.rttPs);
    flow.timeouts = 0;
    if (flow.rttPs < targetPs)
    {
        const double inFlight = static_cast<double>(ack.inFlightBytes) / flow.mtuBytes;
        if (inFlight + arrived + 1 > flow.windowPackets)
        {
            flow.windowPackets += m_increase * arrived / std::max(1.0, flow.windowPackets);
        }
        return;
    }
    Decrease(flow, std::max(1 - m_beta * (flow.rttPs - targetPs) / flow.rttPs, 1 - m_mostDecrease));
}

void
Swift::OnLoss(uint32_t slot, Loss how)
{
    Flow& flow = m_flows[slot];
    flow.timeouts = how == Loss::TIMEOUT ? flow.timeouts + 1 : 0;
    if (flow.timeouts >= m_resetTimeouts)
    {
        flow.windowPackets = m_leastPackets;
        return;
    }
    Decrease(flow, 1 - m_mostDecrease);
}

/// At most once per round trip.
void
Swift::Decrease(Flow& flow, double factor)
{
    const uint64_t nowPs = Host().NowPs();
    if (static_cast<double>(nowPs - flow.decreasePs) < flow.rttPs)
    {
        return;
    }
    flow.decreasePs = nowPs;
    flow.windowPackets = std::max(m_leastPackets, flow.windowPackets * factor);
}

uint64_t
Swift::WindowBytes(uint32_t slot) const
{
    const Flow& flow = m_flows[slot];
    return static_cast<uint64_t>(flow.windowPackets * flow.mtuBytes);
}

uint64_t
Swift::RateBps(uint32_t slot) const
{
    const Flow& flow = m_flows[slot];
    if (flow.windowPackets >= 1)
    {
        return NO_LIMIT; // answers are the clock
    }
    const double rateBps = flow.frameBits * flow.windowPackets / (flow.rttPs * 1e-12);
    return std::max<uint64_t>(1, static_cast<uint64_t>(rateBps));
}

double
Swift::WindowPackets(uint32_t slot) const
{
    return m_flows[slot].windowPackets;
}

} // namespace ns3
