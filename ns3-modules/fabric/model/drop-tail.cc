// SPDX-License-Identifier: GPL-2.0-only

#include "drop-tail.h"

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
                                          MakeUintegerChecker<uint64_t>());
    return tid;
}

void
DropTail::Attach(fabric::Fabric&)
{
}

fabric::QueueDiscipline::Verdict
DropTail::Admit(fabric::PortId, fabric::Frame& frame, uint32_t queuedBytes)
{
    return m_limitBytes && queuedBytes + frame.bytes > m_limitBytes ? Verdict::DROP
                                                                    : Verdict::ADMIT;
}

void
DropTail::Depart(fabric::PortId, fabric::Frame&, uint32_t)
{
}

} // namespace ns3
