// SPDX-License-Identifier: GPL-2.0-only

// TCP over the fabric behaves as its theory says: windows under loss, growth between losses.

#include "wan-pair.h"

#include "ns3/config.h"
#include "ns3/simulator.h"

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

/// Who keeps which law: Reno's 1.22 / p^0.5, or CUBIC's, whichever has more.
struct Law
{
    std::string variant;
    int64_t oneWayPs;
    int64_t gap; ///< Packets per loss, 1/p

    double RttS() const
    {
        return 2e-12 * static_cast<double>(oneWayPs);
    }

    double Window() const
    {
        const auto perLoss = static_cast<double>(gap);
        const double reno = std::sqrt(1.5 * perLoss);
        const double cubic = std::pow(CUBIC_C * (3 + CUBIC_BETA) / 4 / (1 - CUBIC_BETA), 0.25) *
                             std::pow(RttS() * perLoss, 0.75);
        return variant == "Cubic" ? std::max(cubic, reno) : reno;
    }

    /// @return window at which each loss comes
    double Peak() const
    {
        return Window() * 4 / (variant == "Cubic" ? 3 + CUBIC_BETA : 3);
    }

    std::string Name() const
    {
        return variant + ", one loss per " + std::to_string(gap) + ", " +
               std::to_string(oneWayPs / 500'000'000) + " ms";
    }
};

static Suite g_suite{"tcp-laws", TestSuite::Type::SYSTEM};

/**
 * Oracle: Mathis et al., CCR 27(3), 1997, equation 3, and RFC 9438 section 5.1: with exactly one
 * loss per 1/p packets the average window of Reno is sqrt(1.5 / p), of CUBIC
 * (C (3 + beta) / 4 / (1 - beta))^(1/4) RTT^0.75 / p^0.75 = 1.054 RTT^0.75 / p^0.75 segments or,
 * being friendly, Reno's.
 *
 * With even losses CUBIC comes to its law very slowly: if Wmax is off by a part e of itself, the
 * next one is off by e - (1 - beta) ((3 + beta) / 3)^3 e^3 = e - 0.56 e^3, which is 0.94 / n^0.5
 * after n losses. So the first packet is lost of which, when that is noticed, slow start has come
 * to the Wmax of the law.
 */
class WindowLaw : public TestCase
{
  public:
    WindowLaw(const Law& law, int64_t losses, bool areEven = true)
        : TestCase((areEven ? "even losses: " : "independent losses: ") + law.Name()),
          m_law(law),
          m_losses(losses),
          m_areEven(areEven)
    {
    }

  private:
    /// @return time at which this many packets are delivered, by fiftieths of a second [s]
    double WhenDelivered(fabric::Facade& facade, int64_t packets)
    {
        while (static_cast<int64_t>(facade.DataPackets()) < packets)
        {
            m_nowPs += SECOND_PS / 50;
            while (!facade.RunSlice(m_nowPs, 10))
            {
            }
        }
        return static_cast<double>(m_nowPs) / SECOND_PS;
    }

    void Lose(TestNetwork& network)
    {
        const std::vector<double> ratios{0, 1.0 / static_cast<double>(m_law.gap), 0};
        if (!m_areEven)
        {
            network.GetFacade().RealColumn("links", "loss_ratio", ratios.data(), ratios.size());
        }
        const auto first = static_cast<int64_t>(m_law.Peak());
        for (int64_t i = 0; m_areEven && i < m_losses + 2; i++)
        {
            network.Row(
                "drops",
                {{"node", 10}, {"peer", 11}, {"parallel", 0}, {"ordinal", first + i * m_law.gap}});
        }
    }

    void DoRun() override
    {
        TestNetwork network;
        Wan(network, m_law.oneWayPs);
        Lose(network);
        network.Transport(
            {{"SegmentBytes", "1460"}, {"Variant", m_law.variant}, {"MinRto", "500ms"}},
            "ns3::TcpTransport");
        network.Flow(0, 1, (m_losses + 1) * m_law.gap * 1460);
        network.Build();
        const int64_t settled = m_losses / 3 * m_law.gap;
        const int64_t end = m_losses * m_law.gap;
        const double fromS = WhenDelivered(network.GetFacade(), settled);
        const double toS = WhenDelivered(network.GetFacade(), end);
        const double window = static_cast<double>(end - settled) / (toS - fromS) * m_law.RttS();
        NS_TEST_EXPECT_MSG_EQ_TOL(window / m_law.Window(),
                                  1.0,
                                  0.15,
                                  "average over law, " << m_law.Window());
    }

    Law m_law;
    int64_t m_losses;
    bool m_areEven;
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

namespace
{

double
ShareOfPipe(const std::string& variant)
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

} // namespace

/**
 * Oracle: BBR keeps to its model of the pipe whatever is lost, so at 1 % it fills it; the law above
 * leaves CUBIC 4 segments per round trip, 0.8 Mb/s.
 */
TEST_CASE(g_suite, "a pipe of 60 ms that loses 1 percent")
{
    NS_TEST_EXPECT_MSG_GT(ShareOfPipe("Bbr"), 0.8, "BBR");
    NS_TEST_EXPECT_MSG_LT(ShareOfPipe("Cubic"), 0.1, "Cubic");
}

ADD_CASES(g_suite)
{
    constexpr auto EXTENSIVE = TestCase::Duration::EXTENSIVE;
    suite.Add(new CubicGrowth);
    constexpr int64_t LONG_PS = 100'000'000'000; // 200 ms there and back
    suite.Add(new WindowLaw({"LinuxReno", ONE_WAY_PS, 100}, 60));
    suite.Add(new WindowLaw({"LinuxReno", ONE_WAY_PS, 1000}, 30));
    suite.Add(new WindowLaw({"Cubic", ONE_WAY_PS, 1000}, 30));
    suite.Add(new WindowLaw({"Cubic", ONE_WAY_PS, 3000}, 30));
    suite.Add(new WindowLaw({"Cubic", LONG_PS, 2000}, 30));
    suite.Add(new WindowLaw({"Cubic", ONE_WAY_PS, 20'000}, 20), EXTENSIVE);
    suite.Add(new WindowLaw({"Cubic", LONG_PS, 8000}, 30), EXTENSIVE);
    suite.Add(new WindowLaw({"Cubic", ONE_WAY_PS, 8000}, 60, false), EXTENSIVE);
    suite.Add(new WindowLaw({"Cubic", ONE_WAY_PS, 20'000}, 60, false), EXTENSIVE);
}

} // namespace tests
} // namespace ns3
