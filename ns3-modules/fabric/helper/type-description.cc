// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-facade.h"
#include "type-attributes.h"

#include "ns3/congestion-control.h"
#include "ns3/egress-scheduler.h"
#include "ns3/forwarding-policy.h"
#include "ns3/link-flow-control.h"
#include "ns3/object-factory.h"
#include "ns3/path-selector.h"
#include "ns3/queue-discipline.h"
#include "ns3/switch-program.h"
#include "ns3/transport.h"
#include "ns3/wire-loss.h"

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
        {"loss", WireLoss::GetTypeId()},
        {"path_selector", PathSelector::GetTypeId()},
        {"congestion_control", CongestionControl::GetTypeId()},
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
    const std::string range = checker->HasUnderlyingTypeInformation()
                                  ? checker->GetUnderlyingTypeInformation()
                                  : "";
    out << "{\"name\": " << Quoted(info.name) << ", \"help\": " << Quoted(info.help)
        << ", \"default\": " << Quoted(info.initialValue->SerializeToString(checker))
        << ", \"type\": " << Quoted(checker->GetValueTypeName())
        << ", \"range\": " << Quoted(range) << ", \"contract\": " << Quoted(RoleOf(range)) << "}";
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
    return factory.Create<Transport>()->IsOpen();
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
            out << "]}";
            comma = ",\n";
        }
    }
    out << "]";
    return out.str();
}

} // namespace fabric
} // namespace ns3
