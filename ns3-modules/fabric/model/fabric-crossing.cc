// SPDX-License-Identifier: GPL-2.0-only

// What goes from one domain of a run to another.

#include "fabric.h"

#include "ns3/abort.h"

#include <algorithm>
#include <utility>

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
    NS_ABORT_MSG_IF(m_options.skipTolerance > 0,
                    "steady states are skipped in one domain; leave out engine.skip or "
                    "engine.domains");
    NS_ABORT_MSG_IF(m_messages.Graph().NumTasks() > 0,
                    "tasks: a run that computes goes on in one domain (engine.domains)");
    for (const SwitchProgram* program : m_programs)
    {
        NS_ABORT_MSG_IF(program->KnowsAllSwitches(),
                        program->GetInstanceTypeId().GetName()
                            << " knows what all switches do: run it in one domain "
                               "(engine.domains)");
    }
    for (const Endpoint& end : m_endpoints)
    {
        NS_ABORT_MSG_IF(!end.transport->IsAcknowledged() || end.transport->IsOpen(),
                        end.transport->GetInstanceTypeId().GetName()
                            << " sends more than messages that are acknowledged: run it in one "
                               "domain (engine.domains)");
    }
    NS_ABORT_MSG_IF(m_messages.LeastTellingPs() == 0,
                    "dependencies: a flow starts in another domain at the moment in which the one "
                    "before it ends; give it a delay_ps, or both hosts one domain");
}

uint64_t
Fabric::LeastCrossingPs() const
{
    uint64_t leastPs = m_messages.LeastTellingPs();
    for (PortId port = 0; port < m_network.NumPorts(); port++)
    {
        if (m_ports[port].crosses)
        {
            leastPs = std::min(leastPs, m_network.counters[port].delayPs);
        }
    }
    return leastPs;
}

/// A frame is on a link to another domain, which gets a copy.
void
Fabric::HandOver(PortId portId, uint64_t timePs, FrameId frameId)
{
    const Port& peer = m_ports[m_ports[portId].peer];
    DomainMail& mail = m_mail[m_network.nodes[peer.node].domain][m_parity];
    mail.frames.push_back({timePs, portId, m_frames[frameId]});
    if (const FrameNote* note = m_frames.FindNote(frameId))
    {
        const auto hops = m_frames.Hops(frameId);
        mail.notes.push_back({*note, {hops.begin(), hops.end()}});
    }
    mail.Expect(timePs);
    m_frames.Free(frameId);
}

void
Fabric::TakeIn(DomainMail& mail)
{
    size_t notes = 0;
    for (const auto& letter : mail.frames)
    {
        const FrameId id = m_frames.Allocate();
        Frame& frame = m_frames[id];
        frame = letter.frame;
        frame.next = NO_FRAME;
        frame.noted = false;
        if (letter.frame.noted)
        {
            const auto& [note, hops] = mail.notes[notes++];
            FrameNote& own = m_frames.Note(id);
            own = note;
            own.firstHop = NO_HOP;
            for (const IntHop& hop : hops)
            {
                m_frames.AddHop(id, hop);
            }
        }
        const Event event{letter.timePs,
                          EventTarget(EventType::ARRIVE, m_ports[letter.from].peer),
                          id};
        // Of what is on a long link only link control overtakes; see PutOnWire.
        if (m_network.counters[letter.from].delayPs >= EventWheel::HORIZON_PS &&
            frame.kind != frame_kind::LINK_CONTROL)
        {
            m_queue.PushWire(m_nowPs, letter.from, event);
        }
        else
        {
            m_queue.Push(m_nowPs, event);
        }
    }
    for (const Fulfilled& fulfilled : mail.fulfilled)
    {
        m_messages.Fulfil(fulfilled, m_nowPs);
    }
    mail.Clear();
}

void
Fabric::LearnSent(PortId foreign, uint64_t sentFrames)
{
    m_ports[foreign].sentFrames = sentFrames;
}

uint64_t
Fabric::TakeLost(PortId own)
{
    return std::exchange(m_network.counters[m_ports[own].peer].lostFrames, 0);
}

void
Fabric::CountLost(PortId own, uint64_t frames)
{
    m_network.counters[own].lostFrames += frames;
}

} // namespace fabric
} // namespace ns3
