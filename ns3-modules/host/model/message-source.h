// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_MESSAGE_SOURCE_H
#define HOST_MESSAGE_SOURCE_H

#include "flow-slots.h"
#include "packet-transport.h"
#include "ready-flows.h"

#include <algorithm>
#include <optional>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief The half of a MessageTransport that sends.
 *
 * @tparam Out state of a message at its source, derived from Outbound
 */
template <typename Out>
class MessageSource : public PacketTransport
{
  protected:
    // ---- the protocol at the source

    /// A message begins: set its window.
    virtual void Begin(Out& out)
    {
    }

    /// @return whether a packet may go now, as far as the family is concerned; there is one
    virtual bool MaySend(const Out& out) const
    {
        return true;
    }

    /// @return priority of the next packet; asked only if variesUrgency
    virtual uint8_t PriorityOf(const Out& out) const
    {
        return m_priority;
    }

    /// @return whether the packet of highest priority goes first, whatever the order of messages;
    /// else priorities are for switches alone; asked only if variesUrgency
    virtual bool UrgentFirst() const
    {
        return true;
    }

    /// @return whether the next packet may go by this port, which serves its destination; asked
    /// only if spreadsOverPorts and MaySend; if it may by none that serves, MaySend is false
    virtual bool MayLeaveBy(const Out& out, PortId port) const
    {
        return true;
    }

    /// A data frame is about to leave by a port: flags from frame_flag::FREE up, `aux` and note
    /// are free.
    virtual void Stamp(Out& out, FrameId data, PortId port)
    {
    }

    /// An answer has come and arrivals are known: take for lost what it shows to be lost.
    virtual void JudgeLosses(Out& out, Answer& answer)
    {
        using Loss = CongestionControl::Loss;
        if ((answer.flags & frame_flag::TRIMMED) && out.packets.Lost(answer.packet))
        {
            TellLost(out, answer.packet, Loss::TRIMMED, answer);
        }
        if (out.reorderPackets > 0)
        {
            out.packets.JudgeOvertaken(out.reorderPackets, [&](uint32_t packet) {
                TellLost(out, packet, Loss::OVERTAKEN, answer);
            });
        }
    }

    /// @return whether an answer starts the retransmission timeout anew
    virtual bool IsProgress(const Answer& answer) const
    {
        // A header that has arrived without its payload shows that nothing is stuck.
        return answer.newPackets > 0 || (answer.flags & frame_flag::TRIMMED);
    }

    /// An answer has come, losses are judged, and the message is not complete.
    virtual void OnAnswer(Out& out, const Answer& answer)
    {
    }

    /// A switch had no room even for the header of a packet and sent it back; the packet is lost.
    virtual void OnBounced(Out& out)
    {
    }

    /// Nothing was heard for too long: take for lost what is out.
    virtual void OnTimeout(Out& out, Answer& lost)
    {
        out.packets.LoseAll([&](uint32_t packet) {
            TellLost(out, packet, CongestionControl::Loss::TIMEOUT, lost);
        });
    }

    /// FAMILY_DEADLINE is reached.
    virtual void OnDeadline(Out& out)
    {
    }

    /// A control frame of a kind of the family has come to the source; it is freed afterwards.
    virtual void OnControl(Out& out, FrameId control)
    {
    }

    // ---- what a family may call

    /// Something has changed: a packet of this message may go now.
    void Wake(Out& out)
    {
        if (CanSend(out))
        {
            Push(out);
            Host().Kick();
        }
    }

    /// End a message at its source, which nobody acknowledges: only if not isAcknowledged.
    void Retire(Out& out)
    {
        CloseFlow(out);
        Host().GetMessage(out.message).senderSlot = DONE_SLOT;
        m_out.Close(out.slot);
    }

    /// @return a message at this source; its senderSlot is open
    Out& OutboundOf(uint32_t slot)
    {
        return m_out[slot];
    }

    void DoAttach() override
    {
        PacketTransport::DoAttach();
        m_spreads = m_traits.spreadsOverPorts;
        m_isMixed = m_traits.variesUrgency && !UrgentFirst();
        const bool byPriority = m_traits.variesUrgency && UrgentFirst();
        m_ready.Reset(Order(), m_spreads ? 1 : Host().NumPorts(), byPriority ? NUM_PRIORITIES : 1);
    }

    /// A data frame of a message of this host has come back.
    void ReceiveBounced(FrameId id)
    {
        const uint32_t slot = Host().GetMessage(Host().GetFrame(id).message).senderSlot;
        if (slot == DONE_SLOT)
        {
            return; // it was a copy
        }
        Out& out = m_out[slot];
        TellBounced(out, id);
        OnBounced(out);
        Wake(out);
    }

    /// A control frame or an acknowledgement has come.
    void ReceiveAtSource(FrameId id)
    {
        FetchObject(&m_out, sizeof(Out));
        FetchChoosers();
        const Frame& frame = Host().GetFrame(id);
        const uint32_t slot = Host().GetMessage(frame.message).senderSlot;
        if (slot == DONE_SLOT || slot == NO_SLOT)
        {
            return; // late: the message is done
        }
        Out& out = m_out[slot];
        if (frame.kind == ACK || frame.kind == NAK)
        {
            OnAcknowledgement(out, id);
        }
        else if (frame.kind == CNP)
        {
            Notified(out);
            Wake(out);
        }
        else
        {
            OnControl(out, id);
        }
    }

  private:
    bool CanSend(const Out& out) const
    {
        return out.packets.HasMore() && MaySend(out) && RateAllows(out) && WindowAllows(out);
    }

    // ---- which flow is next

    uint32_t Place(PortId port) const
    {
        return m_spreads ? 0 : port - Host().FirstPort();
    }

    uint32_t Level(const Out& out) const
    {
        return m_ready.Levels() == 1 ? 0 : PriorityOf(out);
    }

    void Push(Out& out)
    {
        const bool byBytes = Order() == FlowOrder::By::LEAST_REMAINING;
        m_ready.Of(Place(out.port), Level(out))
            .Push(out.slot, byBytes ? RemainingBytes(out) : out.number);
    }

    /// @return what becomes of a flow in a list when a port asks for a frame
    FlowOrder::Verdict Judge(uint32_t slot, PortId port, uint32_t level) const
    {
        using Verdict = FlowOrder::Verdict;
        const Out& out = m_out[slot];
        // A slot may have ended and begun again, for a message that leaves by another port.
        if (!CanSend(out) || Level(out) != level || (!m_spreads && out.port != port))
        {
            return Verdict::DROP;
        }
        // Who waits for another port is not overtaken by those that this one serves.
        const bool goes = !m_spreads || (Host().Serves(port, Host().GetMessage(out.message).dst) &&
                                         MayLeaveBy(out, port));
        return goes ? Verdict::TAKE : Verdict::KEEP;
    }

    FrameId Serve(PortId port, uint32_t level, uint8_t priority, const NicState& nic)
    {
        using Verdict = FlowOrder::Verdict;
        const uint32_t slot = m_ready.Of(Place(port), level).PopFirst([&](uint32_t waiting) {
            const Verdict verdict = Judge(waiting, port, level);
            const bool isHeldBack =
                verdict == Verdict::TAKE && m_isMixed && !nic.Takes(PriorityOf(m_out[waiting]));
            return isHeldBack ? Verdict::KEEP : verdict;
        });
        if (slot == FlowOrder::NOBODY)
        {
            return NO_FRAME;
        }
        Out& out = m_out[slot];
        const FrameId frame = MakeData(out, port, m_isMixed ? PriorityOf(out) : priority);
        Stamp(out, frame, port);
        Leaves(out, frame);
        if (CanSend(out))
        {
            Push(out);
        }
        return frame;
    }

    FrameId NextFrame(PortId port, const NicState& nic) final
    {
        if (m_ready.MayHave())
        {
            FetchChoosers();
        }
        if (m_ready.Levels() == 1)
        {
            const bool goes = m_isMixed || nic.Takes(m_priority);
            return goes ? Serve(port, 0, m_priority, nic) : NO_FRAME;
        }
        for (uint8_t level = m_ready.Levels(); level-- > 0;)
        {
            const FrameId frame = nic.Takes(level) ? Serve(port, level, level, nic) : NO_FRAME;
            if (frame != NO_FRAME)
            {
                return frame;
            }
        }
        return NO_FRAME;
    }

    std::optional<uint8_t> Urgency(PortId port) const final
    {
        if (m_ready.Levels() == 1 && !m_isMixed)
        {
            return m_priority;
        }
        std::optional<uint8_t> most;
        for (uint32_t level = m_ready.Levels(); level-- > 0 && !most;)
        {
            m_ready.Of(Place(port), level).Any([&](uint32_t slot) {
                if (Judge(slot, port, level) == FlowOrder::Verdict::TAKE)
                {
                    most = std::max<uint8_t>(most.value_or(0), PriorityOf(m_out[slot]));
                }
                return most && !m_isMixed;
            });
        }
        return most;
    }

    // ---- source

    void StartMessage(uint32_t message) final
    {
        const uint32_t slot = m_out.Open();
        Host().GetMessage(message).senderSlot = slot;
        Out& out = m_out[slot];
        out.slot = slot;
        out.number = ++m_begun;
        OpenFlow(out, message);
        Begin(out);
        Wake(out);
    }

    void Readmit(uint32_t message) final
    {
        const Message& state = Host().GetMessage(message);
        if (state.senderSlot != NO_SLOT && state.senderSlot != DONE_SLOT)
        {
            PacketTransport::Readmit(m_out[state.senderSlot], state.admittedBps);
        }
    }

    void OnTimer(uint32_t token) final
    {
        if (token == HOST_TIMER)
        {
            HostTimer();
            return;
        }
        Out& out = m_out[token];
        const auto [reached, againPs] = out.deadlines.Fire(Host().NowPs());
        if (againPs != NEVER_PS)
        {
            Host().SetTimer(againPs, token);
        }
        if (reached == 0)
        {
            return;
        }
        if ((reached >> UPDATE_DEADLINE) & 1)
        {
            Updated(out);
        }
        if (((reached >> TIMEOUT_DEADLINE) & 1) && IsTimedOut(out))
        {
            Answer lost{};
            OnTimeout(out, lost);
            TellTimeout(out);
            StartTimeout(out);
        }
        Wake(out);
        if ((reached >> FAMILY_DEADLINE) & 1)
        {
            OnDeadline(out);
        }
    }

    void OnAcknowledgement(Out& out, FrameId id)
    {
        Answer answer = Learn(out, id);
        if (IsProgress(answer))
        {
            RestartTimeout(out);
        }
        JudgeLosses(out, answer);
        TellAnswer(out, id, answer);
        if (out.packets.IsComplete())
        {
            CloseFlow(out);
            const uint32_t message = out.message;
            Host().Acknowledged(message);
            Host().GetMessage(message).senderSlot = DONE_SLOT;
            m_out.Close(out.slot);
            return;
        }
        OnAnswer(out, answer);
        Wake(out);
    }

    bool m_isMixed{false}; ///< Messages of unlike priorities wait in one list
    bool m_spreads{false}; ///< Traits::spreadsOverPorts
    ReadyFlows m_ready;    ///< A list for each port, or one for all
    FlowSlots<Out> m_out;
    uint64_t m_begun{0}; ///< Messages that ever began
};

} // namespace fabric
} // namespace ns3

#endif // HOST_MESSAGE_SOURCE_H
