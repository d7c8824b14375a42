// SPDX-License-Identifier: GPL-2.0-only

#include "per-direction.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <algorithm>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("PerDirection");
NS_OBJECT_ENSURE_REGISTERED(PerDirection);

TypeId
PerDirection::GetTypeId()
{
    using T = PerDirection;
    static TypeId tid = TypeId("ns3::PerDirection")
                            .SetParent<QueueDiscipline>()
                            .SetGroupName("Queueing")
                            .AddConstructor<PerDirection>()
                            .AddAttribute("ToHosts",
                                          "Discipline of the ports that lead to a host",
                                          TypeChoiceValue(TypeChoice("ns3::DropTail")),
                                          MakeTypeChoiceAccessor(&T::m_toHosts),
                                          MakeTypeChoiceChecker<QueueDiscipline>())
                            .AddAttribute("ToSwitches",
                                          "Discipline of the ports that lead to a switch",
                                          TypeChoiceValue(TypeChoice("ns3::DropTail")),
                                          MakeTypeChoiceAccessor(&T::m_toSwitches),
                                          MakeTypeChoiceChecker<QueueDiscipline>());
    return tid;
}

Ptr<QueueDiscipline>
PerDirection::Make(uint32_t direction) const
{
    const bool isToHost = direction == TO_HOST;
    const auto where = Name(isToHost ? "ToHosts" : "ToSwitches");
    auto discipline = (isToHost ? m_toHosts : m_toSwitches).Create<QueueDiscipline>(where);
    NS_ABORT_MSG_IF(DynamicCast<PerDirection>(discipline),
                    where << " cannot be ns3::PerDirection itself");
    return discipline;
}

Ptr<QueueDiscipline>
PerDirection::Of(uint32_t direction) const
{
    const auto& made = m_disciplines[direction]; // none yet before Attach
    return made ? made : Make(direction);
}

void
PerDirection::Check() const
{
    for (uint8_t priority = 0; priority < NUM_PRIORITIES; priority++)
    {
        const Traits toHost = Of(TO_HOST)->GetTraits(priority);
        const Traits toSwitch = Of(TO_SWITCH)->GetTraits(priority);
        const bool isSame = toHost.trimBytes == toSwitch.trimBytes &&
                            toHost.trimPriority == toSwitch.trimPriority;
        NS_ABORT_MSG_IF(toHost.trims && toSwitch.trims && !isSame,
                        Name("ToHosts") << " and ToSwitches trim packets of priority "
                                        << uint32_t{priority}
                                        << " to different sizes or priorities; give both the same "
                                           "TrimBytes and TrimPriority");
    }
}

QueueDiscipline::Traits
PerDirection::GetTraits(uint8_t priority) const
{
    const Traits toHost = Of(TO_HOST)->GetTraits(priority);
    Traits traits = Of(TO_SWITCH)->GetTraits(priority);
    if (toHost.trims)
    {
        traits.trimBytes = toHost.trimBytes;
        traits.trimPriority = toHost.trimPriority;
    }
    traits.marks = traits.marks || toHost.marks;
    traits.trims = traits.trims || toHost.trims;
    traits.mayRepeat = traits.mayRepeat && toHost.mayRepeat;
    return traits;
}

void
PerDirection::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    for (uint32_t direction = 0; direction < NUM_DIRECTIONS; direction++)
    {
        m_disciplines[direction] = Make(direction);
        m_views.push_back(context); // a port has one of the two, so their draws may be the same
        m_disciplines[direction]->Attach(m_views.back());
    }
    m_direction.clear();
    for (PortId port = 0; port < context.NumPorts(); port++)
    {
        const bool isToHost = context.GetPort(context.GetPort(port).peer).isHost;
        m_direction.push_back(isToHost ? TO_HOST : TO_SWITCH);
    }
}

QueueDiscipline::QuietBytes
PerDirection::Quiet(uint8_t priority) const
{
    const QuietBytes toHost = m_disciplines[TO_HOST]->Quiet(priority);
    const QuietBytes toSwitch = m_disciplines[TO_SWITCH]->Quiet(priority);
    return {std::min(toHost.admit, toSwitch.admit), std::min(toHost.depart, toSwitch.depart)};
}

uint64_t
PerDirection::NumDraws() const
{
    return m_disciplines[TO_HOST]->NumDraws() + m_disciplines[TO_SWITCH]->NumDraws();
}

QueueDiscipline::Verdict
PerDirection::Admit(PortId port, Frame& frame, uint64_t queuedBytes)
{
    return m_disciplines[m_direction[port]]->Admit(port, frame, queuedBytes);
}

void
PerDirection::Depart(PortId port, Frame& frame, uint64_t queuedBytes)
{
    m_disciplines[m_direction[port]]->Depart(port, frame, queuedBytes);
}

} // namespace ns3
