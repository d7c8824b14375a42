// SPDX-License-Identifier: GPL-2.0-only

// TCP over the fabric behaves as its theory says: windows under loss, growth between losses.

#include "wan-pair.h"

#include "ns3/config.h"
#include "ns3/simulator.h"
#include "ns3/test.h"

#include <cmath>

namespace ns3
{
namespace tests
{

namespace
{

constexpr int64_t SECOND_PS = 1'000'000'000'000;
constexpr double RTT_S = 0.06;
constexpr double CUBIC_C = 0.4;    // RFC 9438 section 5.1
constexpr double CUBIC_BETA = 0.7; // section 4.6

} // namespace

/**
 * Oracle: RFC 9438 section 5.1. With one loss per 1/p packets the average window of CUBIC is
 * (C (3 + beta) / 4 / (1 - beta))^(1/4) RTT^0.75 / p^0.75 = 1.054 RTT^0.75 / p^0.75 segments.
 * Losses are independent here. At 60 ms this is above Reno's 1.22 / p^0.5 for fewer than one loss
 * in 8000; with more CUBIC, which is friendly, follows Reno (section 4.3).
 */
class CubicWindowLaw : public TestCase
{
  public:
    explicit CubicWindowLaw(int64_t gap)
        : TestCase("average window of Cubic, one loss per " + std::to_string(gap)),
          m_gap(gap)
    {
    }

  private:
    static constexpr int64_t EPOCHS = 60;

    /// @return time at which this many packets are delivered, by tenths of a second [s]
    double WhenDelivered(fabric::Facade& facade, int64_t packets)
    {
        while (static_cast<int64_t>(facade.DataPackets()) < packets)
        {
            m_nowPs += SECOND_PS / 10;
            while (!facade.RunSlice(m_nowPs, 10))
            {
            }
        }
        return static_cast<double>(m_nowPs) / SECOND_PS;
    }

    void DoRun() override
    {
        TestNetwork network;
        Wan(network);
        const std::vector<double> losses{0, 1.0 / static_cast<double>(m_gap), 0};
        network.GetFacade().RealColumn("links", "loss_ratio", losses.data(), losses.size());
        network.Transport({{"SegmentBytes", "1460"}}, "ns3::TcpTransport");
        network.Flow(0, 1, (EPOCHS + 1) * m_gap * 1460);
        network.Build();
        const int64_t settled = EPOCHS / 3 * m_gap;
        const double fromS = WhenDelivered(network.GetFacade(), settled);
        const double toS = WhenDelivered(network.GetFacade(), EPOCHS * m_gap);
        const double window =
            static_cast<double>(EPOCHS * m_gap - settled) / (toS - fromS) * RTT_S;
        const double law =
            std::pow(CUBIC_C * (3 + CUBIC_BETA) / 4 / (1 - CUBIC_BETA), 0.25) *
            std::pow(RTT_S * static_cast<double>(m_gap), 0.75);
        NS_TEST_EXPECT_MSG_EQ_TOL(window / law, 1.0, 0.15, "average over law, " << law);
    }

    int64_t m_gap;
    int64_t m_nowPs{0};
};

/**
 * Oracle: RFC 9438 section 4.2. After a loss at window Wmax the window is C (t - K)^3 + Wmax, with
 * K = cbrt(Wmax (1 - beta) / C), t since the loss was repaired.
 */
class CubicGrowth : public TestCase
{
  public:
    CubicGrowth()
        : TestCase("growth of Cubic between two losses")
    {
    }

  private:
    void Follow(uint32_t before, uint32_t after)
    {
        const double nowS = Simulator::Now().GetSeconds();
        if (after < before)
        {
            if (m_lossS == 0)
            {
                m_maxSegments = before / 1460.0;
            }
            m_lossS = nowS; // it shrinks step by step while the loss is repaired
        }
        else if (m_lossS > 0 && nowS > m_lossS + 4 * RTT_S)
        {
            const double k = std::cbrt(m_maxSegments * (1 - CUBIC_BETA) / CUBIC_C);
            const double t = nowS - m_lossS;
            const double law = CUBIC_C * std::pow(t - k, 3) + m_maxSegments;
            m_worst = std::max(m_worst, std::abs(after / 1460.0 / law - 1));
            m_points++;
        }
    }

    void DoRun() override
    {
        TestNetwork network;
        Wan(network);
        network.Row("drops", {{"node", 10}, {"peer", 11}, {"parallel", 0}, {"ordinal", 300}});
        network.Transport({{"SegmentBytes", "1460"}}, "ns3::TcpTransport");
        network.Flow(0, 1, 1'000'000 * 1460);
        network.Build();
        Simulator::Schedule(PicoSeconds(1'000'000), [this] {
            Config::ConnectWithoutContext(
                "/NodeList/*/$ns3::TcpL4Protocol/SocketList/*/CongestionWindow",
                MakeCallback(&CubicGrowth::Follow, this));
        });
        while (!network.GetFacade().RunSlice(8 * SECOND_PS, 10))
        {
        }
        NS_TEST_EXPECT_MSG_GT(m_points, 50, "a curve");
        NS_TEST_EXPECT_MSG_LT(m_worst, 0.1, "worst distance from it, Wmax " << m_maxSegments);
    }

    double m_maxSegments{0};
    double m_lossS{0};
    double m_worst{0};
    uint64_t m_points{0};
};

/**
 * Oracle: BBR keeps to its model of the pipe whatever is lost, so at 1 % it fills it; the law above
 * leaves CUBIC 4 segments per round trip, 0.8 Mb/s.
 */
class BbrFillsALossyPipe : public TestCase
{
  public:
    BbrFillsALossyPipe()
        : TestCase("a pipe of 60 ms that loses 1 percent")
    {
    }

  private:
    double ShareOfPipe(const std::string& variant)
    {
        constexpr int64_t BPS = 50'000'000;
        constexpr int64_t SECONDS = 10;
        TestNetwork network;
        Wan(network, ONE_WAY_PS, BPS);
        const std::vector<double> losses{0, 0.01, 0};
        network.GetFacade().RealColumn("links", "loss_ratio", losses.data(), losses.size());
        network.Transport({{"SegmentBytes", "1460"}, {"Variant", variant}}, "ns3::TcpTransport");
        network.Flow(0, 1, 2 * SECONDS * BPS / 8);
        network.Run(SECONDS * SECOND_PS);
        return static_cast<double>(network.GetFacade().DataPackets()) * 1460 * 8 / (BPS * SECONDS);
    }

    void DoRun() override
    {
        NS_TEST_EXPECT_MSG_GT(ShareOfPipe("Bbr"), 0.8, "BBR");
        NS_TEST_EXPECT_MSG_LT(ShareOfPipe("Cubic"), 0.1, "Cubic");
    }
};

class TcpLawsTestSuite : public TestSuite
{
  public:
    TcpLawsTestSuite()
        : TestSuite("tcp-laws", Type::SYSTEM)
    {
        AddTestCase(new CubicGrowth, Duration::QUICK);
        AddTestCase(new BbrFillsALossyPipe, Duration::QUICK);
        AddTestCase(new CubicWindowLaw(8000), Duration::QUICK);
        AddTestCase(new CubicWindowLaw(20'000), Duration::EXTENSIVE);
    }
};

static TcpLawsTestSuite g_tcpLawsTestSuite;

} // namespace tests
} // namespace ns3
