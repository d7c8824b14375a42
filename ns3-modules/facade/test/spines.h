// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_TEST_SPINES_H
#define FABRIC_TEST_SPINES_H

#include "test-network.h"

#include <vector>

namespace ns3
{
namespace tests
{

/// Host 0 under leaf 10, host 1 under leaf 11, and spines 20, 21, ... between the leaves; the link
/// from the last one to leaf 11 has a rate of its own.
inline void
Spines(TestNetwork& network, int64_t spines, int64_t lastGbps = 100)
{
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    network.Link(0, 10);
    network.Link(1, 11);
    for (int64_t spine = 20; spine < 20 + spines; spine++)
    {
        network.Switch(spine, 2);
        network.Link(10, spine);
        network.Link(11, spine, spine + 1 == 20 + spines ? lastGbps : 100);
    }
}

/// @return data that the first leaf sent to each spine
inline std::vector<int64_t>
Uplinks(const TestNetwork& network, int64_t spines)
{
    std::vector<int64_t> packets;
    for (int64_t spine = 20; spine < 20 + spines; spine++)
    {
        packets.push_back(network.Port(10, spine, "sent_data_packets"));
    }
    return packets;
}

/// n flows of one packet each from host 0 to host 1, one after the other.
inline void
SinglePackets(TestNetwork& network, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
    {
        network.Flow(0, 1, 1000, i * 100'000);
    }
    network.Transport();
}

} // namespace tests
} // namespace ns3

#endif // FABRIC_TEST_SPINES_H
