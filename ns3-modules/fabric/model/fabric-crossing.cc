// SPDX-License-Identifier: GPL-2.0-only

// What goes from one domain of a run to another.

#include "fabric-egress.h"

#include "ns3/abort.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

/// Refuse what one domain of several cannot know.
void
Fabric::CheckDomain() const
{
    if (m_mail.size() == 1)
    {
        return;
    }
    for (const SwitchProgram* program : m_programs)
    {
        NS_ABORT_MSG_IF(program->KnowsAllSwitches(),
                        program->GetInstanceTypeId().GetName()
                            << " knows what all switches do: run it in one domain "
                               "(engine.domains)");
    }
    for (const Endpoint& end : m_endpoints)
    {
        NS_ABORT_MSG_IF(end.transport->UsesStockEvents(),
                        end.transport->GetInstanceTypeId().GetName()
                            << " schedules events of stock ns-3, which belong to no domain: run it "
                               "in one domain (engine.domains)");
        NS_ABORT_MSG_IF(end.transport->IsOpen(),
                        end.transport->GetInstanceTypeId().GetName()
                            << " sends more than the messages of the tables: run it in one domain "
                               "(engine.domains)");
    }
    NS_ABORT_MSG_IF(m_state.messages.LeastTellingPs() == 0,
                    "dependencies: a flow starts in another domain at the moment in which the one "
                    "before it ends; give it a delay_ps, or both hosts one domain");
}

uint64_t
Fabric::LeastCrossingPs() const
{
    uint64_t leastPs = m_state.messages.LeastTellingPs();
    for (PortId port = 0; port < m_state.network.NumPorts(); port++)
    {
        if (m_ports[port].crosses)
        {
            leastPs = std::min(leastPs, m_ports[port].delayPs);
        }
    }
    return leastPs;
}

/// Put a copy of a frame into the mail; the frame is free.
FABRIC_HOT void
Fabric::Post(DomainMail& mail,
             std::vector<DomainMail::Letter>& letters,
             const DomainMail::Delivery& delivery,
             FrameId frameId)
{
    letters.emplace_back(delivery, m_state.frames[frameId]);
    __builtin_prefetch(letters.data() + letters.size() + 3, 1); // another core may have it
    if (const FrameNote* note = m_state.frames.FindNote(frameId)) [[unlikely]]
    {
        letters.back().frame.next = static_cast<uint32_t>(mail.notes.size());
        const auto hops = m_state.frames.Hops(frameId);
        mail.hops.insert(mail.hops.end(), hops.begin(), hops.end());
        mail.notes.push_back({*note, static_cast<uint32_t>(mail.hops.size())});
    }
    mail.Expect(delivery.timePs);
    m_state.frames.Free(frameId);
}

/// A frame is whole on a link to another domain, which gets a copy.
void
Fabric::HandOver(PortId portId, FrameId frameId)
{
    const Port& port = m_ports[portId];
    const Outbox& box = m_outboxes[port.outbox];
    if (box.list == DomainMail::LANES)
    {
        const uint64_t latencyPs = m_state.LatencyPs(m_ports[port.peer]);
        HandOverAt(portId, m_state.nowPs + m_ports[portId].delayPs + latencyPs, frameId);
        return;
    }
    DomainMail& mail = *box.mail[m_parity];
    Post(mail, mail.lanes[box.list], {m_state.nowPs + box.delayPs, port.peer}, frameId);
}

/// The same, of a frame that takes a time of its own.
void
Fabric::HandOverAt(PortId portId, uint64_t timePs, FrameId frameId)
{
    const Port& port = m_ports[portId];
    DomainMail& mail = *m_outboxes[port.outbox].mail[m_parity];
    Post(mail, mail.loose, {timePs, port.peer}, frameId);
}

/// A frame is lost on its way out; the port that it never reaches counts it.
void
Fabric::CountLost(PortId portId)
{
    const Port& port = m_ports[portId];
    if (port.crosses)
    {
        m_outboxes[port.outbox].mail[m_parity]->lost.push_back(port.peer);
    }
    else
    {
        m_state.network.counters[port.peer].lostFrames++;
    }
}

/// @return a frame of this domain, made of one that was sent here
FABRIC_HOT FrameId
Fabric::Unfold(const DomainMail& mail, const Frame& frame)
{
    m_state.frames.FetchFree();
    const FrameId id = m_state.frames.AllocateCopy(frame);
    if (frame.noted) [[unlikely]]
    {
        const auto& [note, end] = mail.notes[frame.next];
        FrameNote& own = m_state.frames.Note(id);
        own = note;
        own.firstHop = NO_HOP;
        for (uint32_t i = frame.next == 0 ? 0 : mail.notes[frame.next - 1].endOfHops; i < end; i++)
        {
            m_state.frames.AddHop(id, mail.hops[i]);
        }
    }
    return id;
}

void
Fabric::TakeIn(const std::vector<DomainMail*>& mails)
{
    for (uint32_t list = 0; list < DomainMail::LANES; list++)
    {
        TakeInList(mails, list);
    }
    for (DomainMail* mail : mails)
    {
        if (mail->IsEmpty())
        {
            continue;
        }
        TakeInLoose(*mail);
        for (const Fulfilled& fulfilled : mail->fulfilled)
        {
            m_state.messages.Fulfil(fulfilled, m_state.nowPs);
        }
        for (const PortId port : mail->lost)
        {
            m_state.network.counters[port].lostFrames++;
        }
        mail->Clear();
    }
}

/// Lists of one delay become a lane or two, by time; of one time by domain.
void
Fabric::TakeInList(const std::vector<DomainMail*>& mails, uint32_t list)
{
    m_readers.clear();
    for (uint32_t i = 0; i < mails.size(); i++) // of the other domains
    {
        const auto& letters = mails[i]->lanes[list];
        if (!letters.empty())
        {
            m_readers.push_back({mails[i],
                                 letters.data(),
                                 letters.data() + letters.size(),
                                 m_inLanes[list][i >= m_state.domain]});
        }
    }
    while (!m_readers.empty())
    {
        uint64_t timePs = NEVER_PS; // of one list there is nothing to choose
        for (size_t i = 0; i < m_readers.size() && m_readers.size() > 1; i++)
        {
            timePs = std::min(timePs, m_readers[i].next->delivery.timePs);
        }
        for (MailReader& from : m_readers)
        {
            const auto* next = from.next;
            for (; next != from.end && next->delivery.timePs <= timePs; next++)
            {
                const auto [arrivesPs, to] = next->delivery;
                m_state.queue.PushLane(from.lane,
                                 {arrivesPs,
                                  EventTarget(EventType::ARRIVE, to),
                                  Unfold(*from.mail, next->frame)});
            }
            from.next = next;
        }
        std::erase_if(m_readers, [](const auto& reader) { return reader.next == reader.end; });
    }
}

void
Fabric::TakeInLoose(const DomainMail& mail)
{
    for (const auto& letter : mail.loose)
    {
        const FrameId id = Unfold(mail, letter.frame);
        const auto [timePs, to] = letter.delivery;
        const Event event{timePs, EventTarget(EventType::ARRIVE, to), id};
        const PortId from = m_ports[to].peer;
        // Only link control overtakes what is on a wire; see PutOnWire.
        if (m_state.queue.HasWires() && letter.frame.kind != frame_kind::LINK_CONTROL)
        {
            m_state.queue.PushWire(m_state.nowPs, from, event);
        }
        else
        {
            m_state.queue.Push(m_state.nowPs, event);
        }
    }
}

void
Fabric::LearnSent(PortId foreign, uint64_t sentFrames)
{
    m_ports[foreign].sentFrames = sentFrames;
}

} // namespace fabric
} // namespace ns3
