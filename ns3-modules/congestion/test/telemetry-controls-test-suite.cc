// SPDX-License-Identifier: GPL-2.0-only

// Hpcc and PowerTcp, fed by hand.

#include "../../engine/test/test-case.h"

#include "ns3/hpcc.h"
#include "ns3/power-tcp.h"
#include "ns3/uinteger.h"

#include <vector>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr uint64_t RTT_PS = 10'000'000;
constexpr double BDP = 125'000; ///< 100 Gb/s for 10 us [byte]
constexpr double W_AI = BDP * 0.05 / 100;
constexpr CongestionControl::Path PATH{100'000'000'000, RTT_PS, 1000, 48, 4};

/// A link of 100 Gb/s that is used and filled as one likes.
struct Link
{
    PortId port;
    uint64_t rateBps{100'000'000'000};
    uint64_t sentBytes{uint64_t{1} << 40}; ///< More than any field of a header holds

    /// @return what it writes at a time, after it was in use for a share of the time since
    IntHop At(uint64_t nowPs, double share, uint64_t queuedBytes)
    {
        const double bytes = share * static_cast<double>(rateBps) / 8e12;
        sentBytes += static_cast<uint64_t>(bytes * static_cast<double>(nowPs - lastPs));
        lastPs = nowPs;
        return {nowPs, sentBytes, queuedBytes, rateBps, port};
    }

    uint64_t lastPs{0};
};

void
Answer(CongestionControl& control,
       uint32_t packet,
       uint32_t nextPacket,
       const std::vector<IntHop>& hops)
{
    control.OnAck(0, {RTT_PS, 1000, 0, 0, 0, packet, nextPacket, hops});
}

} // namespace

static Suite g_suite{"telemetry-controls"};

/**
 * Oracle: two senders begin at line rate. After a round trip the link is full and a product of
 * bytes waits: U = 1 + 1, W = BDP 0.95 / 2 + W_AI.
 */
TEST_CASE(g_suite, "hpcc: first update of two that begin together")
{
    auto control = CreateObject<Hpcc>();
    control->Open(0, PATH);
    NS_TEST_EXPECT_MSG_EQ(control->RateBps(0), CongestionControl::NO_LIMIT, "line rate");
    Link link{.port = 7};
    Answer(*control, 0, 100, {link.At(RTT_PS, 1, 125'000)});
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0), BDP, 1e-6, "the first only begins");
    Answer(*control, 100, 200, {link.At(2 * RTT_PS, 1, 125'000)});
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 2, 1e-9, "U");
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0), 0.475 * BDP + W_AI, 1e-6, "W");
    const double rateBps = control->Window(0) * 8 / 10e-6;
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(control->RateBps(0)), rateBps, 1, "R = W/T");
    // The queue counts as the less of now and before.
    Answer(*control, 200, 300, {link.At(3 * RTT_PS, 1, 0)});
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 1, 1e-9, "U without a queue");
    Answer(*control, 300, 400, {link.At(4 * RTT_PS, 1, 125'000)});
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 1, 1e-9, "U of a new queue");
}

/// Oracle: by hand. Answers of one round trip start from one reference and weigh by their time.
TEST_CASE(g_suite, "hpcc: reference window, weights and records of every answer")
{
    auto control = CreateObject<Hpcc>();
    control->Open(0, PATH);
    Link link{.port = 7};
    Answer(*control, 0, 100, {link.At(RTT_PS, 1, 0)});
    double load = 1;
    double window = BDP;
    for (uint32_t i = 1; i < 100; i++) // in the same round trip: the reference is the first W
    {
        // A tenth of a round trip later, at half of the link: only since the last answer.
        Answer(*control, i, 100 + i, {link.At(RTT_PS + i * RTT_PS / 10, 0.5, 0)});
        load += 0.1 * (0.5 - load);
        window = std::min(BDP, BDP * 0.95 / load + W_AI);
        NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), load, 1e-6, "U of answer " << i);
        NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0), window, 1, "W of answer " << i);
    }
    Answer(*control, 99, 200, {link.At(12 * RTT_PS, 2, 0)}); // as if it were twice as fast
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0), BDP * 0.475 + W_AI, 1, "from the first W");
    Answer(*control, 100, 200, {link.At(13 * RTT_PS, 2, 0)}); // ends the round trip
    Answer(*control, 101, 201, {link.At(14 * RTT_PS, 2, 0)});
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0),
                              (BDP * 0.475 + W_AI) * 0.475 + W_AI,
                              1,
                              "from the second W");
}

/// Oracle: U is that of the busiest hop, whatever its place and rate.
TEST_CASE(g_suite, "hpcc: hops of several rates, and a path that changes")
{
    constexpr uint64_t GBPS = 1'000'000'000;
    auto control = CreateObject<Hpcc>();
    control->Open(0, PATH);
    std::vector<Link> links;
    for (PortId port = 0; port < 20; port++)
    {
        links.push_back({.port = 1000 * port, .rateBps = port % 2 ? 400 * GBPS : 25 * GBPS});
    }
    uint64_t nowPs = 0;
    const auto round = [&](size_t first, size_t busiest, double share, uint64_t queued) {
        nowPs += RTT_PS;
        std::vector<IntHop> hops;
        for (size_t i = first; i < first + 10; i++)
        {
            hops.push_back(links[i].At(nowPs, i == busiest ? share : 0.1, queued));
        }
        Answer(*control, 0, 1, hops);
    };
    round(0, 0, 0, 0);
    for (size_t busiest = 0; busiest < 10; busiest++)
    {
        round(0, busiest, 0.7, 0);
        NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 0.7, 1e-6, "hop " << busiest);
    }
    round(0, 3, 0.7, 31'250); // a product of the slow links, a sixteenth of the fast ones
    round(0, 3, 0.7, 31'250);
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 1.1, 1e-6, "a queue of a slow link");
    round(10, 13, 0.9, 0);
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 1.1, 1e-6, "ten new links say nothing yet");
    round(10, 13, 0.9, 0);
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 0.9, 1e-6, "the new path");
    const std::vector<IntHop> late{{RTT_PS, 0, 1'000'000'000, 25 * GBPS, 10'000}};
    Answer(*control, 0, 1, late);
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 0.9, 1e-6, "an answer that was overtaken");
}

/// Oracle: W_AI for MaxStage round trips below Eta, then one multiplicative step.
TEST_CASE(g_suite, "hpcc: MaxStage of 2")
{
    auto control = CreateObject<Hpcc>();
    control->SetAttribute("MaxStage", UintegerValue(2));
    control->Open(0, PATH);
    Link link{.port = 7};
    uint32_t packet = 0;
    const auto round = [&](double share) {
        packet++;
        Answer(*control, packet, packet + 1, {link.At(packet * RTT_PS, share, 0)});
    };
    round(0);
    round(1.9); // to a half
    double window = BDP / 2 + W_AI;
    for (const double factor : {1.0, 1.0, 0.95 / 0.76, 1.0})
    {
        NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0), window, 1, "window");
        round(0.76);
        window = window * factor + W_AI;
    }
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0), window, 1, "window");
}

/**
 * Oracle: algorithm 1 of PowerTCP by hand. A full link without a queue has power 1, so the window
 * becomes 0.9 (W + beta) + 0.1 W; one with a product in its queue has 2; one that fills at its own
 * rate on top of that has (2 b)(b T) / (b^2 T) = 2 with no queue yet at the end.
 */
TEST_CASE(g_suite, "power-tcp: power and window")
{
    auto control = CreateObject<PowerTcp>();
    control->Open(0, PATH);
    Link link{.port = 7};
    uint32_t packet = 0;
    const auto round = [&](double share, uint64_t queuedBytes) {
        packet++;
        Answer(*control, packet, packet + 1, {link.At(packet * RTT_PS, share, queuedBytes)});
    };
    const double beta = BDP / 10;
    round(1, 0);
    round(1, 125'000); // lambda = 2 b, nu = 2 b T: power 4
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 4, 1e-6, "a queue that grows");
    double window = 0.9 * (BDP / 4 + beta) + 0.1 * BDP;
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0), window, 1, "window");
    round(1, 125'000);
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 2, 1e-6, "a queue that stays");
    window = 0.9 * (window / 2 + beta) + 0.1 * window;
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0), window, 1, "window");
    round(1, 0); // drains at the rate of the link
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 0, 1e-6, "a queue that drains");
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Window(0), BDP, 1, "as much as there may be");
    NS_TEST_EXPECT_MSG_EQ(control->RateBps(0), CongestionControl::NO_LIMIT, "line rate");
    round(1, 0);
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Load(0), 1, 1e-6, "full, no queue");
}

} // namespace tests
} // namespace ns3
