// SPDX-License-Identifier: GPL-2.0-only

#include "chosen-packets.h"

#include "ns3/abort.h"
#include "ns3/log.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/whole-number.h"

#include <sstream>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("ChosenPackets");
NS_OBJECT_ENSURE_REGISTERED(ChosenPackets);

TypeId
ChosenPackets::GetTypeId()
{
    static TypeId tid = TypeId("ns3::ChosenPackets")
                            .SetParent<LossModel>()
                            .SetGroupName("Loss")
                            .AddConstructor<ChosenPackets>()
                            .AddAttribute("Flow",
                                          "Id of the message whose packets are lost, from 0",
                                          UintegerValue(0),
                                          MakeUintegerAccessor(&ChosenPackets::m_flow),
                                          MakeUintegerChecker<uint64_t>())
                            .AddAttribute("Packets",
                                          "Which of its data packets, by their number from 0: 3,7",
                                          StringValue(""),
                                          MakeStringAccessor(&ChosenPackets::m_text),
                                          MakeStringChecker());
    return tid;
}

/// @return the numbers that Packets names; it aborts if it names something else
std::set<uint64_t>
ChosenPackets::Numbers() const
{
    std::set<uint64_t> numbers;
    std::istringstream parts(m_text);
    for (std::string part; std::getline(parts, part, ',');)
    {
        const auto number = WholeNumber(part);
        NS_ABORT_MSG_IF(!number,
                        Name("Packets")
                            << " is '" << m_text << "'; write numbers, for example 3,7");
        numbers.insert(*number);
    }
    return numbers;
}

void
ChosenPackets::Check() const
{
    Numbers();
}

void
ChosenPackets::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_packets = Numbers();
    while (m_message < context.NumMessages() &&
           static_cast<uint64_t>(context.GetMessage(m_message).id) != m_flow)
    {
        m_message++;
    }
    NS_ABORT_MSG_IF(m_message == context.NumMessages(),
                    Name("Flow") << " is " << m_flow << ", and no message has that id");
}

LossModel::Fate
ChosenPackets::Judge(PortId, const Frame& frame)
{
    const bool isChosen = frame.message == m_message && frame.kind == frame_kind::DATA &&
                          !(frame.flags & frame_flag::RETRANSMITTED) &&
                          m_packets.contains(frame.packet);
    return isChosen ? Fate::LOST : Fate::ARRIVES;
}

} // namespace ns3
