// SPDX-License-Identifier: GPL-2.0-only

#include "inband-telemetry.h"

#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(InbandTelemetry);

TypeId
InbandTelemetry::GetTypeId()
{
    static TypeId tid = TypeId("ns3::InbandTelemetry")
                            .SetParent<SwitchProgram>()
                            .SetGroupName("Inband")
                            .AddConstructor<InbandTelemetry>()
                            .AddAttribute("HopBytes",
                                          "By which each switch makes a packet longer [byte]",
                                          UintegerValue(8),
                                          MakeUintegerAccessor(&InbandTelemetry::m_hopBytes),
                                          MakeUintegerChecker<uint32_t>(0, 64))
                            .AddAttribute("BaseBytes",
                                          "By which the first one makes it longer besides [byte]",
                                          UintegerValue(2),
                                          MakeUintegerAccessor(&InbandTelemetry::m_baseBytes),
                                          MakeUintegerChecker<uint32_t>(0, 64));
    return tid;
}

void
InbandTelemetry::Attach(ProgramContext& context)
{
    m_context = &context;
}

void
InbandTelemetry::OnDeparture(PortId egress, FrameId id, uint64_t queuedBytes)
{
    Frame& frame = m_context->GetFrame(id);
    if (frame.kind != frame_kind::DATA)
    {
        return;
    }
    const bool isFirst = frame.numHops == 0;
    m_context->AddHop(id,
                      {.timePs = m_context->NowPs(),
                       .sentBytes = m_context->SentBytes(egress),
                       .queuedBytes = queuedBytes,
                       .rateBps = m_context->RateBps(egress),
                       .port = egress});
    frame.bytes = static_cast<uint16_t>(frame.bytes + m_hopBytes + (isFirst ? m_baseBytes : 0));
}

} // namespace ns3
