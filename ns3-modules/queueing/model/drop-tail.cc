// SPDX-License-Identifier: GPL-2.0-only

#include "drop-tail.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("DropTail");
NS_OBJECT_ENSURE_REGISTERED(DropTail);

TypeId
DropTail::GetTypeId()
{
    static TypeId tid = TypeId("ns3::DropTail")
                            .SetParent<QueueDiscipline>()
                            .SetGroupName("Queueing")
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
                                          MakeDoubleChecker<double>(0.0, 128.0))
                            .AddAttribute("ReferenceRateBps",
                                          "Rate of a link that the sizes in bytes are for, those "
                                          "of other links are in proportion [bit/s], 0 = for all",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&DropTail::m_forRateBps),
                                          MakeUintegerChecker<uint64_t>());
    return tid;
}

void
DropTail::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    for (uint32_t node = 0; node < context.NumNodes(); node++)
    {
        NS_ABORT_MSG_IF(m_alpha > 0 && context.GetNode(node).isSwitch && !context.BufferBytes(node),
                        GetInstanceTypeId().GetName()
                            << ": Alpha is a multiple of the free buffer, so the switches need a "
                               "buffer size; switch "
                            << context.GetNode(node).id << " has none");
    }
}

QueueDiscipline::QuietBytes
DropTail::Quiet(uint8_t) const
{
    if (m_alpha > 0)
    {
        return {0, ALWAYS};
    }
    return {m_limitBytes ? QuietUpTo(m_limitBytes) : ALWAYS, ALWAYS};
}

uint64_t
DropTail::OfRate(PortId port, uint64_t bytes) const
{
    return static_cast<uint64_t>(static_cast<double>(m_context->RateBps(port)) /
                                 static_cast<double>(m_forRateBps) * static_cast<double>(bytes));
}

QueueDiscipline::Verdict
DropTail::Admit(PortId port, Frame& frame, uint64_t queuedBytes)
{
    if (m_limitBytes && queuedBytes + frame.bytes > At(port, m_limitBytes))
    {
        return Verdict::DROP;
    }
    if (m_alpha > 0)
    {
        const auto freeBytes =
            static_cast<double>(m_context->FreeBytes(m_context->GetPort(port).node));
        if (static_cast<double>(queuedBytes) >= m_alpha * freeBytes)
        {
            return Verdict::DROP;
        }
    }
    return Verdict::ADMIT;
}

} // namespace ns3
