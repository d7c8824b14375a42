// SPDX-License-Identifier: GPL-2.0-only

#include "trait-description.h"

#include "ns3/forwarding-policy.h"
#include "ns3/object-factory.h"
#include "ns3/transport.h"

#include <sstream>

namespace ns3
{
namespace fabric
{

namespace
{

void
Describe(std::ostream& out, const ForwardingPolicy::Traits& traits)
{
    out << "\"keepsOrder\": " << traits.keepsOrder
        << ", \"hashesEntropy\": " << traits.hashesEntropy;
}

void
Describe(std::ostream& out, const Transport::Traits& traits)
{
    out << "\"keepsOrder\": " << traits.keepsOrder << ", \"entropies\": " << traits.entropies
        << ", \"acceptsOutOfOrder\": " << traits.acceptsOutOfOrder
        << ", \"reorderPackets\": " << traits.reorderPackets
        << ", \"needsMarks\": " << traits.needsMarks << ", \"targetPs\": " << traits.targetPs
        << ", \"hopTargetPs\": " << traits.hopTargetPs;
}

} // namespace

std::string
DescribeTraits(const ObjectFactory& factory)
{
    const auto object = factory.Create<Object>();
    std::ostringstream out;
    out << std::boolalpha << "{";
    if (const auto* policy = dynamic_cast<const ForwardingPolicy*>(PeekPointer(object)))
    {
        Describe(out, policy->GetTraits());
    }
    if (const auto* transport = dynamic_cast<const Transport*>(PeekPointer(object)))
    {
        Describe(out, transport->GetTraits());
    }
    out << "}";
    return out.str();
}

} // namespace fabric
} // namespace ns3
