// SPDX-License-Identifier: GPL-2.0-only

#include "host-jitter.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(HostJitter);

TypeId
HostJitter::GetTypeId()
{
    static TypeId tid = TypeId("ns3::HostJitter")
                            .SetParent<SwitchProgram>()
                            .SetGroupName("Jitter")
                            .AddConstructor<HostJitter>()
                            .AddAttribute("Most",
                                          "Most that a frame of a host is later",
                                          TimeValue(MicroSeconds(1)),
                                          MakeTimeAccessor(&HostJitter::m_most),
                                          MakeTimeChecker(PicoSeconds(1), MilliSeconds(1)));
    return tid;
}

void
HostJitter::Attach(ProgramContext& context)
{
    constexpr uint32_t OWN_DRAWS = 1; // losses of the same port have those of number 0
    m_context = &context;
    m_mostPs = static_cast<uint32_t>(m_most.GetPicoSeconds());
    m_draws.clear();
    for (PortId port = 0; port < context.NumPorts(); port++)
    {
        m_draws.push_back(context.Another(OWN_DRAWS).CursorOfPort(port, RandomUse::FRAME_LOSS));
    }
    m_lastPs.assign(context.NumPorts(), 0);
    m_waiting.assign(context.NumNodes(), {});
    m_frames.assign(context.NumNodes(), 0);
}

SwitchProgram::Action
HostJitter::OnArrival(uint32_t node, PortId ingress, FrameId frame)
{
    if (!m_context->GetPort(m_context->GetPort(ingress).peer).isHost)
    {
        return Action::FORWARD;
    }
    const uint64_t duePs = m_context->NowPs() + 1 + m_draws[ingress].Below(m_mostPs);
    m_lastPs[ingress] = std::max(m_lastPs[ingress], duePs);
    m_waiting[node].emplace(Due{m_lastPs[ingress], ingress, m_frames[node]++}, frame);
    m_context->SetTimer(node, m_lastPs[ingress]);
    return Action::TAKE;
}

void
HostJitter::OnTimer(uint32_t node)
{
    auto& waiting = m_waiting[node];
    while (!waiting.empty() && std::get<0>(waiting.begin()->first) <= m_context->NowPs())
    {
        const FrameId frame = waiting.begin()->second;
        waiting.erase(waiting.begin());
        m_context->Inject(node, frame);
    }
}

} // namespace ns3
