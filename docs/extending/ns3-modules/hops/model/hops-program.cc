// SPDX-License-Identifier: GPL-2.0-only

#include "hops-program.h"

#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(HopsProgram);

TypeId
HopsProgram::GetTypeId()
{
    static TypeId tid = TypeId("ns3::HopsProgram")
                            .SetParent<SwitchProgram>()
                            .SetGroupName("Hops")
                            .AddConstructor<HopsProgram>()
                            .AddAttribute("HopBytes",
                                          "By which each hop makes a packet longer [byte]",
                                          UintegerValue(8),
                                          MakeUintegerAccessor(&HopsProgram::m_hopBytes),
                                          MakeUintegerChecker<uint32_t>(0, 64));
    return tid;
}

void
HopsProgram::Attach(ProgramContext& context)
{
    m_context = &context;
}

void
HopsProgram::OnDeparture(PortId egress, FrameId id, uint64_t queuedBytes)
{
    Frame& frame = m_context->GetFrame(id);
    if (frame.kind != frame_kind::DATA)
    {
        return;
    }
    m_context->AddHop(id,
                   {.timePs = m_context->NowPs(),
                    .sentBytes = m_context->SentBytes(egress),
                    .queuedBytes = queuedBytes,
                    .rateBps = m_context->RateBps(egress),
                    .port = egress});
    frame.bytes += static_cast<uint16_t>(m_hopBytes);
}

} // namespace ns3
