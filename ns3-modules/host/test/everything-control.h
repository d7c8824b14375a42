// SPDX-License-Identifier: GPL-2.0-only

#ifndef EVERYTHING_CONTROL_H
#define EVERYTHING_CONTROL_H

#include "ns3/congestion-control.h"
#include "ns3/round-trip-estimator.h"
#include "ns3/switch-program.h"

#include <algorithm>
#include <map>

namespace ns3
{
namespace tests
{

using namespace fabric;

/// In-band telemetry: each switch writes what it knows into data.
class WriteHops final : public SwitchProgram
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::WriteHops")
                                .SetParent<SwitchProgram>()
                                .SetGroupName("Tests")
                                .AddConstructor<WriteHops>();
        return tid;
    }

    void Attach(ProgramContext& context) override
    {
        m_context = &context;
    }

    Traits GetTraits() const override
    {
        return {.hooks = DEPARTURE, .writesIntHops = true};
    }

    void OnDeparture(PortId egress, FrameId frame, uint64_t queuedBytes) override
    {
        if (m_context->GetFrame(frame).kind == frame_kind::DATA)
        {
            m_context->AddHop(frame,
                              {m_context->NowPs(),
                               m_context->GetPort(egress).sentBytes,
                               queuedBytes,
                               m_context->RateBps(egress),
                               egress});
        }
    }

  private:
    ProgramContext* m_context{nullptr};
};

NS_OBJECT_ENSURE_REGISTERED(WriteHops);

/**
 * @brief A congestion control that looks at everything: hops, round trips, marks, notifications,
 * losses; and sets a window and a rate.
 *
 * Once per round trip the rate is set so that the fullest queue of the path drains within one
 * (a plain form of HPCC, Li et al., SIGCOMM 2019).
 */
class EverythingControl final : public CongestionControl
{
  public:
    static inline uint64_t hops = 0;
    static inline uint64_t notifications = 0;
    static inline uint64_t marked = 0;
    static inline uint64_t losses = 0;

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::EverythingControl")
                                .SetParent<CongestionControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<EverythingControl>();
        return tid;
    }

    void Open(uint32_t slot, const Path& path) override
    {
        m_flows[slot] = {.path = path, .rateBps = path.lineRateBps, .updatePs = NEVER_PS};
    }

    void Close(uint32_t slot) override
    {
        m_flows.erase(slot);
    }

    void OnSent(uint32_t slot, uint32_t, uint32_t) override
    {
        Flow& flow = m_flows[slot];
        if (flow.updatePs == NEVER_PS)
        {
            flow.updatePs = Host().NowPs() + flow.path.baseRttPs;
        }
    }

    void OnAck(uint32_t slot, const Ack& ack) override
    {
        Flow& flow = m_flows[slot];
        hops += ack.hops.size();
        marked += ack.markedBytes;
        flow.rtt.Sample(ack.rttPs);
        for (const IntHop& hop : ack.hops)
        {
            flow.queuedBytes = std::max(flow.queuedBytes, hop.queuedBytes);
        }
    }

    void OnNotification(uint32_t slot) override
    {
        notifications++;
        m_flows[slot].rateBps = m_flows[slot].rateBps * 9 / 10;
    }

    void OnLoss(uint32_t, Loss) override
    {
        losses++;
    }

    uint64_t NextUpdatePs(uint32_t slot) const override
    {
        return m_flows.at(slot).updatePs;
    }

    void OnUpdate(uint32_t slot) override
    {
        Flow& flow = m_flows[slot];
        const double lineBytes = static_cast<double>(flow.path.lineRateBps) / 8e12 *
                                 static_cast<double>(flow.path.baseRttPs);
        const double load = 0.9 + static_cast<double>(flow.queuedBytes) / lineBytes;
        const double step = static_cast<double>(flow.path.lineRateBps) / 50;
        flow.rateBps = std::min<uint64_t>(
            flow.path.lineRateBps,
            static_cast<uint64_t>(static_cast<double>(flow.rateBps) * (load > 1 ? 0.9 / load : 1) +
                                  step));
        flow.queuedBytes = 0;
        flow.updatePs = Host().NowPs() + std::max(flow.rtt.SmoothedPs(), flow.path.baseRttPs);
    }

    uint64_t WindowBytes(uint32_t slot) const override
    {
        const Flow& flow = m_flows.at(slot);
        return static_cast<uint64_t>(2.0 * static_cast<double>(flow.rateBps) / 8e12 *
                                     static_cast<double>(flow.path.baseRttPs));
    }

    uint64_t RateBps(uint32_t slot) const override
    {
        return m_flows.at(slot).rateBps;
    }

    Traits GetTraits() const override
    {
        // Telemetry tells it of queues, too.
        return {.needsIntHops = true, .needsNotifications = true, .needsMarks = false};
    }

  private:
    struct Flow
    {
        Path path;
        uint64_t rateBps;
        uint64_t updatePs;
        uint64_t queuedBytes{0}; ///< Of the fullest hop since the last update [byte]
        RttEstimator rtt{};
    };

    std::map<uint32_t, Flow> m_flows;
};

NS_OBJECT_ENSURE_REGISTERED(EverythingControl);

} // namespace tests
} // namespace ns3

#endif // EVERYTHING_CONTROL_H
