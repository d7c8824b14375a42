// SPDX-License-Identifier: GPL-2.0-only

#include "sawtooth-control.h"

#include "ns3/double.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(SawtoothControl);

TypeId
SawtoothControl::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::SawtoothControl")
            .SetParent<CongestionControl>()
            .SetGroupName("Sawtooth")
            .AddConstructor<SawtoothControl>()
            .AddAttribute("Decrease",
                          "What is left of the rate after a notification [1]",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&SawtoothControl::m_decrease),
                          MakeDoubleChecker<double>(0.001, 1.0))
            .AddAttribute("RaiseShare",
                          "Increase over the line rate [1]",
                          DoubleValue(0.01),
                          MakeDoubleAccessor(&SawtoothControl::m_raiseShare),
                          MakeDoubleChecker<double>(0.0001, 1.0))
            .AddAttribute("Interval",
                          "The rate is raised each time this passes without a notification",
                          TimeValue(MicroSeconds(10)),
                          MakeTimeAccessor(&SawtoothControl::m_interval),
                          MakeTimeChecker(NanoSeconds(1)));
    return tid;
}

void
SawtoothControl::Open(uint32_t slot, const Path& path)
{
    if (slot >= m_flows.size())
    {
        m_flows.resize(slot + 1);
    }
    const auto lineBps = static_cast<double>(path.lineRateBps);
    m_flows[slot] = {lineBps, lineBps, NEVER_PS};
}

void
SawtoothControl::OnAck(uint32_t, const Ack&)
{
}

void
SawtoothControl::OnNotification(uint32_t slot)
{
    Flow& flow = m_flows[slot];
    flow.rateBps = std::max(flow.rateBps * m_decrease, 0.001 * flow.lineBps);
    flow.raisePs = Host().NowPs() + static_cast<uint64_t>(m_interval.GetPicoSeconds());
}

uint64_t
SawtoothControl::NextUpdatePs(uint32_t slot) const
{
    return m_flows[slot].raisePs;
}

void
SawtoothControl::OnUpdate(uint32_t slot)
{
    Flow& flow = m_flows[slot];
    flow.rateBps = std::min(flow.rateBps + m_raiseShare * flow.lineBps, flow.lineBps);
    flow.raisePs = flow.rateBps < flow.lineBps
                       ? flow.raisePs + static_cast<uint64_t>(m_interval.GetPicoSeconds())
                       : NEVER_PS;
}

uint64_t
SawtoothControl::RateBps(uint32_t slot) const
{
    return static_cast<uint64_t>(m_flows[slot].rateBps);
}

} // namespace ns3
