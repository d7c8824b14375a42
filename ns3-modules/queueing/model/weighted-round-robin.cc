// SPDX-License-Identifier: GPL-2.0-only

#include "weighted-round-robin.h"

#include "ns3/log.h"

#include <bit>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("WeightedRoundRobin");
NS_OBJECT_ENSURE_REGISTERED(WeightedRoundRobin);

TypeId
WeightedRoundRobin::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::WeightedRoundRobin")
            .SetParent<EgressScheduler>()
            .SetGroupName("Queueing")
            .AddConstructor<WeightedRoundRobin>()
            .AddAttribute("Weights",
                          "Frames per turn of a class, as class:frames,class:frames [frame]; a "
                          "class that is not named has 1",
                          ClassValuesValue(),
                          MakeClassValuesAccessor(&WeightedRoundRobin::m_weights),
                          MakeClassValuesChecker());
    return tid;
}

void
WeightedRoundRobin::Check() const
{
    m_weights.PerClass(1, 1, Name("Weights"));
}

void
WeightedRoundRobin::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    m_weightOf = m_weights.PerClass(1, 1, Name("Weights"));
    m_turns.assign(context.NumPorts(), {});
}

EgressScheduler::Choice
WeightedRoundRobin::Next(PortId port, uint32_t ready)
{
    if ((ready & (ready - 1)) == 0)
    {
        return {static_cast<uint32_t>(std::countr_zero(ready))};
    }
    const Turn turn = m_turns[port];
    if (((ready >> turn.queueClass) & 1) && turn.left > 0)
    {
        return {static_cast<uint32_t>(turn.queueClass)};
    }
    const uint32_t below = ready & ((1U << turn.queueClass) - 1);
    return {static_cast<uint32_t>(std::bit_width(below ? below : ready)) - 1};
}

void
WeightedRoundRobin::Sent(PortId port, uint32_t queueClass, uint64_t)
{
    Turn& turn = m_turns[port];
    if (turn.queueClass != queueClass || turn.left == 0)
    {
        turn = {queueClass, m_weightOf[queueClass]};
    }
    turn.left--;
}

} // namespace ns3
