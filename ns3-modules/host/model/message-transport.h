// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_MESSAGE_TRANSPORT_H
#define HOST_MESSAGE_TRANSPORT_H

#include "flow-slots.h"
#include "packet-transport.h"

#include "ns3/abort.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ns3
{
namespace fabric
{

/**
 * @ingroup host
 * @brief A transport of messages in packets: everything but the protocol.
 *
 * It owns the flows, the order in which they are served, data frames, answers, timers, completion,
 * and what is late or double. A family says when a packet may go and what an answer means; if it
 * says nothing, each packet is acknowledged by its number, a packet is lost when others have
 * overtaken it, when it came without its payload or after a timeout, and is sent again before any
 * new one.
 *
 * What no family can break: a trimmed frame is never payload; no frame is sent in a class that is
 * held back; packets sent = arrived + lost + in flight; a flow is closed once.
 *
 * @tparam Out state of a message at its source, derived from Outbound
 * @tparam In state of a message at its destination, derived from Inbound
 */
template <typename Out, typename In>
class MessageTransport : public PacketTransport
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

    /// @return priority of the next packet; asked only if VariesUrgency
    virtual uint8_t PriorityOf(const Out& out) const
    {
        return m_priority;
    }

    /// A data frame is about to leave: flags from frame_flag::FREE up, `aux` and note are free.
    virtual void Stamp(Out& out, FrameId data)
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
        out.packets.JudgeOvertaken(out.reorderPackets, [&](uint32_t packet) {
            TellLost(out, packet, Loss::OVERTAKEN, answer);
        });
    }

    /// @return whether an answer starts the retransmission timeout anew
    virtual bool IsProgress(const Answer& answer) const
    {
        return answer.newPackets > 0;
    }

    /// An answer has come, losses are judged, and the message is not complete.
    virtual void OnAnswer(Out& out, const Answer& answer)
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

    // ---- the protocol at the destination

    /// A first frame of a message has come.
    virtual void OnFirst(In& in)
    {
    }

    /**
     * Payload has come, and the message is not complete.
     * @param in the message
     * @param data the frame: answer it with SendAnswer, or free it
     * @param port by which it came
     * @param expected first packet that was missing before
     */
    virtual void OnPayload(In& in, FrameId data, PortId port, uint32_t expected)
    {
        SendAnswer(in, data, port, ACK);
    }

    /// A packet has come without its payload: answer it, or free it.
    virtual void OnTrimmed(In& in, FrameId header, PortId port)
    {
        SendAnswer(in, header, port, NAK);
    }

    /// All payload is there; the state ends.
    virtual void OnDelivered(In& in)
    {
    }

    /// A control frame of a kind of the family has come to the destination; it is freed afterwards.
    virtual void OnRequest(In& in, FrameId control, PortId port)
    {
    }

    /// A timer set with SetHostTimer has run out.
    virtual void OnHostTimer()
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

    /// Make a frame that has come its own answer and send it by the port it came by.
    void SendAnswer(In& in, FrameId frame, PortId port, uint8_t kind)
    {
        Host().GetMessage(in.message).naks += kind == NAK;
        MakeAnswer(frame, kind, in.received.Base());
        Host().SendControl(frame, port);
    }

    /// Call OnHostTimer at that time [ps]. There is no cancel.
    void SetHostTimer(uint64_t atPs)
    {
        Host().SetTimer(atPs, HOST_TIMER);
    }

    /// End a message at its source, which nobody acknowledges: only if not IsAcknowledged.
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

    /// @return a message at this destination; its receiverSlot is open
    In& InboundOf(uint32_t slot)
    {
        return m_in[slot];
    }

    void DoAttach() override
    {
        PacketTransport::DoAttach();
        m_spreads = SpreadsOverPorts();
        m_levels = VariesUrgency() ? NUM_PRIORITIES : 1;
        m_firstReady = FlowOrder(Order());
        const uint32_t lists = m_levels * (m_spreads ? 1 : Host().NumPorts());
        while (m_ready.size() + 1 < lists)
        {
            m_ready.emplace_back(Order());
        }
    }

  private:
    static constexpr uint32_t HOST_TIMER = 1U << 31; ///< Token that is no slot

    bool CanSend(const Out& out) const
    {
        return out.packets.HasMore() && MaySend(out) && RateAllows(out) && WindowAllows(out);
    }

    // ---- which flow is next: a list for each port, or one for all, and for each priority

    const FlowOrder& Ready(PortId port, uint32_t level) const
    {
        const uint32_t place = (m_spreads ? 0 : port - Host().FirstPort()) * m_levels + level;
        return place == 0 ? m_firstReady : m_ready[place - 1];
    }

    FlowOrder& Ready(PortId port, uint32_t level)
    {
        return const_cast<FlowOrder&>(std::as_const(*this).Ready(port, level));
    }

    uint32_t Level(const Out& out) const
    {
        return m_levels == 1 ? 0 : PriorityOf(out);
    }

    void Push(Out& out)
    {
        const bool byBytes = Order() == FlowOrder::By::LEAST_REMAINING;
        Ready(out.port, Level(out)).Push(out.slot, byBytes ? RemainingBytes(out) : out.number);
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
        const bool serves = !m_spreads || Host().Serves(port, Host().GetMessage(out.message).dst);
        return serves ? Verdict::TAKE : Verdict::KEEP;
    }

    FrameId Serve(PortId port, uint32_t level, uint8_t priority)
    {
        FlowOrder& ready = Ready(port, level);
        const uint32_t slot =
            ready.PopFirst([&](uint32_t waiting) { return Judge(waiting, port, level); });
        if (slot == FlowOrder::NOBODY)
        {
            return NO_FRAME;
        }
        Out& out = m_out[slot];
        const FrameId frame = MakeData(out, port, priority);
        Stamp(out, frame);
        if (CanSend(out))
        {
            Push(out);
        }
        return frame;
    }

    static bool Passes(const NicState& nic, uint8_t priority)
    {
        return !((nic.pausedClasses >> priority) & 1) && priority >= nic.leastPriority;
    }

    FrameId NextFrame(PortId port, const NicState& nic) final
    {
        if (m_levels == 1)
        {
            return Passes(nic, m_priority) ? Serve(port, 0, m_priority) : NO_FRAME;
        }
        for (uint8_t level = m_levels; level-- > 0;)
        {
            const FrameId frame = Passes(nic, level) ? Serve(port, level, level) : NO_FRAME;
            if (frame != NO_FRAME)
            {
                return frame;
            }
        }
        return NO_FRAME;
    }

    std::optional<uint8_t> Urgency(PortId port) const final
    {
        if (m_levels == 1)
        {
            return m_priority;
        }
        for (uint8_t level = m_levels; level-- > 0;)
        {
            const auto may = [&](uint32_t slot) {
                return Judge(slot, port, level) == FlowOrder::Verdict::TAKE;
            };
            if (Ready(port, level).Any(may))
            {
                return level;
            }
        }
        return std::nullopt;
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

    void OnTimer(uint32_t token) final
    {
        if (token == HOST_TIMER)
        {
            OnHostTimer();
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

    void ReceiveAtSource(FrameId id)
    {
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

    // ---- destination

    void Receive(FrameId id, PortId port) final
    {
        const Frame& frame = Host().GetFrame(id);
        if (frame.kind == frame_kind::DATA)
        {
            ReceiveData(id, port);
            return;
        }
        if (frame.flags & frame_flag::REVERSE)
        {
            ReceiveAtSource(id);
        }
        else if (In* in = FindInbound(frame.message))
        {
            OnRequest(*in, id, port);
        }
        Host().FreeFrame(id);
    }

    /// @return state of a message at its destination, made if there was none; null: it is done
    In* FindInbound(uint32_t index)
    {
        Message& message = Host().GetMessage(index);
        if (message.receiverSlot == DONE_SLOT)
        {
            return nullptr;
        }
        if (message.receiverSlot == NO_SLOT)
        {
            message.receiverSlot = m_in.Open();
            In& in = m_in[message.receiverSlot];
            in.slot = message.receiverSlot;
            in.message = index;
            in.packets = Cut().Packets(message.bytes);
            OnFirst(in);
        }
        return &m_in[message.receiverSlot];
    }

    void ReceiveData(FrameId id, PortId port)
    {
        const Frame& frame = Host().GetFrame(id);
        Message& message = Host().GetMessage(frame.message);
        In* in = FindInbound(frame.message);
        if (!in)
        {
            Complete(id, port); // the acknowledgement was lost
            return;
        }
        if (frame.flags & frame_flag::TRIMMED)
        {
            OnTrimmed(*in, id, port);
            return;
        }
        Notify(*in, id, port);
        const uint32_t expected = in->received.Base();
        if (frame.packet == expected || AcceptsOutOfOrder())
        {
            in->received.Add(frame.packet);
            message.outOfOrderPeak = std::max(message.outOfOrderPeak, in->received.Held());
        }
        if (in->received.Base() < in->packets)
        {
            OnPayload(*in, id, port, expected);
            return;
        }
        OnDelivered(*in);
        Host().Delivered(frame.message);
        m_in.Close(message.receiverSlot);
        message.receiverSlot = DONE_SLOT;
        Complete(id, port);
    }

    /// Answer a packet of a message that is complete.
    void Complete(FrameId id, PortId port)
    {
        if (!IsAcknowledged())
        {
            Host().FreeFrame(id);
            return;
        }
        Frame& frame = Host().GetFrame(id);
        frame.flags &= static_cast<uint16_t>(~frame_flag::TRIMMED); // nothing is missing
        MakeAnswer(id, ACK, Cut().Packets(Host().GetMessage(frame.message).bytes));
        Host().SendControl(id, port);
    }

    FlowSlots<Out> m_out;
    FlowSlots<In> m_in;
    FlowOrder m_firstReady;
    std::vector<FlowOrder> m_ready; ///< The others: by port, then by priority
    uint64_t m_begun{0};            ///< Messages that ever began
    uint8_t m_levels{1};            ///< Lists of each port
    bool m_spreads{false};          ///< SpreadsOverPorts()
};

} // namespace fabric
} // namespace ns3

#endif // HOST_MESSAGE_TRANSPORT_H
