// SPDX-License-Identifier: GPL-2.0-only

#include "per-priority.h"

#include "type-reference.h"

#include "ns3/abort.h"
#include "ns3/string.h"

namespace ns3
{

using namespace fabric;

NS_OBJECT_ENSURE_REGISTERED(PerPriority);

TypeId
PerPriority::GetTypeId()
{
    static TypeId tid =
        TypeId("ns3::PerPriority")
            .SetParent<QueueDiscipline>()
            .SetGroupName("Fabric")
            .AddConstructor<PerPriority>()
            .AddAttribute("Others",
                          "Discipline of the priorities that have none of their own",
                          StringValue("ns3::DropTail"),
                          MakeStringAccessor(&PerPriority::m_othersType),
                          MakeStringChecker())
            .AddAttribute("Priority0",
                          "Discipline of priority 0, empty: that of Others",
                          StringValue(""),
                          MakeStringAccessor(&PerPriority::SetType<0>),
                          MakeStringChecker())
            .AddAttribute("Priority1",
                          "Discipline of priority 1, empty: that of Others",
                          StringValue(""),
                          MakeStringAccessor(&PerPriority::SetType<1>),
                          MakeStringChecker())
            .AddAttribute("Priority2",
                          "Discipline of priority 2, empty: that of Others",
                          StringValue(""),
                          MakeStringAccessor(&PerPriority::SetType<2>),
                          MakeStringChecker())
            .AddAttribute("Priority3",
                          "Discipline of priority 3, empty: that of Others",
                          StringValue(""),
                          MakeStringAccessor(&PerPriority::SetType<3>),
                          MakeStringChecker())
            .AddAttribute("Priority4",
                          "Discipline of priority 4, empty: that of Others",
                          StringValue(""),
                          MakeStringAccessor(&PerPriority::SetType<4>),
                          MakeStringChecker())
            .AddAttribute("Priority5",
                          "Discipline of priority 5, empty: that of Others",
                          StringValue(""),
                          MakeStringAccessor(&PerPriority::SetType<5>),
                          MakeStringChecker())
            .AddAttribute("Priority6",
                          "Discipline of priority 6, empty: that of Others",
                          StringValue(""),
                          MakeStringAccessor(&PerPriority::SetType<6>),
                          MakeStringChecker())
            .AddAttribute("Priority7",
                          "Discipline of priority 7, empty: that of Others",
                          StringValue(""),
                          MakeStringAccessor(&PerPriority::SetType<7>),
                          MakeStringChecker());
    return tid;
}

void
PerPriority::Attach(Fabric& fabric)
{
    for (uint32_t priority = 0; priority < NUM_PRIORITIES; priority++)
    {
        const bool isOwn = !m_types[priority].empty();
        const std::string where =
            "ns3::PerPriority: " + (isOwn ? "Priority" + std::to_string(priority) : "Others");
        m_disciplines[priority] =
            CreateReferenced<QueueDiscipline>(isOwn ? m_types[priority] : m_othersType, where);
        NS_ABORT_MSG_IF(DynamicCast<PerPriority>(m_disciplines[priority]),
                        where << " cannot be ns3::PerPriority itself");
        m_disciplines[priority]->Attach(fabric);
    }
}

QueueDiscipline::Verdict
PerPriority::Admit(PortId port, Frame& frame, uint32_t queuedBytes)
{
    return m_disciplines[frame.priority]->Admit(port, frame, queuedBytes);
}

void
PerPriority::Depart(PortId port, Frame& frame, uint32_t queuedBytes)
{
    m_disciplines[frame.priority]->Depart(port, frame, queuedBytes);
}

uint32_t
PerPriority::TrimBytes(uint8_t priority) const
{
    return m_disciplines[priority]->TrimBytes(priority);
}

uint8_t
PerPriority::TrimPriority(uint8_t priority) const
{
    return m_disciplines[priority]->TrimPriority(priority);
}

} // namespace ns3
