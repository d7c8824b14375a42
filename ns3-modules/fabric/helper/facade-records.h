// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FACADE_RECORDS_H
#define FABRIC_FACADE_RECORDS_H

#include "facade-outputs.h"

#include "ns3/fabric-parts.h"

#include <optional>

namespace ns3
{
namespace fabric
{

/// A time, or -1 for one that has not come.
inline int64_t
TimeOrNone(const std::optional<uint64_t>& timePs)
{
    return timePs ? static_cast<int64_t>(*timePs) : -1;
}

inline int64_t
NodeIdOf(const FabricParts& parts, PortId port)
{
    return parts.First().Network().nodes[parts.First().Network().ports[port].node].id;
}

/// Add the tables of what was to be recorded while a run went on: arrivals, pauses, samples.
void AddRecords(std::map<std::string, OutputTable>& tables, const FabricParts& parts);

/// Add the tables of what was not executed, if that was asked for; then there is one domain.
void AddSkips(std::map<std::string, OutputTable>& tables, const Fabric& fabric);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FACADE_RECORDS_H
