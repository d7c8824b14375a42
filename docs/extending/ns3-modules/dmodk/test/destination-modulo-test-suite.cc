// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/destination-modulo.h"
#include "ns3/test.h"

#include <array>

namespace ns3
{
namespace tests
{

namespace
{

/// Oracle: the remainder of a division, worked out by hand.
class MemberIsTheRemainder : public TestCase
{
  public:
    MemberIsTheRemainder()
        : TestCase("destination modulo members")
    {
    }

  private:
    void DoRun() override
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
};

class DestinationModuloTestSuite : public TestSuite
{
  public:
    DestinationModuloTestSuite()
        : TestSuite("destination-modulo", Type::UNIT)
    {
        AddTestCase(new MemberIsTheRemainder, Duration::QUICK);
    }
};

static DestinationModuloTestSuite g_testSuite; ///< Registers itself

} // namespace

} // namespace tests
} // namespace ns3
