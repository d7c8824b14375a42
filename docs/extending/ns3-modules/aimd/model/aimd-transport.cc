// SPDX-License-Identifier: GPL-2.0-only

#include "aimd-transport.h"

#include "ns3/double.h"
#include "ns3/uinteger.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(AimdTransport);

TypeId
AimdTransport::GetTypeId()
{
    static TypeId tid =
        AddAttributes(TypeId("ns3::AimdTransport")
                          .SetParent<PacketTransport>()
                          .SetGroupName("Aimd")
                          .AddConstructor<AimdTransport>(),
                      {.entropy = "ns3::FlowEntropy", .rto = "1ms"})
            .AddAttribute("InitialPackets",
                          "Window of a new message [packet]",
                          UintegerValue(1),
                          MakeUintegerAccessor(&AimdTransport::m_initialPackets),
                          MakeUintegerChecker<uint32_t>(1))
            .AddAttribute("Decrease",
                          "What is left of the window after a mark or a loss [1]",
                          DoubleValue(0.5),
                          MakeDoubleAccessor(&AimdTransport::m_decrease),
                          MakeDoubleChecker<double>(0.0, 1.0));
    return tid;
}

void
AimdTransport::Begin(AimdOutbound& out)
{
    out.windowPackets = m_initialPackets;
}

bool
AimdTransport::MaySend(const AimdOutbound& out) const
{
    return out.packets.InFlight() < out.windowPackets;
}

void
AimdTransport::OnAnswer(AimdOutbound& out, const Answer& answer)
{
    const bool congested = answer.lostPackets > 0 || (answer.flags & frame_flag::ECN_ECHO);
    if (congested && answer.packet >= out.cutEnd) // RFC 3168: at most once per window
    {
        Shrink(out, out.windowPackets * m_decrease);
    }
    else if (!congested && answer.newPackets > 0 && ++out.answered >= out.windowPackets)
    {
        out.windowPackets++;
        out.answered = 0;
    }
}

void
AimdTransport::OnTimeout(AimdOutbound& out, Answer& lost)
{
    MessageTransport::OnTimeout(out, lost); // takes for lost what is out
    Shrink(out, 1);
}

void
AimdTransport::Shrink(AimdOutbound& out, double windowPackets)
{
    out.windowPackets = std::max(1U, static_cast<uint32_t>(windowPackets));
    out.answered = 0;
    out.cutEnd = out.packets.Next();
}

} // namespace ns3
