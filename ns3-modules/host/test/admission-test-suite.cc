// SPDX-License-Identifier: GPL-2.0-only

// Messages that are admitted to a rate: column rate_bps of the table flows.

#include "../../facade/test/test-network.h"

#include <string>
#include <utility>

namespace ns3
{
namespace tests
{

namespace
{

constexpr int64_t PACKETS = 50;
constexpr int64_t WIRE = 1000 + 62 + 20; ///< With headers and framing [byte]

void
AdmittedFlow(TestNetwork& network, int64_t src, int64_t dst, int64_t gbps)
{
    network.Row("flows",
                {{"flow", src},
                 {"src", src},
                 {"dst", dst},
                 {"bytes", PACKETS * 1000},
                 {"start_ps", 0},
                 {"rate_bps", gbps * GBPS}});
}

TestNetwork::Attributes
Small(TestNetwork::Attributes attributes = {})
{
    attributes.insert(attributes.end(), {{"MtuBytes", "1000"}, {"HeaderBytes", "62"}});
    return attributes;
}

} // namespace

static Suite g_suite{"host-admission", TestSuite::Type::SYSTEM};

/**
 * Oracle: closed form. Packet n leaves n packets' times at the admitted rate after the first, which
 * may be longer (RETH), and takes two serialisations of 80 ps a byte and two delays. A rate of
 * 10 Gb/s makes 800 ps of a byte.
 */
class AdmittedToATenth : public TestCase
{
  public:
    AdmittedToATenth(const char* transport, int64_t firstBytes, TestNetwork::Attributes more = {})
        : TestCase(std::string("a tenth of the link is admitted, ") + transport + " " +
                   (more.empty() ? "" : more.front().second)),
          m_transport(transport),
          m_firstBytes(firstBytes),
          m_more(std::move(more))
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.Star(4);
        AdmittedFlow(network, 0, 1, 10);
        AdmittedFlow(network, 2, 3, 0);
        network.Transport(Small(m_more), m_transport);
        network.Run();
        const int64_t firstPs = 2 * WIRE * 80 + 2 * US_PS;
        NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 0),
                              firstPs + ((PACKETS - 1) * WIRE + m_firstBytes) * 800,
                              "admitted");
        if (m_more.empty())
        {
            NS_TEST_EXPECT_MSG_EQ(network.Cell("flows", "receiver_end_ps", 1),
                                  firstPs + ((PACKETS - 1) * WIRE + 2 * m_firstBytes) * 80,
                                  "the other one has the link, where the first delays all");
        }
    }

    const char* m_transport;
    int64_t m_firstBytes; ///< By which the first packet is longer [byte]
    TestNetwork::Attributes m_more;
};

/// Oracle: a rate below 0 is none.
TEST_CASE(g_suite, "a rate below 0 is refused")
{
    TestNetwork network;
    network.Star(2);
    AdmittedFlow(network, 0, 1, -1);
    network.Transport(Small(), "ns3::SprayTransport");
    NS_TEST_EXPECT_MSG_NE(network.Complaint().find("flow 0: rate_bps is -1000000000, not >= 0"),
                          std::string::npos,
                          "complaint");
}

ADD_CASES(g_suite)
{
    const char* control = "ns3::tests::CountingControl[RateShare=0.5]";
    suite.Add(new AdmittedToATenth("ns3::SprayTransport", 0));
    suite.Add(new AdmittedToATenth("ns3::RoceTransport", 16));
    suite.Add(new AdmittedToATenth("ns3::SprayTransport", 0, {{"CongestionControl", control}}));
}

} // namespace tests
} // namespace ns3
