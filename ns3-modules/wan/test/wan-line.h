// SPDX-License-Identifier: GPL-2.0-only

#ifndef WAN_LINE_H
#define WAN_LINE_H

#include "../../facade/test/test-network.h"

namespace ns3
{
namespace tests
{

constexpr int64_t PAYLOAD = 1000;
constexpr int64_t WIRE = 1000 + 62 + 20; ///< With headers and framing [byte]

/// Host 0 - switch 100 - host 1: 100 Gb/s and 1 us, or what is said of the second link.
inline void
Line(TestNetwork& network, int64_t delayPs = US_PS)
{
    network.Switch(100);
    network.Host(0);
    network.Host(1);
    for (int64_t host : {0, 1})
    {
        network.Row("links",
                    {{"node_a", host},
                     {"node_b", 100},
                     {"rate_bps", 100 * GBPS},
                     {"delay_ps", host ? delayPs : US_PS},
                     {"class", host}});
    }
    network.GetFacade().LinkClass(1);
    network.Use("forwarding", "ns3::EcmpHash");
}

} // namespace tests
} // namespace ns3

#endif // WAN_LINE_H
