// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-facade.h"
#include "type-attributes.h"

#include "ns3/congestion-control.h"
#include "ns3/egress-scheduler.h"
#include "ns3/forwarding-policy.h"
#include "ns3/link-flow-control.h"
#include "ns3/loss-model.h"
#include "ns3/object-factory.h"
#include "ns3/path-selector.h"
#include "ns3/queue-discipline.h"
#include "ns3/section.h"
#include "ns3/switch-program.h"
#include "ns3/transport.h"

#include <iomanip>
#include <sstream>

namespace ns3
{
namespace fabric
{

namespace
{

/// Text as a JSON string.
std::string
Quoted(const std::string& text)
{
    std::ostringstream out;
    out << '"';
    for (const char c : text)
    {
        if (c == '"' || c == '\\')
        {
            out << '\\' << c;
        }
        else if (static_cast<unsigned char>(c) < 0x20)
        {
            out << "\\u" << std::hex << std::setw(4) << std::setfill('0') << int{c} << std::dec;
        }
        else
        {
            out << c;
        }
    }
    out << '"';
    return out.str();
}

/// The contracts, by the role in which a scenario names a type.
const std::vector<std::pair<std::string, TypeId>>&
Contracts()
{
    static const std::vector<std::pair<std::string, TypeId>> contracts{
        {"transport", Transport::GetTypeId()},
        {"forwarding", ForwardingPolicy::GetTypeId()},
        {"queue", QueueDiscipline::GetTypeId()},
        {"scheduler", EgressScheduler::GetTypeId()},
        {"program", SwitchProgram::GetTypeId()},
        {"flow_control", LinkFlowControl::GetTypeId()},
        {"loss_model", LossModel::GetTypeId()},
        {"path_selector", PathSelector::GetTypeId()},
        {"congestion_control", CongestionControl::GetTypeId()},
        {"section", Section::GetTypeId()},
    };
    return contracts;
}

/// @return role of the contract of which an attribute names a type, empty if it names none
std::string
RoleOf(const std::string& contract)
{
    for (const auto& [role, tid] : Contracts())
    {
        if (tid.GetName() == contract)
        {
            return role;
        }
    }
    return "";
}

void
DescribeAttribute(std::ostream& out, const TypeId::AttributeInformation& info)
{
    const auto& checker = info.checker;
    const std::string range =
        checker->HasUnderlyingTypeInformation() ? checker->GetUnderlyingTypeInformation() : "";
    out << "{\"name\": " << Quoted(info.name) << ", \"help\": " << Quoted(info.help)
        << ", \"default\": " << Quoted(info.initialValue->SerializeToString(checker))
        << ", \"type\": " << Quoted(checker->GetValueTypeName()) << ", \"range\": " << Quoted(range)
        << ", \"contract\": " << Quoted(RoleOf(range));
    if (info.supportMsg == REQUIRED)
    {
        out << ", \"required\": true";
    }
    out << "}";
}

/// @return whether a type sends what programs in C++ give it, and no messages of a scenario
bool
IsForPrograms(TypeId tid)
{
    if (!tid.IsChildOf(Transport::GetTypeId()))
    {
        return false;
    }
    ObjectFactory factory;
    factory.SetTypeId(tid);
    return factory.Create<Transport>()->GetTraits().isOpen;
}

/// @return names as a list of JSON, those whose condition holds
std::string
ListOf(std::initializer_list<std::pair<const char*, bool>> names)
{
    std::string out = "[";
    for (const auto& [name, holds] : names)
    {
        out += !holds ? "" : (out.size() > 1 ? ", " : "") + Quoted(name);
    }
    return out + "]";
}

/// What goes between senders and switches, with the defaults of the type.
void
DescribeSignals(std::ostream& out, TypeId tid)
{
    ObjectFactory factory;
    factory.SetTypeId(tid);
    const auto object = factory.Create<Object>();
    const auto* control = dynamic_cast<CongestionControl*>(PeekPointer(object));
    const auto* transport = dynamic_cast<Transport*>(PeekPointer(object));
    const auto* queue = dynamic_cast<QueueDiscipline*>(PeekPointer(object));
    const auto* program = dynamic_cast<SwitchProgram*>(PeekPointer(object));
    bool marks = false;
    for (uint8_t priority = 0; queue && priority < NUM_PRIORITIES; priority++)
    {
        marks |= queue->GetTraits(priority).marks;
    }
    out << ", \"reads\": "
        << ListOf({{"marks",
                    (control && control->GetTraits().needsMarks) ||
                        (transport && transport->GetTraits().needsMarks)},
                   {"telemetry", control && control->GetTraits().needsIntHops},
                   {"rates", transport && transport->GetTraits().mayReadmit}})
        << ", \"writes\": "
        << ListOf({{"marks", marks}, {"telemetry", program && program->GetTraits().writesIntHops}});
}

} // namespace

std::string
DescribeTypeIds()
{
    std::ostringstream out;
    out << "[";
    const char* comma = "";
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        for (const auto& [contract, parent] : Contracts())
        {
            if (!tid.HasConstructor() || !tid.IsChildOf(parent) || IsForPrograms(tid))
            {
                continue;
            }
            out << comma << "{\"name\": " << Quoted(tid.GetName())
                << ", \"contract\": " << Quoted(contract)
                << ", \"group\": " << Quoted(tid.GetGroupName()) << ", \"attributes\": [";
            const char* separator = "";
            for (const auto& attribute : AttributesOf(tid))
            {
                out << separator;
                DescribeAttribute(out, attribute);
                separator = ", ";
            }
            out << "]";
            DescribeSignals(out, tid);
            out << "}";
            comma = ",\n";
        }
    }
    out << "]";
    return out.str();
}

} // namespace fabric
} // namespace ns3
