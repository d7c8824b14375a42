// SPDX-License-Identifier: GPL-2.0-only

#include "per-priority.h"

#include "ns3/abort.h"
#include "ns3/log.h"

#include <map>
#include <string>

namespace ns3
{

using namespace fabric;

NS_LOG_COMPONENT_DEFINE("PerPriority");
NS_OBJECT_ENSURE_REGISTERED(PerPriority);

template <size_t... PRIORITIES>
TypeId
PerPriority::AddChoices(TypeId tid, std::index_sequence<PRIORITIES...>)
{
    (tid.AddAttribute("Priority" + std::to_string(PRIORITIES),
                      "Discipline of priority " + std::to_string(PRIORITIES) +
                          ", empty: that of DefaultQueue",
                      TypeChoiceValue(),
                      MakeTypeChoiceAccessor(&PerPriority::SetChoice<PRIORITIES>,
                                             &PerPriority::GetChoice<PRIORITIES>),
                      MakeTypeChoiceChecker<QueueDiscipline>()),
     ...);
    return tid;
}

TypeId
PerPriority::GetTypeId()
{
    static TypeId tid =
        AddChoices(TypeId("ns3::PerPriority")
                       .SetParent<QueueDiscipline>()
                       .SetGroupName("Queueing")
                       .AddConstructor<PerPriority>()
                       .AddAttribute("DefaultQueue",
                                     "Discipline of the priorities that have none of their own",
                                     TypeChoiceValue(TypeChoice("ns3::DropTail")),
                                     MakeTypeChoiceAccessor(&PerPriority::m_others),
                                     MakeTypeChoiceChecker<QueueDiscipline>()),
                   std::make_index_sequence<NUM_PRIORITIES>());
    return tid;
}

const TypeChoice&
PerPriority::ChoiceOf(uint32_t priority) const
{
    const bool isOwn = priority < NUM_PRIORITIES && m_choices[priority].IsSet();
    return isOwn ? m_choices[priority] : m_others;
}

Ptr<QueueDiscipline>
PerPriority::Make(uint32_t priority) const
{
    const TypeChoice& choice = ChoiceOf(priority);
    const bool isOwn = &choice != &m_others;
    const auto where = Name(isOwn ? "Priority" + std::to_string(priority) : "DefaultQueue");
    auto discipline = choice.Create<QueueDiscipline>(where);
    NS_ABORT_MSG_IF(DynamicCast<PerPriority>(discipline),
                    where << " cannot be ns3::PerPriority itself");
    return discipline;
}

void
PerPriority::Check() const
{
    for (uint32_t priority = 0; priority < MAX_CLASSES; priority++)
    {
        Make(priority);
    }
}

void
PerPriority::Attach(SwitchContext& context)
{
    NS_LOG_FUNCTION(this);
    std::map<std::string, Ptr<QueueDiscipline>> made;
    std::map<TypeId, uint32_t> ofType;
    for (uint32_t priority = 0; priority < MAX_CLASSES; priority++)
    {
        const TypeChoice& choice = ChoiceOf(priority);
        Ptr<QueueDiscipline>& discipline = made[choice.Text()];
        if (!discipline)
        {
            discipline = Make(priority);
            m_views.push_back(context.Another(ofType[discipline->GetInstanceTypeId()]++));
            discipline->Attach(m_views.back());
        }
        m_disciplines[priority] = discipline;
        NS_LOG_LOGIC("priority " << priority << ": " << choice);
    }
}

QueueDiscipline::QuietBytes
PerPriority::Quiet(uint8_t priority) const
{
    return m_disciplines[priority]->Quiet(priority);
}

QueueDiscipline::Verdict
PerPriority::Admit(PortId port, Frame& frame, uint64_t queuedBytes)
{
    return m_disciplines[frame.priority]->Admit(port, frame, queuedBytes);
}

void
PerPriority::Depart(PortId port, Frame& frame, uint64_t queuedBytes)
{
    m_disciplines[frame.priority]->Depart(port, frame, queuedBytes);
}

} // namespace ns3
