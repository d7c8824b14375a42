// SPDX-License-Identifier: GPL-2.0-only

#ifndef PULLED_INCAST_H
#define PULLED_INCAST_H

#include "../../fabric/test/test-network.h"

#include "ns3/test.h"

namespace ns3
{
namespace tests
{

constexpr int64_t HUB = 1000; ///< The switch

/// What a test of a transport that pulls may change.
struct PulledIncast
{
    int64_t senders;
    int64_t bytes; ///< Of each message
    TestNetwork::Attributes transport{};
    TestNetwork::Attributes queue{}; ///< Of TrimmingQueue; none: the queue is not set
    int64_t gapPs{0};                ///< From one message's start to the next

    /// Hosts 0 to n - 1 send a message each to host n over one switch; headers of 64 B.
    void Run(TestNetwork& network, const std::string& type) const
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

/// Whatever is lost, packets, headers, answers or PULLs, every message ends.
class PullsHealLosses : public TestCase
{
  public:
    PullsHealLosses(const std::string& type, const PulledIncast& incast, const std::string& window)
        : TestCase("with 2 % of all frames lost every message arrives, first window " + window),
          m_type(type),
          m_incast(incast)
    {
    }

  private:
    void DoRun() override
    {
        TestNetwork network;
        network.Use("loss", "ns3::IndependentLoss", {{"Ratio", "0.02"}});
        m_incast.Run(network, m_type);
        NS_TEST_EXPECT_MSG_EQ(network.GetFacade().FlowsDone(), m_incast.senders, "all are done");
        NS_TEST_EXPECT_MSG_GT(network.Sum("ports", "dropped_loss_frames"), 50, "losses there were");
    }

    std::string m_type;
    PulledIncast m_incast;
};

} // namespace tests
} // namespace ns3

#endif // PULLED_INCAST_H
