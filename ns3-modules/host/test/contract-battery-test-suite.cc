// SPDX-License-Identifier: GPL-2.0-only

// The batteries of CongestionControl and PathSelector: fakes that count their calls in scripted
// runs, through every sender-driven transport that is linked into the test runner.

#include "../../facade/test/test-network.h"
#include "counting-fakes.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

// Host 0, switches 10 and 11, host 1; three links of 100 Gb/s (80 ps per byte) and 1 us.
constexpr int64_t PACKETS = 200;
constexpr int64_t BYTES = (PACKETS - 1) * 4096 + 100; ///< The last packet is short
constexpr int64_t DATA_PS = (4096 + 62 + 20) * 80;
constexpr int64_t ACK_PS = (66 + 20) * 80;
constexpr int64_t RTT_PS = 3 * (DATA_PS + US_PS) + 3 * (ACK_PS + US_PS);

/// Run one message; `lost` counts data frames on the link between the switches.
class Scripted
{
  public:
    Scripted(const std::string& transport,
             TestNetwork::Attributes attributes,
             const std::vector<int64_t>& lost = {})
    {
        CountingControl::calls = {};
        CountingSelector::calls = {};
        network.Host(0);
        network.Host(1);
        network.Switch(10);
        network.Switch(11);
        network.Link(0, 10);
        network.Link(10, 11);
        network.Link(11, 1);
        network.Flow(0, 1, BYTES);
        for (const int64_t ordinal : lost)
        {
            network.Row("drops", {{"node", 10}, {"peer", 11}, {"ordinal", ordinal}});
        }
        attributes.emplace_back("PathSelector", "ns3::tests::CountingSelector");
        network.Transport(attributes, transport);
    }

    int64_t Flow(const char* column) const
    {
        return network.Cell("flows", column, 0);
    }

    TestNetwork network;
};

using Calls = CountingControl::Calls;
using Fate = PathReport::Fate;
using Loss = CongestionControl::Loss;

} // namespace

/// A case for one kind of transport.
class TransportCase : public TestCase
{
  public:
    TransportCase(const std::string& what,
                  const std::string& transport,
                  TestNetwork::Attributes attributes)
        : TestCase(transport.substr(5) + Text(attributes) + ": " + what),
          m_transport(transport),
          m_attributes(std::move(attributes))
    {
    }

  protected:
    static std::string Text(const TestNetwork::Attributes& attributes)
    {
        std::string text;
        for (const auto& [name, value] : attributes)
        {
            text += " " + value;
        }
        return text;
    }

    /// @return the attributes of the case with a congestion control
    TestNetwork::Attributes With(const std::string& control,
                                 const TestNetwork::Attributes& more = {}) const
    {
        auto all = m_attributes;
        all.emplace_back("CongestionControl", "ns3::tests::CountingControl" + control);
        all.insert(all.end(), more.begin(), more.end());
        return all;
    }

    /// @return whether all behind a loss is sent again
    bool GoesBack() const
    {
        return m_transport == "ns3::RoceTransport" && m_attributes.size() == 1;
    }

    const std::string m_transport;
    const TestNetwork::Attributes m_attributes;
};

/// Oracle: counting; each packet is sent, answered and reported once, payload is whole.
class EveryCallComesOnce : public TransportCase
{
  public:
    using TransportCase::TransportCase;

  private:
    void DoRun() override
    {
        Scripted run(m_transport, With(""));
        run.network.Run();
        const Calls& calls = CountingControl::calls;
        NS_TEST_EXPECT_MSG_EQ(calls.attach, 2, "one object at each host");
        NS_TEST_EXPECT_MSG_EQ(calls.open, 1, "opened");
        NS_TEST_EXPECT_MSG_EQ(calls.close, 1, "closed");
        NS_TEST_EXPECT_MSG_EQ(calls.sent, PACKETS, "sent");
        NS_TEST_EXPECT_MSG_EQ(calls.sentBytes, BYTES, "payload sent");
        NS_TEST_EXPECT_MSG_EQ(calls.ack, PACKETS, "answers");
        NS_TEST_EXPECT_MSG_EQ(calls.arrivedBytes, BYTES, "payload arrived");
        NS_TEST_EXPECT_MSG_EQ(calls.markedBytes, 0, "marked");
        NS_TEST_EXPECT_MSG_EQ(calls.losses.size(), 0, "losses");
        NS_TEST_EXPECT_MSG_EQ(calls.update, 0, "nobody asked for updates");
        NS_TEST_EXPECT_MSG_EQ(calls.lastAck.inFlightBytes, 0, "nothing is left");
        NS_TEST_EXPECT_MSG_EQ(calls.path.lineRateBps, 100 * GBPS, "line rate");
        NS_TEST_EXPECT_MSG_EQ(calls.path.baseRttPs, RTT_PS, "base round trip");
        NS_TEST_EXPECT_MSG_EQ(calls.path.hops, 3, "links");
        NS_TEST_EXPECT_MSG_EQ(calls.path.headerBytes, 82, "headers and framing");
        NS_TEST_EXPECT_MSG_EQ(*std::min_element(calls.rttPs.begin() + 1, calls.rttPs.end() - 1),
                              RTT_PS,
                              "measured round trip");

        auto& paths = CountingSelector::calls;
        NS_TEST_EXPECT_MSG_EQ(paths.open, 1, "opened");
        NS_TEST_EXPECT_MSG_EQ(paths.close, 1, "closed");
        NS_TEST_EXPECT_MSG_EQ(paths.next, PACKETS, "an entropy for each packet");
        NS_TEST_EXPECT_MSG_EQ(paths.fates[Fate::ARRIVED], PACKETS, "all arrived");
        NS_TEST_EXPECT_MSG_EQ(paths.fates.size(), 1, "and nothing else");
        NS_TEST_EXPECT_MSG_EQ(paths.ofEntropy.size(), PACKETS, "one report each");
        NS_TEST_EXPECT_MSG_EQ(paths.withPort, PACKETS, "by a port that is known");
        NS_TEST_EXPECT_MSG_EQ(paths.withRtt, PACKETS, "with an age");
    }
};

/// Oracle: counting; three packets lost within one window are one episode, a later one another.
class OneLossPerEpisode : public TransportCase
{
  public:
    using TransportCase::TransportCase;

  private:
    void DoRun() override
    {
        Scripted run(m_transport, With("", {{"Rto", "1ms"}}), {20, 21, 23, 120});
        run.network.Run();
        Calls& calls = CountingControl::calls;
        NS_TEST_EXPECT_MSG_EQ(calls.losses[Loss::OVERTAKEN], 2, "episodes");
        NS_TEST_EXPECT_MSG_EQ(calls.losses[Loss::TIMEOUT], 0, "no timeout");
        NS_TEST_EXPECT_MSG_EQ(calls.arrivedBytes, BYTES, "payload arrived");
        NS_TEST_EXPECT_MSG_EQ(static_cast<int64_t>(calls.sent),
                              run.Flow("sent_data_packets"),
                              "sent");
        NS_TEST_EXPECT_MSG_EQ(calls.close, 1, "closed");
        // Go-back-N learns of one missing packet at a time, from gaps that are gone by then.
        NS_TEST_EXPECT_MSG_EQ(CountingSelector::calls.fates[Fate::OVERTAKEN],
                              (GoesBack() ? 2 : 4),
                              "paths that lost a packet");
        NS_TEST_EXPECT_MSG_EQ(calls.lostBytes, (GoesBack() ? 2 : 4) * 4096, "payload lost");
    }
};

/// Oracle: the last packet is lost, so nothing can overtake it.
class LastPacketTimesOut : public TransportCase
{
  public:
    using TransportCase::TransportCase;

  private:
    void DoRun() override
    {
        Scripted run(m_transport, With("", {{"Rto", "1ms"}}), {PACKETS});
        run.network.Run();
        Calls& calls = CountingControl::calls;
        NS_TEST_EXPECT_MSG_EQ(calls.losses[Loss::TIMEOUT], 1, "timeout");
        NS_TEST_EXPECT_MSG_EQ(calls.losses.size(), 1, "and nothing else");
        NS_TEST_EXPECT_MSG_EQ(CountingSelector::calls.fates[Fate::TIMED_OUT], 1, "its path");
        NS_TEST_EXPECT_MSG_EQ(CountingSelector::calls.fates[Fate::ARRIVED], PACKETS, "arrived");
        NS_TEST_EXPECT_MSG_EQ(run.Flow("timeouts"), 1, "timeout");
    }
};

/// Oracle: closed form of a window of four packets, and of a quarter of the line rate.
class WindowAndRateHold : public TransportCase
{
  public:
    using TransportCase::TransportCase;

  private:
    void DoRun() override
    {
        Scripted window(m_transport, With("[Window=16384]", {{"HeaderBytes", "62"}}));
        window.network.Run();
        const uint64_t most = CountingControl::calls.mostInFlightBytes;
        NS_TEST_EXPECT_MSG_LT_OR_EQ(most, 3 * 4096, "in flight");
        // Each group of four starts when the first of the last one is acknowledged.
        const auto& at = CountingControl::calls.sentPs;
        for (size_t i = 8; i + 4 < PACKETS; i++)
        {
            NS_TEST_ASSERT_MSG_EQ(at[i] - at[i - 4], RTT_PS, "packet " << i);
        }
    }
};

/// See WindowAndRateHold.
class RateHolds : public TransportCase
{
  public:
    using TransportCase::TransportCase;

  private:
    void DoRun() override
    {
        Scripted run(m_transport, With("[RateShare=0.25]"));
        run.network.Run();
        const auto& at = CountingControl::calls.sentPs;
        for (size_t i = 2; i < PACKETS; i++)
        {
            NS_TEST_ASSERT_MSG_EQ(at[i] - at[i - 1], 4 * DATA_PS, "packet " << i);
        }
    }
};

/// Oracle: the times of the updates, by hand.
class UpdatesComeInTime : public TransportCase
{
  public:
    using TransportCase::TransportCase;

  private:
    void DoRun() override
    {
        Scripted run(m_transport, With("[UpdatePs=10000000]"));
        run.network.Run();
        const int64_t endPs = run.Flow("sender_end_ps");
        const Calls& calls = CountingControl::calls;
        NS_TEST_ASSERT_MSG_EQ(static_cast<int64_t>(calls.update), endPs / 10'000'000, "updates");
        for (size_t i = 0; i < calls.updatePs.size(); i++)
        {
            NS_TEST_ASSERT_MSG_EQ(calls.updatePs[i], (i + 1) * 10'000'000, "update " << i);
        }
    }
};

/// Oracle: counting; a queue marks everything, a receiver notifies once in 20 us.
class MarksAndNotifications : public TransportCase
{
  public:
    using TransportCase::TransportCase;

  private:
    void DoRun() override
    {
        Scripted run(m_transport, With("[Needs=1]", {{"CnpInterval", "20us"}}));
        run.network.Use("queue", "ns3::tests::MarkOrTrim", {{"MarkBytes", "0"}});
        run.network.Run();
        const Calls& calls = CountingControl::calls;
        NS_TEST_EXPECT_MSG_EQ(calls.markedBytes, BYTES, "all of it was marked");
        NS_TEST_EXPECT_MSG_EQ(CountingSelector::calls.fates[Fate::MARKED], PACKETS, "reports");
        // The first packet is notified at once, then the first of every 20 us that are over.
        const int64_t perCnp = (20'000'000 + DATA_PS - 1) / DATA_PS;
        NS_TEST_EXPECT_MSG_EQ_TOL(static_cast<double>(calls.notification),
                                  static_cast<double>(PACKETS) / perCnp,
                                  1.5,
                                  "notifications");
        Scripted quiet(m_transport, With("[Needs=0]"));
        quiet.network.Use("queue", "ns3::tests::MarkOrTrim", {{"MarkBytes", "0"}});
        quiet.network.Run();
        NS_TEST_EXPECT_MSG_EQ(CountingControl::calls.notification, 0, "nobody asked for them");
    }
};

/// Oracle: the text of one line.
class WhatCannotBeIsRefused : public TransportCase
{
  public:
    using TransportCase::TransportCase;

  private:
    void Expect(const TestNetwork::Attributes& attributes, const std::string& part)
    {
        Scripted run(m_transport, attributes);
        const std::string complaint = run.network.Complaint();
        NS_TEST_EXPECT_MSG_EQ((complaint.find(part) != std::string::npos),
                              true,
                              "'" << complaint << "' does not say '" << part << "'");
    }

    void DoRun() override
    {
        Expect(With("[RateShare=0]"), "ns3::tests::CountingControl: RateBps is 0");
        Expect(With("[Needs=1]", {{"EcnCapable", "false"}}), "EcnCapable is false");
        Expect(With("[Needs=2]"), "reads in-band telemetry, which switch 10 does not write");
    }
};

/// Oracle: conservation, and the time the payload needs; a trimmed packet is not payload.
class TrimmedFramesAreNoPayload : public TransportCase
{
  public:
    using TransportCase::TransportCase;

  private:
    void DoRun() override
    {
        constexpr int64_t SENDERS = 8;
        constexpr int64_t MESSAGE = 500'000;
        CountingControl::calls = {};
        CountingSelector::calls = {};
        TestNetwork network;
        network.Star(SENDERS + 1);
        for (int64_t src = 1; src <= SENDERS; src++)
        {
            network.Flow(src, 0, MESSAGE);
        }
        network.Use("queue", "ns3::tests::MarkOrTrim", {{"TrimBytes", "40000"}});
        network.Transport(With("",
                               {{"Trimmable", "true"},
                                {"Rto", "200us"},
                                {"PathSelector", "ns3::tests::CountingSelector"}}),
                          m_transport);
        network.Run();
        int64_t lastPs = 0;
        for (size_t row = 0; row < network.Rows("flows"); row++)
        {
            lastPs = std::max(lastPs, network.Cell("flows", "receiver_end_ps", row));
        }
        NS_TEST_EXPECT_MSG_GT(lastPs, SENDERS * MESSAGE * 80, "no faster than the link");
        NS_TEST_EXPECT_MSG_GT(network.Sum("flows", "trimmed_packets"), 0, "some were trimmed");
        Calls& calls = CountingControl::calls;
        NS_TEST_EXPECT_MSG_EQ(calls.arrivedBytes, SENDERS * MESSAGE, "all of it");
        if (!GoesBack())
        {
            NS_TEST_EXPECT_MSG_GT(calls.losses[Loss::TRIMMED], 0, "and the source was told");
        }
        auto& fates = CountingSelector::calls.fates;
        NS_TEST_EXPECT_MSG_GT(fates[Fate::TRIMMED_AT_LAST_HOP], 0, "and its path");
        NS_TEST_EXPECT_MSG_EQ(fates[Fate::TRIMMED], 0, "at the last hop");
    }
};

static Suite g_suite{"host-contract-battery", TestSuite::Type::SYSTEM};

ADD_CASES(g_suite)
{
    const std::vector<std::pair<std::string, TestNetwork::Attributes>> transports{
        {"ns3::RoceTransport", {{"RethBytes", "0"}}},
        {"ns3::RoceTransport", {{"Recovery", "SelectiveRepeat"}, {"RethBytes", "0"}}},
        {"ns3::SprayTransport", {{"ReorderPackets", "1"}}},
    };
    for (const auto& [type, attributes] : transports)
    {
        suite.Add(new EveryCallComesOnce("every call comes once", type, attributes));
        suite.Add(new OneLossPerEpisode("one loss per episode", type, attributes));
        suite.Add(new LastPacketTimesOut("the last packet times out", type, attributes));
        suite.Add(new WindowAndRateHold("a window of four packets", type, attributes));
        suite.Add(new RateHolds("a quarter of the line rate", type, attributes));
        suite.Add(new UpdatesComeInTime("updates", type, attributes));
        suite.Add(new MarksAndNotifications("marks and notifications", type, attributes));
        suite.Add(new WhatCannotBeIsRefused("what cannot be", type, attributes));
        suite.Add(new TrimmedFramesAreNoPayload("trimmed frames", type, attributes));
    }
}

} // namespace tests
} // namespace ns3
