// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCRIPTED_TRANSPORTS_H
#define SCRIPTED_TRANSPORTS_H

// The fakes of the battery of Transport.

#include "test-network.h"

#include "ns3/simulator.h"

namespace ns3
{
namespace tests
{

using namespace fabric;

/// Sends each message as one frame, when a stock ns-3 event lets it, and keeps what it receives.
class StockDriven final : public Transport
{
  public:
    static inline std::vector<std::pair<int64_t, uint64_t>> clocks; ///< Of ns-3 and the engine [ps]
    static inline uint64_t receivedPs = 0;

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::StockDriven")
                                .SetParent<Transport>()
                                .SetGroupName("Tests")
                                .AddConstructor<StockDriven>();
        return tid;
    }

    void StartMessage(uint32_t message) override
    {
        m_message = message;
        Simulator::Schedule(MicroSeconds(50), &StockDriven::Go, this);
    }

    void Receive(FrameId, PortId) override
    {
        clocks.emplace_back(Simulator::Now().GetPicoSeconds(), Host().NowPs());
        receivedPs = Host().NowPs();
        // The frame is kept: a reorder buffer may hold some when the run ends.
    }

    FrameId NextFrame(PortId, const NicState&) override
    {
        if (!m_mayGo)
        {
            return NO_FRAME;
        }
        m_mayGo = false;
        const FrameId id = Host().AllocateFrame();
        Frame& frame = Host().GetFrame(id);
        frame.message = m_message;
        frame.dst = Host().GetMessage(m_message).dst;
        frame.bytes = 1000;
        frame.kind = frame_kind::DATA;
        return id;
    }

    void OnTimer(uint32_t) override
    {
    }

    Traits GetTraits() const override
    {
        return {.wire = {1000, 0, 0, MIN_FRAME_BYTES, 1}};
    }

    std::optional<uint16_t> SinglePathEntropy(uint32_t) const override
    {
        return 0;
    }

  private:
    void Go()
    {
        clocks.emplace_back(Simulator::Now().GetPicoSeconds(), Host().NowPs());
        m_mayGo = true;
        Host().Kick();
    }

    uint32_t m_message{0};
    bool m_mayGo{false};
};

NS_OBJECT_ENSURE_REGISTERED(StockDriven);

/// Datagrams whose destination sends a message back, 1 us after the first of the table is there.
class Replying final : public PacedDatagrams
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::Replying")
                                .SetParent<PacedDatagrams>()
                                .SetGroupName("Tests")
                                .AddConstructor<Replying>();
        return tid;
    }

    void Receive(FrameId id, PortId port) override
    {
        const Frame frame = Host().GetFrame(id);
        PacedDatagrams::Receive(id, port);
        if (frame.kind == frame_kind::DATA && frame.message == 0 &&
            frame.packet + 1 == Packets(frame.message))
        {
            Host().CreateMessage(Host().GetMessage(0).src, 2000, Host().NowPs() + US_PS);
        }
    }
};

NS_OBJECT_ENSURE_REGISTERED(Replying);

/// Datagrams whose destination cancels an event of stock ns-3 when the first has come.
class Cancelling final : public PacedDatagrams
{
  public:
    static inline EventId event;
    static inline bool wasPending = false;

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::Cancelling")
                                .SetParent<PacedDatagrams>()
                                .SetGroupName("Tests")
                                .AddConstructor<Cancelling>();
        return tid;
    }

    void Receive(FrameId id, PortId port) override
    {
        const Frame frame = Host().GetFrame(id);
        PacedDatagrams::Receive(id, port);
        if (frame.kind == frame_kind::DATA && frame.message == 0)
        {
            wasPending = event.IsPending();
            event.Cancel();
        }
    }
};

NS_OBJECT_ENSURE_REGISTERED(Cancelling);

/// Datagrams of priority 1 that are urgent up to a time, and write down when they are asked.
class Moody final : public PacedDatagrams
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::Moody")
                                .SetParent<PacedDatagrams>()
                                .SetGroupName("Tests")
                                .AddConstructor<Moody>();
        return tid;
    }

    std::optional<uint8_t> Urgency(PortId) const override
    {
        if (!HasDue())
        {
            return std::nullopt;
        }
        return Host().NowPs() < 200'000 ? 5 : 1;
    }

    Traits GetTraits() const override
    {
        Traits traits = PacedDatagrams::GetTraits();
        traits.variesUrgency = true;
        return traits;
    }
};

NS_OBJECT_ENSURE_REGISTERED(Moody);

} // namespace tests
} // namespace ns3

#endif // SCRIPTED_TRANSPORTS_H
