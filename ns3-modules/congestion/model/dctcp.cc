// SPDX-License-Identifier: GPL-2.0-only

#include "dctcp.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(Dctcp);

TypeId
Dctcp::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::Dctcp")
            .SetParent<CongestionControl>()
            .SetGroupName("Congestion")
            .AddConstructor<Dctcp>()
            .AddAttribute("Gain",
                          "Weight of the newest window [1], \"g\"",
                          DoubleValue(1.0 / 16),
                          MakeDoubleAccessor(&Dctcp::m_gain),
                          MakeDoubleChecker<double>(0.0, 1.0))
            .AddAttribute("IncreaseBytes",
                          "Payload by which a window grows per round trip [byte], 0 = one packet",
                          UintegerValue(0),
                          MakeUintegerAccessor(&Dctcp::m_increaseBytes),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("InitialWindowBdp",
                          "First window in bandwidth-delay products of the unloaded path [1]",
                          DoubleValue(1),
                          MakeDoubleAccessor(&Dctcp::m_initialBdp),
                          MakeDoubleChecker<double>(0.0, 100.0));
    return tid;
}

void
Dctcp::Open(uint32_t slot, const Path& path)
{
    Flow& flow = m_flows.Open(slot);
    const double packets = static_cast<double>(path.lineRateBps) / 8 *
                           static_cast<double>(path.baseRttPs) * 1e-12 /
                           (path.mtuBytes + path.headerBytes);
    flow.mtuBytes = path.mtuBytes;
    flow.windowBytes = std::max(1.0, m_initialBdp * packets) * flow.mtuBytes;
}

void
Dctcp::OnAck(uint32_t slot, const Ack& ack)
{
    Flow& flow = m_flows[slot];
    flow.arrivedBytes += ack.arrivedBytes;
    flow.markedBytes += ack.markedBytes;
    const auto sentBytes = static_cast<double>(ack.inFlightBytes + ack.arrivedBytes);
    flow.isUsed |= sentBytes + flow.mtuBytes > flow.windowBytes;
    const bool endsWindow = ack.packet >= flow.windowEnd;
    if (endsWindow && flow.arrivedBytes > 0)
    {
        const double share =
            static_cast<double>(flow.markedBytes) / static_cast<double>(flow.arrivedBytes);
        flow.alpha += m_gain * (share - flow.alpha);
        flow.arrivedBytes = 0;
        flow.markedBytes = 0;
    }
    const bool isAfterCut = ack.packet >= flow.cutEnd;
    if (ack.markedBytes > 0 && isAfterCut) // once per window
    {
        flow.windowBytes *= 1 - flow.alpha / 2;
        flow.cutEnd = ack.nextPacket;
    }
    else if (endsWindow && isAfterCut && flow.isUsed)
    {
        flow.windowBytes += m_increaseBytes > 0 ? m_increaseBytes : flow.mtuBytes;
    }
    if (endsWindow)
    {
        flow.windowEnd = ack.nextPacket;
        flow.isUsed = false;
    }
    flow.windowBytes = std::max(flow.windowBytes, flow.mtuBytes);
}

void
Dctcp::OnLoss(uint32_t slot, Loss how)
{
    Flow& flow = m_flows[slot];
    const double halfBytes = std::max(flow.mtuBytes, flow.windowBytes / 2);
    flow.windowBytes = how == Loss::TIMEOUT ? flow.mtuBytes : halfBytes;
}

uint64_t
Dctcp::WindowBytes(uint32_t slot) const
{
    return static_cast<uint64_t>(m_flows[slot].windowBytes);
}

double
Dctcp::Alpha(uint32_t slot) const
{
    return m_flows[slot].alpha;
}

} // namespace ns3
