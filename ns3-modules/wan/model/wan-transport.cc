// SPDX-License-Identifier: GPL-2.0-only

#include "wan-transport.h"

#include "ns3/abort.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(WanTransport);

TypeId
WanTransport::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::WanTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Wan")
                          .AddConstructor<WanTransport>(),
                      {.entropy = "ns3::FlowEntropy", .rto = "200ms"})
            .AddAttribute("RateBps",
                          "Rate to which a message is admitted, on the wire, without its parity "
                          "[bit/s], 0 = NicShare; a flow that has its own rate keeps to that",
                          UintegerValue(0),
                          MakeUintegerAccessor(&WanTransport::m_rateBps),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("NicShare",
                          "The same as a share of the rate of its port [1]",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&WanTransport::m_nicShare),
                          MakeDoubleChecker<double>(1e-6, 1.0))
            .AddAttribute("BlockPackets",
                          "Packets of a message in each block of the code, \"k\" [packet]",
                          UintegerValue(64),
                          MakeUintegerAccessor(&WanTransport::m_blockPackets),
                          MakeUintegerChecker<uint32_t>(1, 32768))
            .AddAttribute("ParityPackets",
                          "Packets of parity in each block, \"m\" [packet], 0 = no code",
                          UintegerValue(0),
                          MakeUintegerAccessor(&WanTransport::m_parityPackets),
                          MakeUintegerChecker<uint32_t>(0, 32767))
            .AddAttribute("Interleave",
                          "Blocks that are sent together, packet by packet in turn",
                          UintegerValue(1),
                          MakeUintegerAccessor(&WanTransport::m_interleave),
                          MakeUintegerChecker<uint32_t>(1, 1024));
    return tid;
}

void
WanTransport::DoAttach()
{
    MessageTransport::DoAttach();
    m_code = {m_blockPackets, m_parityPackets, m_interleave};
}

uint32_t
WanTransport::Packets(uint64_t bytes) const
{
    const uint64_t packets = m_code.Packets(Cut().Packets(bytes));
    NS_ABORT_MSG_IF(packets > Segmentation::MAX_PACKETS,
                    "a message of " << bytes << " bytes has " << packets
                                    << " packets with parity, at most " << Segmentation::MAX_PACKETS
                                    << "; make MtuBytes larger or the message smaller");
    return static_cast<uint32_t>(packets);
}

// ---- source

void
WanTransport::Begin(WanOutbound& out)
{
    out.dataPackets = Cut().Packets(Host().GetMessage(out.message).bytes);
    Admit(out, AdmittedBps(out));
    out.lost.assign(m_code.IsUsed() ? m_code.Blocks(out.dataPackets) : 0, 0);
}

/// @return rate of all that is sent of a message, parity included [bit/s]
uint64_t
WanTransport::AdmittedBps(const WanOutbound& out) const
{
    if (const uint64_t ownBps = Host().GetMessage(out.message).admittedBps; ownBps > 0)
    {
        return ownBps;
    }
    const auto nicBps = static_cast<double>(Host().RateBps(out.port));
    const double rateBps = m_rateBps ? static_cast<double>(m_rateBps) : nicBps * m_nicShare;
    const double parity = static_cast<double>(m_parityPackets) / m_blockPackets;
    return std::max<uint64_t>(1, static_cast<uint64_t>(rateBps * (1 + parity)));
}

void
WanTransport::Stamp(WanOutbound& out, FrameId data, PortId)
{
    Frame& frame = Host().GetFrame(data);
    if (m_code.IsUsed())
    {
        const uint64_t bytes = Host().GetMessage(out.message).bytes;
        const uint32_t packet = m_code.MessagePacket(out.dataPackets, frame.packet);
        // Parity is as long as the longest packet of its block.
        frame.bytes = Cut().FrameBytes(bytes, packet < out.dataPackets ? packet : 0);
    }
}

void
WanTransport::JudgeLosses(WanOutbound& out, Answer& answer)
{
    if (!m_code.IsUsed() || (answer.flags & frame_flag::TRIMMED))
    {
        MessageTransport::JudgeLosses(out, answer);
        return;
    }
    out.judged = std::max(out.judged, out.packets.Base());
    for (; uint64_t{out.judged} + out.reorderPackets <= answer.packet; out.judged++)
    {
        if (!out.packets.IsInFlight(out.judged))
        {
            continue;
        }
        uint16_t& lost = out.lost[m_code.BlockOf(out.dataPackets, out.judged)];
        if (lost < m_parityPackets)
        {
            lost++; // the block can do without it
        }
        else if (out.packets.Lost(out.judged))
        {
            TellLost(out, out.judged, CongestionControl::Loss::OVERTAKEN, answer);
        }
    }
}

void
WanTransport::OnTimeout(WanOutbound& out, Answer& lost)
{
    if (!m_code.IsUsed())
    {
        MessageTransport::OnTimeout(out, lost);
        return;
    }
    const uint32_t first = m_code.BlockOf(out.dataPackets, out.packets.Base()) / m_interleave;
    for (uint32_t i = first * m_interleave; i < out.lost.size(); i++)
    {
        const BlockCode::Block block = m_code.At(out.dataPackets, i);
        uint32_t has = 0; // arrived, or yet to be sent for the first time
        for (uint32_t j = 0; j < block.packets; j++)
        {
            has += out.packets.HasArrived(block.At(j)) || block.At(j) >= out.packets.Next();
        }
        for (uint32_t j = 0; j < block.packets && has < block.data; j++)
        {
            if (out.packets.Lost(block.At(j)))
            {
                TellLost(out, block.At(j), CongestionControl::Loss::TIMEOUT, lost);
            }
            has += !out.packets.HasArrived(block.At(j)) && block.At(j) < out.packets.Next();
        }
        out.lost[i] =
            static_cast<uint16_t>(m_parityPackets - std::min(m_parityPackets, has - block.data));
    }
    out.judged = std::max(out.judged, out.packets.Next());
}

// ---- destination

void
WanTransport::OnFirst(WanInbound& in)
{
    in.dataPackets = Cut().Packets(Host().GetMessage(in.message).bytes);
    in.arrived.assign(m_code.IsUsed() ? m_code.Blocks(in.dataPackets) : 0, 0);
}

void
WanTransport::OnPayload(WanInbound& in, FrameId data, PortId port, uint32_t)
{
    if (m_code.IsUsed())
    {
        Decode(in, Host().GetFrame(data).packet);
        if (in.received.Base() == in.packets)
        {
            Deliver(in, data, port);
            return;
        }
    }
    SendAnswer(in, data, port, ACK);
}

/// A packet has come: if its block has enough of them, all of it is there.
void
WanTransport::Decode(WanInbound& in, uint32_t packet)
{
    const uint32_t index = m_code.BlockOf(in.dataPackets, packet);
    const BlockCode::Block block = m_code.At(in.dataPackets, index);
    if (++in.arrived[index] < block.data)
    {
        return;
    }
    uint32_t arrived = 0; // without copies
    for (uint32_t i = 0; i < block.packets; i++)
    {
        arrived += in.received.Contains(block.At(i));
    }
    for (uint32_t i = 0; i < block.packets && arrived >= block.data; i++)
    {
        in.received.Add(block.At(i));
    }
    in.arrived[index] = static_cast<uint16_t>(arrived);
}

} // namespace ns3
