// SPDX-License-Identifier: GPL-2.0-only

#include "smartt.h"

#include "ns3/double.h"
#include "ns3/log.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("Smartt");
NS_OBJECT_ENSURE_REGISTERED(Smartt);

TypeId
Smartt::GetTypeId()
{
    using T = Smartt;
    static TypeId tid = AddAdaption(
        TypeId("ns3::Smartt")
            .SetParent<CongestionControl>()
            .SetGroupName("Smartt")
            .AddConstructor<Smartt>()
            .AddAttribute("FairIncrease",
                          "Packets added for each window without marks, \"x\" [packet]",
                          DoubleValue(2.0),
                          MakeDoubleAccessor(&T::m_fairIncrease),
                          MakeDoubleChecker<double>(0, 1000))
            .AddAttribute("ProportionalIncrease",
                          "Gain of what is left up to the target round trip, \"y\" [1]",
                          DoubleValue(2.5),
                          MakeDoubleAccessor(&T::m_proportionalIncrease),
                          MakeDoubleChecker<double>(0, 1000))
            .AddAttribute("ProportionalDecrease",
                          "Gain of what is above the target round trip, \"w\" [1]",
                          DoubleValue(2.0),
                          MakeDoubleAccessor(&T::m_proportionalDecrease),
                          MakeDoubleChecker<double>(0, 1000))
            .AddAttribute("FairDecrease",
                          "Packets taken off for a marked one at a window of one bandwidth-delay "
                          "product, \"z\" [packet]",
                          DoubleValue(0.8),
                          MakeDoubleAccessor(&T::m_fairDecrease),
                          MakeDoubleChecker<double>(0, 1))
            .AddAttribute("TargetShare",
                          "Target round trip beyond the base round trip, over the latter [1]",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&T::m_targetShare),
                          MakeDoubleChecker<double>(0.001, 1000))
            .AddAttribute("InitialWindowBdp",
                          "First and largest window in bandwidth-delay products of the unloaded "
                          "path [1]",
                          DoubleValue(1.25),
                          MakeDoubleAccessor(&T::m_startBdp),
                          MakeDoubleChecker<double>(0.01, 100)));
    return tid;
}

TypeId
Smartt::AddAdaption(TypeId tid)
{
    using T = Smartt;
    return tid
        .AddAttribute("FastPackets",
                      "Fast increase for each packet that arrives, per 100 Gb/s [packet], 0 = "
                      "none",
                      DoubleValue(4),
                      MakeDoubleAccessor(&T::m_fastPackets),
                      MakeDoubleChecker<double>(0, 1000))
        .AddAttribute("FastDelayPackets",
                      "Waiting that fast increase takes for none [packet]",
                      DoubleValue(5),
                      MakeDoubleAccessor(&T::m_fastDelayPackets),
                      MakeDoubleChecker<double>(0, 1000))
        .AddAttribute("QuickAdaptShare",
                      "Window after a quick adaption over what arrived in a round trip [1]",
                      DoubleValue(1.0),
                      MakeDoubleAccessor(&T::m_quickShare),
                      MakeDoubleChecker<double>(0.01, 2))
        .AddAttribute("WtdThreshold",
                      "Marked share of packets, smoothed, above which windows shrink [1], 0 = "
                      "always; 0.3 is the wait to decrease of the source",
                      DoubleValue(0),
                      MakeDoubleAccessor(&T::m_waitShare),
                      MakeDoubleChecker<double>(0, 1));
}

void
Smartt::Attach(HostContext& host)
{
    CongestionControl::Attach(host);
    m_rules = {.fairIncrease = m_fairIncrease,
               .proportionalIncrease = m_proportionalIncrease,
               .proportionalDecrease = m_proportionalDecrease,
               .fairDecrease = m_fairDecrease,
               .targetShare = m_targetShare,
               .startBdp = m_startBdp,
               .fastPackets = m_fastPackets,
               .fastDelayPackets = m_fastDelayPackets,
               .quickShare = m_quickShare,
               .waitShare = m_waitShare};
}

} // namespace ns3
