// SPDX-License-Identifier: GPL-2.0-only

#include "../../facade/test/test-network.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr int64_t FRAMES = 100'000;
constexpr double SIGMAS = 4; ///< A false alarm in 16 000 draws; the seed is fixed

/// @return for each of the frames that host 0 sent over a lossy link whether it came
std::vector<bool>
Arrivals(TestNetwork& network,
         const std::string& type,
         const TestNetwork::Attributes& attributes,
         uint32_t packetBytes = 1000)
{
    network.Host(0);
    network.Host(1);
    network.Switch(100);
    network.Link(0, 100, 100, 1);
    network.Link(1, 100);
    network.Flow(0, 1, FRAMES * packetBytes);
    network.Use("loss_model", type, attributes, 1);
    network.Transport({{"PacketBytes", std::to_string(packetBytes)}, {"Answers", "false"}});
    network.Run();
    std::vector<bool> came(FRAMES, false);
    for (const auto& seen : PacedDatagrams::seen)
    {
        came[seen.frame.packet] = true;
    }
    return came;
}

static Suite g_suite{"loss", TestSuite::Type::SYSTEM};

/// Oracle: a binomial count.
TEST_CASES(LossesAreBinomial,
           type + " " + ratio + ", frames of " + std::to_string(packetBytes),
           const std::string& type,
           const std::string& ratio,
           uint32_t packetBytes,
           double expected)
{
    TestNetwork network;
    const auto came = Arrivals(network, type, {{"Ratio", ratio}}, packetBytes);
    const auto lost = std::count(came.begin(), came.end(), false);
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(lost),
                              FRAMES * expected,
                              SIGMAS * std::sqrt(FRAMES * expected * (1 - expected)),
                              "frames that did not come");
    const bool isLoss = type == "ns3::IndependentLoss";
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_loss_frames"),
                          (isLoss ? lost : 0),
                          "counted as lost");
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_corrupt_frames"),
                          (isLoss ? 0 : lost),
                          "counted as corrupt");
}

/**
 * Oracle: lengths of bursts and gaps are geometric with the means given, so their averages over n
 * have a deviation of sqrt(m (m - 1) / n).
 */
TEST_CASES(BurstsAreGeometric,
           "bursts of " + std::to_string(burst) + " every " + std::to_string(gap),
           double burst,
           double gap)
{
    TestNetwork network;
    const auto came =
        Arrivals(network,
                 "ns3::GilbertElliott",
                 {{"MeanBurst", std::to_string(burst)}, {"MeanGap", std::to_string(gap)}});
    std::vector<double> frames(2); // lost, came
    std::vector<double> runs(2);
    for (size_t i = 0; i < came.size(); i++)
    {
        frames[came[i]]++;
        runs[came[i]] += i == 0 || came[i] != came[i - 1];
    }
    for (const bool isGap : {false, true})
    {
        const double mean = isGap ? gap : burst;
        NS_TEST_EXPECT_MSG_EQ_TOL(frames[isGap] / runs[isGap],
                                  mean,
                                  SIGMAS * std::sqrt(mean * (mean - 1) / runs[isGap]) + 1e-9,
                                  (isGap ? "mean gap" : "mean burst"));
    }
}

/**
 * Oracle: the share of bad frames is pi = b / (b + g), so the loss is pi h_bad + (1 - pi) h_good.
 * Frames at a distance k have a covariance (h_bad - h_good)^2 pi (1 - pi) r^k with
 * r = 1 - 1/b - 1/g, which the variance of the count sums up.
 */
TEST_CASE(g_suite, "losses in the good and in the bad state")
{
    constexpr double BURST = 20;
    constexpr double GAP = 80;
    constexpr double BAD = 0.5;
    constexpr double GOOD = 0.01;
    TestNetwork network;
    const auto came = Arrivals(
        network,
        "ns3::GilbertElliott",
        {{"MeanBurst", "20"}, {"MeanGap", "80"}, {"LossInBad", "0.5"}, {"LossInGood", "0.01"}});
    const double share = BURST / (BURST + GAP);
    const double ratio = share * BAD + (1 - share) * GOOD;
    const double r = 1 - 1 / BURST - 1 / GAP;
    const double covariance = (BAD - GOOD) * (BAD - GOOD) * share * (1 - share);
    const double variance = FRAMES * (ratio * (1 - ratio) + 2 * covariance * r / (1 - r));
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(std::count(came.begin(), came.end(), false)),
                              FRAMES * ratio,
                              SIGMAS * std::sqrt(variance),
                              "lost");
}

/// Oracle: the list. Of two messages one loses its packets 0, 3 and 999, on one of three links.
TEST_CASE(g_suite, "packets of one message by their numbers")
{
    TestNetwork network;
    network.Star(4);
    for (const int64_t host : {0, 1})
    {
        network.Flow(host, host + 2, 1'000'000);
    }
    network.Use("loss_model", "ns3::ChosenPackets", {{"Flow", "1"}, {"Packets", "3,999,0"}});
    network.Transport({{"PacketBytes", "1000"}, {"Answers", "false"}});
    network.Run();
    std::vector<std::set<uint32_t>> packets(2);
    for (const auto& seen : PacedDatagrams::seen)
    {
        packets[seen.frame.message].insert(seen.frame.packet);
    }
    NS_TEST_EXPECT_MSG_EQ(packets[0].size(), 1000, "nothing of the other message");
    NS_TEST_EXPECT_MSG_EQ(packets[1].size(), 997, "three of it");
    for (const uint32_t lost : {0, 3, 999})
    {
        NS_TEST_EXPECT_MSG_EQ(packets[1].contains(lost), false, "packet " << lost);
    }
    NS_TEST_EXPECT_MSG_EQ(network.Sum("ports", "dropped_loss_frames"), 3, "each once");
}

/// Directions and seeds have draws of their own; a run is repeated exactly.
TEST_CASE(g_suite, "two links, two seeds, and the same once more")
{
    std::set<std::vector<uint32_t>> outcomes;
    for (const int64_t seed : {1, 2, 1})
    {
        TestNetwork network;
        network.Star(4);
        for (const int64_t host : {0, 1})
        {
            network.Flow(host, host + 2, 1'000'000);
        }
        network.Use("loss_model", "ns3::IndependentLoss", {{"Ratio", "0.1"}});
        network.GetFacade().Seed(seed);
        network.Transport();
        network.Run();
        std::vector<std::vector<uint32_t>> packets(2);
        for (const auto& seen : PacedDatagrams::seen)
        {
            packets[seen.frame.message].push_back(seen.frame.packet);
        }
        outcomes.insert(packets.begin(), packets.end());
    }
    NS_TEST_EXPECT_MSG_EQ(outcomes.size(), 4, "two links times two seeds");
}

ADD_CASES(g_suite)
{
    suite.Add(new LossesAreBinomial("ns3::IndependentLoss", "0", 1000, 0));
    suite.Add(new LossesAreBinomial("ns3::IndependentLoss", "0.001", 1000, 0.001));
    suite.Add(new LossesAreBinomial("ns3::IndependentLoss", "0.3", 1000, 0.3));
    suite.Add(new LossesAreBinomial("ns3::IndependentLoss", "1", 1000, 1));
    for (const uint32_t bytes : {64, 1000, 9000})
    {
        // A Poisson number of wrong bits, but for terms of the order of the ratio.
        suite.Add(
            new LossesAreBinomial("ns3::BitErrors", "1e-6", bytes, 1 - std::exp(-8e-6 * bytes)));
    }
    // Enough errors to tell 64 bytes from the 84 with preamble and gap, which do not count.
    suite.Add(new LossesAreBinomial("ns3::BitErrors", "1e-4", 64, 1 - std::pow(1 - 1e-4, 8 * 64)));
    suite.Add(new BurstsAreGeometric(1, 50));
    suite.Add(new BurstsAreGeometric(10, 90));
    suite.Add(new BurstsAreGeometric(100, 300));
}

} // namespace

} // namespace tests
} // namespace ns3
