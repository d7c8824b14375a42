// SPDX-License-Identifier: GPL-2.0-only

#include "credit-pacer.h"

#include "ns3/event.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

CreditPacer::CreditPacer(const Rules& rules)
    : m_rules(rules),
      m_order(rules.order)
{
}

void
CreditPacer::List(uint32_t flow)
{
    m_order.Push(flow, Of(flow).number);
    m_waits = true;
}

void
CreditPacer::Want(uint32_t flow, uint64_t bytes)
{
    if (!IsKnown(flow))
    {
        m_others.resize(flow);
    }
    Flow& state = Of(flow);
    if (state.number == 0)
    {
        state.number = ++m_begun;
    }
    state.wantedBytes += bytes;
    m_wantedBytes += bytes;
    List(flow);
}

void
CreditPacer::Forget(uint32_t flow)
{
    if (!IsKnown(flow))
    {
        return; // it never wanted any
    }
    m_wantedBytes -= Of(flow).wantedBytes;
    Of(flow) = {};
    m_waits = m_wantedBytes > 0; // somebody else may come in its place
}

void
CreditPacer::SetRateBps(uint64_t rateBps)
{
    m_rules.rateBps = rateBps;
}

std::optional<CreditPacer::Credit>
CreditPacer::Take(uint64_t nowPs)
{
    if (nowPs < m_pacer.NextPs())
    {
        return std::nullopt;
    }
    using Verdict = FlowOrder::Verdict;
    const uint32_t flow = m_order.PopFirst([this](uint32_t candidate) {
        return Of(candidate).wantedBytes == 0 ? Verdict::DROP : Verdict::TAKE;
    });
    if (flow == FlowOrder::NOBODY)
    {
        m_waits = false;
        return std::nullopt;
    }
    Flow& state = Of(flow);
    const uint64_t bytes = std::min<uint64_t>(m_rules.quantumBytes, state.wantedBytes);
    state.wantedBytes -= bytes;
    m_wantedBytes -= bytes;
    m_waits = m_wantedBytes > 0;
    m_pacer.Sent(nowPs, bytes, m_rules.rateBps);
    if (state.wantedBytes > 0)
    {
        List(flow);
    }
    return Credit{flow, bytes};
}

uint64_t
CreditPacer::NextPs() const
{
    return m_waits ? m_pacer.NextPs() : NEVER_PS;
}

} // namespace fabric
} // namespace ns3
