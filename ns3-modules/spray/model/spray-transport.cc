// SPDX-License-Identifier: GPL-2.0-only

#include "spray-transport.h"

#include "ns3/double.h"

#include <algorithm>
#include <cmath>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(SprayTransport);

TypeId
SprayTransport::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::SprayTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Spray")
                          .AddConstructor<SprayTransport>(),
                      {.entropy = "ns3::PermutedEntropy",
                       .rto = "1ms",
                       .reorderPackets = 0,
                       .reorderHelp = ", 0 = two windows"})
            .AddAttribute("WindowBdp",
                          "Packets in flight in bandwidth-delay products of the unloaded path [1]",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&SprayTransport::m_windowBdp),
                          MakeDoubleChecker<double>(0.01, 100));
    return tid;
}

bool
SprayTransport::SpreadsOverPorts() const
{
    return true;
}

void
SprayTransport::Begin(SprayOutbound& out)
{
    // Several ports send at once, so the pipe holds as many products.
    const double products = m_windowBdp * NumPorts(out);
    const double packets =
        products * static_cast<double>(BaseRttPs(out)) / static_cast<double>(PacketPs(out));
    out.windowPackets = static_cast<uint32_t>(std::max(1.0, std::ceil(packets)));
    out.reorderPackets = out.reorderPackets ? out.reorderPackets : 2 * out.windowPackets;
}

bool
SprayTransport::MaySend(const SprayOutbound& out) const
{
    return out.packets.InFlight() < out.windowPackets;
}

Datagram
SprayTransport::Describe(const Frame& frame) const
{
    // Of no standard; README.md has the layout.
    constexpr uint16_t EXPERIMENT_PORT = 1022; // RFC 4727 section 6
    constexpr uint8_t ECHO = 1;
    constexpr uint8_t AGAIN = 2;
    Datagram datagram;
    datagram.destinationPort = EXPERIMENT_PORT;
    datagram.headers.Put(frame.kind, 1);
    datagram.headers.Put(((frame.flags & frame_flag::ECN_ECHO) ? ECHO : 0) |
                             ((frame.flags & frame_flag::RETRANSMITTED) ? AGAIN : 0),
                         1);
    datagram.headers.Put(0, 2);
    datagram.headers.Put(static_cast<uint64_t>(Host().GetMessage(frame.message).id), 4);
    datagram.headers.Put(frame.packet, 4);
    if (frame.kind != frame_kind::DATA)
    {
        datagram.headers.Put(frame.aux, 4);
    }
    return datagram;
}

} // namespace ns3
