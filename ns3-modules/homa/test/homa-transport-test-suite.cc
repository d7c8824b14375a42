// SPDX-License-Identifier: GPL-2.0-only

// Oracles: counts of grants, and closed forms of one link.

#include "homa-star.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

static Suite g_suite{"homa-transport", TestSuite::Type::SYSTEM};

/**
 * Up to RttBytes a message comes in one way and is answered once; a byte more waits for one GRANT.
 * Longer ones have a GRANT for each packet beyond the first six: 50 000 bytes are 35 packets.
 */
TEST_CASES(GrantsAreForWhatIsLonger,
           std::to_string(bytes) + " bytes need " + std::to_string(grants) + " grants",
           int64_t bytes,
           int64_t grants)
{
    TestNetwork network;
    Star(network, 2);
    network.Flow(0, 1, bytes);
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Port(1, SWITCH, "sent_frames"), grants + 1, "and one ACK");
    if (grants == 0)
    {
        NS_TEST_EXPECT_MSG_EQ(EndPs(network, 0), OneWayPs(bytes), "one way");
    }
    else
    {
        NS_TEST_EXPECT_MSG_GT(EndPs(network, 0), OneWayPs(bytes), "and more");
    }
}

/**
 * A short message comes while a long one, granted or not, fills the receiver's link: of a higher
 * priority, it waits for the packet that is being sent, at the switch, and for none else.
 */
TEST_CASES(TheShortOneGoesFirst,
           "a short message waits for one packet of a long one, RttBytes " +
               std::to_string(rttBytes),
           int64_t rttBytes)
{
    constexpr int64_t START_PS = 50 * US_PS;
    for (const int64_t phasePs : {0, 20'000, 40'000, 60'000, 80'000})
    {
        TestNetwork network;
        LongAndShort(network,
                     3000,
                     START_PS + phasePs,
                     {{"Cutoffs", "5000"}, {"RttBytes", std::to_string(rttBytes)}});
        NS_TEST_EXPECT_MSG_LT_OR_EQ(EndPs(network, 1),
                                    START_PS + phasePs + OneWayPs(3000) + PACKET_PS,
                                    "one packet's time");
        NS_TEST_EXPECT_MSG_GT(EndPs(network, 0), 200 * US_PS, "the long one is there");
    }
}

/// The source has the same order: of two messages to two hosts the shorter is as fast as alone.
TEST_CASE(g_suite, "a source sends the shorter of two messages first")
{
    TestNetwork network;
    Star(network, 3, {{"RttBytes", "1000000"}});
    network.Flow(0, 1, 900'000);
    network.Flow(0, 2, 90'000, US_PS);
    network.Run();
    NS_TEST_EXPECT_MSG_LT_OR_EQ(EndPs(network, 1),
                                US_PS + OneWayPs(90'000) + PACKET_PS,
                                "the shorter");
}

/// Priorities are for switches. Host 1 grants the message of host 0 above the longer one of host 3;
/// host 2 grants a single, shorter one at the lowest priority, which is as fast as alone.
TEST_CASE(g_suite, "a source sends the shorter first although the longer has a higher priority")
{
    constexpr int64_t START_PS = 50 * US_PS;
    constexpr int64_t SHORT = 500'000;
    TestNetwork network;
    Star(network, 4, {{"RttBytes", "100000"}, {"Overcommitment", "2"}});
    network.Flow(3, 1, 9'000'000);
    network.Flow(0, 1, 3'000'000);
    network.Flow(0, 2, SHORT, START_PS);
    network.Run();
    const int64_t mostPs = START_PS + OneWayPs(SHORT) + PACKET_PS + 4 * US_PS; // first grants
    NS_TEST_EXPECT_MSG_LT(EndPs(network, 2), mostPs, "the shorter");
}

/**
 * One packet is lost, the last but one that goes blind, so that nothing more comes: the receiver
 * asks for it ResendInterval after the packet behind it, and it takes a round trip.
 */
TEST_CASES(AsksWhenTheIntervalIsOver,
           "a missing packet is asked for after " + std::to_string(intervalUs) + " us",
           int64_t intervalUs)
{
    constexpr int64_t START_PS = 70 * US_PS; // no multiple of the interval
    constexpr int64_t PACKETS = 6;           // all of them blind
    TestNetwork network;
    Star(network, 3, {{"ResendInterval", std::to_string(intervalUs) + "us"}});
    network.Flow(0, 2, 1000);
    network.Flow(1, 2, PACKETS * MTU, START_PS);
    network.Row("drops", {{"node", 1}, {"peer", SWITCH}, {"ordinal", PACKETS - 1}});
    network.Run();
    constexpr int64_t GRANT_PS = (64 + 20) * 80;
    const int64_t askedPs = START_PS + OneWayPs(PACKETS * MTU) + intervalUs * US_PS;
    NS_TEST_EXPECT_MSG_EQ(EndPs(network, 1),
                          askedPs + 2 * (GRANT_PS + US_PS) + 2 * (PACKET_PS + US_PS),
                          "and comes");
}

/**
 * With GapInterval the second of the packets that go blind is asked for when it has been missing so
 * long behind the third, and its copy likewise.
 */
TEST_CASES(AsksForAGap,
           "a gap is asked for after " + std::to_string(gapUs) + " us, " + std::to_string(losses) +
               " losses",
           int64_t gapUs,
           int64_t losses)
{
    constexpr int64_t START_PS = 70 * US_PS; // no multiple of the interval
    constexpr int64_t PACKETS = 6;           // all of them blind
    constexpr int64_t GRANT_PS = (64 + 20) * 80;
    TestNetwork network;
    Star(network, 3, {{"GapInterval", std::to_string(gapUs) + "us"}});
    network.Flow(0, 2, 1000);
    network.Flow(1, 2, PACKETS * MTU, START_PS);
    network.Row("drops", {{"node", 1}, {"peer", SWITCH}, {"ordinal", 2}});
    for (int64_t copy = 1; copy < losses; copy++)
    {
        network.Row("drops", {{"node", 1}, {"peer", SWITCH}, {"ordinal", PACKETS + copy}});
    }
    network.Run();
    const int64_t askedPs = START_PS + OneWayPs(3 * MTU) + losses * gapUs * US_PS;
    NS_TEST_EXPECT_MSG_EQ(EndPs(network, 1),
                          askedPs + 2 * (GRANT_PS + US_PS) + 2 * (PACKET_PS + US_PS),
                          "and comes");
}

/// Whatever is lost, packets, grants, requests or the ACK, every message ends.
TEST_CASE(g_suite, "with 2 % of all frames lost every message arrives")
{
    TestNetwork network;
    network.Use("loss_model", "ns3::IndependentLoss", {{"Ratio", "0.02"}});
    Star(network, 6, {{"ResendInterval", "50us"}, {"Rto", "200us"}});
    for (int64_t host = 0; host < 5; host++)
    {
        network.Flow(host, 5, 300'000);
        network.Flow(host, 5, 1000);
    }
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), 10, "all are done");
    NS_TEST_EXPECT_MSG_GT(network.Sum("ports", "dropped_loss_frames"), 30, "losses there were");
}

/// What cannot be is refused in one line.
TEST_CASE(g_suite, "cutoffs that cannot be")
{
    const auto complaint = [](const std::string& cutoffs, const std::string& levels) {
        TestNetwork network;
        Star(network, 2, {{"Cutoffs", cutoffs}, {"ScheduledLevels", levels}});
        network.Flow(0, 1, 1000);
        return network.Complaint();
    };
    const auto has = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    for (const char* wrong : {"2000,1000", "0", "a", "1000,,2000", "-1"})
    {
        const std::string text = complaint(wrong, "4");
        NS_TEST_EXPECT_MSG_EQ(has(text, "write rising numbers of bytes"), true, text);
    }
    const std::string text = complaint("1000,2000", "6");
    NS_TEST_EXPECT_MSG_EQ(has(text, "3 unscheduled priorities, which collide with 6"), true, text);
    NS_TEST_EXPECT_MSG_EQ(complaint("1000,2000", "5"), "", "and this is fine");
}

ADD_CASES(g_suite)
{
    suite.Add(new GrantsAreForWhatIsLonger(RTT_BYTES, 0));
    suite.Add(new GrantsAreForWhatIsLonger(RTT_BYTES + 1, 1));
    suite.Add(new GrantsAreForWhatIsLonger(RTT_BYTES - 500, 0));
    suite.Add(new GrantsAreForWhatIsLonger(5 * RTT_BYTES, 29));
    suite.Add(new TheShortOneGoesFirst(100'000));
    suite.Add(new TheShortOneGoesFirst(3'000'000));
    suite.Add(new AsksWhenTheIntervalIsOver(100));
    suite.Add(new AsksWhenTheIntervalIsOver(1000));
    suite.Add(new AsksForAGap(10, 1));
    suite.Add(new AsksForAGap(25, 3));
}

} // namespace tests
} // namespace ns3
