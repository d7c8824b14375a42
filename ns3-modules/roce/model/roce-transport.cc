// SPDX-License-Identifier: GPL-2.0-only

#include "roce-transport.h"

#include "ns3/boolean.h"
#include "ns3/enum.h"
#include "ns3/fabric.h"
#include "ns3/string.h"
#include "ns3/type-reference.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(RoceTransport);

TypeId
RoceTransport::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::RoceTransport")
            .SetParent<Transport>()
            .SetGroupName("Roce")
            .AddConstructor<RoceTransport>()
            .AddAttribute("MtuBytes",
                          "Payload of a full packet [byte]",
                          UintegerValue(4096),
                          MakeUintegerAccessor(&RoceTransport::m_mtuBytes),
                          MakeUintegerChecker<uint32_t>(1, 32768))
            .AddAttribute("HeaderBytes",
                          "Ethernet 14 + IPv4 20 + UDP 8 + BTH 12 + ICRC 4 + FCS 4 of each data "
                          "packet [byte]",
                          UintegerValue(62),
                          MakeUintegerAccessor(&RoceTransport::m_headerBytes),
                          MakeUintegerChecker<uint32_t>(1, 1024))
            .AddAttribute("RethBytes",
                          "RETH in the first packet of a message [byte]",
                          UintegerValue(16),
                          MakeUintegerAccessor(&RoceTransport::m_rethBytes),
                          MakeUintegerChecker<uint32_t>(0, 1024))
            .AddAttribute("AckBytes",
                          "Acknowledgement frame: headers and AETH 4 [byte]",
                          UintegerValue(66),
                          MakeUintegerAccessor(&RoceTransport::m_ackBytes),
                          MakeUintegerChecker<uint32_t>(64, 1024))
            .AddAttribute("AckInterval",
                          "In-order packets per acknowledgement [packet]; the last packet of a "
                          "message is always acknowledged",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RoceTransport::m_ackInterval),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Recovery",
                          "What is sent again after a loss",
                          EnumValue(Recovery::GO_BACK_N),
                          MakeEnumAccessor<Recovery>(&RoceTransport::m_recovery),
                          MakeEnumChecker(Recovery::GO_BACK_N,
                                          "GoBackN",
                                          Recovery::SELECTIVE_REPEAT,
                                          "SelectiveRepeat"))
            .AddAttribute("WindowBytes",
                          "Most payload in flight [byte], 0 = no limit with GoBackN, one "
                          "bandwidth-delay product with SelectiveRepeat (BDP-FC of IRN)",
                          UintegerValue(0),
                          MakeUintegerAccessor(&RoceTransport::m_windowBytes),
                          MakeUintegerChecker<uint64_t>())
            .AddAttribute("ReorderPackets",
                          "SelectiveRepeat: a hole is lost when a packet this far behind it has "
                          "arrived [packet]; 1 = IRN",
                          UintegerValue(1),
                          MakeUintegerAccessor(&RoceTransport::m_reorderPackets),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Rto",
                          "Retransmission timeout",
                          TimeValue(MilliSeconds(4)),
                          MakeTimeAccessor(&RoceTransport::m_rto),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("RtoLow",
                          "SelectiveRepeat: timeout while at most RtoLowPackets are in flight",
                          TimeValue(MicroSeconds(100)),
                          MakeTimeAccessor(&RoceTransport::m_rtoLow),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("RtoLowPackets",
                          "SelectiveRepeat: see RtoLow [packet]",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RoceTransport::m_rtoLowPackets),
                          MakeUintegerChecker<uint32_t>())
            .AddAttribute("MaxBackoff",
                          "Timeouts in a row double the timeout at most this often [1]",
                          UintegerValue(7),
                          MakeUintegerAccessor(&RoceTransport::m_maxBackoff),
                          MakeUintegerChecker<uint32_t>(0, 20))
            .AddAttribute("NakInterval",
                          "GoBackN: a NAK for the same gap is repeated after this time",
                          TimeValue(MicroSeconds(500)),
                          MakeTimeAccessor(&RoceTransport::m_nakInterval),
                          MakeTimeChecker(PicoSeconds(1)))
            .AddAttribute("Priority",
                          "Priority of data",
                          UintegerValue(3),
                          MakeUintegerAccessor(&RoceTransport::m_priority),
                          MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1))
            .AddAttribute("ControlPriority",
                          "Priority of acknowledgements",
                          UintegerValue(6),
                          MakeUintegerAccessor(&RoceTransport::m_controlPriority),
                          MakeUintegerChecker<uint8_t>(0, NUM_PRIORITIES - 1))
            .AddAttribute("EcnCapable",
                          "Data may be ECN-marked",
                          BooleanValue(true),
                          MakeBooleanAccessor(&RoceTransport::m_ecnCapable),
                          MakeBooleanChecker())
            .AddAttribute("Entropy",
                          "Path selector, for example ns3::FlowEntropy",
                          StringValue("ns3::FlowEntropy"),
                          MakeStringAccessor(&RoceTransport::m_entropyType),
                          MakeStringChecker())
            .AddAttribute("CongestionControl",
                          "Congestion control of each flow, empty = none",
                          StringValue(""),
                          MakeStringAccessor(&RoceTransport::m_controlType),
                          MakeStringChecker());
    return tid;
}

void
RoceTransport::NotifyConstructionCompleted()
{
    Transport::NotifyConstructionCompleted();
    m_entropy = CreateReferenced<PathSelector>(m_entropyType, "ns3::RoceTransport: Entropy");
    m_hasControl = !m_controlType.empty();
}

std::vector<uint32_t>
RoceTransport::CommonFrameBytes() const
{
    return {std::max(MIN_FRAME_BYTES, m_mtuBytes + m_headerBytes),
            m_ackBytes,
            std::max(MIN_FRAME_BYTES, m_mtuBytes + m_headerBytes + m_rethBytes)};
}

uint8_t
RoceTransport::DataPriority() const
{
    return m_priority;
}

int32_t
RoceTransport::SinglePathEntropy(uint32_t message)
{
    return m_entropy->Constant(Net(), message);
}

uint32_t
RoceTransport::PacketsOf(uint64_t bytes) const
{
    return static_cast<uint32_t>((bytes + m_mtuBytes - 1) / m_mtuBytes);
}

uint32_t
RoceTransport::FrameBytes(const Message& message, uint32_t packet) const
{
    const uint64_t before = uint64_t{packet} * m_mtuBytes;
    const auto payload =
        static_cast<uint32_t>(std::min<uint64_t>(m_mtuBytes, message.bytes - before));
    return std::max(MIN_FRAME_BYTES, payload + m_headerBytes + (packet == 0 ? m_rethBytes : 0));
}

void
RoceTransport::Receive(FrameId id, PortId port)
{
    const Frame& frame = Net().Frames()[id];
    if (frame.kind == frame_kind::DATA)
    {
        OnData(id, port);
        return;
    }
    const uint64_t sentPs = m_hasControl ? Net().Frames().StampPs(id) : 0;
    OnAck(frame, sentPs);
    Net().Frames().Free(id);
}

} // namespace ns3
