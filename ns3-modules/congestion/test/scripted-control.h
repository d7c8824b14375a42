// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCRIPTED_CONTROL_H
#define SCRIPTED_CONTROL_H

#include "../../facade/test/test-network.h"

#include "ns3/congestion-control.h"

#include <functional>
#include <map>

namespace ns3
{
namespace tests
{

/**
 * @brief Lends its host, and so a clock, to the congestion control under test, of which nobody else
 * is told anything: a test feeds it by hand at times of its own.
 */
class ScriptedControl final : public fabric::CongestionControl
{
  public:
    using Step = std::function<void(CongestionControl&)>;

    static inline Ptr<CongestionControl> tested;
    static inline std::multimap<uint64_t, Step> script; ///< By time [ps]

    /// 100 Gb/s and 10 us: 125 000 bytes on the wire, of which 1000 in 1048 are payload.
    static constexpr Path PATH{100'000'000'000, 10'000'000, 1000, 48, 2};

    static TypeId GetTypeId()
    {
        static TypeId tid = TypeId("ns3::tests::ScriptedControl")
                                .SetParent<CongestionControl>()
                                .SetGroupName("Tests")
                                .AddConstructor<ScriptedControl>();
        return tid;
    }

    /// Take the steps at their times; the message that keeps the run alive is of no matter.
    static void Play(Ptr<CongestionControl> control)
    {
        tested = control;
        TestNetwork network;
        network.Star(2);
        network.Flow(0, 1, 1'000'000);
        // Packets of 4096 bytes at 1 Mb/s: longer than any script.
        network.Transport({{"CongestionControl", "ns3::tests::ScriptedControl"}, {"Rto", "1000s"}},
                          "ns3::SprayTransport");
        const uint64_t endPs = script.empty() ? 0 : script.rbegin()->first;
        network.Build();
        while (!network.GetFacade().RunSlice(static_cast<int64_t>(endPs) + 1, 1))
        {
        }
        NS_ABORT_MSG_IF(!script.empty(), "the script was not played to its end");
        tested = nullptr;
    }

    void Attach(fabric::HostContext& host) override
    {
        CongestionControl::Attach(host);
        tested->Attach(host);
    }

    void Open(uint32_t, const Path&) override
    {
        tested->Open(0, PATH);
    }

    void OnAck(uint32_t, const Ack&) override
    {
    }

    uint64_t NextUpdatePs(uint32_t) const override
    {
        const uint64_t stepPs = script.empty() ? fabric::NEVER_PS : script.begin()->first;
        return std::min(stepPs, tested->NextUpdatePs(0));
    }

    void OnUpdate(uint32_t) override
    {
        const uint64_t nowPs = Host().NowPs();
        if (tested->NextUpdatePs(0) <= nowPs)
        {
            tested->OnUpdate(0);
        }
        while (!script.empty() && script.begin()->first <= nowPs)
        {
            const Step step = script.begin()->second;
            script.erase(script.begin());
            step(*tested);
        }
    }

    uint64_t RateBps(uint32_t) const override
    {
        return 1'000'000;
    }
};

} // namespace tests
} // namespace ns3

#endif // SCRIPTED_CONTROL_H
