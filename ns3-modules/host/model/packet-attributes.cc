// SPDX-License-Identifier: GPL-2.0-only

// PacketTransport: the attributes that all transports of packets have.

#include "packet-transport.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{
namespace fabric
{

NS_OBJECT_ENSURE_REGISTERED(PacketTransport);

TypeId
PacketTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::fabric::PacketTransport").SetParent<Transport>().SetGroupName("Host");
    return tid;
}

TypeId
PacketTransport::AddAttributes(TypeId tid, const Defaults& defaults)
{
    using T = PacketTransport;
    tid.AddAttribute("MtuBytes",
                     "Payload of a full packet [byte]",
                     UintegerValue(4096),
                     MakeUintegerAccessor(&T::m_mtuBytes),
                     MakeUintegerChecker<uint32_t>(1, 32768))
        .AddAttribute("HeaderBytes",
                      "Headers and checksums of each data packet [byte]",
                      UintegerValue(62),
                      MakeUintegerAccessor(&T::m_headerBytes),
                      MakeUintegerChecker<uint32_t>(1, 1024))
        .AddAttribute("AckBytes",
                      "Acknowledgement frame, headers included [byte]",
                      UintegerValue(66),
                      MakeUintegerAccessor(&T::m_ackBytes),
                      MakeUintegerChecker<uint32_t>(64, 1024));
    if (defaults.answered)
    {
        tid.AddAttribute("ReorderPackets",
                         std::string("A packet is lost when one this far behind it has arrived "
                                     "[packet]") +
                             defaults.reorderHelp,
                         UintegerValue(defaults.reorderPackets),
                         MakeUintegerAccessor(&T::m_reorderPackets),
                         MakeUintegerChecker<uint32_t>(std::min(1U, defaults.reorderPackets)));
    }
    tid.AddAttribute("Rto",
                     "Retransmission timeout",
                     TimeValue(Time(defaults.rto)),
                     MakeTimeAccessor(&T::m_rto),
                     MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("MaxBackoff",
                      "Timeouts in a row double the timeout at most this often [1]",
                      UintegerValue(7),
                      MakeUintegerAccessor(&T::m_maxBackoff),
                      MakeUintegerChecker<uint32_t>(0, 20));
    return AddChoices(tid, defaults);
}

/// How its frames are treated, and who decides what for it.
TypeId
PacketTransport::AddChoices(TypeId tid, const Defaults& defaults)
{
    using T = PacketTransport;
    if (defaults.prioritised)
    {
        tid.AddAttribute("Priority",
                         "Priority of data",
                         UintegerValue(3),
                         MakeUintegerAccessor(&T::m_priority),
                         MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1));
    }
    tid.AddAttribute("ControlPriority",
                     "Priority of acknowledgements",
                     UintegerValue(defaults.controlPriority),
                     MakeUintegerAccessor(&T::m_controlPriority),
                     MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1));
    if (defaults.answered)
    {
        tid.AddAttribute("EcnCapable",
                         "Switches may mark data",
                         BooleanValue(defaults.ecnCapable),
                         MakeBooleanAccessor(&T::m_ecnCapable),
                         MakeBooleanChecker())
            .AddAttribute("Trimmable",
                          "Switches may cut the payload away instead of dropping a packet",
                          BooleanValue(defaults.trimmable),
                          MakeBooleanAccessor(&T::m_trimmable),
                          MakeBooleanChecker());
    }
    tid.AddAttribute("Order",
                     "Which message of a host goes next",
                     EnumValue(defaults.order),
                     MakeEnumAccessor<FlowOrder::By>(&T::m_order),
                     MakeEnumChecker(FlowOrder::By::ROUND_ROBIN,
                                     "RoundRobin",
                                     FlowOrder::By::FIRST_COME,
                                     "Fifo",
                                     FlowOrder::By::LEAST_REMAINING,
                                     "Srpt"))
        .AddAttribute("PathSelector",
                      "Path selector, for example ns3::FlowEntropy",
                      TypeChoiceValue(TypeChoice(defaults.entropy)),
                      MakeTypeChoiceAccessor(&T::m_entropyType),
                      MakeTypeChoiceChecker<PathSelector>());
    return defaults.answered ? AddControl(tid) : tid;
}

/// Who lets each answer decide how fast a message goes.
TypeId
PacketTransport::AddControl(TypeId tid)
{
    using T = PacketTransport;
    return tid
        .AddAttribute("CongestionControl",
                      "Congestion control of each message, empty = none",
                      TypeChoiceValue(),
                      MakeTypeChoiceAccessor(&T::m_controlType),
                      MakeTypeChoiceChecker<CongestionControl>())
        .AddAttribute("CnpInterval",
                      "Least time between notifications of congestion (CNP) of one message",
                      TimeValue(MicroSeconds(50)),
                      MakeTimeAccessor(&T::m_cnpInterval),
                      MakeTimeChecker(NanoSeconds(1)))
        .AddAttribute("CnpBytes",
                      "Notification of congestion, headers included [byte]",
                      UintegerValue(78),
                      MakeUintegerAccessor(&T::m_cnpBytes),
                      MakeUintegerChecker<uint32_t>(64, 1024));
}

} // namespace fabric
} // namespace ns3
