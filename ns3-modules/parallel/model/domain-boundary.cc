// SPDX-License-Identifier: GPL-2.0-only

#include "domain-boundary.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

// ---- while the engine is built ----------------------------------------------------------------

void
DomainBoundary::Attach(EngineState& state)
{
    m_state = &state;
    uint32_t last = 0;
    for (const NodeState& node : state.network.nodes)
    {
        last = std::max<uint32_t>(last, node.engine);
    }
    m_outboxes = std::vector<std::array<DomainOutbox, 2>>(last + 1);
}

uint32_t
DomainBoundary::DomainOf(PortId port) const
{
    return m_state->network.nodes[m_state->network.ports[port].node].engine;
}

void
DomainBoundary::AddPort(PortId from, uint32_t list, uint64_t delayPs)
{
    Port& port = m_state->network.ports[from];
    m_leastDelayPs = std::min(m_leastDelayPs, port.delayPs);
    const uint32_t domain = DomainOf(port.peer);
    const auto crossing = std::ranges::find_if(m_crossings, [domain, list](const Crossing& other) {
        return other.domain == domain && other.list == list;
    });
    port.outbox = static_cast<uint16_t>(crossing - m_crossings.begin());
    if (crossing == m_crossings.end())
    {
        m_crossings.push_back({domain, list, delayPs});
    }
}

void
DomainBoundary::UseLane(PortId from, uint32_t list, uint8_t lane)
{
    m_inLanes[list][DomainOf(from) > m_state->engine] = lane;
}

// ---- while it runs ----------------------------------------------------------------------------

uint64_t
DomainBoundary::LeastCrossingPs() const
{
    return std::min(m_leastDelayPs, m_state->messages.LeastTellingPs());
}

/// Put a copy of a frame into the outbox; the frame is free.
inline void
DomainBoundary::Post(DomainOutbox& outbox,
                     std::vector<DomainOutbox::SentFrame>& sent,
                     const DomainOutbox::Delivery& delivery,
                     FrameId frameId)
{
    sent.emplace_back(delivery, m_state->frames[frameId]);
    __builtin_prefetch(sent.data() + sent.size() + 3, 1); // another core may have it
    Frame& copy = sent.back().frame;
    if (copy.noted || copy.numHops != 0) [[unlikely]]
    {
        copy.next = static_cast<uint32_t>(outbox.notes.size());
        const FrameNote* note = m_state->frames.FindNote(frameId);
        outbox.notes.push_back(
            {note ? *note : FrameNote{}, static_cast<uint32_t>(outbox.hops.size())});
        const auto hops = m_state->frames.Hops(frameId);
        outbox.hops.insert(outbox.hops.end(), hops.begin(), hops.end());
    }
    outbox.Expect(m_state->world.WorldOf(EnginePs(delivery.timePs)));
    m_state->frames.Free(frameId);
}

/// @return what is told in this window to the domain that a port leads to
DomainOutbox&
DomainBoundary::OutboxOf(PortId from)
{
    return m_outboxes[m_crossings[m_state->network.ports[from].outbox].domain][m_parity];
}

void
DomainBoundary::HandOver(PortId from, FrameId frameId)
{
    const Port& port = m_state->network.ports[from];
    const Crossing& crossing = m_crossings[port.outbox];
    if (crossing.list == LISTS)
    {
        const uint64_t processingDelayPs =
            m_state->ProcessingDelayPs(m_state->network.ports[port.peer]);
        HandOverAt(from, m_state->nowPs + port.delayPs + processingDelayPs, frameId);
        return;
    }
    DomainOutbox& outbox = OutboxOf(from);
    Post(outbox,
         outbox.lanes[crossing.list],
         {m_state->nowPs + crossing.delayPs, port.peer},
         frameId);
}

void
DomainBoundary::HandOverAt(PortId from, uint64_t timePs, FrameId frameId)
{
    DomainOutbox& outbox = OutboxOf(from);
    Post(outbox, outbox.loose, {timePs, m_state->network.ports[from].peer}, frameId);
}

void
DomainBoundary::CountLost(PortId to)
{
    m_outboxes[DomainOf(to)][m_parity].lost.push_back(to);
}

void
DomainBoundary::Tell(uint32_t engine, const Fulfilled& fulfilled)
{
    m_outboxes[engine][m_parity].fulfilled.push_back(fulfilled);
    m_outboxes[engine][m_parity].Expect(fulfilled.startPs);
}

/// @return a frame of this domain, made of one that was sent here
inline FrameId
DomainBoundary::ImportFrame(const DomainOutbox& outbox, const Frame& frame)
{
    m_state->frames.FetchFree();
    const FrameId id = m_state->frames.AllocateCopy(frame);
    if (frame.noted) [[unlikely]]
    {
        m_state->frames.Note(id) = outbox.notes[frame.next].note;
    }
    for (uint32_t hop = 0; hop < frame.numHops; hop++)
    {
        m_state->frames.AddHop(id, outbox.hops[outbox.notes[frame.next].firstHop + hop]);
    }
    return id;
}

void
DomainBoundary::Import(const std::vector<DomainOutbox*>& outboxes)
{
    for (uint32_t list = 0; list < LISTS; list++)
    {
        ImportList(outboxes, list);
    }
    for (DomainOutbox* outbox : outboxes)
    {
        if (outbox->IsEmpty())
        {
            continue;
        }
        ImportLoose(*outbox);
        for (const Fulfilled& fulfilled : outbox->fulfilled)
        {
            m_state->messages.Fulfil(fulfilled, m_state->EngineNowPs());
        }
        for (const PortId port : outbox->lost)
        {
            m_state->network.counters[port].lostFrames++;
        }
        outbox->Clear();
    }
}

/// Lists of one delay become a lane or two, by time; of one time by domain.
void
DomainBoundary::ImportList(const std::vector<DomainOutbox*>& outboxes, uint32_t list)
{
    m_readers.clear();
    for (uint32_t i = 0; i < outboxes.size(); i++) // of the other domains
    {
        const auto& sent = outboxes[i]->lanes[list];
        if (!sent.empty())
        {
            m_readers.push_back({outboxes[i],
                                 sent.data(),
                                 sent.data() + sent.size(),
                                 m_inLanes[list][i >= m_state->engine]});
        }
    }
    while (!m_readers.empty())
    {
        uint64_t timePs = NEVER_PS; // of one list there is nothing to choose
        for (size_t i = 0; i < m_readers.size() && m_readers.size() > 1; i++)
        {
            timePs = std::min(timePs, m_readers[i].next->delivery.timePs);
        }
        for (Reader& from : m_readers)
        {
            const auto* next = from.next;
            for (; next != from.end && next->delivery.timePs <= timePs; next++)
            {
                const auto [arrivesPs, to] = next->delivery;
                m_state->queue.PushLane(from.lane,
                                        {arrivesPs,
                                         EventTarget(EventType::ARRIVE, to),
                                         ImportFrame(*from.outbox, next->frame)});
            }
            from.next = next;
        }
        std::erase_if(m_readers, [](const auto& reader) { return reader.next == reader.end; });
    }
}

void
DomainBoundary::ImportLoose(const DomainOutbox& outbox)
{
    for (const auto& one : outbox.loose)
    {
        const FrameId id = ImportFrame(outbox, one.frame);
        const auto [timePs, to] = one.delivery;
        const Event event{timePs, EventTarget(EventType::ARRIVE, to), id};
        const PortId from = m_state->network.ports[to].peer;
        // Only link control overtakes what is on a wire; see PutOnWire.
        if (one.frame.kind == frame_kind::LINK_CONTROL)
        {
            m_state->queue.Push(m_state->nowPs, event);
        }
        else
        {
            m_state->queue.PushWire(m_state->nowPs, from, event);
        }
    }
}

void
DomainBoundary::LearnSent(PortId foreign, uint64_t sentFrames)
{
    m_state->network.ports[foreign].sentFrames = sentFrames;
}

} // namespace fabric
} // namespace ns3
