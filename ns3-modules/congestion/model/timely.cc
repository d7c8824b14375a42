// SPDX-License-Identifier: GPL-2.0-only

#include "timely.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(Timely);

TypeId
Timely::GetTypeId()
{
    static TypeId tid = AddRates(
        TypeId("ns3::Timely")
            .SetParent<CongestionControl>()
            .SetGroupName("Congestion")
            .AddConstructor<Timely>()
            .AddAttribute("SegmentBytes",
                          "Payload per completion event [byte], 0 = one event per round trip",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Timely::m_segmentBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("Weight",
                          "Of the newest change of the round trip [1], \"alpha\"",
                          DoubleValue(0.875),
                          MakeDoubleAccessor(&Timely::m_weight),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("Beta",
                          "Strength of decreases [1]",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&Timely::m_beta),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("LowRtt",
                          "Round trip below which the rate is raised whatever the gradient",
                          TimeValue(MicroSeconds(50)),
                          MakeTimeAccessor(&Timely::m_lowRtt),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("HighRtt",
                          "Round trip above which the rate is cut whatever the gradient",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&Timely::m_highRtt),
                          MakeTimeChecker(Seconds(0)))
            .AddAttribute("MinRtt",
                          "By which changes of the round trip are divided, above 0",
                          TimeValue(MicroSeconds(20)),
                          MakeTimeAccessor(&Timely::m_leastRtt),
                          MakeTimeChecker(NanoSeconds(1))));
    return tid;
}

TypeId
Timely::AddRates(TypeId tid)
{
    return tid
        .AddAttribute("RateAiShare",
                      "Additive increase over the line rate [1], \"delta\": 10 Mb/s of 10 Gb/s",
                      DoubleValue(0.001),
                      MakeDoubleAccessor(&Timely::m_additiveShare),
                      MakeDoubleChecker<double>(0.0, 1.0))
        .AddAttribute("HyperAfter",
                      "Increases in a row after which they are larger [1]",
                      UintegerValue(5),
                      MakeUintegerAccessor(&Timely::m_hyperAfter),
                      MakeUintegerChecker<uint32_t>())
        .AddAttribute("HyperFactor",
                      "By how much they are larger [1]",
                      DoubleValue(5),
                      MakeDoubleAccessor(&Timely::m_hyperFactor),
                      MakeDoubleChecker<double>(1.0, 1e6))
        .AddAttribute("InitialShare",
                      "Rate of a new flow over the line rate [1]",
                      DoubleValue(1),
                      MakeDoubleAccessor(&Timely::m_initialShare),
                      MakeDoubleChecker<double>(1e-6, 1.0))
        .AddAttribute("MinShare",
                      "Least rate over the line rate [1]",
                      DoubleValue(0.001),
                      MakeDoubleAccessor(&Timely::m_leastShare),
                      MakeDoubleChecker<double>(1e-6, 1.0));
}

void
Timely::Check() const
{
    NS_ABORT_MSG_IF(m_lowRtt > m_highRtt,
                    Name("LowRtt") << " is " << m_lowRtt << ", more than HighRtt, " << m_highRtt);
}

void
Timely::Open(uint32_t slot, const Path& path)
{
    Flow& flow = m_flows.Open(slot);
    flow.lineBps = static_cast<double>(path.lineRateBps);
    flow.rateBps = flow.lineBps * m_initialShare;
}

/// @return whether an answer is a completion event
bool
Timely::Completes(Flow& flow, const Ack& ack) const
{
    flow.arrivedBytes += ack.arrivedBytes;
    const bool does =
        m_segmentBytes > 0 ? flow.arrivedBytes >= m_segmentBytes : ack.packet >= flow.updatePacket;
    if (does)
    {
        flow.arrivedBytes = 0;
        flow.updatePacket = ack.nextPacket;
    }
    return does;
}

void
Timely::OnAck(uint32_t slot, const Ack& ack)
{
    Flow& flow = m_flows[slot];
    if (!Completes(flow, ack))
    {
        return;
    }
    const auto rttPs = static_cast<double>(ack.rttPs);
    const double beforePs = flow.rttPs;
    flow.rttPs = rttPs;
    if (beforePs == 0)
    {
        return;
    }
    flow.differencePs += m_weight * (rttPs - beforePs - flow.differencePs);
    const double gradient = flow.differencePs / static_cast<double>(m_leastRtt.GetPicoSeconds());
    const auto highPs = static_cast<double>(m_highRtt.GetPicoSeconds());
    if (rttPs < static_cast<double>(m_lowRtt.GetPicoSeconds()))
    {
        Increase(flow);
    }
    else if (rttPs > highPs)
    {
        Decrease(flow, m_beta * (1 - highPs / rttPs));
    }
    else if (gradient <= 0)
    {
        Increase(flow);
    }
    else
    {
        Decrease(flow, m_beta * gradient);
    }
}

void
Timely::Increase(Flow& flow) const
{
    const double factor = flow.increases < m_hyperAfter ? 1 : m_hyperFactor;
    flow.increases++;
    flow.rateBps = std::min(flow.lineBps, flow.rateBps + factor * m_additiveShare * flow.lineBps);
}

void
Timely::Decrease(Flow& flow, double share) const
{
    flow.increases = 0;
    flow.rateBps = std::max(m_leastShare * flow.lineBps, flow.rateBps * (1 - share));
}

uint64_t
Timely::RateBps(uint32_t slot) const
{
    return static_cast<uint64_t>(m_flows[slot].rateBps);
}

} // namespace ns3
