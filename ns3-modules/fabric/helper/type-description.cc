// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-facade.h"

#include "ns3/congestion-control.h"
#include "ns3/forwarding-policy.h"
#include "ns3/link-flow-control.h"
#include "ns3/path-selector.h"
#include "ns3/queue-discipline.h"
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

void
DescribeAttribute(std::ostream& out, const TypeId::AttributeInformation& info)
{
    const auto& checker = info.checker;
    out << "{\"name\": " << Quoted(info.name) << ", \"help\": " << Quoted(info.help)
        << ", \"default\": " << Quoted(info.initialValue->SerializeToString(checker))
        << ", \"type\": " << Quoted(checker->GetValueTypeName()) << ", \"range\": "
        << Quoted(checker->HasUnderlyingTypeInformation()
                      ? checker->GetUnderlyingTypeInformation()
                      : "")
        << "}";
}

} // namespace

std::string
DescribeTypeIds()
{
    const std::vector<std::pair<std::string, TypeId>> contracts{
        {"transport", Transport::GetTypeId()},
        {"forwarding", ForwardingPolicy::GetTypeId()},
        {"queue", QueueDiscipline::GetTypeId()},
        {"flow_control", LinkFlowControl::GetTypeId()},
        {"path_selector", PathSelector::GetTypeId()},
        {"congestion_control", CongestionControl::GetTypeId()},
    };
    std::ostringstream out;
    out << "[";
    const char* comma = "";
    for (uint16_t i = 0; i < TypeId::GetRegisteredN(); i++)
    {
        const TypeId tid = TypeId::GetRegistered(i);
        for (const auto& [contract, parent] : contracts)
        {
            if (!tid.HasConstructor() || !tid.IsChildOf(parent))
            {
                continue;
            }
            out << comma << "{\"name\": " << Quoted(tid.GetName())
                << ", \"contract\": " << Quoted(contract)
                << ", \"group\": " << Quoted(tid.GetGroupName()) << ", \"attributes\": [";
            for (size_t a = 0; a < tid.GetAttributeN(); a++)
            {
                out << (a ? ", " : "");
                DescribeAttribute(out, tid.GetAttribute(a));
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
