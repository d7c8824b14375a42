// SPDX-License-Identifier: GPL-2.0-only

#include "dcqcn.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("Dcqcn");
NS_OBJECT_ENSURE_REGISTERED(Dcqcn);

TypeId
Dcqcn::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Dcqcn")
            .SetParent<CongestionControl>()
            .SetGroupName("Congestion")
            .AddConstructor<Dcqcn>()
            .AddAttribute("Gain",
                          "Weight of a notification in alpha [1], \"g\"",
                          DoubleValue(1.0 / 256),
                          MakeDoubleAccessor(&Dcqcn::m_gain),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("AlphaInterval",
                          "Alpha shrinks each time this passes without a notification",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&Dcqcn::m_alphaInterval),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("Timer",
                          "The rate is raised each time this passes",
                          TimeValue(MicroSeconds(55)),
                          MakeTimeAccessor(&Dcqcn::m_timer),
                          MakeTimeChecker(NanoSeconds(1)))
            .AddAttribute("CounterBytes",
                          "The rate is raised each time this much payload was sent [byte], \"B\"",
                          UintegerValue(10'000'000),
                          MakeUintegerAccessor(&Dcqcn::m_counterBytes),
                          MakeUintegerChecker<uint64_t>(1))
            .AddAttribute("RecoveryRounds",
                          "Increases after a cut that halve the way back [1], \"F\"",
                          UintegerValue(5),
                          MakeUintegerAccessor(&Dcqcn::m_recoveryRounds),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("ClampTarget",
                          "Each cut sets the target to the rate before it, as in the paper; "
                          "if not, only the first one after an increase does, as adapters may",
                          BooleanValue(true),
                          MakeBooleanAccessor(&Dcqcn::m_clampsTarget),
                          MakeBooleanChecker())
            .AddAttribute("RateAiShare",
                          "Additive increase over the line rate [1], \"R_AI\": 40 Mb/s of 40 Gb/s",
                          DoubleValue(0.001),
                          MakeDoubleAccessor(&Dcqcn::m_additiveShare),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("RateHaiShare",
                          "Hyper increase over the line rate [1], \"R_HAI\": 200 Mb/s of 40 Gb/s",
                          DoubleValue(0.005),
                          MakeDoubleAccessor(&Dcqcn::m_hyperShare),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("MinShare",
                          "Least rate over the line rate [1]",
                          DoubleValue(0.001),
                          MakeDoubleAccessor(&Dcqcn::m_leastShare),
                          MakeDoubleChecker<double>(1e-6, 1.0));
    return tid;
}

void
Dcqcn::Attach(HostContext& host)
{
    CongestionControl::Attach(host);
    m_alphaPs = static_cast<uint64_t>(m_alphaInterval.GetPicoSeconds());
    m_timerPs = static_cast<uint64_t>(m_timer.GetPicoSeconds());
}

void
Dcqcn::Open(uint32_t slot, const Path& path)
{
    Flow& flow = m_flows.Open(slot);
    flow.lineBps = static_cast<double>(path.lineRateBps);
    flow.rateBps = flow.lineBps;
    flow.targetBps = flow.lineBps;
}

void
Dcqcn::OnAck(uint32_t, const Ack&)
{
}

void
Dcqcn::OnNotification(uint32_t slot)
{
    Flow& flow = m_flows[slot];
    const double alpha = Alpha(slot);
    if (m_clampsTarget || flow.timerRounds > 0 || flow.byteRounds > 0)
    {
        flow.targetBps = flow.rateBps;
    }
    flow.rateBps = std::max(m_leastShare * flow.lineBps, flow.rateBps * (1 - alpha / 2));
    flow.alpha = (1 - m_gain) * alpha + m_gain;
    flow.alphaPs = Host().NowPs();
    flow.timerPs = flow.alphaPs + m_timerPs;
    flow.sentBytes = 0;
    flow.timerRounds = 0;
    flow.byteRounds = 0;
    NS_LOG_LOGIC("slot " << slot << ": cut to " << flow.rateBps << " bit/s");
}

double
Dcqcn::Alpha(uint32_t slot) const
{
    const Flow& flow = m_flows[slot];
    if (flow.alphaPs == 0)
    {
        return flow.alpha; // nothing has been heard yet
    }
    const uint64_t intervals = (Host().NowPs() - flow.alphaPs) / m_alphaPs;
    return flow.alpha * std::pow(1 - m_gain, static_cast<double>(intervals));
}

double
Dcqcn::TargetBps(uint32_t slot) const
{
    return m_flows[slot].targetBps;
}

void
Dcqcn::OnSent(uint32_t slot, uint32_t, uint32_t bytes)
{
    Flow& flow = m_flows[slot];
    if (flow.timerPs == NEVER_PS)
    {
        return;
    }
    flow.sentBytes += bytes;
    if (flow.sentBytes >= m_counterBytes)
    {
        flow.sentBytes -= m_counterBytes;
        flow.byteRounds++;
        Increase(flow);
    }
}

uint64_t
Dcqcn::NextUpdatePs(uint32_t slot) const
{
    return m_flows[slot].timerPs;
}

void
Dcqcn::OnUpdate(uint32_t slot)
{
    Flow& flow = m_flows[slot];
    flow.timerPs += m_timerPs;
    flow.timerRounds++;
    Increase(flow);
}

/// Figure 7 of the paper.
void
Dcqcn::Increase(Flow& flow) const
{
    const uint32_t most = std::max(flow.timerRounds, flow.byteRounds);
    const uint32_t least = std::min(flow.timerRounds, flow.byteRounds);
    if (least > m_recoveryRounds)
    {
        flow.targetBps += (least - m_recoveryRounds) * m_hyperShare * flow.lineBps;
    }
    else if (most > m_recoveryRounds)
    {
        flow.targetBps += m_additiveShare * flow.lineBps;
    }
    flow.targetBps = std::min(flow.targetBps, flow.lineBps);
    flow.rateBps = (flow.targetBps + flow.rateBps) / 2;
    if (flow.lineBps - flow.rateBps < 1) // less than a bit per second is missing
    {
        flow.rateBps = flow.lineBps;
        flow.timerPs = NEVER_PS;
    }
}

/// Once it was notified alpha ages, also at line rate.
bool
Dcqcn::IsAtRest(uint32_t slot) const
{
    return m_flows[slot].alphaPs == 0;
}

uint64_t
Dcqcn::RateBps(uint32_t slot) const
{
    return static_cast<uint64_t>(m_flows[slot].rateBps);
}

} // namespace ns3
