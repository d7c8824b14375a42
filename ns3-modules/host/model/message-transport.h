// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOST_MESSAGE_TRANSPORT_H
#define HOST_MESSAGE_TRANSPORT_H

#include "message-source.h"

#include <algorithm>

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
class MessageTransport : public MessageSource<Out>
{
  protected:
    using PacketTransport::ACK;
    using PacketTransport::Cut;
    using PacketTransport::FetchObject;
    using PacketTransport::Host;
    using PacketTransport::m_traits;
    using PacketTransport::MakeAnswer;
    using PacketTransport::NAK;
    using PacketTransport::Notify;
    using PacketTransport::Packets;

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

    // ---- at the source, for steady states that are skipped

    /// The message has become shorter by packets that were not sent; its Scoreboard knows already.
    virtual void OnShortened(Out& out, uint32_t packets)
    {
    }

    // ---- what a family may call

    /// Make a frame that has come its own answer and send it by the port it came by.
    void SendAnswer(In& in, FrameId frame, PortId port, uint8_t kind)
    {
        if (kind == NAK) [[unlikely]]
        {
            Host().GetMessage(in.message).naks++;
        }
        MakeAnswer(frame, kind, in.received.Base());
        Host().SendControl(frame, port);
    }

    /// A packet has come, whose path is that to its source; only of a DrivenInbound.
    void Hear(In& in, FrameId frame, PortId port)
    {
        in.port = port;
        in.entropy = Host().GetFrame(frame).entropy;
    }

    /// Send a control frame to the source of a message that was heard of: by the port by which its
    /// last packet came or, if that leads there no more, by the first that does.
    void SendToSource(const In& in, FrameId control)
    {
        Frame& frame = Host().GetFrame(control);
        frame.entropy = in.entropy;
        PortId port = in.port;
        if (!Host().Serves(port, frame.dst)) [[unlikely]]
        {
            for (uint32_t i = Host().NumPorts(); i-- > 0;)
            {
                const PortId other = Host().FirstPort() + i;
                port = Host().Serves(other, frame.dst) ? other : port;
            }
        }
        Host().SendControl(control, port);
    }

    /// All packets are there, the last of them in this frame, which is answered.
    void Deliver(In& in, FrameId id, PortId port)
    {
        OnDelivered(in);
        const uint32_t index = in.message;
        Message& message = Host().GetMessage(index);
        Host().Delivered(index);
        m_in.Close(message.receiverSlot);
        message.receiverSlot = DONE_SLOT;
        Complete(id, port);
    }

    /// @return a message at this destination; its receiverSlot is open
    In& InboundOf(uint32_t slot)
    {
        return m_in[slot];
    }

  private:
    void Receive(FrameId id, PortId port) final
    {
        const Frame& frame = Host().GetFrame(id);
        if (frame.kind == frame_kind::DATA && !(frame.flags & frame_flag::BOUNCED))
        {
            constexpr size_t FAMILY_BYTES = 192; // what its destination has beside the message
            FetchObject(&m_in, sizeof(m_in) + FAMILY_BYTES);
            ReceiveData(id, port);
            return;
        }
        if (frame.flags & frame_flag::BOUNCED)
        {
            this->ReceiveBounced(id);
        }
        else if (frame.flags & frame_flag::REVERSE)
        {
            this->ReceiveAtSource(id);
        }
        else if (In* in = FindInbound(frame.message))
        {
            OnRequest(*in, id, port);
        }
        Host().FreeFrame(id);
    }

    MessageProgress ProgressOf(uint32_t message) final
    {
        const Out& out = this->OutboundOf(Host().GetMessage(message).senderSlot);
        MessageProgress progress{out.packets.Packets(),
                                 out.packets.Highest(),
                                 out.packets.NumArrived(),
                                 NEVER_PS};
        this->TellRest(out, progress);
        return progress;
    }

    void Shorten(uint32_t index, uint32_t packets) final
    {
        const Message& message = Host().GetMessage(index);
        if (message.src == Host().Host())
        {
            Out& out = this->OutboundOf(message.senderSlot);
            out.packets.Shorten(packets);
            OnShortened(out, packets);
        }
        else if (message.receiverSlot != NO_SLOT)
        {
            m_in[message.receiverSlot].packets -= packets;
        }
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
            in.packets = Packets(message.bytes);
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
        if (frame.packet == expected || m_traits.acceptsOutOfOrder)
        {
            in->received.Add(frame.packet);
            message.outOfOrderPeak = std::max(message.outOfOrderPeak, in->received.Held());
        }
        if (in->received.Base() < in->packets)
        {
            OnPayload(*in, id, port, expected);
            return;
        }
        Deliver(*in, id, port);
    }

    /// Answer a packet of a message that is complete.
    void Complete(FrameId id, PortId port)
    {
        if (!m_traits.isAcknowledged)
        {
            Host().FreeFrame(id);
            return;
        }
        Frame& frame = Host().GetFrame(id);
        frame.flags &= static_cast<uint16_t>(~frame_flag::TRIMMED); // nothing is missing
        MakeAnswer(id, ACK, Packets(Host().GetMessage(frame.message).bytes));
        Host().SendControl(id, port);
    }

    FlowSlots<In> m_in;
};

} // namespace fabric
} // namespace ns3

#endif // HOST_MESSAGE_TRANSPORT_H
