// SPDX-License-Identifier: GPL-2.0-only

#include "spray-transport.h"

#include "ns3/abort.h"
#include "ns3/double.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(SprayTransport);

namespace
{

constexpr double CONTROLLED_BDP = 1.5; ///< What controls of sprayed transports allow at most

} // namespace

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
                       .reorderHelp = ", 0 = two windows, or three bandwidth-delay products if "
                                      "congestion control sets the window"})
            .AddAttribute("WindowBdp",
                          "Packets in flight in bandwidth-delay products of the unloaded path [1], "
                          "0 = what congestion control allows",
                          DoubleValue(1.0),
                          MakeDoubleAccessor(&SprayTransport::m_windowBdp),
                          MakeDoubleChecker<double>(0, 100));
    return tid;
}

void
SprayTransport::Check() const
{
    MessageTransport::Check();
    NS_ABORT_MSG_IF(m_windowBdp == 0 && !HasControl(),
                    Name("WindowBdp") << " is 0, so that congestion control decides, and there is "
                                         "none; set CongestionControl, or WindowBdp above 0");
}

void
SprayTransport::Begin(SprayOutbound& out)
{
    const bool isFixed = m_windowBdp > 0;
    // Several ports send at once, so the pipe holds as many products.
    const double products = (isFixed ? m_windowBdp : CONTROLLED_BDP) * NumPorts(out);
    const double packets =
        products * static_cast<double>(BaseRttPs(out)) / static_cast<double>(PacketPs(out));
    const auto windowPackets = static_cast<uint32_t>(std::max(1.0, std::ceil(packets)));
    out.windowPackets = isFixed ? windowPackets : std::numeric_limits<uint32_t>::max();
    out.reorderPackets = out.reorderPackets ? out.reorderPackets : 2 * windowPackets;
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
