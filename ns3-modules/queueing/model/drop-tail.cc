// SPDX-License-Identifier: GPL-2.0-only

#include "drop-tail.h"

#include "fabric.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

namespace ns3
{

NS_OBJECT_ENSURE_REGISTERED(DropTail);

TypeId
DropTail::GetTypeId()
{
    static TypeId tid = TypeId("ns3::DropTail")
                            .SetParent<fabric::QueueDiscipline>()
                            .SetGroupName("Fabric")
                            .AddConstructor<DropTail>()
                            .AddAttribute("LimitBytes",
                                          "Most bytes waiting per port and priority [byte], "
                                          "0 = no limit; a lossless priority has none",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&DropTail::m_limitBytes),
                                          MakeUintegerChecker<uint64_t>())
                            .AddAttribute("Alpha",
                                          "Most bytes waiting per port and priority as a multiple "
                                          "of the free buffer of the switch [1], 0 = no such limit",
                                          DoubleValue(0.0),
                                          MakeDoubleAccessor(&DropTail::m_alpha),
                                          MakeDoubleChecker<double>(0.0, 128.0));
    return tid;
}

void
DropTail::Attach(fabric::Fabric& fabric)
{
    NS_ABORT_MSG_IF(m_alpha > 0 && fabric.Options().bufferBytes == 0,
                    GetInstanceTypeId().GetName()
                        << ": Alpha is a multiple of the free buffer, so the switches need a "
                           "buffer size");
    m_fabric = &fabric;
}

fabric::QueueDiscipline::Verdict
DropTail::Admit(fabric::PortId port, fabric::Frame& frame, uint32_t queuedBytes)
{
    if (m_limitBytes && queuedBytes + frame.bytes > m_limitBytes)
    {
        return Verdict::DROP;
    }
    if (m_alpha > 0)
    {
        const auto& node = m_fabric->GetNode(m_fabric->GetPort(port).node);
        const auto freeBytes =
            static_cast<double>(m_fabric->Options().bufferBytes - node.usedBytes);
        if (static_cast<double>(queuedBytes) >= m_alpha * freeBytes)
        {
            return Verdict::DROP;
        }
    }
    return Verdict::ADMIT;
}

void
DropTail::Depart(fabric::PortId, fabric::Frame&, uint32_t)
{
}

} // namespace ns3
