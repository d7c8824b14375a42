// SPDX-License-Identifier: GPL-2.0-only

#include "period-search.h"

#include <algorithm>
#include <utility>

namespace ns3
{
namespace fabric
{

namespace
{

/// Of a run, and of a message, one part in so many may be searched in vain.
constexpr uint64_t VAIN_PART_OF_RUN = 12;
constexpr uint64_t VAIN_PART_OF_MESSAGE = 4;

/// Nobody reacts to marks in what MayRepeat.
constexpr uint16_t SEEN_FLAGS =
    static_cast<uint16_t>(~(frame_flag::ECN_MARKED | frame_flag::ECN_ECHO));

uint64_t
Mixed(uint64_t hash, uint64_t with)
{
    return Mix64(hash ^ Mix64(with));
}

} // namespace

PeriodSearch::PeriodSearch(const EngineState& state)
    : m_state(state)
{
}

bool
PeriodSearch::MayBegin() const
{
    return VAIN_PART_OF_RUN * m_inVainPs <= m_state.EngineNowPs().Ps();
}

void
PeriodSearch::Restart(uint32_t reference, uint32_t packets)
{
    m_beganPs = m_state.EngineNowPs();
    m_isOn = MayBegin();
    m_isPutOff = !m_isOn;
    m_most = std::min<size_t>(Repetition::MOST, packets / VAIN_PART_OF_MESSAGE);
    m_isCut = false;
    m_reference = reference;
    m_cutPs = m_state.EngineNowPs();
    m_hash = 0;
    m_parts.Restart();
    m_nextLook = 2 * Repetition::LEAST;
    m_period = 0;
}

void
PeriodSearch::Stop()
{
    m_inVainPs += m_isOn ? m_state.EngineNowPs() - m_beganPs : 0;
    m_isOn = false;
    m_isPutOff = false;
}

/// @return hash of a frame, the same for any other one as far behind what its message has sent
uint64_t
PeriodSearch::Of(const Frame& frame) const
{
    const uint64_t kinds = uint64_t{frame.kind} << 56 | uint64_t{frame.priority} << 48 |
                           uint64_t{frame.bytes} << 16 | uint64_t(frame.flags & SEEN_FLAGS);
    if (frame.kind == frame_kind::LINK_CONTROL)
    {
        return Mixed(kinds, frame.aux);
    }
    const Message& message = m_state.messages[frame.message];
    const uint64_t sent = message.sentPackets - message.retransmittedPackets;
    const uint64_t behind = sent - frame.packet;
    const uint64_t answers = frame.kind == frame_kind::DATA ? 0 : sent - frame.aux;
    return Mixed(Mixed(kinds, frame.message), behind << 32 | (answers & 0xffffffff));
}

void
PeriodSearch::Trace(const Instant& instant)
{
    const EnginePs nowPs = m_state.EngineNowPs();
    for (size_t i = 0; i < instant.arrived.Size(); i++)
    {
        const uint64_t key = instant.arrived[i];
        const Frame& frame = m_state.frames[static_cast<FrameId>(key)];
        const PortId port = IndexOf(key);
        m_hash = Mixed(m_hash ^ Of(frame), uint64_t{port} << 44 ^ (nowPs - m_cutPs));
        m_isCut = m_isCut || (frame.kind == frame_kind::DATA && frame.message == m_reference &&
                              m_state.network.ports[port].isHost);
    }
    if (m_isCut)
    {
        m_parts.Add(m_hash);
        m_hash = 0;
        m_cutPs = nowPs;
    }
}

/// @return hash of what waits where, and who is held back
uint64_t
PeriodSearch::Queues() const
{
    uint64_t hash = 0;
    for (PortId id = 0; id < m_state.network.NumPorts(); id++)
    {
        const Port& port = m_state.network.ports[id];
        hash = Mixed(hash, port.queuedBytes << 16 | port.paused);
    }
    return hash;
}

/// @return whether all messages are as far as they were, and nothing is under way that was before
bool
PeriodSearch::IsCovered(const Snapshot& from, const Snapshot& to) const
{
    return std::equal(from.flows.begin(),
                      from.flows.end(),
                      to.flows.begin(),
                      [](const FlowTotals& a, const FlowTotals& b) {
                          const uint64_t arrived = b.arrived - a.arrived;
                          return arrived > 0 && arrived >= b.sent - b.arrived;
                      });
}

void
PeriodSearch::Begin(size_t period, const Take& take)
{
    m_period = period;
    m_since = m_parts.Size();
    m_length = period * ((Repetition::LEAST + period - 1) / period);
    m_from = take(m_cutPs);
    m_queues = Queues();
}

bool
PeriodSearch::IsHopeful() const
{
    return m_isOn && (m_period > 0 || m_parts.Size() < 2 * Repetition::LEAST);
}

std::optional<bool>
PeriodSearch::GoesOn()
{
    if (!std::exchange(m_isCut, false))
    {
        return std::nullopt;
    }
    const bool isOpenEnded = m_parts.GoesOn(m_period);
    m_parts.Forget(m_period);
    return isOpenEnded;
}

std::optional<PeriodSearch::Span>
PeriodSearch::Look(const Take& take)
{
    if (!m_isOn || !std::exchange(m_isCut, false))
    {
        return std::nullopt;
    }
    if (m_parts.Size() >= (IsHopeful() ? Repetition::MOST : m_most))
    {
        Stop();
        return std::nullopt;
    }
    if (m_period > 0 && !m_parts.GoesOn(m_period))
    {
        m_period = 0;
    }
    if (m_period == 0)
    {
        if (m_parts.Size() >= m_nextLook)
        {
            m_nextLook += std::max(Repetition::LEAST, m_parts.Size() / 4);
            if (const size_t period = m_parts.Period())
            {
                Begin(period, take);
            }
        }
        return std::nullopt;
    }
    if (m_parts.Size() < m_since + m_length)
    {
        return std::nullopt;
    }
    Snapshot to = take(m_cutPs);
    const auto isLevel = [](const FlowTotals& a, const FlowTotals& b) {
        return a.sent - a.arrived == b.sent - b.arrived && a.timeouts == b.timeouts &&
               a.counts[FlowTotals::COPIES] == b.counts[FlowTotals::COPIES] &&
               a.counts[FlowTotals::TRIMMED] == b.counts[FlowTotals::TRIMMED] &&
               a.counts[FlowTotals::NAKS] == b.counts[FlowTotals::NAKS];
    };
    if (m_queues != Queues() || m_from.draws != to.draws ||
        !std::equal(m_from.flows.begin(), m_from.flows.end(), to.flows.begin(), isLevel))
    {
        Stop(); // what waits grows
        return std::nullopt;
    }
    if (!IsCovered(m_from, to))
    {
        m_length *= 2;
        return std::nullopt;
    }
    m_isOn = false;
    m_inVainPs = 0;
    return Span{std::move(m_from), std::move(to)};
}

} // namespace fabric
} // namespace ns3
