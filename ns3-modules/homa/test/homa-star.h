// SPDX-License-Identifier: GPL-2.0-only

#ifndef HOMA_STAR_H
#define HOMA_STAR_H

// Packets are 1460 B and 62 B of headers; the wire adds 20 B; links of 100 Gb/s and 1 us; RttBytes
// is 10 000, no whole number of packets.

#include "../../facade/test/test-network.h"

#include <algorithm>

namespace ns3
{
namespace tests
{

constexpr int64_t SWITCH = 1000;
constexpr int64_t MTU = 1460;
constexpr int64_t FRAME = MTU + 62;
constexpr int64_t PACKET_PS = (FRAME + 20) * 80;
constexpr int64_t RTT_BYTES = 10'000;

/// @return time to put all packets of a message on a wire [ps]
inline int64_t
WirePs(int64_t bytes)
{
    return (bytes + (bytes + MTU - 1) / MTU * (62 + 20)) * 80;
}

/// @return unloaded one-way time of a message over one switch; its link begins a packet later [ps]
inline int64_t
OneWayPs(int64_t bytes)
{
    return WirePs(bytes) + WirePs(std::min(bytes, MTU)) + 2 * US_PS;
}

/// Hosts 0 to n - 1 around one switch, links of 100 Gb/s and 1 us.
inline void
Star(TestNetwork& network, int64_t hosts, const TestNetwork::Attributes& more = {})
{
    network.Star(hosts, SWITCH);
    TestNetwork::Attributes attributes{{"MtuBytes", std::to_string(MTU)},
                                       {"RttBytes", std::to_string(RTT_BYTES)}};
    attributes.insert(attributes.end(), more.begin(), more.end());
    network.Transport(attributes, "ns3::HomaTransport");
}

/// A message of 3 MB to host 2, and a short one of another host that comes later.
inline void
LongAndShort(TestNetwork& network,
             int64_t shortBytes,
             int64_t startPs,
             const TestNetwork::Attributes& attributes)
{
    Star(network, 3, attributes);
    network.Flow(0, 2, 3'000'000);
    network.Flow(1, 2, shortBytes, startPs);
    network.Run();
}

inline int64_t
EndPs(const TestNetwork& network, size_t flow)
{
    return network.Cell("flows", "receiver_end_ps", flow);
}

} // namespace tests
} // namespace ns3

#endif // HOMA_STAR_H
