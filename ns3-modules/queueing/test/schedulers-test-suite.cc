// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

/// Traffic of one class: host and transport have the same number.
struct Traffic
{
    uint32_t priority;
    uint32_t packetBytes;
    int64_t packets;
};

/**
 * Hosts that send to the last one, each a class of its own, over one switch port of 100 Gb/s.
 *
 * Their packets come at line rate and all at once, so all classes wait from the second frame on.
 */
std::vector<SeenFrame>
Served(TestNetwork& network,
       const std::vector<Traffic>& traffic,
       const std::string& type,
       const TestNetwork::Attributes& attributes)
{
    const auto receiver = static_cast<int64_t>(traffic.size());
    network.Star(receiver + 1);
    for (int64_t i = 0; i < receiver; i++)
    {
        network.Flow(i, receiver, traffic[i].packets * traffic[i].packetBytes, 0, i);
        network.Transport({{"Priority", std::to_string(traffic[i].priority)},
                           {"PacketBytes", std::to_string(traffic[i].packetBytes)},
                           {"Answers", "false"}});
    }
    network.Use("scheduler", type, attributes);
    network.Run();
    return PacedDatagrams::seen;
}

/// @return classes of frames in the order in which they came
std::string
Order(const std::vector<SeenFrame>& seen)
{
    std::string order;
    for (const auto& one : seen)
    {
        order += std::to_string(one.frame.priority);
    }
    return order;
}

/// @return text so often
std::string
Times(size_t n, const std::string& text)
{
    std::string all;
    for (size_t i = 0; i < n; i++)
    {
        all += text;
    }
    return all;
}

bool
IsPartOf(const std::string& part, const std::string& whole)
{
    return whole.find(part) != std::string::npos;
}

} // namespace

static Suite g_suite{"queueing-schedulers", TestSuite::Type::SYSTEM};

/**
 * Oracle, by hand: the first to come go first, then ten of class 7 for each of class 3, while both
 * wait. The frames of a class come as fast as the port sends, so neither ever runs dry before its
 * end.
 */
TEST_CASE(g_suite, "weighted round robin 10:1")
{
    TestNetwork network;
    const auto seen = Served(network,
                             {{7, 1000, 44}, {3, 1000, 44}},
                             "ns3::WeightedRoundRobin",
                             {{"Weights", "7:10,3:1"}});
    // To the idle port the first of 7 comes. Class 7 has none else then, so 3 goes, and from
    // then on both wait: 43 of class 7 in turns of ten.
    const std::string expected = "73" + Times(4, "77777777773") + "777" + Times(39, "3");
    NS_TEST_EXPECT_MSG_EQ(Order(seen), expected, "order");
}

/// Oracle: bytes of busy classes in the ratio of their quanta, within a frame and a quantum.
TEST_CASE(g_suite, "deficit round robin with frames of unequal sizes")
{
    TestNetwork network;
    const auto seen = Served(network,
                             {{5, 4000, 100}, {3, 300, 1000}, {1, 1000, 400}},
                             "ns3::DeficitRoundRobin",
                             {{"Quanta", "5:6000,3:3000"}, {"DefaultQuantumBytes", "1500"}});
    std::map<uint32_t, int64_t> bytes;
    for (const auto& one : seen)
    {
        bytes[one.frame.priority] += one.frame.bytes + 20;
        if (bytes[5] > 300'000)
        {
            break; // all have been busy until here
        }
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(bytes[3], bytes[5] / 2, 4020 + 2 * 6000, "half");
    NS_TEST_EXPECT_MSG_EQ_TOL(bytes[1], bytes[5] / 4, 4020 + 2 * 6000, "a quarter");
}

/**
 * Oracle, by hand (InfiniBand 7.6.9): frames of 1020 bytes on the wire are 16 units of 64 bytes.
 * High table: lane 3 has 32 units, two frames, lane 2 has 16, one frame. After 2 units of 4096
 * bytes, so nine frames, the low table sends one frame: lanes 1 and 0 in turn.
 */
TEST_CASE(g_suite, "arbitration of virtual lanes")
{
    TestNetwork network;
    const auto seen =
        Served(network,
               {{3, 1000, 40}, {2, 1000, 40}, {1, 1000, 40}, {0, 1000, 40}},
               "ns3::VlArbitration",
               {{"HighTable", "3:32,2:16"}, {"LowTable", "1:16,0:16"}, {"HighLimit", "2"}});
    const std::string order = Order(seen);
    // From the second frame on all lanes wait, until lane 3 runs dry.
    std::string high;
    std::string low;
    size_t sinceLow = 0;
    for (size_t i = 1; i < 55; i++)
    {
        const bool isLow = order[i] < '2';
        (isLow ? low : high) += order[i];
        if (isLow && low.size() > 1)
        {
            NS_TEST_EXPECT_MSG_EQ(sinceLow, 9, "frames between two of the low table " << i);
        }
        sinceLow = isLow ? 0 : sinceLow + 1;
    }
    NS_TEST_EXPECT_MSG_EQ(IsPartOf(high.substr(0, 40), Times(20, "332")), true, high);
    NS_TEST_EXPECT_MSG_EQ(IsPartOf(low, Times(20, "10")), true, low);
}

/// Oracle: a limit of 0 lets one frame of the low table go after each of the high one.
TEST_CASE(g_suite, "arbitration of virtual lanes with a limit of one frame")
{
    TestNetwork network;
    const auto seen = Served(network,
                             {{3, 1000, 20}, {1, 1000, 20}},
                             "ns3::VlArbitration",
                             {{"HighTable", "3:255"}, {"LowTable", "1:255"}, {"HighLimit", "0"}});
    NS_TEST_EXPECT_MSG_EQ(Order(seen), Times(20, "31"), "order");
}

/**
 * Oracle: a bucket. With burst B = 4 frames and rate C / 10 the first four frames go at once and
 * the k-th, k > 4, when (k - 4) frames' worth of tokens have come: start + 10 d (k - 4).
 */
TEST_CASE(g_suite,
          "a class at a tenth of the rate with a burst of four frames, beside one "
          "without limit")
{
    constexpr int64_t FRAME_PS = 1020 * 80;
    TestNetwork network;
    const auto seen = Served(network,
                             {{5, 1000, 30}},
                             "ns3::TokenBucketShaper",
                             {{"RatesBps", "5:10000000000"}, {"BurstsBytes", "5:4080"}});
    NS_TEST_ASSERT_MSG_EQ(seen.size(), 30, "all came");
    const int64_t firstPs = FRAME_PS + US_PS; // at the switch, when the bucket is full
    for (int64_t k = 1; k <= 30; k++)
    {
        const int64_t sentPs = firstPs + std::max((k - 1) * FRAME_PS, (k - 4) * 10 * FRAME_PS);
        NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(seen[k - 1].timePs),
                              sentPs + FRAME_PS + US_PS,
                              "frame " << k);
    }
    // What a shaped class of high priority leaves free, another one uses.
    TestNetwork two;
    const auto both = Served(two,
                             {{5, 1000, 30}, {3, 1000, 30}},
                             "ns3::TokenBucketShaper",
                             {{"RatesBps", "5:10000000000"}, {"BurstsBytes", "5:4080"}});
    NS_TEST_ASSERT_MSG_EQ(both.size(), 60, "all came");
    int64_t lastOfThreePs = 0;
    for (const auto& one : both)
    {
        lastOfThreePs = one.frame.priority == 3 ? one.timePs : lastOfThreePs;
    }
    // 30 frames of class 3 and those of class 5 that fit: 4 + t / (10 d) <= 4 + 37 / 10.
    NS_TEST_EXPECT_MSG_LT_OR_EQ(lastOfThreePs,
                                firstPs + (30 + 4 + 4) * FRAME_PS + US_PS,
                                "the other class is not held back");
}

} // namespace tests
} // namespace ns3
