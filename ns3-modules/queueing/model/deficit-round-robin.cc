// SPDX-License-Identifier: GPL-2.0-only

#include "deficit-round-robin.h"

#include "ns3/log.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <bit>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("DeficitRoundRobin");
NS_OBJECT_ENSURE_REGISTERED(DeficitRoundRobin);

namespace
{

constexpr uint64_t LEAST_QUANTUM_BYTES = MIN_FRAME_BYTES; ///< So that few turns send nothing

} // namespace

TypeId
DeficitRoundRobin::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::DeficitRoundRobin")
            .SetParent<EgressScheduler>()
            .SetGroupName("Queueing")
            .AddConstructor<DeficitRoundRobin>()
            .AddAttribute("Quanta",
                          "Bytes per turn of a class on the wire, as class:bytes,class:bytes, each "
                          "at least 64 [byte]",
                          ClassValuesValue(),
                          MakeClassValuesAccessor(&DeficitRoundRobin::m_quanta),
                          MakeClassValuesChecker())
            .AddAttribute("DefaultQuantumBytes",
                          "Bytes per turn of a class that Quanta does not name [byte]",
                          UintegerValue(1500),
                          MakeUintegerAccessor(&DeficitRoundRobin::m_othersBytes),
                          MakeUintegerChecker<uint64_t>(LEAST_QUANTUM_BYTES));
    return tid;
}

void
DeficitRoundRobin::Check() const
{
    m_quanta.PerClass(m_othersBytes, LEAST_QUANTUM_BYTES, Name("Quanta"));
}

void
DeficitRoundRobin::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_context = &context;
    m_quantumBytes = m_quanta.PerClass(m_othersBytes, LEAST_QUANTUM_BYTES, Name("Quanta"));
    m_rounds.assign(context.NumPorts(), {});
}

EgressScheduler::Choice
DeficitRoundRobin::Next(PortId port, uint32_t ready)
{
    Round& round = m_rounds[port];
    while (true)
    {
        const uint32_t c = round.queueClass;
        if (((ready >> c) & 1) && round.inTurn &&
            m_context->HeadBytes(port, c) + m_context->FramingBytes() <= round.deficitBytes[c])
        {
            return {c};
        }
        const uint32_t below = ready & ((1U << c) - 1);
        round.queueClass = static_cast<uint32_t>(std::bit_width(below ? below : ready)) - 1;
        round.deficitBytes[round.queueClass] += m_quantumBytes[round.queueClass];
        round.inTurn = true;
    }
}

void
DeficitRoundRobin::Sent(PortId port, uint32_t queueClass, uint64_t wireBytes)
{
    Round& round = m_rounds[port];
    uint64_t& deficit = round.deficitBytes[queueClass];
    deficit -= std::min(deficit, wireBytes); // to an idle port a frame comes without a turn
    if (m_context->QueuedBytes(port, queueClass) == 0)
    {
        deficit = 0;
        round.inTurn &= queueClass != round.queueClass;
    }
}

} // namespace ns3
