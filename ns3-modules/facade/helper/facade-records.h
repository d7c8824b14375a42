// SPDX-License-Identifier: GPL-2.0-only

#ifndef FABRIC_FACADE_RECORDS_H
#define FABRIC_FACADE_RECORDS_H

#include "facade-outputs.h"

#include "ns3/fabric-parts.h"

namespace ns3
{
namespace fabric
{

/// Add the tables of what was to be recorded while a run went on: arrivals, pauses, samples.
void AddRecords(OutputTables& tables, const FabricParts& parts, const Recorded& recorded);

/// Add the tables of what was not executed, if that was asked for; then there is one domain.
void AddSkips(OutputTables& tables, const RunView& fabric, const SteadySkip* skip);

} // namespace fabric
} // namespace ns3

#endif // FABRIC_FACADE_RECORDS_H
