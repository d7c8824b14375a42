// SPDX-License-Identifier: GPL-2.0-only

#include "red-ecn.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("RedEcn");
NS_OBJECT_ENSURE_REGISTERED(RedEcn);

TypeId
RedEcn::GetTypeId()
{
    static TypeId tid = TypeId("ns3::RedEcn")
                            .SetParent<DropTail>()
                            .SetGroupName("Queueing")
                            .AddConstructor<RedEcn>()
                            .AddAttribute("KminBytes",
                                          "Queue up to which nothing is marked [byte]",
                                          UintegerValue(400'000),
                                          MakeUintegerAccessor(&RedEcn::m_kminBytes),
                                          MakeUintegerChecker<uint64_t>())
                            .AddAttribute("KmaxBytes",
                                          "Queue above which everything is marked [byte]",
                                          UintegerValue(1'600'000),
                                          MakeUintegerAccessor(&RedEcn::m_kmaxBytes),
                                          MakeUintegerChecker<uint64_t>())
                            .AddAttribute("Pmax",
                                          "Probability of a mark at KmaxBytes [1]",
                                          DoubleValue(0.2),
                                          MakeDoubleAccessor(&RedEcn::m_pmax),
                                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

void
RedEcn::Check() const
{
    NS_ABORT_MSG_IF(m_kminBytes > m_kmaxBytes,
                    Name("KminBytes")
                        << " is " << m_kminBytes << ", more than KmaxBytes, " << m_kmaxBytes);
}

void
RedEcn::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    DropTail::Attach(context);
    m_draws.clear();
    for (PortId port = 0; port < context.NumPorts(); port++)
    {
        m_draws.push_back(context.CursorOfPort(port, RandomUse::ECN_MARK));
    }
}

QueueDiscipline::QuietBytes
RedEcn::Quiet(uint8_t priority) const
{
    return {DropTail::Quiet(priority).admit, QuietUpTo(m_kminBytes)};
}

void
RedEcn::Depart(PortId port, Frame& frame, uint64_t queuedBytes)
{
    const uint64_t kminBytes = At(port, m_kminBytes);
    if (queuedBytes <= kminBytes || !(frame.flags & frame_flag::ECN_CAPABLE))
    {
        return;
    }
    const uint64_t kmaxBytes = At(port, m_kmaxBytes);
    if (queuedBytes <= kmaxBytes)
    {
        const double chance = m_pmax * static_cast<double>(queuedBytes - kminBytes) /
                              static_cast<double>(kmaxBytes - kminBytes);
        m_numDraws++;
        if (m_draws[port].Real() >= chance)
        {
            return;
        }
    }
    frame.flags |= frame_flag::ECN_MARKED;
}

} // namespace ns3
