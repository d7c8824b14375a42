// SPDX-License-Identifier: GPL-2.0-only

#include "nscc.h"

#include "ns3/boolean.h"
#include "ns3/double.h"
#include "ns3/log.h"
#include "ns3/uinteger.h"

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("Nscc");
NS_OBJECT_ENSURE_REGISTERED(Nscc);

TypeId
Nscc::GetTypeId()
{
    using T = Nscc;
    static TypeId tid =
        TypeId("ns3::Nscc")
            .SetParent<CongestionControl>()
            .SetGroupName("Uec")
            .AddConstructor<Nscc>()
            .AddAttribute("NetworkRtt",
                          "Longest unloaded round trip of the network, 0 = that of each path",
                          TimeValue(Time(0)),
                          MakeTimeAccessor(&T::m_networkRtt),
                          MakeTimeChecker(Time(0)))
            .AddAttribute("TargetShare",
                          "Target of queueing delay over the network's round trip [1]; the source "
                          "has 0.75 with trimming and 1 without",
                          DoubleValue(0.75),
                          MakeDoubleAccessor(&T::m_targetShare),
                          MakeDoubleChecker<double>(0.001, 1000))
            .AddAttribute("MaxWindowBdp",
                          "First and largest window in bandwidth-delay products of the unloaded "
                          "path [1]",
                          DoubleValue(1.5),
                          MakeDoubleAccessor(&T::m_mostBdp),
                          MakeDoubleChecker<double>(0.01, 100))
            .AddAttribute("QuickAdaptGate",
                          "Quick adaption only if less than the largest window over two to the "
                          "power of this has arrived [1]",
                          UintegerValue(3),
                          MakeUintegerAccessor(&T::m_quickGate),
                          MakeUintegerChecker<uint32_t>(0, 32))
            .AddAttribute("IgnoresLastHopTrims",
                          "Packets trimmed next to their destination take nothing off the window; "
                          "for use with credits of the receiver",
                          BooleanValue(false),
                          MakeBooleanAccessor(&T::m_ignoresLastHopTrims),
                          MakeBooleanChecker());
    return tid;
}

void
Nscc::Attach(HostContext& host)
{
    CongestionControl::Attach(host);
    m_rules = {.networkRttPs = static_cast<uint64_t>(m_networkRtt.GetPicoSeconds()),
               .targetShare = m_targetShare,
               .mostBdp = m_mostBdp,
               .quickGate = m_quickGate,
               .ignoresLastHopTrims = m_ignoresLastHopTrims};
}

} // namespace ns3
