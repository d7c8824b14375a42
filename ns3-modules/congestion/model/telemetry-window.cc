// SPDX-License-Identifier: GPL-2.0-only

#include "telemetry-window.h"

#include "ns3/double.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

TypeId
TelemetryWindow::AddAttributes(TypeId tid, double expectedFlows)
{
    using T = TelemetryWindow;
    return tid
        .AddAttribute("ExpectedFlows",
                      "Flows that may share a link [1], \"N\": the additive increase is in inverse "
                      "proportion to it",
                      DoubleValue(expectedFlows),
                      MakeDoubleAccessor(&T::m_expectedFlows),
                      MakeDoubleChecker<double>(1.0, 1e6))
        .AddAttribute("MinShare",
                      "Least rate over the line rate [1]",
                      DoubleValue(0.001),
                      MakeDoubleAccessor(&T::m_leastShare),
                      MakeDoubleChecker<double>(1e-6, 1.0))
        .AddAttribute("BaseRtt",
                      "Largest unloaded round trip of the network, \"T\", 0 = that of the path",
                      TimeValue(Seconds(0)),
                      MakeTimeAccessor(&T::m_baseRtt),
                      MakeTimeChecker(Seconds(0)));
}

void
TelemetryWindow::Open(uint32_t slot, const Path& path)
{
    Flow& flow = m_flows.Open(slot);
    const auto pathPs = static_cast<double>(path.baseRttPs);
    flow.rttSeconds = m_baseRtt.IsZero() ? pathPs * 1e-12 : m_baseRtt.GetSeconds();
    flow.fullBytes = static_cast<double>(path.lineRateBps) / 8 * flow.rttSeconds;
    flow.windowBytes = flow.fullBytes;
    flow.referenceBytes = flow.fullBytes;
    flow.payloadShare = static_cast<double>(path.mtuBytes) / (path.mtuBytes + path.headerBytes);
    flow.mtuBytes = path.mtuBytes;
}

void
TelemetryWindow::OnAck(uint32_t slot, const Ack& ack)
{
    Flow& flow = m_flows[slot];
    const auto worst = flow.links.Update(ack.hops, [&](const PathLoad::Change& link) {
        return LoadOf(link, flow.rttSeconds);
    });
    const bool endsRound = ack.packet >= flow.updatePacket;
    if (worst)
    {
        // A sample over a part of the round trip has that part as its weight.
        const double weight = std::min(1.0, worst->seconds / flow.rttSeconds);
        flow.load += weight * (worst->load - flow.load);
        flow.windowBytes =
            std::clamp(NewWindow(flow, endsRound), m_leastShare * flow.fullBytes, flow.fullBytes);
    }
    if (endsRound)
    {
        flow.referenceBytes = flow.windowBytes;
        flow.updatePacket = ack.nextPacket;
    }
}

uint64_t
TelemetryWindow::WindowBytes(uint32_t slot) const
{
    const Flow& flow = m_flows[slot];
    return static_cast<uint64_t>(flow.windowBytes * flow.payloadShare) + flow.mtuBytes - 1;
}

uint64_t
TelemetryWindow::RateBps(uint32_t slot) const
{
    const Flow& flow = m_flows[slot];
    const double rateBps = flow.windowBytes * 8 / flow.rttSeconds;
    return flow.windowBytes < flow.fullBytes ? std::max<uint64_t>(1, static_cast<uint64_t>(rateBps))
                                             : NO_LIMIT;
}

double
TelemetryWindow::Window(uint32_t slot) const
{
    return m_flows[slot].windowBytes;
}

double
TelemetryWindow::Load(uint32_t slot) const
{
    return m_flows[slot].load;
}

} // namespace ns3
