// SPDX-License-Identifier: GPL-2.0-only

#include "../../engine/test/test-case.h"

#include "ns3/dctcp.h"
#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <cmath>

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

/// 100 Gb/s and 8.384 us: a product of exactly 100 packets of 1000 bytes, 1048 on the wire.
constexpr CongestionControl::Path PATH{100'000'000'000, 8'384'000, 1000, 48, 2};

/// Answers in order, with a whole window in flight.
class Answers
{
  public:
    explicit Answers(Dctcp& control)
        : m_control(control)
    {
    }

    /// Answer as many packets as the window holds; of ten packets `markedOfTen` are marked.
    void Window(uint32_t markedOfTen)
    {
        const auto packets = static_cast<uint32_t>(m_control.WindowBytes(0) / 1000);
        for (uint32_t i = 0; i < packets; i++)
        {
            Next(m_packet % 10 < markedOfTen);
        }
    }

    void Next(bool isMarked, uint64_t inFlightPackets = 0)
    {
        const uint64_t packets = m_control.WindowBytes(0) / 1000;
        const uint64_t inFlight = inFlightPackets ? inFlightPackets : packets - 1;
        m_control.OnAck(0,
                        {.rttPs = PATH.baseRttPs,
                         .arrivedBytes = 1000,
                         .markedBytes = isMarked ? 1000U : 0U,
                         .lostBytes = 0,
                         .inFlightBytes = inFlight * 1000,
                         .packet = m_packet,
                         .nextPacket = m_packet + static_cast<uint32_t>(packets),
                         .hops = {}});
        m_packet++;
    }

  private:
    Dctcp& m_control;
    uint32_t m_packet{0};
};

} // namespace

static Suite g_suite{"dctcp"};

/// Oracle: with a constant share F of marked bytes alpha is F + (1 - F)(1 - g)^n after n windows.
TEST_CASE(g_suite, "alpha with three packets in ten marked")
{
    auto control = CreateObject<Dctcp>();
    // An empty first observation window ends with packet 0, so whole tens begin with packet 1.
    control->Open(0, PATH);
    uint32_t packet = 0;
    const auto answer = [&](bool isMarked, uint32_t nextPacket) {
        control->OnAck(0, {1, 1000, isMarked ? 1000U : 0U, 0, 0, packet++, nextPacket, {}});
    };
    answer(false, 10); // alpha = 1 - g; the window ends with packet 10
    double alpha = 1 - 1.0 / 16;
    for (int n = 1; n <= 50; n++)
    {
        for (uint32_t i = 0; i < 10; i++)
        {
            answer(i < 3, packet + 10);
        }
        alpha = (1 - 1.0 / 16) * alpha + 0.3 / 16;
        NS_TEST_EXPECT_MSG_EQ_TOL(control->Alpha(0), alpha, 1e-12, "window " << n);
    }
    const double closed = 0.3 + (1 - 1.0 / 16 - 0.3) * std::pow(1 - 1.0 / 16, 50);
    NS_TEST_EXPECT_MSG_EQ_TOL(control->Alpha(0), closed, 1e-12, "closed form");
}

/// Oracle: RFC 8257 by hand: a cut by alpha / 2 once per window, otherwise one packet more.
TEST_CASE(g_suite, "cuts and increases")
{
    auto control = CreateObject<Dctcp>();
    control->SetAttribute("Gain", DoubleValue(0)); // alpha stays 1
    control->Open(0, PATH);
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 100'000, "one product of packets");
    Answers answers(*control);
    answers.Next(true); // packet 0
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 50'000, "halved");
    for (int i = 1; i < 100; i++)
    {
        answers.Next(true);
        NS_TEST_ASSERT_MSG_EQ(control->WindowBytes(0), 50'000, "not again for packet " << i);
    }
    answers.Next(true); // packet 100 was sent after the cut
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 25'000, "halved again");
    for (int i = 101; i < 150; i++)
    {
        answers.Next(false);
    }
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 25'000, "the window of the cut");
    answers.Next(false); // packet 150
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 26'000, "one packet more");
    answers.Window(0);
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 27'000, "and one more");
    for (int i = 0; i < 13; i++)
    {
        answers.Next(false);
    }
    answers.Next(true); // in the middle of a window
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 13'500, "a cut at any time");
    for (int i = 0; i < 26; i++)
    {
        answers.Next(false);
    }
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 13'500, "its packets earn no increase");
    answers.Next(false);
    answers.Window(0);
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 14'500, "those after it do");
    control->OnLoss(0, CongestionControl::Loss::OVERTAKEN);
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 7250, "a loss halves it");
    control->OnLoss(0, CongestionControl::Loss::TIMEOUT);
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 1000, "nothing is known to be out");
}

/// Oracle: a window that is not used does not grow.
TEST_CASE(g_suite, "ten packets in flight of a hundred")
{
    auto control = CreateObject<Dctcp>();
    control->Open(0, PATH);
    Answers answers(*control);
    answers.Next(false, 10);
    for (int i = 0; i < 1000; i++)
    {
        answers.Next(false, 10);
    }
    NS_TEST_EXPECT_MSG_EQ(control->WindowBytes(0), 100'000, "as it was");
}

} // namespace tests
} // namespace ns3
