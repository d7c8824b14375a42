// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include "ns3/sawtooth-control.h"

namespace ns3
{
namespace tests
{

namespace // everything: another module's tests may have the same names
{

static Suite g_suite{"sawtooth-control", TestSuite::Type::SYSTEM};

/// @return when a message of 400 packets ends that a short one disturbs [ps]
int64_t
EndPs(const TestNetwork::Attributes& transport)
{
    TestNetwork network;
    network.Star(3);
    network.Flow(1, 0, 400 * 4096);
    network.Flow(2, 0, 8 * 4096, 20 * US_PS);
    network.Use("queue", "ns3::RedEcn", {{"KminBytes", "9000"}, {"KmaxBytes", "9000"}});
    network.Transport(transport, "ns3::SprayTransport");
    network.Run();
    return network.Cell("flows", "receiver_end_ps", 0);
}

/**
 * Oracle: one notification halves the rate, and five steps of a tenth each raise it to the line
 * rate again. The message lacks 0.5 + 0.4 + 0.3 + 0.2 + 0.1 intervals of the line rate. Of these
 * the queue of eight packets, which the short message has left, makes up at most 2.7 us.
 */
TEST_CASES(OneNotificationCosts, std::to_string(intervalUs) + " us", int64_t intervalUs)
{
    const int64_t alone = EndPs({});
    const int64_t cut = EndPs({{"CongestionControl", "ns3::SawtoothControl[RaiseShare=0.1|Interval="
                                                     + std::to_string(intervalUs) + "us]"},
                               {"CnpInterval", "1s"}});
    const int64_t lacking = intervalUs * US_PS * 15 / 10;
    NS_TEST_EXPECT_MSG_LT_OR_EQ(cut - alone, lacking + US_PS / 2, "no more");
    NS_TEST_EXPECT_MSG_GT_OR_EQ(cut - alone, lacking - 3 * US_PS - US_PS / 2, "no less");
}

ADD_CASES(g_suite)
{
    SawtoothControl::GetTypeId(); // the library that registers it must be linked
    suite.Add(new OneNotificationCosts(10));
    suite.Add(new OneNotificationCosts(4));
}

} // namespace

} // namespace tests
} // namespace ns3
