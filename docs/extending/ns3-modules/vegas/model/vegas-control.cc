// SPDX-License-Identifier: GPL-2.0-only

#include "vegas-control.h"

#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(VegasControl);

TypeId
VegasControl::GetTypeId()
{
    static TypeId tid = TypeId("ns3::VegasControl")
                            .SetParent<CongestionControl>()
                            .SetGroupName("Vegas")
                            .AddConstructor<VegasControl>()
                            .AddAttribute("FewPackets",
                                          "Fewer waiting: the window grows by one [packet]",
                                          UintegerValue(2),
                                          MakeUintegerAccessor(&VegasControl::m_fewPackets),
                                          MakeUintegerChecker<uint32_t>(1))
                            .AddAttribute("ManyPackets",
                                          "More waiting: the window shrinks by one [packet]",
                                          UintegerValue(4),
                                          MakeUintegerAccessor(&VegasControl::m_manyPackets),
                                          MakeUintegerChecker<uint32_t>(1));
    return tid;
}

void
VegasControl::Open(uint32_t slot, const Path& path)
{
    if (slot >= m_flows.size())
    {
        m_flows.resize(slot + 1);
    }
    m_flows[slot] = {path.mtuBytes, path.baseRttPs, 2 * uint64_t{path.mtuBytes}, 0};
}

void
VegasControl::OnAck(uint32_t slot, const Ack& ack)
{
    Flow& flow = m_flows[slot];
    if (ack.packet < flow.roundEnd)
    {
        return; // once per round trip
    }
    flow.roundEnd = ack.nextPacket;
    const uint64_t waitedPs = std::max(ack.rttPs, flow.baseRttPs) - flow.baseRttPs;
    const double share = static_cast<double>(waitedPs) / static_cast<double>(ack.rttPs);
    const double waiting = share * static_cast<double>(flow.windowBytes) / flow.mtuBytes;
    if (waiting < m_fewPackets)
    {
        flow.windowBytes += flow.mtuBytes;
    }
    else if (waiting > m_manyPackets)
    {
        flow.windowBytes -= flow.mtuBytes;
    }
}

void
VegasControl::OnLoss(uint32_t slot, Loss)
{
    Flow& flow = m_flows[slot];
    flow.windowBytes = std::max<uint64_t>(2 * flow.mtuBytes, flow.windowBytes / 2);
}

uint64_t
VegasControl::WindowBytes(uint32_t slot) const
{
    return m_flows[slot].windowBytes;
}

} // namespace ns3
