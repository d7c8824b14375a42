// SPDX-License-Identifier: GPL-2.0-only

// The battery of the contract Observer: one that counts its calls in a scripted run.

#include "../../facade/test/test-network.h"

#include "ns3/event-engine.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

namespace
{

constexpr int64_t PACKETS = 20;
constexpr int64_t DATA_PS = (1000 + 20) * 80; ///< At 100 Gb/s, with framing
constexpr uint64_t LOOK_PS = 777'777;

/// Counts what it is called for, and looks at its own times.
class CountingObserver final : public Observer
{
  public:
    CountingObserver(uint32_t wishes, bool seesInstants)
        : m_wishes(wishes),
          m_seesInstants(seesInstants)
    {
    }

    uint32_t Wishes() const override
    {
        return m_wishes;
    }

    void OnStart(uint32_t) override
    {
        starts++;
    }

    void OnDisturbance() override
    {
        disturbances++;
    }

    void OnDataArrived(const Frame&, uint32_t) override
    {
        arrivals++;
    }

    void OnPauseChanged(PortId, uint16_t, uint16_t, const PauseReason&) override
    {
        pauses++;
    }

    void OnSent(PortId, const Frame&) override
    {
        sent++;
    }

    void OnReceived(PortId, const Frame&) override
    {
        received++;
    }

    EnginePs NextLookPs() const override
    {
        return m_seesInstants ? EnginePs() : m_nextLookPs;
    }

    void Look(EnginePs nextPs) override
    {
        looks++;
        for (; m_nextLookPs < nextPs; m_nextLookPs += LOOK_PS)
        {
            wholeLooks++;
        }
    }

    bool SeesInstants() const override
    {
        return m_seesInstants;
    }

    void OnInstant(const Instant& instant) override
    {
        events += instant.Size();
    }

    void Finish() override
    {
        finishes++;
    }

    uint64_t starts{0};
    uint64_t disturbances{0};
    uint64_t arrivals{0};
    uint64_t pauses{0};
    uint64_t sent{0};
    uint64_t received{0};
    uint64_t looks{0};
    uint64_t wholeLooks{0}; ///< Of its own times those that lie before an event
    uint64_t events{0};
    uint64_t finishes{0};

  private:
    uint32_t m_wishes;
    bool m_seesInstants;
    EnginePs m_nextLookPs{LOOK_PS};
};

/// One message over one switch.
struct Watched
{
    explicit Watched(Observer& observer)
    {
        FabricTables tables;
        tables.nodes = {{0, false, 0, 0, 0, 0}, {1, false, 0, 0, 0, 0}, {10, true, 1, 0, 0, 0}};
        tables.links = {{0, 10, 0, 100 * GBPS, US_PS, 0, 0, 0},
                        {1, 10, 0, 100 * GBPS, US_PS, 0, 0, 0}};
        tables.flows = {
            {.id = 0, .src = 0, .dst = 1, .bytes = PACKETS * 1000, .startPs = 0, .transport = 0}};
        FabricOptions options;
        ObjectFactory transport;
        transport.SetTypeId(PacedDatagrams::GetTypeId());
        options.transports.push_back(transport);
        engine = std::make_unique<EventEngine>(tables, options);
        engine->Attach(observer);
        engine->Begin();
        engine->RunUntil(WorldPs(1'000'000'000), std::chrono::steady_clock::time_point::max());
        engine->Finish();
    }

    std::unique_ptr<EventEngine> engine;
};

} // namespace

static Suite g_suite{"observer"};

/// Oracle: counting. Each frame leaves two ports, and comes to one host: packets and one answer.
TEST_CASE(g_suite, "an observer is called for what it wishes")
{
    CountingObserver all(Observer::STARTS | Observer::ARRIVALS | Observer::FRAMES, false);
    Watched run(all);
    NS_TEST_EXPECT_MSG_EQ(all.starts, 1, "one message");
    NS_TEST_EXPECT_MSG_EQ(all.disturbances, 1, "it has arrived");
    NS_TEST_EXPECT_MSG_EQ(all.arrivals, PACKETS, "every packet");
    NS_TEST_EXPECT_MSG_EQ(all.sent, 2 * (PACKETS + 1), "by a host and by the switch");
    NS_TEST_EXPECT_MSG_EQ(all.received, PACKETS + 1, "at the hosts");
    NS_TEST_EXPECT_MSG_EQ(all.pauses, 0, "nobody pauses");
    NS_TEST_EXPECT_MSG_EQ(all.finishes, 1, "and it is told of the end");
    NS_TEST_EXPECT_MSG_EQ(all.events, 0, "but of no instant");
}

/// Oracle: the same run.
TEST_CASE(g_suite, "an observer is not called for what it does not wish")
{
    CountingObserver none(0, false);
    Watched run(none);
    NS_TEST_EXPECT_MSG_EQ(none.starts + none.disturbances + none.arrivals + none.sent +
                              none.received,
                          0,
                          "nothing");
    NS_TEST_EXPECT_MSG_EQ(none.finishes, 1, "but that it is over");
}

/// Oracle: the times. The last event is the answer's arrival, two links after the last packet's.
TEST_CASE(g_suite, "an observer looks before the first event after each of its times")
{
    CountingObserver looking(0, false);
    Watched run(looking);
    const uint64_t endPs = run.engine->NowPs().Ps();
    NS_TEST_EXPECT_MSG_GT(endPs, PACKETS * DATA_PS, "it takes its time");
    NS_TEST_EXPECT_MSG_EQ(looking.wholeLooks, (endPs - 1) / LOOK_PS, "once for each");
    NS_TEST_EXPECT_MSG_LT_OR_EQ(looking.looks, looking.wholeLooks, "and no more");
}

/// Oracle: counting; what is shown changes nothing.
TEST_CASE(g_suite, "an observer sees the events of every instant")
{
    CountingObserver none(0, false);
    CountingObserver seeing(0, true);
    Watched plain(none);
    Watched run(seeing);
    NS_TEST_EXPECT_MSG_EQ(seeing.events + 1, run.engine->Events(), "all but the start at 0");
    NS_TEST_EXPECT_MSG_EQ(run.engine->Events(), plain.engine->Events(), "the same run");
    NS_TEST_EXPECT_MSG_EQ(run.engine->NowPs(), plain.engine->NowPs(), "to the same time");
}

} // namespace tests
} // namespace ns3
