// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/host-jitter.h"

#include <cmath>

namespace ns3
{
namespace tests
{

namespace // everything: another module's tests may have the same names
{

constexpr int64_t FRAME_BYTES = 4096 + 62;                     ///< Payload and headers
constexpr int64_t DATA_PS = (FRAME_BYTES + 20) * 80;           ///< At 100 Gb/s, with framing
constexpr int64_t ACK_PS = (66 + 20) * 80;                     ///< Likewise
constexpr int64_t RTT_PS = 2 * (DATA_PS + ACK_PS + 2 * US_PS); ///< Over one switch

static Suite g_suite{"host-jitter", TestSuite::Type::SYSTEM};

/**
 * Oracle: with a window of one packet each packet and each acknowledgement waits for its own time:
 * the sum of 2 n uniform draws has the mean n and the deviation sqrt(n / 6), in units of the limit.
 * Five deviations: a false alarm in a million seeds.
 */
TEST_CASE(g_suite, "times of packets and acknowledgements add up to their mean")
{
    constexpr int64_t PACKETS = 600;
    TestNetwork network;
    network.Star(2);
    network.Flow(0, 1, PACKETS * 4096);
    network.Use("program", "ns3::HostJitter", {{"Most", "10us"}});
    network.Transport({{"WindowBytes", "4096"}, {"RethBytes", "0"}}, "ns3::RoceTransport");
    network.Run();
    const auto latePs =
        static_cast<double>(network.Cell("flows", "sender_end_ps", 0) - PACKETS * RTT_PS);
    NS_TEST_EXPECT_MSG_LT(std::abs(latePs / (10 * US_PS) - PACKETS),
                          5 * std::sqrt(PACKETS / 6.0),
                          "sum of times");
}

} // namespace

} // namespace tests
} // namespace ns3
