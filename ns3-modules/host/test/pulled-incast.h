// SPDX-License-Identifier: GPL-2.0-only

#ifndef PULLED_INCAST_H
#define PULLED_INCAST_H

#include "../../facade/test/test-network.h"

namespace ns3
{
namespace tests
{

constexpr int64_t HUB = 1000; ///< The switch

/**
 * Times over one switch: links of 100 Gb/s and 1 us, 64 B of headers, and the wire adds 20 B.
 * @tparam MTU payload of a packet [byte]
 */
template <int64_t MTU>
struct StarTimes
{
    static constexpr int64_t FRAME = MTU + 64;
    static constexpr int64_t PACKET_PS = (FRAME + 20) * 80;
    static constexpr int64_t CONTROL_PS = (64 + 20) * 80;
    static constexpr int64_t RTT_PS = 2 * (PACKET_PS + CONTROL_PS) + 4 * US_PS;
    static constexpr int64_t BDP_PACKETS = RTT_PS / PACKET_PS + 1;
};

/// What a test of a transport that pulls may change.
struct PulledIncast
{
    std::string type;
    int64_t senders;
    int64_t bytes; ///< Of each message
    TestNetwork::Attributes transport{};
    TestNetwork::Attributes queue{}; ///< Of TrimmingQueue; none: the queue is not set
    int64_t gapPs{0};                ///< From one message's start to the next

    /// Hosts 0 to n - 1 send a message each to host n over one switch; headers of 64 B.
    void Run(TestNetwork& network) const
    {
        network.Star(senders + 1, HUB);
        for (int64_t host = 0; host < senders; host++)
        {
            network.Flow(host, senders, bytes, host * gapPs);
        }
        TestNetwork::Attributes attributes{{"HeaderBytes", "64"}, {"AckBytes", "64"}};
        attributes.insert(attributes.end(), transport.begin(), transport.end());
        network.Transport(attributes, type);
        if (!queue.empty())
        {
            network.Use("queue", "ns3::TrimmingQueue", queue);
        }
        network.Run();
    }
};

/// @return PULLs: what a receiver sent beside one answer for all that came
inline int64_t
Pulls(const TestNetwork& network, int64_t receiver)
{
    const int64_t came = network.Port(HUB, receiver, "sent_frames");
    return network.Port(receiver, HUB, "sent_frames") - came;
}

/// An incast in which each header is answered and its packet sent once more, before any timeout.
class PulledIncastTestCase : public TestCase
{
  protected:
    using TestCase::TestCase;

    /// @return packets that were trimmed
    int64_t RunAndRepair(TestNetwork& network, const PulledIncast& incast)
    {
        incast.Run(network);
        const int64_t trims = network.Sum("flows", "trimmed_packets");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "naks"), trims, "a NACK for each header");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "retransmitted_packets"), trims, "once again");
        NS_TEST_EXPECT_MSG_EQ(network.Sum("flows", "timeouts"), 0, "no timeout");
        return trims;
    }
};

/// Whatever is lost, packets, headers, answers or PULLs, every message ends.
class PullsHealLosses : public TestCase
{
  public:
    PullsHealLosses(const PulledIncast& incast, const std::string& window)
        : TestCase("with 2 % of all frames lost every message arrives, first window " + window),
          m_incast(incast)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.Use("loss_model", "ns3::IndependentLoss", {{"Ratio", "0.02"}});
        m_incast.Run(network);
        const auto done = static_cast<int64_t>(network.GetFacade().FlowsDone());
        NS_TEST_EXPECT_MSG_EQ(done, m_incast.senders, "all are done");
        NS_TEST_EXPECT_MSG_GT(network.Sum("ports", "dropped_loss_frames"), 50, "losses there were");
    }

    PulledIncast m_incast;
};

} // namespace tests
} // namespace ns3

#endif // PULLED_INCAST_H
