// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/destination-modulo.h"

#include <array>

namespace ns3
{
namespace tests
{

namespace
{

static Suite g_suite{"destination-modulo"};

/// Oracle: the remainder of a division, worked out by hand.
TEST_CASE(g_suite, "destination modulo members")
{
    DestinationModulo policy;
    fabric::Frame frame{};
    for (const auto& [dst, n, member] : {std::array{0U, 2U, 0U}, {7U, 2U, 1U}, {17U, 5U, 2U}})
    {
        frame.dst = dst;
        const fabric::ForwardingChoice choice{
            .node = 0,
            .group = 0,
            .members = nullptr,
            .n = n};
        NS_TEST_EXPECT_MSG_EQ(policy.Select(choice, frame),
                              member,
                              dst);
    }
}

} // namespace

} // namespace tests
} // namespace ns3
