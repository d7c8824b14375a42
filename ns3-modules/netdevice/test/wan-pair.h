// SPDX-License-Identifier: GPL-2.0-only

#ifndef WAN_PAIR_H
#define WAN_PAIR_H

// Two hosts far from each other, for the suites of TCP.

#include "../../facade/test/test-network.h"

namespace ns3
{
namespace tests
{

constexpr int64_t RATE_BPS = 5'000'000'000; // 1600 ps per byte
constexpr int64_t WAN_BYTE_PS = 1600;
constexpr int64_t ONE_WAY_PS = 30'000'000'000;

/// Two hosts, one link of 5 Gb/s and 30 ms between two switches, so 60 ms there and back.
inline void
Wan(TestNetwork& network, int64_t delayPs = ONE_WAY_PS, int64_t wanBps = RATE_BPS)
{
    network.Host(0);
    network.Host(1);
    network.Switch(10);
    network.Switch(11);
    const int64_t ends[3][2] = {{0, 10}, {10, 11}, {11, 1}};
    for (const auto& [a, b] : ends)
    {
        network.Row("links",
                    {{"node_a", a},
                     {"node_b", b},
                     {"parallel", 0},
                     {"rate_bps", a == 10 ? wanBps : RATE_BPS},
                     {"delay_ps", a == 10 ? delayPs : 1000}});
    }
}

} // namespace tests
} // namespace ns3

#endif // WAN_PAIR_H
