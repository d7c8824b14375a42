// SPDX-License-Identifier: GPL-2.0-only

#include "wan-line.h"

#include "ns3/wan-transport.h"

#include <cmath>
#include <string>
#include <vector>

namespace ns3
{
namespace tests
{

namespace
{

void
Wan(TestNetwork& network, TestNetwork::Attributes attributes)
{
    attributes.insert(attributes.end(), {{"MtuBytes", "1000"}, {"HeaderBytes", "62"}});
    network.Transport(attributes, "ns3::WanTransport");
}

void
Drop(TestNetwork& network, const std::vector<int64_t>& ordinals)
{
    for (const int64_t ordinal : ordinals)
    {
        network.Row("drops", {{"node", 0}, {"peer", 100}, {"ordinal", ordinal}});
    }
}

} // namespace

static Suite g_suite{"wan-transport", TestSuite::Type::SYSTEM};

/**
 * Oracle: closed form. Packet n leaves n packets' times at the admitted rate after the first, and
 * then takes two serialisations (100 Gb/s) and two delays. With parity the rate is (1 + m/k) of
 * that of the attribute, or the one that the flow has.
 */
class KeepsItsRate : public TestCase
{
  public:
    KeepsItsRate(const char* parity, int64_t lastPs, const char* rateBps = "10000000000")
        : TestCase(std::string("a tenth of the link admitted, parity ") + parity),
          m_parity(parity),
          m_lastPs(lastPs),
          m_rateBps(rateBps)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        Line(network, 30'000 * US_PS);
        Wan(network, {{"RateBps", m_rateBps}, {"BlockPackets", "4"}, {"ParityPackets", m_parity}});
        network.Row("flows",
                    {{"flow", 0},
                     {"src", 0},
                     {"dst", 1},
                     {"bytes", 40 * PAYLOAD},
                     {"start_ps", 0},
                     {"rate_bps", m_rateBps == "10000000000" ? 0 : 15 * GBPS}});
        network.Run();
        const int64_t firstPs = 2 * WIRE * 80 + 30'001 * US_PS;
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                              firstPs + m_lastPs,
                              "last packet");
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "timeouts", 0), 0, "no timeout at 60 ms");
    }

    std::string m_parity;
    int64_t m_lastPs;      ///< When the last packet that is needed leaves [ps]
    std::string m_rateBps; ///< If it is another one, the flow may send 15 Gb/s
};

/// Oracle: counting. What a block of 4 + 2 has lost, and how many packets are sent again.
class LossesOfABlock : public TestCase
{
  public:
    LossesOfABlock(const char* what, std::vector<int64_t> lost, int64_t again, int interleave = 1)
        : TestCase(what),
          m_lost(std::move(lost)),
          m_again(again),
          m_interleave(interleave)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        Line(network);
        Wan(network,
            {{"BlockPackets", "4"},
             {"ParityPackets", "2"},
             {"Interleave", std::to_string(m_interleave)}});
        network.Flow(0, 1, 40 * PAYLOAD); // ten blocks of six
        Drop(network, m_lost);
        network.Run();
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "retransmitted_packets", 0), m_again, "again");
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "sent_data_packets", 0), 60 + m_again, "sent");
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "timeouts", 0), 0, "timeouts");
        NS_TEST_EXPECT_MSG_NE(network.Cell("flows", "receiver_end_ps", 0), -1, "delivered");
    }

    std::vector<int64_t> m_lost;
    int64_t m_again;
    int m_interleave;
};

/// Oracle: hand. All but one packet of the last block are lost, and one of its repairs.
TEST_CASE(g_suite, "a timeout sends again as many packets as the block needs")
{
    TestNetwork network;
    Line(network);
    Wan(network, {{"BlockPackets", "4"}, {"ParityPackets", "2"}, {"Rto", "1ms"}});
    network.Flow(0, 1, 8 * PAYLOAD);
    Drop(network, {8, 9, 10, 11, 12}); // only packet 7 of the last block, 7 to 12, arrives
    network.Run();
    // Nothing behind them says that they are lost, so the timeout does: 3 more make 4.
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "timeouts", 0), 1, "timeouts");
    NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "retransmitted_packets", 0), 3, "again");
    NS_TEST_EXPECT_MSG_NE(network.Cell("flows", "receiver_end_ps", 0), -1, "delivered");
}

/// Oracle: hand. Headers and sizes of everything sent; the short last packet is short, no parity.
TEST_CASE(g_suite, "parity has the length of the longest packet of its block")
{
    TestNetwork network;
    Line(network);
    Wan(network, {{"BlockPackets", "4"}, {"ParityPackets", "2"}});
    network.Flow(0, 1, 5 * PAYLOAD + 300); // 4 + 2, then 1000 B, 300 B and two of parity
    network.Run();
    NS_TEST_EXPECT_MSG_EQ(network.Port(0, 100, "sent_bytes"),
                          9 * WIRE + 300 + 62 + 20,
                          "bytes on the wire");
    NS_TEST_EXPECT_MSG_EQ(network.Port(0, 100, "sent_data_packets"), 10, "packets");
}

/**
 * Oracle: binomial tail. A block of 16 + m is not decoded with P(more than m of 16 + m are lost).
 * What is counted is one block in each message of 16 packets: it needs something sent again.
 * Losses on the way of the answers change nothing that is counted here.
 */
TEST_CASES(ResidualLossIsTheBinomialTail,
           "residual loss at " + std::to_string(ratio) + ", parity " + std::to_string(parity),
           double ratio,
           uint32_t parity)
{
    constexpr int64_t MESSAGES = 20'000;
    TestNetwork network;
    Line(network);
    network.Use("loss_model", "ns3::IndependentLoss", {{"Ratio", std::to_string(ratio)}}, 1);
    Wan(network,
        {{"BlockPackets", "16"}, {"ParityPackets", std::to_string(parity)}, {"Rto", "1ms"}});
    for (int64_t i = 0; i < MESSAGES; i++)
    {
        network.Flow(0, 1, 16 * PAYLOAD, i * 10 * US_PS);
    }
    network.Run();
    int64_t failed = 0;
    for (int64_t i = 0; i < MESSAGES; i++)
    {
        NS_TEST_ASSERT_MSG_NE(network.Cell("flows", "receiver_end_ps", i), -1, "delivered");
        // Alone on the line, and all of it at once: later than that something was missing.
        const int64_t tookPs =
            network.Cell("flows", "receiver_end_ps", i) - network.Cell("flows", "start_ps", i);
        failed += tookPs > (16 + parity + 1) * WIRE * 80 + 2 * US_PS;
    }
    const double n = 16 + parity;
    double decoded = 0;
    for (uint32_t i = 0; i <= parity; i++)
    {
        decoded += std::exp(std::lgamma(n + 1) - std::lgamma(i + 1) - std::lgamma(n - i + 1)) *
                   std::pow(ratio, i) * std::pow(1 - ratio, n - i);
    }
    // Four standard deviations: a false alarm once in 16,000.
    const double expected = MESSAGES * (1 - decoded);
    NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(failed),
                              expected,
                              4 * std::sqrt(expected * decoded),
                              "blocks that were not decoded");
}

/**
 * Oracle: bursts of ten frames (Gilbert-Elliott) exceed the parity of a block of 16 + 4, and when
 * eight blocks are interleaved they hit none of them more than twice. What is left are bursts of
 * more than 32: (1 - 1/10)^32 = 3.4 % of them, so at least ten times fewer are sent again.
 */
class BurstsNeedInterleaving : public TestCase
{
  public:
    BurstsNeedInterleaving()
        : TestCase("bursts of losses need interleaving")
    {
    }

  private:
    int64_t SentAgain(const char* interleave)
    {
        TestNetwork network;
        Line(network);
        network.Use("loss_model",
                    "ns3::GilbertElliott",
                    {{"MeanBurst", "10"}, {"MeanGap", "3000"}},
                    1);
        Wan(network,
            {{"BlockPackets", "16"},
             {"ParityPackets", "4"},
             {"Interleave", interleave},
             {"Rto", "1ms"}});
        network.Flow(0, 1, 160'000 * PAYLOAD);
        network.Run();
        NS_TEST_EXPECT_MSG_NE(network.Cell("flows", "receiver_end_ps", 0), -1, "delivered");
        return network.Cell("flows", "retransmitted_packets", 0);
    }

    void DoRun() override
    {
        const int64_t alone = SentAgain("1");
        const int64_t together = SentAgain("8");
        NS_TEST_EXPECT_MSG_GT(alone, 100, "without interleaving");
        NS_TEST_EXPECT_MSG_LT(10 * together, alone, "with it");
    }
};

ADD_CASES(g_suite)
{
    WanTransport::GetTypeId(); // the library that registers it must be linked
    // 1082 B at 10 Gb/s last 865.6 ns. With parity the 40th packet is the 58th: 57 x 8656 bit
    // at 15 Gb/s are 32,892.8 ns.
    suite.Add(new KeepsItsRate("0", 39 * 865'600));
    suite.Add(new KeepsItsRate("2", 32'892'800));
    suite.Add(new KeepsItsRate("2", 32'892'800, "70000000000"));
    using Block = LossesOfABlock;
    suite.Add(new Block("two of 4 + 2 are free", {7, 9}, 0));
    suite.Add(new Block("also if one is parity", {10, 12}, 0));
    suite.Add(new Block("three cost one", {7, 8, 9}, 1));
    suite.Add(new Block("all six cost four", {7, 8, 9, 10, 11, 12}, 4));
    suite.Add(new Block("four in each of two blocks: two each", {1, 2, 3, 4, 7, 8, 9, 10}, 4));
    suite.Add(new Block("a burst of four over two blocks", {1, 2, 3, 4}, 0, 2));
    suite.Add(new Block("five over two blocks cost one", {1, 2, 3, 4, 5}, 1, 2));
    for (const double ratio : {0.01, 0.03})
    {
        for (const uint32_t parity : {1, 2})
        {
            suite.Add(new ResidualLossIsTheBinomialTail(ratio, parity));
        }
    }
    suite.Add(new BurstsNeedInterleaving);
}

} // namespace tests
} // namespace ns3
