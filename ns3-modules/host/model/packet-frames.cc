// SPDX-License-Identifier: GPL-2.0-only

// PacketTransport: the frames that it makes.

#include "packet-transport.h"

namespace ns3
{
namespace fabric
{

namespace
{

constexpr uint16_t FAMILY_FLAGS = static_cast<uint16_t>(~(frame_flag::FREE - 1));
constexpr uint16_t TRIM_FLAGS = frame_flag::TRIMMED | frame_flag::TRIMMED_LAST_HOP;

} // namespace

FrameId
PacketTransport::MakeData(Outbound& out, PortId port, uint8_t priority)
{
    const auto [packet, again] = out.packets.Take();
    const Message& message = Host().GetMessage(out.message);
    const FrameId id = Host().AllocateFrame();
    Frame& frame = Host().GetFrame(id);
    frame.message = out.message;
    frame.dst = message.dst;
    frame.packet = packet;
    frame.entropy = out.entropy ? *out.entropy : m_entropy->Next(out.slot, port);
    frame.bytes = m_cut.FrameBytes(message.bytes, packet);
    frame.kind = frame_kind::DATA;
    frame.priority = priority;
    frame.flags = m_dataFlags | (again ? frame_flag::RETRANSMITTED : 0);
    if (m_stamps)
    {
        Host().Note(id).stampPs = Host().NowPs();
    }
    if (m_reports)
    {
        out.paths.Put(packet, out.packets.Base(), {port, frame.entropy});
    }
    if (m_control)
    {
        m_control->OnSent(out.slot, packet, m_cut.PayloadBytes(message.bytes, packet));
    }
    return id;
}

void
PacketTransport::MakeAnswer(FrameId id, uint8_t kind, uint32_t cumulative)
{
    // The data frame becomes its own answer: same message, packet, entropy and note.
    Frame& frame = Host().GetFrame(id);
    const uint32_t telemetryBytes = m_needsHops ? TelemetryBytes(frame) : 0;
    frame.kind = kind;
    frame.aux = cumulative;
    frame.dst = Host().GetMessage(frame.message).src;
    frame.bytes = static_cast<uint16_t>(m_ackBytes + telemetryBytes);
    frame.priority = m_controlPriority;
    const uint16_t kept = frame.flags & (FAMILY_FLAGS | TRIM_FLAGS);
    const uint16_t echo = (frame.flags & frame_flag::ECN_MARKED) ? frame_flag::ECN_ECHO : 0;
    frame.flags = kept | echo | frame_flag::REVERSE;
}

/// @return by how much switches have made a packet longer, which its answer takes back [byte]
uint32_t
PacketTransport::TelemetryBytes(const Frame& data) const
{
    if (data.flags & frame_flag::TRIMMED)
    {
        return 0; // what was there is cut away
    }
    const uint64_t bytes = Host().GetMessage(data.message).bytes;
    return data.bytes - m_cut.FrameBytes(bytes, data.packet);
}

FrameId
PacketTransport::MakeControl(uint32_t message, uint8_t kind, uint32_t bytes)
{
    const Message& state = Host().GetMessage(message);
    const bool reverse = Host().Host() == state.dst;
    const FrameId id = Host().AllocateFrame();
    Frame& frame = Host().GetFrame(id);
    frame.message = message;
    frame.dst = reverse ? state.src : state.dst;
    frame.bytes = static_cast<uint16_t>(bytes);
    frame.kind = kind;
    frame.priority = m_controlPriority;
    frame.flags = reverse ? frame_flag::REVERSE : 0;
    return id;
}

void
PacketTransport::Notify(Inbound& in, FrameId data, PortId port)
{
    const Frame& frame = Host().GetFrame(data);
    const uint64_t nowPs = Host().NowPs();
    if (!m_notifies || !(frame.flags & frame_flag::ECN_MARKED) ||
        (in.notifiedPs && nowPs - *in.notifiedPs < m_cnpIntervalPs))
    {
        return;
    }
    in.notifiedPs = nowPs;
    const uint16_t entropy = frame.entropy;
    const FrameId cnp = MakeControl(in.message, CNP, m_cnpBytes);
    Host().GetFrame(cnp).entropy = entropy;
    Host().SendControl(cnp, port);
}

} // namespace fabric
} // namespace ns3
