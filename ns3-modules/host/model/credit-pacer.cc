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
    const Flow& state = Of(flow);
    if (state.wantedBytes > 0)
    {
        m_order.Push(flow, state.number);
    }
    else if (state.IsIdle())
    {
        m_idle.Push(flow, 0);
    }
    m_waits = m_wantedBytes > 0 || !m_idle.IsEmpty();
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
    const int64_t beforeBytes = std::max<int64_t>(0, state.wantedBytes);
    state.wantedBytes += static_cast<int64_t>(bytes);
    m_wantedBytes += std::max<int64_t>(0, state.wantedBytes) - beforeBytes;
    List(flow);
}

void
CreditPacer::Spare(uint32_t flow, uint64_t bytes)
{
    Of(flow).spareBytes = static_cast<int64_t>(bytes);
    List(flow);
}

void
CreditPacer::Forget(uint32_t flow)
{
    if (!IsKnown(flow))
    {
        return; // it never wanted any
    }
    m_wantedBytes -= std::max<int64_t>(0, Of(flow).wantedBytes);
    Of(flow) = {};
    m_waits = m_wantedBytes > 0 || !m_idle.IsEmpty(); // somebody else may come in its place
}

void
CreditPacer::SetRateBps(uint64_t rateBps)
{
    m_rules.rateBps = rateBps;
}

/// @return who is to have credit, NOBODY if nobody is
uint32_t
CreditPacer::NextInTurn()
{
    using Verdict = FlowOrder::Verdict;
    const uint32_t flow = m_order.PopFirst([this](uint32_t candidate) {
        return Of(candidate).wantedBytes > 0 ? Verdict::TAKE : Verdict::DROP;
    });
    return flow != FlowOrder::NOBODY ? flow : m_idle.PopFirst([this](uint32_t candidate) {
        return Of(candidate).IsIdle() ? Verdict::TAKE : Verdict::DROP;
    });
}

std::optional<CreditPacer::Credit>
CreditPacer::Take(uint64_t nowPs)
{
    if (nowPs < m_pacer.NextPs())
    {
        return std::nullopt;
    }
    const uint32_t flow = NextInTurn();
    if (flow == FlowOrder::NOBODY)
    {
        m_waits = false;
        return std::nullopt;
    }
    Flow& state = Of(flow);
    const int64_t quantum = m_rules.quantumBytes;
    const int64_t wanted = std::max<int64_t>(0, state.wantedBytes);
    const int64_t bytes = wanted > 0 ? std::min(quantum, wanted) : quantum;
    state.wantedBytes -= bytes;
    m_wantedBytes -= std::min(bytes, wanted);
    m_pacer.Sent(nowPs, static_cast<uint64_t>(bytes), m_rules.rateBps);
    List(flow);
    return Credit{flow, static_cast<uint64_t>(bytes)};
}

uint64_t
CreditPacer::NextPs() const
{
    return m_waits ? m_pacer.NextPs() : NEVER_PS;
}

} // namespace fabric
} // namespace ns3
